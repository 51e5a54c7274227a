//! Changes of the lists of sessions, on their way to the sockets that show them.
//!
//! A list event goes to every socket of its user, so what it costs grows with the sockets. The first
//! change of a session is sent at once; those that follow within a moment are merged into one event.

use crate::gateway::Shared;
use netaclaw_engine::ListSubscriber;
use netaclaw_protocol::{SessionId, SessionListItem};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// A session has one list event in this time at most.
const MERGE_FOR: Duration = Duration::from_millis(250);

/// The sessions that had an event a moment ago, each with what it has become since.
type Recent = Mutex<HashMap<SessionId, Option<SessionListItem>>>;

/// Brings changes of the lists to the sockets.
pub(crate) struct ListWatch {
    shared: Weak<Shared>,
    recent: Arc<Recent>,
}

impl ListWatch {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::downgrade(shared),
            recent: Arc::default(),
        }
    }
}

impl ListSubscriber for ListWatch {
    fn changed(&self, item: &SessionListItem) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let session = item.session.session_id.clone();
        match lock(&self.recent).entry(session.clone()) {
            Entry::Occupied(mut later) => {
                later.insert(Some(item.clone()));
                return;
            }
            Entry::Vacant(place) => place.insert(None),
        };
        shared.connections.tell_list(item);
        let following = follow(Arc::clone(&shared), Arc::clone(&self.recent), session);
        shared.jobs.spawn(following);
    }
}

/// Sends what a session has become, for as long as it keeps changing.
async fn follow(shared: Arc<Shared>, recent: Arc<Recent>, session: SessionId) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(MERGE_FOR) => {}
            // What changes at the end must not come too late.
            () = shared.shutdown.cancelled() => {}
        }
        let later = {
            let mut recent = lock(&recent);
            let later = recent.get_mut(&session).and_then(Option::take);
            if later.is_none() {
                recent.remove(&session);
            }
            later
        };
        match later {
            Some(item) => shared.connections.tell_list(&item),
            None => return,
        }
    }
}

fn lock(recent: &Recent) -> MutexGuard<'_, HashMap<SessionId, Option<SessionListItem>>> {
    // Each change under it is whole.
    recent.lock().unwrap_or_else(PoisonError::into_inner)
}
