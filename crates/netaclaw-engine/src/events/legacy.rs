//! The older forms of events, derived here and nowhere else, when an event is sent.

use netaclaw_protocol::{
    DeltaEvent, LegacyEvent, PartKind, Progress, ReliableEvent, Thinking, ThinkingDone,
};

pub(super) fn of_reliable(event: &ReliableEvent) -> Option<LegacyEvent> {
    match event {
        ReliableEvent::ToolCallStarted(started) => Some(LegacyEvent::ToolCall(started.clone())),
        ReliableEvent::ToolCallCompleted(done) => Some(LegacyEvent::ToolResult(done.clone())),
        _ => None,
    }
}

/// The complete thinking of a part, when the part ends.
pub(super) fn of_thought(done: &ThinkingDone, text: String) -> LegacyEvent {
    LegacyEvent::Thinking(Thinking {
        run_id: done.run_id.clone(),
        entry_id: done.entry_id.clone(),
        part: done.part,
        text,
        duration_ms: done.duration_ms,
    })
}

pub(super) fn of_delta(event: DeltaEvent) -> Option<LegacyEvent> {
    match event {
        DeltaEvent::AssistantStreamDelta(part) if part.kind == PartKind::Text => {
            Some(LegacyEvent::Token(part))
        }
        DeltaEvent::ToolProcessEvent(step) => Some(LegacyEvent::Progress(Progress {
            percent: step.event.percent?,
            run_id: step.run_id,
            tool_call_id: step.tool_call_id,
            operation_id: step.event.operation_id,
            stage: step.event.stage,
            message: step.event.message,
            current: step.event.current,
            total: step.event.total,
        })),
        _ => None,
    }
}
