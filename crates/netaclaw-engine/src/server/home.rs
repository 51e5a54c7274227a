//! How a live session is evicted.

use super::Inner;
use crate::session::command::Mail;
use netaclaw_protocol::SessionId;
use std::sync::Weak;
use tokio::sync::{OwnedMutexGuard, mpsc};

/// Where a live session belongs.
pub(crate) struct Home {
    pub(super) engine: Weak<Inner>,
    pub(super) session: SessionId,
}

/// A session that is being evicted. It is not opened again before this is dropped.
pub(crate) struct Leaving {
    _gate: Option<OwnedMutexGuard<()>>,
}

impl Home {
    /// Evicts the session, unless a command for it is queued or about to be. From then on no
    /// command can be queued: a caller that needs the session waits, and opens it anew.
    pub(crate) async fn leave(&self, mailbox: &mpsc::Receiver<Mail>) -> Option<Leaving> {
        let Some(engine) = self.engine.upgrade() else {
            return Some(Leaving { _gate: None });
        };
        let gate = engine.gates.pass(&self.session).await;
        let mut sessions = engine.sessions();
        // Mailboxes are handed out under this lock, so that one sender is the one in the map.
        let wanted = mailbox.sender_strong_count() > 1 || !mailbox.is_empty();
        if wanted {
            return None;
        }
        sessions.remove(&self.session);
        Some(Leaving { _gate: Some(gate) })
    }

    /// Evicts the session at once, even with queued commands: this process does not own it now. It
    /// is not claimed anew before this is dropped, so that nothing that still runs here writes
    /// under a new claim.
    pub(crate) async fn abandon(&self, mailbox: &mut mpsc::Receiver<Mail>) -> Leaving {
        let Some(engine) = self.engine.upgrade() else {
            return Leaving { _gate: None };
        };
        // First the gate: a mailbox that is closed would send others past it.
        let gate = engine.gates.pass(&self.session).await;
        mailbox.close();
        engine.sessions().remove(&self.session);
        Leaving { _gate: Some(gate) }
    }
}
