//! `netaclaw mcp …`: servers whose tools agents use. It works with or without a running server,
//! which follows within a few seconds.

mod add;
mod fault;
mod list;
mod remove;
mod serve;
mod switch;
mod test;
mod text;

pub(crate) use fault::explain as explain_mcp_fault;

use crate::admin;
use crate::app::{App, Outcome};
use crate::error::Result;
use clap::Subcommand;
use netaclaw_protocol::ToolStatus;
use std::sync::Arc;

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add an MCP server, or change an existing one
    Add(add::AddArgs),
    /// List MCP servers
    List(list::ListArgs),
    /// Connect to an MCP server and list its tools
    Test(test::TestArgs),
    /// Enable an MCP server
    Enable(switch::SwitchArgs),
    /// Disable an MCP server without removing it
    Disable(switch::SwitchArgs),
    /// Remove an MCP server
    Remove(remove::RemoveArgs),
    /// Run as an MCP server that offers the tools of an agent
    Serve(serve::ServeArgs),
}

pub(crate) async fn run(command: McpCommand, app: &mut App) -> Result<Outcome> {
    // Errors that need no store are reported before one is created.
    let addition = match &command {
        McpCommand::Add(args) => Some(args.read(app.lang)?),
        _ => None,
    };
    let store = Arc::new(admin::open(app).await?);
    let (on, off) = (ToolStatus::Enabled, ToolStatus::Disabled);
    let outcome = match command {
        McpCommand::Add(_) => match addition {
            Some(addition) => addition.run(app, &*store).await,
            None => Ok(()),
        },
        McpCommand::List(args) => list::run(args, app, &*store).await,
        McpCommand::Test(args) => test::run(args, app, &*store).await,
        McpCommand::Enable(args) => switch::run(args, on, app, &*store).await,
        McpCommand::Disable(args) => switch::run(args, off, app, &*store).await,
        McpCommand::Remove(args) => remove::run(args, app, &*store).await,
        McpCommand::Serve(args) => serve::run(args, app, Arc::clone(&store)).await,
    };
    store.close().await;
    outcome.map(|()| Outcome::Done)
}
