//! Stored entries as a client reads them. Nothing on the server goes through these types: entries
//! are moved as the text they are kept in, with whatever fields their writer gave them.

use crate::{
    AssistantMessage, EntryId, SentAttachment, ToolExecution, ToolResultMessage, UserContent,
};
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: EntryId,
    pub parent_id: Option<EntryId>,
    /// ISO 8601, UTC, milliseconds.
    pub timestamp: String,
    #[serde(flatten)]
    pub body: EntryBody,
    /// Computed from other entries; not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub metadata: Option<EntryMetadata>,
}

#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EntryMetadata {
    /// The calls of an answer, in their order.
    pub tool_executions: Vec<ToolExecution>,
}

/// What an entry says. Files of other programs may hold further types.
#[derive(Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum EntryBody {
    Message {
        message: EntryMessage,
    },
    ThinkingLevelChange {
        thinking_level: String,
    },
    ModelChange {
        provider: String,
        model_id: String,
    },
    Compaction {
        summary: String,
        first_kept_entry_id: EntryId,
        tokens_before: u64,
        #[ts(optional)]
        details: Option<Value>,
    },
    BranchSummary {
        from_id: String,
        summary: String,
        #[ts(optional)]
        details: Option<Value>,
    },
    Custom {
        custom_type: String,
        #[ts(optional)]
        data: Option<Value>,
    },
    CustomMessage {
        custom_type: String,
        content: UserContent,
        display: bool,
        #[ts(optional)]
        details: Option<Value>,
    },
    Label {
        target_id: EntryId,
        #[ts(optional)]
        label: Option<String>,
    },
    SessionInfo {
        #[ts(optional)]
        name: Option<String>,
    },
}

#[derive(Serialize, TS)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EntryMessage {
    User {
        content: UserContent,
        timestamp: i64,
        #[ts(optional)]
        netaclaw: Option<MessageMark>,
    },
    Assistant(AssistantMessage),
    ToolResult(ToolResultMessage),
    /// A command that a user ran in another program.
    BashExecution {
        command: String,
        output: String,
        #[ts(optional)]
        exit_code: Option<i32>,
        cancelled: bool,
        truncated: bool,
        timestamp: i64,
    },
    Custom {
        custom_type: String,
        content: UserContent,
        display: bool,
        timestamp: i64,
    },
    System {
        content: UserContent,
        timestamp: i64,
    },
}

/// How a message was sent.
#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageMark {
    #[ts(optional)]
    pub request_id: Option<String>,
    #[ts(optional)]
    pub item_id: Option<String>,
    /// The indexes of the content blocks that are files.
    #[ts(optional)]
    pub attachments: Option<Vec<SentAttachment>>,
    /// It begins with a slash and is not a command; it was sent with one slash more.
    #[ts(optional)]
    pub literal: Option<bool>,
}
