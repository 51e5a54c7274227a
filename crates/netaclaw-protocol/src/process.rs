//! Steps of a tool call: what clients show while it runs, and what is stored of it.

use crate::localized::known;
use crate::{CallEnd, EntryId, LocalizedText, RunId, SessionId, ToolRoute};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// One step of an operation. The server creates it from the report of a tool or a skill: texts are
/// free of secrets, numbers are validated, and `sequence` counts 1, 2, 3 … per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeProcessEvent {
    /// The version of this form: 1.
    pub version: u32,
    pub operation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_operation_id: Option<String>,
    pub target_type: ProcessTarget,
    pub source: ProcessSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    pub status: ProcessStatus,
    pub level: ProcessLevel,
    pub message: String,
    /// The message for users, if it is a text of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Box<LocalizedText>>,
    /// The code and the parameters of that text.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "known"
    )]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Box<CallEnd>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// 0 to 100; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Scalars only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
    /// RFC 3339.
    pub timestamp: String,
    pub sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessTarget {
    Tool,
    Skill,
    Subagent,
    Task,
    Runtime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessSource {
    Skill,
    Tool,
    Subagent,
    /// The server itself, for example about a timeout.
    Runtime,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    Queued,
    Started,
    #[default]
    Running,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}

/// From the least to the most serious.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessLevel {
    Debug,
    #[default]
    Info,
    Warning,
    Error,
}

/// A step of a tool call, as clients receive it. Identical steps in quick succession are sent as
/// one, with their number in `repeatCount` of the payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolProcessEvent {
    #[serde(flatten)]
    pub event: RuntimeProcessEvent,
    pub run_id: RunId,
    pub tool_call_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_entry_id: Option<EntryId>,
    pub tool_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_label: Option<String>,
}

/// The progress of a call, for clients that show only a progress bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub operation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    pub message: String,
    pub percent: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A skill begins to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillStart {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub operation_id: String,
    pub skill_name: String,
}

/// A skill has ended; its result is that of the tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillEnd {
    pub run_id: RunId,
    pub tool_call_id: String,
    pub operation_id: String,
    /// `completed`, `failed` or `cancelled`.
    pub status: ProcessStatus,
    pub duration_ms: u64,
}

/// How many steps of an operation are kept from its beginning and from its end. If there are more,
/// those in the middle are dropped.
pub const STEPS_FIRST: usize = 10;
pub const STEPS_LAST: usize = 40;

/// The stored steps of an operation: in the details of a result, and in the snapshot of a call
/// that is still running.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessTimeline {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_process_event: Option<RuntimeProcessEvent>,
    /// All steps, or the first `STEPS_FIRST` and the last `STEPS_LAST`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub process_events: Vec<RuntimeProcessEvent>,
    /// The total number of steps.
    #[serde(default)]
    pub process_event_count: u64,
    /// The number of dropped steps.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<u64>"))]
    pub process_events_dropped: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_log_ref: Option<ProcessLogRef>,
}

/// Identifies the log of all steps for requests to the server; it is never a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogRef {
    pub kind: ProcessLogKind,
    pub session_id: SessionId,
    pub operation_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProcessLogKind {
    RuntimeProcessLog,
}

/// A page of the log of an operation, in chronological order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogPage {
    pub items: Vec<RuntimeProcessEvent>,
    pub page: u32,
    pub size: u32,
    pub total: u64,
    /// The log reached its size limit; later steps are missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A tool call of a stored answer, as snapshots, pages and `session_entry_updated` show it beside
/// the answer in `metadata.toolExecutions`. It is computed from stored entries alone, so that it is
/// the same after a reload; a call that is running is in `tools` of a snapshot as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolExecution {
    pub tool_call_id: String,
    pub name: String,
    /// For people; the name if there is none.
    pub label: String,
    pub status: ToolExecutionStatus,
    /// Without the time for which it waited for a user. Absent if it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_route: Option<ToolRoute>,
    /// Where a subagent's worker would run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_routing_hint: Option<ToolRoute>,
    #[serde(default)]
    pub policy_sources: Vec<String>,
    /// Why it was not allowed to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// The entry of its result; absent while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_entry_id: Option<EntryId>,
    #[serde(flatten)]
    pub timeline: ProcessTimeline,
}

/// How a tool call stands, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolExecutionStatus {
    /// It has no stored result yet.
    Pending,
    Completed,
    /// It ran, or was about to, and failed.
    Failed,
    /// It was not allowed to run, see `blockedReason`.
    Blocked,
    /// A user denied approval.
    Denied,
    /// It waited for approval, and its run or its session continued without a decision.
    Undecided,
    /// A question that was not answered in time.
    Expired,
    /// A question that a user closed without an answer.
    Dismissed,
    TimedOut,
    /// A user stopped the run while the call was running.
    Stopped,
    /// The run ended before the call began.
    NotStarted,
    /// The server stopped while the call was running; its effects are unknown.
    Interrupted,
}

impl ToolExecutionStatus {
    /// Whether the tool did nothing.
    pub fn is_unrun(self) -> bool {
        matches!(
            self,
            Self::Pending | Self::Blocked | Self::Denied | Self::Undecided | Self::NotStarted
        )
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
