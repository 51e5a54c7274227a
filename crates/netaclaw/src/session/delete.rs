//! `session delete` and `session undelete`.

use super::source;
use super::stores::Stores;
use crate::app::App;
use crate::config::Retention;
use crate::error::{Failure, Result};
use clap::Args;
use netaclaw_engine::ProcessLogs;
use netaclaw_session::{SessionError, SessionId, SessionPatch, SessionStatus};
use netaclaw_store::FileProcessLogs;
use std::io::Write;

#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    /// Session id, or the start of one; the full id of a deleted session
    #[arg(value_name = "ID")]
    session: String,
    /// Delete permanently, with its logs; it cannot be restored
    #[arg(long)]
    now: bool,
    /// Storage: file or mysql
    #[arg(long)]
    provider: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct UndeleteArgs {
    /// Full id of a deleted session
    #[arg(value_name = "ID")]
    session: String,
    /// Storage: file or mysql
    #[arg(long)]
    provider: Option<String>,
}

pub(crate) async fn delete(args: DeleteArgs, app: &mut App) -> Result<()> {
    let lang = app.lang;
    let failed = |error| Failure::session(lang, error);
    let stores = Stores::new(app, args.provider.as_deref())?;
    let now = args.now || stores.config.retention == Retention::Days(0);
    let deleted = match now {
        true => source::find_deleted(lang, &stores, &args.session).await?,
        false => None,
    };
    let found = match deleted {
        Some(found) => found,
        None => source::find(lang, &stores, &args.session).await?,
    };
    let (provider, id) = (&found.provider, found.id());
    if found.meta.status != SessionStatus::Deleted {
        provider.delete_session(id).await.map_err(failed)?;
    }
    let logs = FileProcessLogs::new(stores.config.process_logs_dir());
    let removed = logs.remove(id).await;
    removed.map_err(|error| Failure::io(lang, lang.session_named(id), &error))?;
    if now {
        provider.purge_session(id, None).await.map_err(failed)?;
    }
    let said = match now {
        true => lang.session_purged(id),
        false => lang.session_deleted(id),
    };
    Ok(writeln!(app.out, "{said}")?)
}

pub(crate) async fn undelete(args: UndeleteArgs, app: &mut App) -> Result<()> {
    let lang = app.lang;
    let failed = |error| Failure::session(lang, error);
    let stores = Stores::new(app, args.provider.as_deref())?;
    let found = source::find_deleted(lang, &stores, &args.session).await?;
    let missing = || SessionError::NotFound(SessionId::new(args.session.as_str()));
    let found = found.ok_or_else(|| failed(missing()))?;
    let patch = SessionPatch {
        status: Some(SessionStatus::Active),
        ..SessionPatch::default()
    };
    let (provider, id) = (&found.provider, found.id());
    provider.update_session(id, patch).await.map_err(failed)?;
    provider.release(id).await.map_err(failed)?;
    Ok(writeln!(app.out, "{}", lang.session_undeleted(id))?)
}
