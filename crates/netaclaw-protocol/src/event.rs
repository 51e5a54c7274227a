//! Events that the server sends to the clients of a session.
//!
//! Reliable events carry `seq` and reach every subscriber in order. Deltas carry an offset instead:
//! they can be merged or dropped, because the reliable event at the end carries all of the content.

use crate::{
    CompactionDone, CompactionError, CompactionProgress, CompactionStart, EntryId, EntryLabel,
    ErrorCode, LocalizedError, Nothing, Progress, Refusal, RunId, SessionId, SessionInfo,
    SessionListItem, Severity, SkillEnd, SkillStart, ToolProcessEvent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// An event on the wire. `type` repeats the Socket.IO event name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Envelope<E> {
    #[serde(flatten)]
    pub event: E,
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Changes when the server does; a `seq` means nothing in another epoch.
    pub epoch: String,
    /// Unix time in milliseconds.
    pub ts: i64,
}

/// Events that every subscriber gets, numbered without gaps.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum ReliableEvent {
    SessionEntryAdded(EntryAdded),
    SessionEntryUpdated(EntryAdded),
    SessionLeafChanged(LeafChanged),
    SessionUpdated(SessionUpdated),
    AssistantStreamStart(StreamStart),
    AssistantStreamEnd(StreamEnd),
    ToolCallStarted(ToolCallStarted),
    ToolCallCompleted(ToolCallCompleted),
    RunStatus(RunStatus),
    QueueUpdate(QueueUpdate),
    TodoUpdate(TodoList),
    TokenUpdate(TokenUpdate),
    ClarifyRequest(Question),
    ClarifyAnswered(ClarifyAnswered),
    ApprovalRequest(ApprovalQuestion),
    ApprovalDecided(ApprovalDecided),
    ApprovalUsed(crate::ApprovalUsed),
    StandingApprovals(crate::StandingApprovals),
    ToolsChanged(crate::ToolsChanged),
    CompactionStart(CompactionStart),
    CompactionProgress(CompactionProgress),
    CompactionDone(CompactionDone),
    CompactionError(CompactionError),
    /// A user dismissed the failure.
    CompactionDismissed(Nothing),
    Done(Done),
    Error(RunError),
    /// The last event of its epoch. To continue, open the session again.
    SessionResync(SessionResync),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionResync {
    pub reason: ResyncReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ResyncReason {
    /// Another server or a terminal has taken the session over.
    TakenOver,
}

/// An event of the server itself, without a session and a number. After a reconnect, request its
/// content again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NoticeEnvelope {
    #[serde(flatten)]
    pub notice: Notice,
    /// Unix time in milliseconds.
    pub ts: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Notice {
    /// Sessions on the list that the client watches have changed.
    SessionListChanged(SessionListChange),
    /// The server is shutting down; runs are finishing.
    ServerDraining(Nothing),
    Pong(Nothing),
    /// A command without a callback was refused, or the connection ends.
    Error(Refusal),
}

/// Changes of a session list since the last such event: each session once, in its current state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionListChange {
    /// Sessions that are new or changed.
    pub sessions: Vec<SessionListItem>,
    /// Sessions that are not, or no longer, on the list.
    pub removed: Vec<SessionId>,
}

/// Events that the server can merge, and drop for a slow client.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum DeltaEvent {
    AssistantStreamDelta(PartDelta),
    ThinkingDelta(PartDelta),
    ThinkingDone(ThinkingDone),
    ToolResultStreamed(ToolOutput),
    ToolProcessEvent(Box<ToolProcessEvent>),
    SkillStart(SkillStart),
    SkillEnd(SkillEnd),
}

/// Older forms of other events, for clients that were written for them. They have no numbers, and a
/// slow client may miss them.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum LegacyEvent {
    Token(PartDelta),
    Thinking(Thinking),
    ToolCall(ToolCallStarted),
    ToolResult(ToolCallCompleted),
    Progress(Progress),
}

/// The names of events on Socket.IO, which are also their `type`.
macro_rules! event_names {
    ($($event:ident { $($variant:ident $name:literal)* })*) => {
        $(impl $event {
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        })*

        #[cfg(test)]
        const NAMES: &[(&str, &str)] = &[$($((stringify!($variant), $name)),*),*];
    };
}

