//! The events of one run, for clients that read them as a stream.

use netaclaw_engine::{EventGroup, ServerEvent, Subscriber, TypedEvent};
use netaclaw_protocol::{DeltaEvent, PartDelta, ReliableEvent};
use tokio::sync::mpsc;

/// Events that wait. Deltas that do not fit are dropped: the entry carries the whole. A reliable
/// event that does not fit ends the stream, which the reader sees as an end without `done`.
const EVENTS_MAX: usize = 4096;
/// Room that deltas leave to reliable events, which are few: however slow a reader is, the end of
/// an answer with many words finds room.
const RELIABLE_ROOM: usize = 1024;

/// An event that concerns the reader of an answer.
#[derive(Debug)]
pub(super) enum RunEvent {
    Text(PartDelta),
    Reliable(Box<ReliableEvent>),
}

pub(super) struct RunFeed {
    events: std::sync::Mutex<Option<mpsc::Sender<RunEvent>>>,
}

impl RunFeed {
    pub(super) fn new() -> (Self, mpsc::Receiver<RunEvent>) {
        let (events, receiver) = mpsc::channel(EVENTS_MAX);
        let events = std::sync::Mutex::new(Some(events));
        (Self { events }, receiver)
    }
}

impl Subscriber for RunFeed {
    fn deliver(&self, _: &ServerEvent) {}

    fn observe(&self, event: TypedEvent<'_>) {
        // The sender is replaced as a whole.
        let mut events = self
            .events
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(sender) = events.as_ref() else {
            return;
        };
        match event {
            TypedEvent::Delta(DeltaEvent::AssistantStreamDelta(delta)) => {
                if sender.capacity() > RELIABLE_ROOM {
                    // There is room, as nothing else sends here.
                    drop(sender.try_send(RunEvent::Text(delta.clone())));
                }
            }
            TypedEvent::Delta(_) => {}
            TypedEvent::Reliable(
                event @ (ReliableEvent::SessionEntryAdded(_)
                | ReliableEvent::ClarifyRequest(_)
                | ReliableEvent::ApprovalRequest(_)
                | ReliableEvent::Error(_)
                | ReliableEvent::Done(_)),
            ) => {
                let event = RunEvent::Reliable(Box::new(event.clone()));
                if sender.try_send(event).is_err() {
                    *events = None;
                }
            }
            TypedEvent::Reliable(_) => {}
        }
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{Done, EntryId, PartKind, RunId, RunOutcome};

    fn text() -> DeltaEvent {
        DeltaEvent::AssistantStreamDelta(PartDelta {
            run_id: RunId::new("r"),
            entry_id: EntryId::new("e"),
            part: 0,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset: 0,
            text: "word".to_owned(),
        })
    }

    fn reliable() -> ReliableEvent {
        ReliableEvent::Done(Done {
            run_id: RunId::new("r"),
            outcome: RunOutcome::Completed,
            reason: None,
            trouble: None,
        })
    }

    #[test]
    fn a_flood_of_words_leaves_room_for_the_end() {
        let (feed, mut events) = RunFeed::new();
        for _ in 0..2 * EVENTS_MAX {
            feed.observe(TypedEvent::Delta(&text()));
        }
        for _ in 0..RELIABLE_ROOM {
            feed.observe(TypedEvent::Reliable(&reliable()));
        }
        let mut received = Vec::new();
        while let Ok(event) = events.try_recv() {
            received.push(event);
        }
        let (words, rest) = received.split_at(EVENTS_MAX - RELIABLE_ROOM);
        let is_text = |event: &RunEvent| matches!(event, RunEvent::Text(_));
        assert!(words.iter().all(is_text));
        assert_eq!(rest.len(), RELIABLE_ROOM, "all of them");
        assert!(!rest.iter().any(is_text), "behind the words");
        feed.observe(TypedEvent::Delta(&text()));
        assert!(events.try_recv().is_ok(), "and then words again");
    }

    #[test]
    fn what_must_not_be_missed_and_finds_no_room_ends_the_stream() {
        let (feed, mut events) = RunFeed::new();
        for _ in 0..=EVENTS_MAX {
            feed.observe(TypedEvent::Reliable(&reliable()));
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
