//! A partial answer on its way from its run to whoever keeps it.

use netaclaw_session::InFlightEntry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Made by the run, but only when it is wanted: a run that streams has better things to do than to
/// copy its answer for every piece of it.
#[derive(Default)]
pub(crate) struct Partial {
    place: Mutex<Place>,
    filled: Notify,
}

#[derive(Default)]
enum Place {
    #[default]
    Wanted,
    Filled(InFlightEntry),
    /// The last one was taken a moment ago.
    Resting,
}

impl Partial {
    /// Puts the answer there as it is now, if one is wanted.
    pub(crate) fn offer(&self, make: impl FnOnce() -> InFlightEntry) {
        let mut place = self.lock();
        if let Place::Wanted = *place {
            *place = Place::Filled(make());
            self.filled.notify_one();
        }
    }

    /// The answer is whole; what there was of it before is of no use any more.
    pub(crate) fn forget(&self) {
        let mut place = self.lock();
        if let Place::Filled(_) = *place {
            *place = Place::Wanted;
        }
    }

    /// Waits for one. The next is made after [`Partial::want`].
    pub(crate) async fn take(&self) -> InFlightEntry {
        loop {
            let filled = self.filled.notified();
            if let Some(entry) = self.try_take() {
                return entry;
            }
            filled.await;
        }
    }

    pub(crate) fn want(&self) {
        *self.lock() = Place::Wanted;
    }

    fn try_take(&self) -> Option<InFlightEntry> {
        let mut place = self.lock();
        match std::mem::replace(&mut *place, Place::Resting) {
            Place::Filled(entry) => Some(entry),
            other => {
                *place = other;
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        // The place is replaced as a whole.
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn each_one_that_is_wanted_is_newer_than_the_last() {
        let partial = Partial::default();
        assert_eq!(taken(&partial), None);
        partial.offer(|| answer("one"));
        partial.offer(|| unreachable!("one is there already"));
        assert_eq!(taken(&partial).as_deref(), Some("\"one\""));
        partial.offer(|| unreachable!("none is wanted yet"));
        assert_eq!(taken(&partial), None);
        partial.want();
        partial.offer(|| answer("one two"));
        assert_eq!(taken(&partial).as_deref(), Some("\"one two\""));
    }

    #[test]
    fn a_whole_answer_leaves_nothing_behind() {
        let partial = Partial::default();
        partial.offer(|| answer("one"));
        partial.forget();
        assert_eq!(taken(&partial), None);
        partial.offer(|| answer("the next answer"));
        assert!(taken(&partial).is_some());
    }
}
