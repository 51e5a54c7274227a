//! A partial answer on its way from its run to whoever keeps it.

use netaclaw_session::InFlightEntry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Room for one: a newer one takes the place of one that nobody has taken yet.
#[derive(Default)]
pub(crate) struct Partial {
    newest: Mutex<Option<InFlightEntry>>,
    filled: Notify,
}

impl Partial {
    pub(crate) fn put(&self, entry: InFlightEntry) {
        *self.lock() = Some(entry);
        self.filled.notify_one();
    }

    /// The answer is whole; what there was of it before is of no use any more.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// Waits for one.
    pub(crate) async fn take(&self) -> InFlightEntry {
        loop {
            let filled = self.filled.notified();
            if let Some(entry) = self.lock().take() {
                return entry;
            }
            filled.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<InFlightEntry>> {
        // The place is replaced as a whole.
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use netaclaw_session::raw_json;

    fn answer(text: &str) -> InFlightEntry {
        InFlightEntry {
            id: "a".into(),
            parent_id: None,
            message: raw_json(&text),
        }
    }

    fn taken(partial: &Partial) -> Option<String> {
        let entry = partial.take().now_or_never()?;
        Some(entry.message.get().to_owned())
    }

    #[test]
    fn the_newest_is_taken_once() {
        let partial = Partial::default();
        assert_eq!(taken(&partial), None);
        partial.put(answer("one"));
        partial.put(answer("one two"));
        assert_eq!(taken(&partial).as_deref(), Some("\"one two\""));
        assert_eq!(taken(&partial), None);
    }

    #[test]
    fn a_whole_answer_leaves_nothing_behind() {
        let partial = Partial::default();
        partial.put(answer("one"));
        partial.forget();
        assert_eq!(taken(&partial), None);
        partial.put(answer("the next answer"));
        assert!(taken(&partial).is_some());
    }
}
