//! Sessions as lists show them, and whoever keeps such lists.

use crate::session::durable::Durable;
use netaclaw_protocol::{SessionInfo, SessionListItem, SessionMeta};
use std::sync::{Arc, PoisonError, RwLock};

/// Hears of every session that is new, or looks different in a list. Called while the session is
/// being written: it must not block and must not call back.
pub trait ListSubscriber: Send + Sync {
    fn changed(&self, item: &SessionListItem);
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

    pub(crate) fn tell(&self, item: &SessionListItem) {
        // A list that panicked has missed a change; the others must not.
        let all = self
            .subscribers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        for subscriber in &*all {
            subscriber.changed(item);
        }
    }
}

/// Whether a session is in the hands of an actor of this process. The mark of a run that nobody
/// carries on says only that it was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Live,
    Resting,
}

pub(crate) fn list_item(
    meta: SessionMeta,
    durable: &Durable,
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

/// Whether two items look the same in a list. Counts and times change with every entry, and are
/// told with the next thing that can be seen.
pub(crate) fn looks_same(one: &SessionListItem, other: &SessionListItem) -> bool {
    fn seen(item: &SessionListItem) -> impl PartialEq {
        let SessionListItem {
            session,
            running,
            waiting,
            unread,
            queued,
        } = item;
        let words = (&session.title, &session.first_message, &session.agent_id);
        (words, session.status, (running, waiting, unread, queued))
    }
    seen(one) == seen(other)
}
