//! Events as they leave a session: encoded once, shared by every subscriber.

use netaclaw_protocol::{DeltaEvent, Envelope, LegacyEvent, ReliableEvent, SessionId};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One event, ready for the wire.
#[derive(Clone, Debug)]
pub struct ServerEvent {
    /// The Socket.IO event name, which is also the `type` of the payload.
    pub name: &'static str,
    /// The payload: `{ type, data, sessionId, seq?, epoch, ts }`.
    pub json: Arc<RawValue>,
    pub kind: EventKind,
    pub group: EventGroup,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Must reach every subscriber, in order.
    Reliable { seq: u64 },
    /// May be dropped for a slow client: a later reliable event carries the whole.
    Delta,
}

/// An event before it is encoded, for receivers in this process.
#[derive(Clone, Copy, Debug)]
pub enum TypedEvent<'a> {
    Reliable(&'a ReliableEvent),
    Delta(&'a DeltaEvent),
}

/// Which clients receive an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventGroup {
    Current,
    /// Older forms of other events, see [`LegacyEvent`].
    Legacy,
}

impl ServerEvent {
    pub fn encode(
        name: &'static str,
        payload: &impl Serialize,
        kind: EventKind,
        group: EventGroup,
    ) -> Self {
        let json = serde_json::value::to_raw_value(payload).expect("events are plain data");
        Self {
            name,
            json: Arc::from(json),
            kind,
            group,
        }
    }
}

/// What is the same for every event of a session.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    pub(crate) session_id: SessionId,
    pub(crate) epoch: String,
}

impl Stamp {
    pub(crate) fn reliable(&self, event: &ReliableEvent, seq: u64, now_ms: i64) -> ServerEvent {
        let payload = self.envelope(event, Some(seq), now_ms);
        let kind = EventKind::Reliable { seq };
        ServerEvent::encode(event.name(), &payload, kind, EventGroup::Current)
    }

    pub(crate) fn delta(&self, event: &DeltaEvent, now_ms: i64) -> ServerEvent {
        let payload = self.envelope(event, None, now_ms);
        let kind = EventKind::Delta;
        ServerEvent::encode(event.name(), &payload, kind, EventGroup::Current)
    }

    pub(crate) fn legacy(&self, event: &LegacyEvent, now_ms: i64) -> ServerEvent {
        let payload = self.envelope(event, None, now_ms);
        let kind = EventKind::Delta;
        ServerEvent::encode(event.name(), &payload, kind, EventGroup::Legacy)
    }

    fn envelope<E>(&self, event: E, seq: Option<u64>, ts: i64) -> Envelope<E> {
        Envelope {
            event,
            session_id: self.session_id.clone(),
            seq,
            epoch: self.epoch.clone(),
            ts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{Done, RunId, RunOutcome};

    #[test]
    fn the_payload_repeats_the_name_and_carries_its_number() {
        let stamp = Stamp {
            session_id: "s".into(),
            epoch: "e".to_owned(),
        };
        let done = Done {
            run_id: RunId::new("r"),
            outcome: RunOutcome::Completed,
            reason: None,
            trouble: None,
        };
        let event = stamp.reliable(&ReliableEvent::Done(done), 7, 5);
        assert_eq!(event.name, "done");
        assert_eq!(
            event.json.get(),
            r#"{"type":"done","data":{"runId":"r","outcome":"completed"},"sessionId":"s","seq":7,"epoch":"e","ts":5}"#
        );
    }
}
