//! What dead processes left unfinished, found at startup rather than when a user opens the session.

use crate::error::EngineError;
use crate::server::Engine;
use crate::session::durable::{KEY, PersistedState};
use futures::StreamExt;
use netaclaw_protocol::{SessionId, SessionMeta};
use netaclaw_session::{PageRequest, SessionError, SessionFilter, SessionTreeProvider};
use std::sync::Arc;

/// Sessions that are opened at the same time; users open theirs concurrently.
const OPENED_AT_ONCE: usize = 4;
const PAGE_SIZE: u32 = 500;

/// Opens every unfinished session, and no other. An error if not all stores could be searched.
pub(crate) async fn sweep(engine: &Engine) -> Result<(), SessionError> {
    let providers = engine.providers();
    let mut swept = Ok(());
    for provider in providers.all() {
        if let Err(error) = sweep_one(engine, provider).await {
            swept = Err(error);
        }
    }
    swept.inspect_err(|error| tracing::warn!(%error, "failed to look for interrupted sessions"))
}

/// Removes files that killed processes left. What cannot be removed is logged and stays.
pub(crate) async fn remove_leftovers(engine: &Engine) {
    for provider in engine.providers().all() {
        if let Err(error) = provider.remove_leftovers().await {
            tracing::warn!(%error, "failed to remove files that dead processes left beside \
                                    sessions");
        }
    }
    if let Some(files) = engine.attachments()
        && let Err(error) = files.remove_leftovers().await
    {
        tracing::warn!(%error, "failed to remove uploads that dead processes left");
    }
}

/// The same, in one place.
pub(crate) async fn sweep_one(
    engine: &Engine,
    provider: &Arc<dyn SessionTreeProvider>,
) -> Result<(), SessionError> {
    let left = unfinished(&**provider).await?;
    let open = |session: SessionId| open(engine, provider, session);
    futures::stream::iter(left)
        .for_each_concurrent(OPENED_AT_ONCE, open)
        .await;
    Ok(())
}

async fn unfinished(provider: &dyn SessionTreeProvider) -> Result<Vec<SessionId>, SessionError> {
    let filter = SessionFilter {
        metadata_key: Some(KEY.to_owned()),
        ..SessionFilter::default()
    };
    // Whether another process has it shows when it is opened: then it is busy.
    let left = |session: &SessionMeta| PersistedState::read(session).is_unfinished();
    let mut found = Vec::new();
    for page in 1.. {
        let request = PageRequest {
            page,
            size: PAGE_SIZE,
        };
        let sessions = provider.list_sessions(&filter, request).await?.items;
        let last = sessions.len() < PAGE_SIZE as usize;
        found.extend(
            sessions
                .into_iter()
                .filter(left)
                .map(|session| session.session_id),
        );
        if last {
            break;
        }
    }
    Ok(found)
}

async fn open(engine: &Engine, provider: &Arc<dyn SessionTreeProvider>, session: SessionId) {
    if engine.is_closing() {
        return;
    }
    match engine.live(&session, provider).await {
        Ok(_) => tracing::info!(session.id = %session, "completed an interrupted session"),
        Err(EngineError::Busy(why)) => {
            tracing::debug!(
                session.id = %session,
                %why,
                "skipped an unfinished session of another process"
            );
        }
        Err(error) => {
            tracing::warn!(session.id = %session, %error, "failed to open an interrupted session");
        }
    }
}
