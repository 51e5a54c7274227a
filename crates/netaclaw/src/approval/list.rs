//! `approval list`: a table for people, the records as JSON for programs.

use super::{Known, covers, known};
use crate::admin::failure;
use crate::app::App;
use crate::assemble::Assembled;
use crate::error::Result;
use crate::table::{self, Cell};
use crate::terminal::one_line;
use clap::Args;
use netaclaw_admin::AdminStore;
use netaclaw_protocol::StandingApproval;
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

pub(super) async fn run(args: ListArgs, app: &mut App, assembled: &Assembled) -> Result<()> {
    let lang = app.lang;
    let known = known(app, assembled, args.user.as_deref()).await?;
    if args.json {
        let approvals: Vec<&StandingApproval> = known.iter().map(|known| &known.approval).collect();
        serde_json::to_writer(&mut app.out, &approvals).map_err(std::io::Error::from)?;
        return Ok(writeln!(app.out)?);
    }
    if known.is_empty() {
        return Ok(writeln!(app.out, "{}", lang.no_approvals())?);
    }
    let store: &dyn AdminStore = &*assembled.admin;
    let config = store.config_snapshot().await;
    let config = config.map_err(|error| failure(lang, error))?;
    let place = |known: &Known| {
        if let Some(session) = &known.session {
            let title = session
                .title
                .as_deref()
                .or(session.first_message.as_deref());
            return lang.session_named(title.unwrap_or(session.session_id.as_str()));
        }
        let id = known.approval.agent_id.as_deref().unwrap_or_default();
        let agent = config.agents.iter().find(|agent| agent.id.as_str() == id);
        lang.approval_agent(agent.map_or(id, |agent| &agent.spec.name))
    };
    let heads = [
        lang.approval_id(),
        lang.approval_user(),
        lang.approval_where(),
        lang.approval_covers(),
    ];
    let rows: Vec<[Cell; 4]> = known
        .iter()
        .map(|known| {
            [
                known.approval.id.clone(),
                one_line(&known.approval.granted_by, 40),
                one_line(&place(known), 40),
                one_line(&covers(lang, &known.approval), 100),
            ]
        })
        .collect();
    table::write(app, heads, &rows)
}
