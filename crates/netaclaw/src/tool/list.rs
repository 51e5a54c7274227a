//! `tool list`: a table for people, the records as JSON for programs.

use crate::admin::engine_failure;
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_agents::{AdminAgentSource, AgentPreviews};
use netaclaw_protocol::{ToolInfo, ToolRisk, ToolStatus};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Print the tools as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App, agents: &AdminAgentSource) -> Result<()> {
    let lang = app.lang;
    let tools = agents.tools().await;
    let tools = tools.map_err(|error| engine_failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &tools).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    let heads = [
        lang.name(),
        lang.label(),
        lang.risk(),
        lang.global_setting(),
    ];
    let rows: Vec<[Cell; 4]> = tools.iter().map(|tool| row(lang, tool)).collect();
    table::write(app, heads, &rows)
}

fn row(lang: Lang, tool: &ToolInfo) -> [Cell; 4] {
    let record = &tool.record;
    let label = match lang {
        Lang::En => &record.label.en,
        Lang::Zh => &record.label.zh,
    };
    [
        one_line(&record.name, 64),
        one_line(label, 40),
        risk(lang, record.risk),
        state(lang, tool),
    ]
}

pub(super) fn risk(lang: Lang, risk: ToolRisk) -> String {
    match risk {
        ToolRisk::Read => lang.risk_read(),
        ToolRisk::Write => lang.risk_write(),
        ToolRisk::Exec => lang.risk_exec(),
        ToolRisk::Network => lang.risk_network(),
        ToolRisk::Delegate => lang.risk_delegate(),
    }
}

/// The global setting, or the default without one.
pub(super) fn state(lang: Lang, tool: &ToolInfo) -> String {
    let record = &tool.record;
    match (record.present, record.status) {
        (false, _) => lang.tool_gone(),
        (true, Some(ToolStatus::Enabled)) => lang.enabled(),
        (true, Some(ToolStatus::Disabled)) => lang.disabled(),
        (true, None) if tool.on_by_default => lang.on_by_default(),
        (true, None) => lang.off_by_default(),
    }
}
