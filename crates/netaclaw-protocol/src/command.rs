//! The commands of `/netaclaw` and their answers.

use crate::{
    Attachment, CompactStatus, EntryId, LocalizedText, QueueState, Reason, RunId, RunState,
    SessionId, SessionListItem, SessionStatus, ThinkingLevel,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The maximum size of a command, as JSON with its name. A longer one is refused with `too_large`. If
/// it is more than four times as long, the server closes the connection without an answer, so clients
/// must check the size before they send, or they would resend the command after every reconnect.
pub const COMMAND_BYTES_MAX: usize = 1 << 20;

/// A message to an agent. Without a session, or with the id of one that does not exist, it begins
/// one. An empty text in place of an id or a name counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    #[serde(
        default,
        deserialize_with = "id_or_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub session_id: Option<SessionId>,
    pub content: String,
    /// The agent that answers from this message on.
    #[serde(
        default,
        deserialize_with = "text_or_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub agent_name: Option<String>,
    /// The same by id, which may be given as a number.
    #[serde(
        default,
        deserialize_with = "text_or_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub agent_id: Option<String>,
    /// Continues from this entry, on a new branch.
    #[serde(
        default,
        deserialize_with = "id_or_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub leaf_entry_id: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<ChatMode>"))]
    pub mode: ChatMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The model for a session that this message starts; default: that of the agent. For existing
    /// sessions, use `set_model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ChatModel>,
    /// The thinking level, in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
}

impl Chat {
    /// The agent that is to answer, by id or name.
    pub fn agent(&self) -> Option<&str> {
        self.agent_id.as_deref().or(self.agent_name.as_deref())
    }
}

fn text_or_empty<'de, D: Deserializer<'de>>(text: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(text)?;
    Ok(text.filter(|text| !text.is_empty()))
}

fn id_or_empty<'de, D, Id>(id: D) -> Result<Option<Id>, D::Error>
where
    D: Deserializer<'de>,
    Id: for<'a> From<&'a str>,
{
    Ok(text_or_empty(id)?.map(|id| Id::from(id.as_str())))
}

fn text_or_number<'de, D: Deserializer<'de>>(id: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a number")]
    enum TextOrNumber {
        Text(String),
        Number(serde_json::Number),
    }
    let id: Option<TextOrNumber> = Option::deserialize(id)?;
    let id = id.map(|id| match id {
        TextOrNumber::Text(text) => text,
        TextOrNumber::Number(number) => number.to_string(),
    });
    Ok(id.filter(|id| !id.is_empty()))
}

/// A model of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChatModel {
    pub channel_id: String,
    pub model_id: String,
}

/// What to do with a message that arrives during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ChatMode {
    /// Answers an open question if there is one; otherwise it is queued.
    #[default]
    Auto,
    /// It is queued, even if a question is open.
    Queue,
    /// It is inserted after the current tool calls.
    Steer,
}

/// Dismisses the failure of a compaction, for all clients of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DismissCompaction {
    pub session_id: SessionId,
}

/// Ends the client's subscription to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionClose {
    pub session_id: SessionId,
}

/// Requests a `pong`. The content is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ping {}

impl<'de> Deserialize<'de> for Ping {
    fn deserialize<D: Deserializer<'de>>(payload: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(payload).map(|_| Self {})
    }
}

