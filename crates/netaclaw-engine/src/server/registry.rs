//! Registry of live sessions: opening and eviction.

use super::Inner;
use crate::session::command::ActorMessage;
use netaclaw_protocol::SessionId;
use std::sync::Weak;
use tokio::sync::{OwnedMutexGuard, mpsc};

/// Where a live session belongs.
pub(crate) struct RegistryHandle {
    pub(super) engine: Weak<Inner>,
    pub(super) session: SessionId,
}

/// A session that is being evicted. It is not opened again before this is dropped.
pub(crate) struct Eviction {
    _gate: Option<OwnedMutexGuard<()>>,
}

impl RegistryHandle {
    /// Evicts the session, unless a command for it is queued or about to be. From then on no
    /// command can be queued: a caller that needs the session waits, and opens it anew.
    pub(crate) async fn leave(&self, mailbox: &mpsc::Receiver<ActorMessage>) -> Option<Eviction> {
        let Some(engine) = self.engine.upgrade() else {
            return Some(Eviction { _gate: None });
        };
        let gate = engine.session_locks.pass(&self.session).await;
        let mut sessions = engine.sessions();
        // Mailboxes are handed out under this lock, so that one sender is the one in the map.
        let wanted = mailbox.sender_strong_count() > 1 || !mailbox.is_empty();
        if wanted {
            return None;
        }
        sessions.remove(&self.session);
        Some(Eviction { _gate: Some(gate) })
    }

    /// Evicts the session at once, even with queued commands: this process does not own it now. It
    /// is not claimed anew before this is dropped, so that nothing that still runs here writes
    /// under a new claim.
    pub(crate) async fn abandon(&self, mailbox: &mut mpsc::Receiver<ActorMessage>) -> Eviction {
        let Some(engine) = self.engine.upgrade() else {
            return Eviction { _gate: None };
        };
        // First the gate: a mailbox that is closed would send others past it.
        let gate = engine.session_locks.pass(&self.session).await;
        mailbox.close();
        engine.sessions().remove(&self.session);
        Eviction { _gate: Some(gate) }
    }
}
