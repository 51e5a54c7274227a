//! `netaclaw approval …`: standing approvals, those of agents and those of sessions. It works with
//! or without a running server, for which a revocation counts with the next tool call. A session
//! that is open in another process is changed there.

mod list;
mod revoke;
mod scope;
mod text;

pub(crate) use scope::{is_workspace, scope_text, within_text};

use crate::admin::failure;
use crate::app::{App, Outcome};
use crate::assemble::{Assembled, assemble};
use crate::error::{Failure, Result, in_language};
use crate::text::Lang;
use clap::Subcommand;
use netaclaw_admin::AdminStore;
use netaclaw_protocol::{SessionMeta, StandingApproval, UserId};
use std::time::Duration;

const LEAVE_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List standing approvals for agents and sessions
    List(list::ListArgs),
    /// Revoke standing approvals for agents and sessions
    Revoke(revoke::RevokeArgs),
}

pub(crate) async fn run(command: ApprovalCommand, app: &mut App) -> Result<Outcome> {
    let assembled = assemble(app).await?;
    let outcome = match command {
        ApprovalCommand::List(args) => list::run(args, app, &assembled).await,
        ApprovalCommand::Revoke(args) => revoke::run(args, app, &assembled).await,
    };
    assembled.engine.shut_down(LEAVE_GRACE).await;
    assembled.admin.close().await;
    outcome.map(|()| Outcome::Done)
}

/// Whether it accepts all edits in the workspace.
pub(crate) fn accepts_edits(approval: &StandingApproval) -> bool {
    is_workspace(&approval.scope)
}

/// What it covers, for lists.
pub(crate) fn covers(lang: Lang, approval: &StandingApproval) -> String {
    let tool = match lang {
        Lang::En => &approval.tool_label.en,
        Lang::Zh => &approval.tool_label.zh,
    };
    scope_text(lang, &approval.scope, tool, &approval.sample)
}

/// A standing approval, and the session that it is valid in, unless it is valid for an agent.
struct Known {
    approval: StandingApproval,
    session: Option<SessionMeta>,
}

/// Those of a user, or of all users, newest first.
async fn known(app: &App, assembled: &Assembled, user: Option<&str>) -> Result<Vec<Known>> {
    let lang = app.lang;
    let store: &dyn AdminStore = &*assembled.admin;
    let user = match user {
        Some(name) => {
            let user = store.user_named(name).await;
            Some(user.map_err(|error| failure(lang, error))?.id)
        }
        None => None,
    };
    let of_agents = store.approvals(user.as_ref()).await;
    let of_agents = of_agents.map_err(|error| failure(lang, error))?;
    let of_sessions = assembled
        .engine
        .session_approvals(user.as_ref().map(UserId::as_str));
    let of_sessions = of_sessions.await.map_err(|error| {
        Failure::plain(lang.standing_approval(), in_language(lang, error.words()))
    })?;
    let of_agents = of_agents.into_iter().map(|approval| Known {
        approval,
        session: None,
    });
    let of_sessions = of_sessions.into_iter().flat_map(|(session, approvals)| {
        approvals.into_iter().map(move |approval| Known {
            approval,
            session: Some(session.clone()),
        })
    });
    let mut known: Vec<Known> = of_agents.chain(of_sessions).collect();
    known.sort_by_key(|known| std::cmp::Reverse(known.approval.granted_at));
    Ok(known)
}
