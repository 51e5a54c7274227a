//! A partial answer, passed from its run to the task that stores it.

use netaclaw_protocol::{EntryId, Message};
use netaclaw_runtime::AnswerSoFar;
use netaclaw_session::{InFlightEntry, raw_json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Room for one: a newer one takes the place of one that was not taken yet.
pub(crate) struct PartialSlot<T> {
    newest: Mutex<Option<T>>,
    filled: Notify,
}

/// An answer that grows, and where it hangs. It is written as JSON only when it is kept.
pub(crate) struct PartialAnswer {
    pub(crate) so_far: AnswerSoFar,
    pub(crate) parent_id: Option<EntryId>,
}

impl PartialAnswer {
    pub(crate) fn into_entry(self) -> InFlightEntry {
        let message = Message::Assistant(self.so_far.to_interrupted_message());
        InFlightEntry {
            id: self.so_far.id().clone(),
            parent_id: self.parent_id,
            message: raw_json(&message),
        }
    }
}

impl<T> Default for PartialSlot<T> {
    fn default() -> Self {
        Self {
            newest: Mutex::new(None),
            filled: Notify::new(),
        }
    }
}

impl<T> PartialSlot<T> {
    pub(crate) fn put(&self, newest: T) {
        *self.lock() = Some(newest);
        self.filled.notify_one();
    }

    /// The answer is complete: a partial one is obsolete.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// Waits for one.
    pub(crate) async fn take(&self) -> T {
        loop {
            let filled = self.filled.notified();
            if let Some(newest) = self.lock().take() {
                return newest;
            }
            filled.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        // The place is replaced as a whole.
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn the_newest_is_taken_once() {
        let partial = PartialSlot::default();
        assert_eq!(partial.take().now_or_never(), None);
        partial.put("one");
        partial.put("one two");
        assert_eq!(partial.take().now_or_never(), Some("one two"));
        assert_eq!(partial.take().now_or_never(), None);
    }

    #[test]
    fn a_whole_answer_leaves_nothing_behind() {
        let partial = PartialSlot::default();
        partial.put("one");
        partial.forget();
        assert_eq!(partial.take().now_or_never(), None);
        partial.put("the next answer");
        assert!(partial.take().now_or_never().is_some());
    }
}
