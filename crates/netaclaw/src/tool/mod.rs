//! `netaclaw tool …`: the tools and their global settings. It works with or without a running
//! server, whose runs apply a change at their next call.

mod list;
mod show;
mod switch;

use crate::admin;
use crate::app::{App, Outcome};
use crate::assemble::{gate, skill_home};
use crate::error::Result;
use clap::Subcommand;
use netaclaw_admin::AdminStore;
use netaclaw_agents::{AdminAgentSource, ModelSettings};
use netaclaw_protocol::ToolStatus;
use netaclaw_tools::ToolRegistry;
use std::sync::Arc;

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List tools
    List(list::ListArgs),
    /// Show a tool, which agents have it and why others do not
    Show(show::ShowArgs),
    /// Enable a tool for all agents
    Enable(switch::SwitchArgs),
    /// Disable a tool for all agents; agents cannot enable it again
    Disable(switch::SwitchArgs),
    /// Reset a tool to its default, and let agents decide
    Reset(switch::SwitchArgs),
}

pub(crate) async fn run(command: ToolCommand, app: &mut App) -> Result<Outcome> {
    let store = Arc::new(admin::open(app).await?);
    let agents = AdminAgentSource::new(
        Arc::clone(&store) as Arc<dyn AdminStore>,
        ModelSettings::default(),
        Arc::new(ToolRegistry::builtin()),
        std::env::current_dir()?,
    );
    // Nothing is started here; the output depends on what a server could start.
    let config = app.config(None)?;
    let agents = agents
        .with_gate(Arc::new(gate(app, &config)))
        .with_skills(skill_home(app, &config));
    let (on, off) = (Some(ToolStatus::Enabled), Some(ToolStatus::Disabled));
    let outcome = match command {
        ToolCommand::List(args) => list::run(args, app, &agents).await,
        ToolCommand::Show(args) => show::run(args, app, &agents).await,
        ToolCommand::Enable(args) => switch::run(args, on, app, &agents, &*store).await,
        ToolCommand::Disable(args) => switch::run(args, off, app, &agents, &*store).await,
        ToolCommand::Reset(args) => switch::run(args, None, app, &agents, &*store).await,
    };
    store.close().await;
    outcome.map(|()| Outcome::Done)
}
