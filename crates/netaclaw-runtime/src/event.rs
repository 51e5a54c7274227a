//! What users see of a run while it happens. The loop is independent of its receivers: the engine
//! numbers the events and sends them.

use netaclaw_models::{GrowingAnswer, ModelError};
use netaclaw_protocol::{
    ApprovalUsed, ContentBlock, EntryId, LocalizedError, PartDelta, PartKind, RunPhase,
    RuntimeProcessEvent, StopReason, TodoList, ToolOutput, ToolRoute, ToolsChanged, Usage,
};
use serde_json::Value;

/// Notices in the order things happened. None is the source of truth: entries are.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    Phase {
        phase: RunPhase,
        /// In words, where the phase needs them.
        detail: Option<String>,
    },
    /// Comes with the first piece of an answer, or right before the end of one without pieces.
    AnswerStarted {
        entry_id: EntryId,
        provider: String,
        model: String,
        /// Holds every piece before the event that carries it.
        text: GrowingAnswer,
    },
    PartStarted {
        entry_id: EntryId,
        part: u32,
        kind: netaclaw_models::StreamPart,
    },
    PartDelta(PartDelta),
    PartEnded {
        entry_id: EntryId,
        part: u32,
        kind: PartKind,
        duration_ms: u64,
    },
    /// The answer is stored under `entry_id`.
    AnswerFinished {
        entry_id: EntryId,
        stop_reason: StopReason,
        error_message: Option<String>,
        trouble: Option<Box<LocalizedError>>,
        usage: Usage,
    },
    ToolStarted(ToolStarted),
    ToolOutput(ToolOutput),
    /// Standing approvals have allowed a call that began.
    ApprovalUsed(ApprovalUsed),
    ToolCompleted(ToolCompleted),
    Retrying {
        /// The attempt that failed, 1 first.
        attempt: u32,
        after_ms: u64,
        reason: ModelError,
    },
    FallingBack {
        from: String,
        to: String,
        reason: ModelError,
    },
    /// The list has changed; its entry is stored.
    Todo(TodoList),
    /// The tools that the model is offered from here on, and what is otherwise than before.
    Tools {
        names: Vec<String>,
        changed: Option<ToolsChanged>,
    },
    /// A warning for the user; the run continues.
    Warning(LocalizedError),
}

/// A call begins, or is refused: then `blocked_reason` says why and its end follows at once.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolStarted {
    /// The answer that made the call.
    pub entry_id: EntryId,
    pub tool_call_id: String,
    pub tool_name: String,
    pub tool_label: String,
    pub args: Value,
    pub route: ToolRoute,
    /// Where a subagent's worker would run it; `None` for a tool that does not exist.
    pub worker_hint: Option<ToolRoute>,
    pub blocked_reason: Option<String>,
    pub policy_sources: Vec<String>,
}

/// A step of a call, with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolStep {
    /// The answer that made the call.
    pub entry_id: EntryId,
    pub tool_call_id: String,
    pub tool_name: String,
    pub tool_label: String,
    pub event: RuntimeProcessEvent,
}

/// A call has its result. The event is sent at once, while the entry waits for the results of the
/// calls before it: otherwise a quick tool would look busy behind a slow one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCompleted {
    pub tool_call_id: String,
    pub tool_name: String,
    /// The entry the result is or will be stored under.
    pub result_entry_id: EntryId,
    pub is_error: bool,
    pub content: Vec<ContentBlock>,
    pub details: Option<Value>,
    pub duration_ms: u64,
}
