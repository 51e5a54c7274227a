//! `approval revoke`.

use super::{Known, known};
use crate::admin::failure;
use crate::app::App;
use crate::assemble::Assembled;
use crate::chat::caller;
use crate::error::{Failure, Result, in_language};
use clap::Args;
use netaclaw_admin::{Actor, AdminStore};
use netaclaw_engine::EngineError;
use netaclaw_protocol::{RevokeApproval, SessionId};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct RevokeArgs {
    /// Id of the approval; see `netaclaw approval list`
    #[arg(value_name = "ID", required_unless_present = "all")]
    id: Option<String>,
    /// Revoke all standing approvals
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Only those of this user
    #[arg(long, value_name = "NAME", requires = "all")]
    user: Option<String>,
}

pub(super) async fn run(args: RevokeArgs, app: &mut App, assembled: &Assembled) -> Result<()> {
    let mut known = known(app, assembled, args.user.as_deref()).await?;
    if let Some(id) = &args.id {
        known.retain(|known| known.approval.id == *id);
        if known.is_empty() {
            // The store says that it does not know it.
            revoke_for_agent(app, assembled, id).await?;
        }
    }
    for known in &known {
        let Known { approval, session } = known;
        match session {
            Some(session) => {
                revoke_in_session(app, assembled, &session.session_id, &approval.id).await
            }
            None => revoke_for_agent(app, assembled, &approval.id).await,
        }?;
    }
    let count = known.len();
    Ok(writeln!(app.out, "{}", app.lang.approvals_revoked(count))?)
}

async fn revoke_for_agent(app: &App, assembled: &Assembled, id: &str) -> Result<()> {
    let by = Actor::command_line();
    let store: &dyn AdminStore = &*assembled.admin;
    let revoked = store.revoke_approval(&by, None, id).await;
    revoked.map(drop).map_err(|error| failure(app.lang, error))
}

async fn revoke_in_session(
    app: &App,
    assembled: &Assembled,
    session: &SessionId,
    id: &str,
) -> Result<()> {
    let lang = app.lang;
    let caller = caller(lang, &*assembled.admin).await?;
    let revoke = RevokeApproval {
        session_id: session.clone(),
        approval_id: id.to_owned(),
        request_id: None,
    };
    let revoked = assembled.engine.execute(&caller, revoke).await;
    revoked.map(drop).map_err(|error| match error {
        EngineError::Busy(_) => Failure::new(
            lang.session_named(session),
            lang.chat_elsewhere(),
            lang.approval_revoke_there(),
        ),
        error => Failure::plain(
            lang.session_named(session),
            in_language(lang, error.words()),
        ),
    })
}
