//! `mcp test`: connects as the server would, and lists what it found.

use super::fault::explain;
use crate::admin::failure;
use crate::app::App;
use crate::assemble::gate;
use crate::error::{Failure, Result};
use crate::terminal::one_line;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_agents::test_mcp_server;
use netaclaw_tools::mcp::McpAccess;
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Name of the server
    #[arg(value_name = "NAME")]
    server: String,
    /// Print the tools as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: TestArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let server = store.mcp_server_named(&args.server).await.map_err(failed)?;
    let (spec, secrets) = store.open_mcp_server(&server.id).await.map_err(failed)?;
    let gate = gate(app, &app.config(None)?);
    let name = spec.name.clone();
    let access = McpAccess {
        spec,
        secrets: Some(secrets),
    };
    let test = test_mcp_server(&access, &gate).await;
    if args.json {
        serde_json::to_writer(&mut app.out, &test).map_err(std::io::Error::from)?;
        writeln!(app.out)?;
    }
    if let Some(fault) = &test.fault {
        let what = format!("{} {name:?}", lang.mcp_server());
        return Err(Failure::plain(what, explain(lang, fault)));
    }
    if args.json {
        return Ok(());
    }
    writeln!(app.out, "{}", lang.mcp_works(&name, test.tools.len()))?;
    for tool in &test.tools {
        let line = format!("  {}  {}", tool.tool_name, tool.description);
        writeln!(app.out, "{}", one_line(&line, 120))?;
    }
    Ok(())
}
