//! A lock for each session, so that it is opened or evicted by one task at a time. Sessions do not
//! wait for each other.

use netaclaw_protocol::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// Beyond it, unused locks are removed before a new one is created.
const TIDY: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct SessionLocks {
    by_session: Mutex<HashMap<SessionId, Weak<Gate<()>>>>,
}

impl SessionLocks {
    /// Waits until no other task holds this session's lock.
    pub(crate) async fn pass(&self, session: &SessionId) -> OwnedMutexGuard<()> {
        self.gate(session).lock_owned().await
    }

    fn gate(&self, session: &SessionId) -> Arc<Gate<()>> {
        // A map is whole between any two of its operations.
        let mut session_locks = self
            .by_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = session_locks.get(session).and_then(Weak::upgrade) {
            return gate;
        }
        if session_locks.len() >= TIDY {
            session_locks.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::default();
        session_locks.insert(session.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn one_at_a_time_and_sessions_apart() {
        let session_locks = SessionLocks::default();
        let (a, b) = (SessionId::new("a"), SessionId::new("b"));
        let inside = session_locks.pass(&a).await;
        assert!(session_locks.pass(&a).now_or_never().is_none());
        assert!(session_locks.pass(&b).now_or_never().is_some());
        drop(inside);
        assert!(session_locks.pass(&a).now_or_never().is_some());
    }

    #[tokio::test]
    async fn gates_do_not_pile_up() {
        let session_locks = SessionLocks::default();
        let kept = session_locks.pass(&SessionId::new("kept")).await;
        for at in 0..10 * TIDY {
            drop(session_locks.pass(&SessionId::new(at.to_string())).await);
        }
        assert!(session_locks.by_session.lock().unwrap().len() <= TIDY);
        assert!(
            session_locks
                .pass(&SessionId::new("kept"))
                .now_or_never()
                .is_none()
        );
        drop(kept);
    }
}
