//! An answer while it is being streamed.

use super::journal::JOURNAL_INTERVAL;
use super::open::{InFlight, Slot, State};
use crate::blocking;
use netaclaw_session::{Entry, SessionError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Whether what is in flight has to be journalled at once.
pub(super) enum Due {
    Now,
    Later,
}

/// Takes in what has been streamed so far. Its first piece is journalled at once, what follows
/// when the interval is over.
pub(super) fn stream(
    slot: &Arc<Slot>,
    state: &mut State,
    entry: Entry,
) -> Result<Due, SessionError> {
    state.check_alive(&slot.id)?;
    if state.tree.contains(entry.id()) {
        let (session, entry) = (slot.id.clone(), entry.id().clone());
        return Err(SessionError::DuplicateEntry { session, entry });
    }
    match &mut state.in_flight {
        Some(known) if known.entry.id() == entry.id() => {
            known.entry = entry;
            let waited = known.journalled.elapsed();
            if waited >= JOURNAL_INTERVAL {
                known.journalled = Instant::now();
                return Ok(Due::Now);
            }
            if known.job.as_ref().is_none_or(JoinHandle::is_finished) {
                let job = journal_later(Arc::downgrade(slot), JOURNAL_INTERVAL - waited);
                known.job = Some(tokio::spawn(job));
            }
            Ok(Due::Later)
        }
        other => {
            slot.journal.begin(entry.id().clone());
            *other = Some(InFlight {
                entry,
                journalled: Instant::now(),
                job: None,
            });
            Ok(Due::Now)
        }
    }
}

/// Waits its time, then journals what is in flight by then. It does not keep the session open.
async fn journal_later(slot: Weak<Slot>, wait: Duration) {
    tokio::time::sleep(wait).await;
    let Some(slot) = slot.upgrade() else { return };
    let entry = slot.state().as_mut().and_then(|state| {
        let in_flight = state.in_flight.as_mut()?;
        in_flight.journalled = Instant::now();
        Some(in_flight.entry.clone())
    });
    if let Some(entry) = entry
        && !slot.journal.add(&entry)
        && let Err(error) = blocking(move || slot.journal.write(&entry)).await
    {
        tracing::warn!(%error, "failed to write the journal of an answer");
    }
}
