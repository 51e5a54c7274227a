//! The last reliable events of a session, for clients that were briefly disconnected.

use crate::events::event::{EventKind, ServerEvent};
use std::collections::VecDeque;

/// Kept at least, unless their bytes are over the limit.
const EVENTS_MAX: usize = 2048;
/// Beyond this the oldest are forgotten; who needs them gets a snapshot.
const BYTES_MAX: usize = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct ReplayRing {
    events: VecDeque<ServerEvent>,
    bytes: usize,
}

impl ReplayRing {
    pub(crate) fn push(&mut self, event: ServerEvent) {
        self.bytes += event.json.get().len();
        self.events.push_back(event);
        while self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.json.get().len();
        }
    }

    /// The events after `last_seq`, or `None` if some of them are forgotten already.
    pub(crate) fn since(&self, last_seq: u64, head_seq: u64) -> Option<Vec<ServerEvent>> {
        if last_seq > head_seq {
            return None;
        }
        let missing = usize::try_from(head_seq - last_seq).ok()?;
        let from = self.events.len().checked_sub(missing)?;
        let replay: Vec<ServerEvent> = self.events.iter().skip(from).cloned().collect();
        let contiguous = replay
            .iter()
            .zip(last_seq + 1..)
            .all(|(event, seq)| event.kind == EventKind::Reliable { seq });
        contiguous.then_some(replay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::event::EventGroup;

    fn event(seq: u64, bytes: usize) -> ServerEvent {
        let payload = "x".repeat(bytes);
        let kind = EventKind::Reliable { seq };
        ServerEvent::encode("done", &payload, kind, EventGroup::Current)
    }

    fn seqs(ring: &ReplayRing, last: u64, head: u64) -> Option<Vec<u64>> {
        let events = ring.since(last, head)?;
        let seq = |event: ServerEvent| match event.kind {
            EventKind::Reliable { seq } => seq,
            EventKind::Delta => 0,
        };
        Some(events.into_iter().map(seq).collect())
    }

    #[test]
    fn what_was_missed_is_replayed_or_a_snapshot_is_needed() {
        let mut ring = ReplayRing::default();
        for seq in 1..=3000 {
            ring.push(event(seq, 10));
        }
        assert_eq!(seqs(&ring, 3000, 3000), Some(vec![]));
        assert_eq!(seqs(&ring, 2998, 3000), Some(vec![2999, 3000]));
        assert_eq!(seqs(&ring, 952, 3000).map(|all| all.len()), Some(2048));
        assert_eq!(seqs(&ring, 951, 3000), None);
        assert_eq!(seqs(&ring, 3001, 3000), None, "a number from the future");
    }

    #[test]
    fn large_events_are_forgotten_earlier() {
        let mut ring = ReplayRing::default();
        for seq in 1..=20 {
            ring.push(event(seq, 1 << 20));
        }
        assert_eq!(seqs(&ring, 10, 20), None);
        assert_eq!(seqs(&ring, 15, 20).map(|all| all.len()), Some(5));
    }
}
