//! `approval revoke`.

use crate::admin::failure;
use crate::app::App;
use crate::error::Result;
use clap::Args;
use netaclaw_admin::{Actor, AdminStore};
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct RevokeArgs {
    /// Id of the approval; see `netaclaw approval list`
    #[arg(value_name = "ID", required_unless_present = "all")]
    id: Option<String>,
    /// Revoke all standing approvals for agents
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Only those of this user
    #[arg(long, value_name = "NAME", requires = "all")]
    user: Option<String>,
}

pub(super) async fn run(args: RevokeArgs, app: &mut App, store: &dyn AdminStore) -> Result<()> {
    let lang = app.lang;
    let failed = |error| failure(lang, error);
    let user = match &args.user {
        Some(name) => Some(store.user_named(name).await.map_err(failed)?.id),
        None => None,
    };
    let ids: Vec<String> = match args.id {
        Some(id) => vec![id],
        None => {
            let known = store.approvals(user.as_ref()).await.map_err(failed)?;
            known.into_iter().map(|approval| approval.id).collect()
        }
    };
    let by = Actor::command_line();
    for id in &ids {
        store.revoke_approval(&by, None, id).await.map_err(failed)?;
    }
    Ok(writeln!(app.out, "{}", lang.approvals_revoked(ids.len()))?)
}
