//! The state of a session for a client that opens it. With the events after it, the client has the
//! same state as one that was connected all the time.

use crate::{
    ApprovalQuestion, CompactionFailed, CompactionUnderWay, EntryId, LocalizedError, PartKind,
    Question, QueueState, RunId, RunStatus, SessionInfo, TodoList, TokenUpdate, ToolCallStarted,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The answer to `session_open`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    pub mode: OpenMode,
    pub epoch: String,
    /// The `seq` of the last event before this answer.
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Box<LiveSnapshot>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum OpenMode {
    /// Nothing was missed.
    Live,
    /// The missed events follow.
    Replay,
    Snapshot,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LiveSnapshot {
    pub session: SessionInfo,
    /// Entries of the active path; for a long session, only the newest.
    #[schema(value_type = Vec<Object>)]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::Entry>"))]
    pub entries: Vec<Box<RawValue>>,
    /// The id from which to request older entries; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<EntryId>,
    pub active_path: Vec<EntryId>,
    /// In the order they were appended; roots under `__root__`. Entries that only set a label or a
    /// title are omitted: their children are listed under the entry above.
    pub children_by_parent_id: BTreeMap<String, Vec<EntryId>>,
    pub labels_by_entry_id: BTreeMap<EntryId, EntryLabel>,
    pub thinking_level: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<crate::ModelRef>,
    pub run: RunStatus,
    /// The answer that is being streamed, with the complete text of all parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<StreamingAnswer>,
    pub tools: Vec<OpenTool>,
    pub queue: QueueState,
    pub questions: Vec<Question>,
    pub approvals: Vec<ApprovalQuestion>,
    /// The standing approvals of this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_approvals: Vec<crate::StandingApproval>,
    pub todo: TodoList,
    pub tokens: TokenUpdate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<CompactionUnderWay>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_failed: Option<CompactionFailed>,
    pub skipped_lines: u32,
    /// Warnings of the current run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<LocalizedError>,
}

/// The label of an entry, and when it was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EntryLabel {
    pub label: String,
    /// ISO 8601, UTC, milliseconds.
    pub timestamp: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StreamingAnswer {
    pub run_id: RunId,
    pub entry_id: EntryId,
    pub parent_id: Option<EntryId>,
    pub provider: String,
    pub model: String,
    pub parts: Vec<StreamingPart>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StreamingPart {
    pub part: u32,
    pub kind: PartKind,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    pub done: bool,
    /// Unix time in milliseconds.
    pub started_at: i64,
    /// Its duration, once it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A tool call that has no result entry yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OpenTool {
    #[serde(flatten)]
    pub call: ToolCallStarted,
    pub output: String,
    /// Its steps so far.
    #[serde(flatten)]
    pub timeline: crate::ProcessTimeline,
    /// Unix time in milliseconds.
    pub started_at: i64,
}

/// Everything that is stored of a session, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StoredSnapshot {
    pub session: SessionInfo,
    /// In the order they were appended.
    #[schema(value_type = Vec<Object>)]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::Entry>"))]
    pub entries: Vec<Box<RawValue>>,
    pub active_path: Vec<EntryId>,
    /// The children of all entries, including entries that only name the session, which a live
    /// snapshot omits.
    pub children_by_parent_id: BTreeMap<String, Vec<EntryId>>,
    pub labels_by_entry_id: BTreeMap<EntryId, EntryLabel>,
    /// The context at the leaf.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "typescript", ts(as = "serde_json::Value"))]
    pub runtime_context: Box<RawValue>,
    /// The answer in progress; it is not among the entries yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<crate::Entry>"))]
    pub in_flight: Option<Box<RawValue>>,
    /// Lines that could not be read.
    pub skipped_lines: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
