//! `tool show`: one tool, and its state in every agent.

use super::list::{risk, state};
use crate::admin::engine_failure;
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::{columns, one_line, pad};
use crate::text::Lang;
use clap::Args;
use netaclaw_agents::{AdminAgentSource, AgentPreviews};
use netaclaw_protocol::{DisabledCode, ToolDiagnostic, ToolUser};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Name of the tool
    #[arg(value_name = "NAME")]
    tool: String,
    /// Print the tool and its agents as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ShowArgs, app: &mut App, agents: &AdminAgentSource) -> Result<()> {
    let lang = app.lang;
    let detail = agents.tool(&args.tool).await;
    let detail = detail.map_err(|error| engine_failure(lang, error))?;
    if args.json {
        serde_json::to_writer(&mut app.out, &detail).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    let tool = &detail.tool;
    let lines = [
        (lang.name(), tool.record.name.clone()),
        (lang.description(), tool.description.clone()),
        (lang.risk(), risk(lang, tool.record.risk)),
        (lang.global_setting(), state(lang, tool)),
        (lang.tool_source(), tool.record.source.clone()),
    ];
    let width = lines.iter().map(|(name, _)| columns(name)).max();
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let name = pad(name, width.unwrap_or(0));
        let value = one_line(value, 400);
        writeln!(app.out, "{}  {value}", app.paint.dim(&name))?;
    }
    writeln!(app.out)?;
    let heads = [lang.agent(), lang.tool_state(), lang.tool_why()];
    let rows: Vec<[Cell; 3]> = detail.agents.iter().map(|user| row(lang, user)).collect();
    table::write(app, heads, &rows)
}

fn row(lang: Lang, user: &ToolUser) -> [Cell; 3] {
    let line = &user.diagnostic;
    let state = match line.code {
        None if line.needs_approval => lang.on_with_approval(),
        None => lang.enabled(),
        Some(_) => lang.disabled(),
    };
    [one_line(&user.agent_name, 64), state, why(lang, line)]
}

fn why(lang: Lang, line: &ToolDiagnostic) -> String {
    let Some(code) = line.code else {
        return one_line(line.caution.as_deref().unwrap_or(""), 200);
    };
    match code {
        DisabledCode::OffByDefault => lang.why_off_by_default(),
        DisabledCode::OffGlobally => lang.why_off_globally(),
        DisabledCode::OffForAgent => lang.why_off_for_agent(),
        DisabledCode::ModelWithoutTools => lang.why_model_without_tools(),
        DisabledCode::ModelWithoutVision => lang.why_model_without_vision(),
        // The caller reports what is missing.
        DisabledCode::NotAvailableHere
        | DisabledCode::ParentWithout
        | DisabledCode::NotGrantedToSubagent
        | DisabledCode::NotForSubagents => {
            one_line(line.blocked_reason.as_deref().unwrap_or(""), 200)
        }
    }
}
