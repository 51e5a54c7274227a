//! Deleted sessions: removed for good, on demand and when their retention period is over.

use super::{Caller, Engine};
use crate::error::EngineError;
use crate::server::UpdateSession;
use crate::session::command::ActorMessage;
use netaclaw_protocol::{Busy, Conflict, SessionChange, SessionId, SessionStatus};
use netaclaw_session::{
    PageRequest, SessionError, SessionFilter, SessionTreeProvider, is_purgeable,
};
use std::sync::Arc;
use tokio::sync::oneshot;

const PAGE_SIZE: u32 = 200;

impl Engine {
    /// Deletes a session for good, with its process logs. A run ends first. Uploads stay: other
    /// sessions of their owner may refer to the same file.
    pub async fn purge(&self, caller: &Caller, session: &SessionId) -> Result<(), EngineError> {
        let (provider, meta) = self.inner.providers.find_any(caller, session).await?;
        if meta.status != SessionStatus::Deleted {
            let change = SessionChange {
                status: Some(SessionStatus::Deleted),
                ..SessionChange::default()
            };
            let deletion = UpdateSession {
                session_id: session.clone(),
                change: change.clone(),
            };
            let deleted = self.update(caller, deletion, session, change, |item| item);
            deleted.await?;
        }
        match self.purge_found(provider, session, None).await? {
            true => Ok(()),
            false => Err(Conflict::SessionRestored.into()),
        }
    }

    /// Purges what was deleted before a time, one session after the other. What is busy or fails is
    /// left for the next time. Returns how many were purged.
    pub async fn purge_deleted(&self, deleted_before: &str) -> u64 {
        let providers = self.providers();
        let mut purged = 0;
        for provider in providers.all() {
            let due = match due(&**provider, deleted_before).await {
                Ok(due) => due,
                Err(error) => {
                    tracing::warn!(%error, "failed to list deleted sessions");
                    continue;
                }
            };
            for session in due {
                if self.is_closing() {
                    return purged;
                }
                let done = self.purge_found(provider, &session, Some(deleted_before));
                match done.await {
                    Ok(true) => purged += 1,
                    // Restored, or purged by another process.
                    Ok(false) | Err(EngineError::NoSession) => {}
                    Err(error) => {
                        tracing::warn!(
                            session.id = %session,
                            %error,
                            "failed to delete a session permanently; the next sweep retries"
                        );
                    }
                }
            }
        }
        purged
    }

    /// Purges a session that is deleted. A live one is evicted first, so that nothing of it stays
    /// in memory and nothing writes to it.
    pub(super) async fn purge_found(
        &self,
        provider: &Arc<dyn SessionTreeProvider>,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool, EngineError> {
        if let Some(mailbox) = self.mailbox(session) {
            let (reply, answer) = oneshot::channel();
            // A session that ends at this moment is evicted either way.
            if mailbox.send(ActorMessage::PutAway(reply)).await.is_ok()
                && let Ok(refused) = answer.await
            {
                refused?;
            }
        }
        let _gate = self.inner.session_locks.pass(session).await;
        if self.mailbox(session).is_some() {
            return Err(Busy::OpenedAgain.into());
        }
        let meta = provider.get_session(session).await?;
        if !is_purgeable(&meta, deleted_before) {
            return Ok(false);
        }
        // Before the session: a purge that is interrupted here is repeated as a whole.
        if let Some(logs) = &self.inner.beside.logs {
            let removed = logs.remove(session).await;
            removed.map_err(|error| EngineError::Internal(Box::new(error)))?;
        }
        let purged = provider.purge_session(session, deleted_before).await?;
        self.list_changed(meta.user_id.as_deref(), session);
        Ok(purged)
    }
}

async fn due(
    provider: &dyn SessionTreeProvider,
    deleted_before: &str,
) -> Result<Vec<SessionId>, SessionError> {
    let filter = SessionFilter {
        status: Some(SessionStatus::Deleted),
        ..SessionFilter::default()
    };
    let mut due = Vec::new();
    for page in 1.. {
        let size = PAGE_SIZE;
        let listed = provider.list_sessions(&filter, PageRequest { page, size });
        let listed = listed.await?.items;
        let is_last = listed.len() < PAGE_SIZE as usize;
        let purgeable = listed
            .into_iter()
            .filter(|meta| is_purgeable(meta, Some(deleted_before)));
        due.extend(purgeable.map(|meta| meta.session_id));
        if is_last {
            break;
        }
    }
    Ok(due)
}
