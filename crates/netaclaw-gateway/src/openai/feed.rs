//! The events of one run, for whoever reads them as a stream.

use netaclaw_engine::{EventGroup, EventKind, ServerEvent, Subscriber};
use tokio::sync::mpsc;

/// Events that wait. Deltas that do not fit are dropped: the entry carries the whole. A reliable
/// event that does not fit ends the stream, which the reader sees as an end without `done`.
const EVENTS_MAX: usize = 4096;

pub(super) struct RunFeed {
    events: std::sync::Mutex<Option<mpsc::Sender<ServerEvent>>>,
}

impl RunFeed {
    pub(super) fn new() -> (Self, mpsc::Receiver<ServerEvent>) {
        let (events, receiver) = mpsc::channel(EVENTS_MAX);
        let events = std::sync::Mutex::new(Some(events));
        (Self { events }, receiver)
    }
}

impl Subscriber for RunFeed {
    fn deliver(&self, event: &ServerEvent) {
        // The sender is replaced as a whole.
        let mut events = self
            .events
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let full = events
            .as_ref()
            .is_some_and(|events| events.try_send(event.clone()).is_err());
        if full && event.kind != EventKind::Delta {
            *events = None;
        }
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}
