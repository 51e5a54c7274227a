//! `tool enable`, `tool disable`, `tool reset`: the global setting.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use clap::Args;
use netaclaw_admin::{Actor, AdminStore, Expect};
use netaclaw_agents::AdminAgentSource;
use netaclaw_protocol::ToolStatus;
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct SwitchArgs {
    /// Name of the tool
    #[arg(value_name = "NAME")]
    tool: String,
}

pub(super) async fn run(
    args: SwitchArgs,
    status: Option<ToolStatus>,
    app: &mut App,
    agents: &AdminAgentSource,
    store: &dyn AdminStore,
) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    agents.sync_tools().await.map_err(failed)?;
    let by = Actor::command_line();
    let switched = store.switch_tool(&by, &args.tool, Expect::Any, status);
    let tool = switched.await.map_err(failed)?;
    let said = match status {
        Some(ToolStatus::Enabled) => lang.tool_enabled(&tool.name),
        Some(ToolStatus::Disabled) => lang.tool_disabled(&tool.name),
        None => lang.tool_reset(&tool.name),
    };
    Ok(writeln!(app.out, "{said}")?)
}