event_names! {
    ReliableEvent {
        SessionEntryAdded "session_entry_added"
        SessionEntryUpdated "session_entry_updated"
        SessionLeafChanged "session_leaf_changed"
        SessionUpdated "session_updated"
        AssistantStreamStart "assistant_stream_start"
        AssistantStreamEnd "assistant_stream_end"
        ToolCallStarted "tool_call_started"
        ToolCallCompleted "tool_call_completed"
        RunStatus "run_status"
        QueueUpdate "queue_update"
        TodoUpdate "todo_update"
        TokenUpdate "token_update"
        ClarifyRequest "clarify_request"
        ClarifyAnswered "clarify_answered"
        ApprovalRequest "approval_request"
        ApprovalDecided "approval_decided"
        ApprovalUsed "approval_used"
        StandingApprovals "standing_approvals"
        ToolsChanged "tools_changed"
        CompactionStart "compaction_start"
        CompactionProgress "compaction_progress"
        CompactionDone "compaction_done"
        CompactionError "compaction_error"
        CompactionDismissed "compaction_dismissed"
        Done "done"
        Error "error"
        SessionResync "session_resync"
    }
    DeltaEvent {
        AssistantStreamDelta "assistant_stream_delta"
        ThinkingDelta "thinking_delta"
        ThinkingDone "thinking_done"
        ToolResultStreamed "tool_result_streamed"
        ToolProcessEvent "tool_process_event"
        SkillStart "skill_start"
        SkillEnd "skill_end"
    }
    LegacyEvent {
        Token "token"
        Thinking "thinking"
        ToolCall "tool_call"
        ToolResult "tool_result"
        Progress "progress"
    }
    Notice {
        SessionListChanged "session_list_changed"
        ServerDraining "server_draining"
        Pong "pong"
        Error "error"
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct EntryAdded {
    /// The entry as it is stored.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "typescript", ts(as = "crate::Entry"))]
    pub entry: Box<RawValue>,
    pub leaf_entry_id: Option<EntryId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LeafChanged {
    pub leaf_entry_id: Option<EntryId>,
    /// Ids from root to leaf.
    pub active_path: Vec<EntryId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionUpdated {
    pub session: SessionInfo,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<std::collections::BTreeMap<EntryId, EntryLabel>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StreamStart {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub parent_id: Option<EntryId>,
    pub provider: String,
    pub model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StreamEnd {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub stop_reason: crate::StopReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Box<LocalizedError>>,
}

/// More text for one part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PartDelta {
    pub run_id: RunId,
    pub entry_id: EntryId,
    /// The index of the content block of the answer.
    pub part: u32,
    pub kind: PartKind,
    /// The tool call to which the arguments belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The number of Unicode scalar values that were sent before for this part.
    pub offset: u64,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum PartKind {
    Text,
    Thinking,
    /// Fragments of a tool call's arguments.
    ToolCall,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ThinkingDone {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub part: u32,
    pub duration_ms: u64,
}

/// All that a part of an answer thought, once it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Thinking {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub part: u32,
    pub text: String,
    pub duration_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolCallStarted {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub tool_call_id: String,
    pub tool_name: String,
    pub tool_label: String,
    pub args: Value,
    /// The same as `runtimeRoute`.
    pub route: ToolRoute,
    pub runtime_route: ToolRoute,
    /// Where a subagent's worker would run it; absent for a tool that does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_routing_hint: Option<ToolRoute>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    pub policy_sources: Vec<String>,
    /// The standing approvals that allow it. Empty if it needs none, or was allowed by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_by: Vec<crate::ApprovalUse>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum ToolRoute {
    Main,
    WorkerLocal,
    MainProcessProxy,
    Disabled,
}

/// More output of a running tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub offset: u64,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolCallCompleted {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub tool_name: String,
    pub status: crate::ToolExecutionStatus,
    pub is_error: bool,
    pub content: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Without the time for which it waited for a user.
    pub duration_ms: u64,
    pub result_entry_id: EntryId,
}

/// The state of a session's run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    pub status: RunState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<RunPhase>,
    /// In English, for clients that know nothing better; see `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Why the model was not reached, and what happens next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<RetryNotice>>,
    /// When this status began. Unix time in milliseconds.
    pub since: i64,
    /// When the run began; absent if none is active. Unix time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// For how long the run had waited for users and for retries before this status began. A clock
    /// of the run leaves this out, and stands still in the phases `waiting_for_user` and `retrying`.
    #[serde(default)]
    pub waited_ms: u64,
}

/// A request to a model failed before anything arrived, and is made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RetryNotice {
    /// What happened, in one sentence; `said` has the message of the supplier.
    pub trouble: LocalizedError,
    /// When the request is repeated, as Unix time in milliseconds. Absent with `fallback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// The fallback channel that is asked instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Stopping,
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    Preparing,
    WaitingForModel,
    Streaming,
    RunningTools,
    WaitingForUser,
    Retrying,
    Compacting,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QueueState {
    pub items: Vec<QueueItem>,
    /// Whether any of them is held.
    pub held: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QueueItem {
    pub item_id: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<crate::Attachment>,
    pub mode: crate::ChatMode,
    /// Unix time in milliseconds.
    pub queued_at: i64,
    /// Held back after a stop until the user resumes it. Messages that are sent later do
    /// not wait for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Queued by another version of NetaClaw and not fully readable by this one. It stays held; it
    /// can be moved and removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported: bool,
}

/// The queue after a change. Clients have the texts of messages that did not change from earlier
/// events or from the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QueueUpdate {
    /// All queued messages, in order.
    pub items: Vec<QueueUpdateItem>,
    /// Whether any of them is held.
    pub held: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QueueUpdateItem {
    pub item_id: String,
    /// The complete text, if the message is new or its text was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The beginning of the text.
    pub preview: String,
    /// Sent together with `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<crate::Attachment>,
    pub mode: crate::ChatMode,
    /// Unix time in milliseconds.
    pub queued_at: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TodoList {
    /// Increases with each change on this path; ignore a list with a smaller one.
    pub revision: u64,
    pub items: Vec<TodoItem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    pub id: String,
    pub text: String,
    pub status: TodoStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Done,
    Cancelled,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUpdate {
    /// All answers of the session, on all branches.
    pub current: TokenTotals,
    /// The answers on the active path.
    #[serde(default)]
    pub branch: TokenTotals,
    /// The last answer on the active path; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_call: Option<TokenTotals>,
    /// Summaries that models wrote for this session, on all branches. Not included in the other
    /// totals.
    #[serde(default)]
    pub auxiliary: TokenTotals,
    pub context: ContextMeter,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenTotals {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
    pub api_calls: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextMeter {
    pub used_tokens: u64,
    pub max_tokens: u64,
    /// From 0 to 100.
    pub percent: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_percent: Option<u8>,
    #[serde(default)]
    pub estimated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_source: Option<crate::InfoSource>,
}

/// A question of the agent that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub request_id: String,
    pub run_id: RunId,
    pub tool_call_id: String,
    pub question: String,
    pub options: Vec<String>,
    pub multi: bool,
    /// Unix time in milliseconds; absent if it never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Set if its run has ended: only a new message can answer it.
    #[serde(default)]
    pub read_only: bool,
}

/// A question is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ClarifyAnswered {
    pub request_id: String,
    pub tool_call_id: String,
    pub outcome: ClarifyOutcome,
    /// The answer of the user.
    #[serde(default)]
    pub answer: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ClarifyOutcome {
    Answered,
    /// Closed without an answer, by a user or with its run.
    Dismissed,
    TimedOut,
}

/// A tool call that waits for approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalQuestion {
    pub approval_id: String,
    pub run_id: RunId,
    pub tool_call_id: String,
    pub tool_name: String,
    pub tool_label: crate::ToolLabel,
    pub risk: crate::ToolRisk,
    /// The arguments with which the call would run.
    pub args: Value,
    pub reason: String,
    /// The external content that the session has read, and the destination of the call. Absent if
    /// it has read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<crate::ForeignNote>,
    /// The hash of tool and arguments. An approval is valid for this hash only.
    pub hash: String,
    /// The scopes that can be granted with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<crate::ApprovalOffer>,
    /// Unix time in milliseconds.
    pub asked_at: i64,
}

/// An approval request is closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDecided {
    pub approval_id: String,
    pub tool_call_id: String,
    pub outcome: ApprovalOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalOutcome {
    Allowed,
    /// And so is what the grant covers from now on, in this session.
    AllowedForSession,
    /// The same in all sessions of the user with this agent.
    AllowedForAgent,
    Denied,
    /// The run ended without a decision.
    Closed,
}

/// The end of a run. Each run has exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub run_id: RunId,
    pub outcome: RunOutcome,
    /// The reason, if the outcome alone does not give it: a kind of error, such as `turn_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Box<LocalizedError>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    Completed,
    Stopped,
    Error,
    Interrupted,
}

impl RunOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    pub code: ErrorCode,
    #[serde(default)]
    pub severity: Severity,
    /// In English, for clients that do not read `trouble`.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Box<LocalizedError>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_serde_writes() {
        for (variant, name) in NAMES {
            let mut snake = String::new();
            for (at, letter) in variant.char_indices() {
                if letter.is_ascii_uppercase() && at > 0 {
                    snake.push('_');
                }
                snake.push(letter.to_ascii_lowercase());
            }
            assert_eq!(*name, snake);
        }
        let notice = Notice::ServerDraining(Nothing {});
        let json = serde_json::json!(notice);
        assert_eq!(json["type"], notice.name());
        let dismissed = ReliableEvent::CompactionDismissed(Nothing {});
        assert_eq!(serde_json::json!(dismissed)["type"], dismissed.name());
    }
}
