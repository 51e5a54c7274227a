//! A lock for each session, so that it is opened or evicted by one task at a time. Sessions do not
//! wait for each other.

use netaclaw_protocol::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// Beyond it, unused locks are removed before a new one is created.
const TIDY: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Gates {
    by_session: Mutex<HashMap<SessionId, Weak<Gate<()>>>>,
}

impl Gates {
    /// Waits until no other task holds this session's lock.
    pub(crate) async fn pass(&self, session: &SessionId) -> OwnedMutexGuard<()> {
        self.gate(session).lock_owned().await
    }

    fn gate(&self, session: &SessionId) -> Arc<Gate<()>> {
        // A map is whole between any two of its operations.
        let mut gates = self
            .by_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(session).and_then(Weak::upgrade) {
            return gate;
        }
        if gates.len() >= TIDY {
            gates.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::default();
        gates.insert(session.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn one_at_a_time_and_sessions_apart() {
        let gates = Gates::default();
        let (a, b) = (SessionId::new("a"), SessionId::new("b"));
        let inside = gates.pass(&a).await;
        assert!(gates.pass(&a).now_or_never().is_none());
        assert!(gates.pass(&b).now_or_never().is_some());
        drop(inside);
        assert!(gates.pass(&a).now_or_never().is_some());
    }

    #[tokio::test]
    async fn gates_do_not_pile_up() {
        let gates = Gates::default();
        let kept = gates.pass(&SessionId::new("kept")).await;
        for at in 0..10 * TIDY {
            drop(gates.pass(&SessionId::new(at.to_string())).await);
        }
        assert!(gates.by_session.lock().unwrap().len() <= TIDY);
        assert!(gates.pass(&SessionId::new("kept")).now_or_never().is_none());
        drop(kept);
    }
}
