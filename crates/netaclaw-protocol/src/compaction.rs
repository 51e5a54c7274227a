//! Compaction of a session's context: the command, its events, and what is stored.

use crate::{EntryId, InfoSource, LocalizedText, SessionId, Usage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Requests a compaction of the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Compact {
    pub session_id: SessionId,
    /// What the summary should focus on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The answer to `compact`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactAck {
    pub status: CompactStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CompactStatus {
    /// It has started.
    Started,
    /// A run is active; the compaction starts before its next model call, or after its end.
    Queued,
    /// A compaction is already running; the request adds no second one.
    AlreadyRunning,
    /// A compaction is already queued for the active run.
    AlreadyQueued,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactionStart {
    pub reason: CompactionReason,
    /// Number of compacted messages.
    pub message_count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    Manual,
    Auto,
    Overflow,
    /// The session moved to another branch; the branch that was left is summarized there.
    Branch,
}

impl CompactionReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Overflow => "overflow",
            Self::Branch => "branch",
        }
    }
}

/// A running compaction, for a client that opens the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactionUnderWay {
    #[serde(flatten)]
    pub start: CompactionStart,
    /// Unix time in milliseconds.
    pub since: i64,
    pub progress: CompactionProgress,
}

/// The progress of a compaction. The first stage is `planning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum CompactionProgress {
    Planning,
    /// The model reads this part of the compacted messages and merges it into the summary.
    Summarizing {
        /// Counted from 1.
        part: u32,
        parts: u32,
    },
    /// The summary is too long and is written again.
    Shortening,
    Checking,
    Saving,
}

/// A failed compaction, shown until one succeeds, the next one begins, or a user dismisses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactionFailed {
    #[serde(flatten)]
    pub error: CompactionError,
    /// Unix time in milliseconds.
    pub at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactionDone {
    pub success: bool,
    pub compacted_count: u64,
    pub keep_recent_count: u64,
    pub summary_entry_id: EntryId,
    /// The same id, under the name that older clients read.
    pub summary_message_id: EntryId,
    pub summary_content: String,
    /// Tokens of the context; for a branch that is left, of the branch and of its summary.
    pub tokens_before: u64,
    /// An estimate, until the next answer reports its usage.
    pub tokens_after: u64,
}

/// A failed compaction. The context is unchanged and the chat continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CompactionError {
    pub reason: CompactionReason,
    /// In English, for clients that do not read `words`.
    pub message: String,
    pub retryable: bool,
    pub fault: CompactionFault,
    pub words: LocalizedText,
    /// When the next automatic attempt can begin, in Unix milliseconds. A manual compaction
    /// does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<i64>,
}

/// Why a compaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CompactionFault {
    NothingToCompress,
    /// The summary would save too little.
    NoGain,
    /// The model's text is not a usable summary: empty, truncated, too short, or longer than the
    /// text that it replaces.
    BadSummary,
    /// The model request failed.
    ModelFailed,
    /// The context window of the model is too small for this session.
    AuxiliaryTooSmall,
    TimedOut,
    Cancelled,
    /// The channel or the model has to be corrected first.
    NotReady,
    SessionUnavailable,
    /// The server stopped meanwhile.
    Interrupted,
}

impl CompactionFault {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NothingToCompress => "nothing_to_compress",
            Self::NoGain => "no_gain",
            Self::BadSummary => "bad_summary",
            Self::ModelFailed => "model_failed",
            Self::AuxiliaryTooSmall => "auxiliary_too_small",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NotReady => "not_ready",
            Self::SessionUnavailable => "session_unavailable",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The `details` of a compaction entry that NetaClaw wrote. Other programs write fewer; the two
/// lists of files are theirs as well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionDetails {
    pub read_files: Vec<String>,
    pub modified_files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<CompactionReason>,
    pub tokens_after: u64,
    /// Messages that this summary newly covers.
    pub compacted_count: u64,
    pub kept_count: u64,
    /// Tool results that the model received as one line.
    pub pruned_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The usage of all requests for this summary.
    pub usage: Usage,
    pub requests: u32,
    pub duration_ms: u64,
    /// The focus that the user requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The first request of the user, verbatim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Calls with effects that have run, from the beginning of the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<LedgerLine>,
    /// A turn was too long and is covered in part.
    pub split_turn: bool,
    /// Tokens of instructions and tools, which are not part of the messages.
    pub overhead_tokens: u64,
}

/// A call that has run and must not be repeated by mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LedgerLine {
    /// The call with its arguments, shortened.
    pub call: String,
    pub failed: bool,
    pub times: u32,
}

/// What fills the context window of a session's model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextBreakdown {
    pub used_tokens: u64,
    pub max_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_percent: Option<u8>,
    /// Whether the total is an estimate. The parts always are.
    pub estimated: bool,
    pub window_source: InfoSource,
    /// Every part once, in a fixed order. All except `reserve` and `free` add up to the used
    /// tokens; all together to the context window, or to the used tokens if those are more.
    pub parts: Vec<ContextShare>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ContextShare {
    pub part: ContextPart,
    pub tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContextPart {
    System,
    Tools,
    Skills,
    Summary,
    Messages,
    ToolResults,
    /// Reserved for the next answer.
    Reserve,
    Free,
}