/// Stops the run of a session. To stop a message that is not acknowledged yet, name its request:
/// it is stopped when it arrives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Stop {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The request id of the `chat` to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Stop {
    /// Stops the current run of a session.
    pub fn of(session: &SessionId) -> Self {
        Self {
            session_id: Some(session.clone()),
            request_id: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SetThinkingLevel {
    pub session_id: SessionId,
    pub level: ThinkingLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SetModel {
    pub session_id: SessionId,
    pub channel_id: String,
    pub model_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ClarifyResponse {
    pub session_id: SessionId,
    /// The id of the question, not of this command.
    pub request_id: String,
    /// A text, or a list of texts if several options can be chosen.
    pub answer: Value,
}

/// Answers an `approval_request`. The first response counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalResponse {
    pub session_id: SessionId,
    pub approval_id: String,
    pub decision: ApprovalDecision,
    /// Allows the same call with the same arguments for the rest of the session.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub remember: bool,
    /// Allows more than this call. Counts instead of `remember`, and only if the call is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<crate::ApprovalGrant>,
    /// The reason, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    Allow,
    Deny,
}

/// Allows all edits of files in the workspace for this session, or ends that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AcceptEdits {
    pub session_id: SessionId,
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Revokes a standing approval of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RevokeApproval {
    pub session_id: SessionId,
    pub approval_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionOpen {
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
}

impl SessionOpen {
    /// For a client without a state of the session.
    pub fn of(session: &SessionId) -> Self {
        Self {
            session_id: session.clone(),
            epoch: None,
            last_seq: None,
        }
    }
}

/// Subscribes to the session list: the answer is its first page, and `session_list_changed` follows for
/// the sessions that match the filter. A repeated command replaces the subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionsWatch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<SessionListFilter>,
    /// Sessions on the first page: 50, or up to 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Which of the caller's sessions are listed. For administrators, also those without an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionListFilter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Default: active and archived sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SessionStatus>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SwitchLeaf {
    pub session_id: SessionId,
    /// `null` is the position before the first entry. The field is required.
    #[serde(deserialize_with = "Option::deserialize")]
    pub leaf_entry_id: Option<EntryId>,
    /// Continues from the entry to the position where its branch was last left.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub follow: bool,
    /// Summarizes the branch that is left, at the new position. The answer is sent before the model
    /// writes the summary; the leaf moves when it is complete.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub summarize: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The answer to `switch_leaf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SwitchLeafAck {
    pub status: SwitchStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SwitchStatus {
    Moved,
    /// The branch that is left is being summarized; its events are those of a compaction. If that
    /// fails, is stopped, or the server stops meanwhile, the leaf has not moved.
    Summarizing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SetLabel {
    pub session_id: SessionId,
    pub entry_id: EntryId,
    /// Absent or empty removes it.
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Rename {
    pub session_id: SessionId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Requests another answer to a message of the user, in addition to the existing ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    pub session_id: SessionId,
    pub entry_id: EntryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Fork {
    pub session_id: SessionId,
    pub entry_id: EntryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Changes the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct QueueEdit {
    pub session_id: SessionId,
    #[serde(flatten)]
    pub change: QueueChange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum QueueChange {
    Edit {
        item_id: String,
        content: String,
    },
    Remove {
        item_id: String,
    },
    /// Moves the item to a position, counted from 0.
    Move {
        item_id: String,
        position: usize,
    },
    /// Resumes a queue that a stop has held.
    Resume,
}

/// The answer to `chat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ChatAck {
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The id of the queue item, if it was queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    pub disposition: Disposition,
    /// Set if the message was the command `/compact`: what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<CompactStatus>,
    /// Set if the message subscribed its sender to the session: the events follow from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<FeedStart>,
}

/// Where a subscription to a session begins. `session_open` with these numbers continues from
/// there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct FeedStart {
    pub epoch: String,
    /// The number of the last event before the subscription.
    pub seq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    Started,
    Queued,
    Steered,
    AnsweredClarify,
    /// It was the command `/compact`, and no message.
    Compacting,
}

/// The answer to `stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stopped {
    /// `idle` if there was nothing to stop. A named message that has not arrived is stopped when it
    /// arrives.
    pub status: RunState,
}

/// The answer to `retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Retried {
    pub run_id: RunId,
}

/// The answer to `rename`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Renamed {
    pub session: SessionListItem,
}

/// The answer to `fork`: the new session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Forked {
    pub session_id: SessionId,
    pub session: SessionListItem,
}

/// The answer to `queue_edit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueueEdited {
    pub queue: QueueState,
}

/// An answer without content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Nothing {}

/// Why a command was refused. The list is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    SessionBusy,
    StaleParent,
    TooLarge,
    RateLimited,
    Unavailable,
    Internal,
}

/// A refusal as a client sees it: neither paths nor keys nor stack traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Refusal {
    pub code: ErrorCode,
    /// The English text, for programs and logs.
    pub message: String,
    /// For users.
    pub words: LocalizedText,
    /// The reason, with a code of its own and the parameters of its text. Absent from servers that
    /// are older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Box<Reason>>,
}

impl Refusal {
    pub fn new(reason: impl Into<Reason>) -> Self {
        let reason = reason.into();
        let words = reason.words();
        Self {
            code: reason.error_code(),
            message: words.en.clone(),
            words,
            reason: Some(Box::new(reason)),
        }
    }
}
