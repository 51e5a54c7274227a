//! The events of one run, for clients that read them as a stream.

use netaclaw_engine::{EventGroup, EventKind, ServerEvent, Subscriber};
use tokio::sync::mpsc;

/// Events that wait. Deltas that do not fit are dropped: the entry carries the whole. A reliable
/// event that does not fit ends the stream, which the reader sees as an end without `done`.
const EVENTS_MAX: usize = 4096;
/// Room that deltas leave to reliable events, which are few: however slow a reader is, the end of
/// an answer with many words finds room.
const RELIABLE_ROOM: usize = 1024;

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
        let Some(sender) = events.as_ref() else {
            return;
        };
        let is_delta = event.kind == EventKind::Delta;
        if is_delta && sender.capacity() <= RELIABLE_ROOM {
            return;
        }
        if sender.try_send(event.clone()).is_err() && !is_delta {
            *events = None;
        }
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind) -> ServerEvent {
        ServerEvent::encode(&(), kind, EventGroup::Current)
    }

    #[test]
    fn a_flood_of_words_leaves_room_for_the_end() {
        let (feed, mut events) = RunFeed::new();
        for _ in 0..2 * EVENTS_MAX {
            feed.deliver(&event(EventKind::Delta));
        }
        for seq in 0..RELIABLE_ROOM as u64 {
            feed.deliver(&event(EventKind::Reliable { seq }));
        }
        let mut kinds = Vec::new();
        while let Ok(event) = events.try_recv() {
            kinds.push(event.kind);
        }
        let (deltas, reliable) = kinds.split_at(EVENTS_MAX - RELIABLE_ROOM);
        assert!(deltas.iter().all(|kind| *kind == EventKind::Delta));
        let seqs: Vec<EventKind> = (0..RELIABLE_ROOM as u64)
            .map(|seq| EventKind::Reliable { seq })
            .collect();
        assert_eq!(reliable, seqs, "all of them, in their order");
        feed.deliver(&event(EventKind::Delta));
        assert!(events.try_recv().is_ok(), "and then words again");
    }

    #[test]
    fn what_must_not_be_missed_and_finds_no_room_ends_the_stream() {
        let (feed, mut events) = RunFeed::new();
        for seq in 0..=EVENTS_MAX as u64 {
            feed.deliver(&event(EventKind::Reliable { seq }));
        }
        let mut count = 0;
        while events.try_recv().is_ok() {
            count += 1;
        }
        assert_eq!(count, EVENTS_MAX);
        assert_eq!(
            events.try_recv().err(),
            Some(mpsc::error::TryRecvError::Disconnected)
        );
    }
}
