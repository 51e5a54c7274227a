//! Events as they leave a session: serialised once, shared by every subscriber.

use netaclaw_protocol::{DeltaEvent, Envelope, PartDelta, ReliableEvent, SessionId, ToolOutput};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// One event, ready for the wire.
#[derive(Clone, Debug)]
pub struct ServerEvent {
    /// The Socket.IO event name, which is also the payload's `type`.
    pub name: &'static str,
    /// The payload: `{ type, sessionId, seq?, epoch, ts, data }`.
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

/// Which clients want an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventGroup {
    Current,
    /// `token`, `thinking`, `tool_call`, `tool_result` and `progress`: the same facts in older forms.
    Legacy,
}

/// What is the same for every event of a session.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    pub(crate) session_id: SessionId,
    pub(crate) epoch: String,
}

impl Stamp {
    pub(crate) fn reliable(&self, event: &ReliableEvent, seq: u64, now_ms: i64) -> ServerEvent {
        ServerEvent {
            name: reliable_name(event),
            json: self.json(event, Some(seq), now_ms),
            kind: EventKind::Reliable { seq },
            group: EventGroup::Current,
        }
    }

    pub(crate) fn delta(&self, event: &DeltaEvent, now_ms: i64) -> ServerEvent {
        let (name, group) = delta_name(event);
        ServerEvent {
            name,
            json: self.json(event, None, now_ms),
            kind: EventKind::Delta,
            group,
        }
    }

    fn json(&self, event: &impl Serialize, seq: Option<u64>, ts: i64) -> Arc<RawValue> {
        let envelope = Envelope {
            event,
            session_id: self.session_id.clone(),
            seq,
            epoch: self.epoch.clone(),
            ts,
        };
        let text = serde_json::value::to_raw_value(&envelope).expect("events are plain data");
        Arc::from(text)
    }
}

fn reliable_name(event: &ReliableEvent) -> &'static str {
    match event {
        ReliableEvent::SessionEntryAdded(_) => "session_entry_added",
        ReliableEvent::SessionEntryUpdated(_) => "session_entry_updated",
        ReliableEvent::SessionLeafChanged(_) => "session_leaf_changed",
        ReliableEvent::SessionUpdated(_) => "session_updated",
        ReliableEvent::AssistantStreamStart(_) => "assistant_stream_start",
        ReliableEvent::AssistantStreamEnd(_) => "assistant_stream_end",
        ReliableEvent::ToolCallStarted(_) => "tool_call_started",
        ReliableEvent::ToolCallCompleted(_) => "tool_call_completed",
        ReliableEvent::RunStatus(_) => "run_status",
        ReliableEvent::QueueUpdate(_) => "queue_update",
        ReliableEvent::TodoUpdate(_) => "todo_update",
        ReliableEvent::TokenUpdate(_) => "token_update",
        ReliableEvent::ClarifyRequest(_) => "clarify_request",
        ReliableEvent::ClarifyAnswered(_) => "clarify_answered",
        ReliableEvent::ApprovalRequest(_) => "approval_request",
        ReliableEvent::ApprovalDecided(_) => "approval_decided",
        ReliableEvent::ToolsChanged(_) => "tools_changed",
        ReliableEvent::CompactionStart(_) => "compaction_start",
        ReliableEvent::CompactionProgress(_) => "compaction_progress",
        ReliableEvent::CompactionDismissed(_) => "compaction_dismissed",
        ReliableEvent::CompactionDone(_) => "compaction_done",
        ReliableEvent::CompactionError(_) => "compaction_error",
        ReliableEvent::Done(_) => "done",
        ReliableEvent::Error(_) => "error",
        ReliableEvent::SessionResync(_) => "session_resync",
    }
}

fn delta_name(event: &DeltaEvent) -> (&'static str, EventGroup) {
    use EventGroup::{Current, Legacy};
    match event {
        DeltaEvent::AssistantStreamDelta(_) => ("assistant_stream_delta", Current),
        DeltaEvent::ThinkingDelta(_) => ("thinking_delta", Current),
        DeltaEvent::ThinkingDone(_) => ("thinking_done", Current),
        DeltaEvent::ToolResultStreamed(_) => ("tool_result_streamed", Current),
        DeltaEvent::ToolProcessEvent(_) => ("tool_process_event", Current),
        DeltaEvent::SkillStart(_) => ("skill_start", Current),
        DeltaEvent::SkillEnd(_) => ("skill_end", Current),
        DeltaEvent::Token(_) => ("token", Legacy),
        DeltaEvent::Thinking(_) => ("thinking", Legacy),
        DeltaEvent::ToolCall(_) => ("tool_call", Legacy),
        DeltaEvent::ToolResult(_) => ("tool_result", Legacy),
        DeltaEvent::Progress(_) => ("progress", Legacy),
    }
}

/// Text that can wait for more of the same part before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TextDelta {
    Part(PartDelta),
    Output(ToolOutput),
}

impl TextDelta {
    /// Whether nothing of the same part came before.
    pub(crate) fn is_first(&self) -> bool {
        match self {
            Self::Part(part) => part.offset == 0,
            Self::Output(output) => output.offset == 0,
        }
    }

    /// Takes in what follows directly; gives it back if it belongs elsewhere.
    pub(crate) fn absorb(&mut self, next: TextDelta) -> Option<TextDelta> {
        match (self, next) {
            (Self::Part(mine), Self::Part(next))
                if mine.entry_id == next.entry_id && mine.part == next.part =>
            {
                mine.text.push_str(&next.text);
                None
            }
            (Self::Output(mine), Self::Output(next)) if mine.tool_call_id == next.tool_call_id => {
                mine.text.push_str(&next.text);
                None
            }
            (_, next) => Some(next),
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
