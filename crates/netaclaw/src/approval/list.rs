//! `approval list`: a table for people, the records as JSON for programs.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use crate::text::Lang;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_protocol::{ApprovalScope, StandingApproval};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only those of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Print the approvals as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ListArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let user = match &args.user {
        Some(name) => Some(store.user_named(name).await.map_err(failed)?.id),
        None => None,
    };
    let approvals = store.approvals(user.as_ref()).await.map_err(failed)?;
    if args.json {
        serde_json::to_writer(&mut app.out, &approvals).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    if approvals.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.no_approvals())?);
    }
    let config = store.config_snapshot().await.map_err(failed)?;
    let agent = |approval: &StandingApproval| {
        let id = approval.agent_id.as_deref().unwrap_or_default();
        let known = config.agents.iter().find(|agent| agent.id.as_str() == id);
        known.map_or_else(|| id.to_owned(), |agent| agent.spec.name.clone())
    };
    let heads = [
        lang.approval_id(),
        lang.approval_user(),
        lang.agent(),
        lang.approval_covers(),
    ];
    let rows: Vec<[Cell; 4]> = approvals
        .iter()
        .map(|approval| {
            [
                approval.id.clone(),
                one_line(&approval.granted_by, 40),
                one_line(&agent(approval), 40),
                one_line(&covers(lang, approval), 100),
            ]
        })
        .collect();
    table::write(app, heads, &rows)
}

fn covers(lang: Lang, approval: &StandingApproval) -> String {
    let tool = &approval.tool_name;
    match &approval.scope {
        ApprovalScope::Call { .. } => lang.approval_call(tool, &approval.sample),
        ApprovalScope::Tool => lang.approval_tool(tool),
        ApprovalScope::Edits { folder } => lang.approval_edits(folder),
        ApprovalScope::Commands { patterns } => patterns.join("; "),
    }
}
