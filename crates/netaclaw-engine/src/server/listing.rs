//! Session lists: their pages, and which sessions on them have changed.

use super::Engine;
use crate::error::EngineError;
use crate::session::durable::PersistedState;
use netaclaw_protocol::{SessionId, SessionInfo, SessionList, SessionListItem, SessionMeta};
use netaclaw_session::{PageRequest, SessionError, SessionFilter};
use std::sync::{Arc, PoisonError, RwLock};

/// Receives every session that is new or has changed, after the change is stored: what it reads
/// then is the current session. Called while the session is being written, so it must not block or
/// call back.
pub trait ListSubscriber: Send + Sync {
    fn changed(&self, owner: Option<&str>, session: &SessionId);
}

#[derive(Default)]
pub(crate) struct ListFeed {
    subscribers: RwLock<Vec<Arc<dyn ListSubscriber>>>,
}

impl ListFeed {
    pub(crate) fn subscribe(&self, subscriber: Arc<dyn ListSubscriber>) {
        let mut all = self
            .subscribers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(subscriber);
    }

    pub(crate) fn changed(&self, owner: Option<&str>, session: &SessionId) {
        // A list that panicked has missed a change; the others must not.
        let all = self
            .subscribers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        for subscriber in &*all {
            subscriber.changed(owner, session);
        }
    }
}

impl Engine {
    /// One page of a list over all providers, the last changed first. Each provider gives what
    /// could be on the page, and the newest of all are taken.
    pub async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: u32,
        size: u32,
    ) -> Result<SessionList, EngineError> {
        let providers = self.providers();
        let (items, total) = match &providers.mysql {
            None => {
                let request = PageRequest { page, size };
                let found = providers.file.list_sessions(filter, request).await?;
                (found.items, found.total)
            }
            Some(mysql) => {
                let first = PageRequest {
                    page: 1,
                    size: page.saturating_mul(size),
                };
                let files = providers.file.list_sessions(filter, first).await?;
                let rows = mysql.list_sessions(filter, first).await?;
                let mut items: Vec<SessionMeta> =
                    files.items.into_iter().chain(rows.items).collect();
                items.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
                let skipped = (page as usize - 1) * size as usize;
                let items = items.into_iter().skip(skipped).take(size as usize);
                (items.collect(), files.total + rows.total)
            }
        };
        Ok(SessionList {
            items: items.into_iter().map(|meta| self.list_item(meta)).collect(),
            page,
            size,
            total,
        })
    }

    /// A session as it is on a list now; `None` if it is not on it. The text of the filter is not
    /// looked at.
    pub async fn listed_session(
        &self,
        filter: &SessionFilter,
        session: &SessionId,
    ) -> Result<Option<SessionListItem>, EngineError> {
        for provider in self.inner.providers.all() {
            match provider.get_session(session).await {
                Ok(meta) => return Ok(filter.fits(&meta).then(|| self.list_item(meta))),
                Err(SessionError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Tells lists that a session is new or has changed.
    pub(crate) fn list_changed(&self, owner: Option<&str>, session: &SessionId) {
        self.inner.lists.changed(owner, session);
    }
}

/// Whether an actor of this process has the session. The run mark of a session without an actor
/// only means that the run was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Live,
    Resting,
}

pub(crate) fn list_item(
    meta: SessionMeta,
    durable: &PersistedState,
    liveness: Liveness,
) -> SessionListItem {
    SessionListItem {
        session: SessionInfo::from(meta),
        running: liveness == Liveness::Live && durable.run.is_some(),
        waiting: durable.is_waiting(),
        unread: durable.unread,
        queued: u32::try_from(durable.queue.len()).unwrap_or(u32::MAX),
    }
}
