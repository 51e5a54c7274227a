//! What is known about a session without reading its entries.

use crate::{EntryId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;

/// A session as the server knows it. Clients get [`SessionInfo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionMeta {
    pub session_id: SessionId,
    pub provider: ProviderKind,
    pub root_entry_id: Option<EntryId>,
    pub leaf_entry_id: Option<EntryId>,
    pub cwd: String,
    /// Where the session is kept. For the server only: a path never reaches a client.
    #[serde(skip)]
    pub session_file: Option<String>,
    pub parent_session_id: Option<SessionId>,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub title: Option<String>,
    pub status: SessionStatus,
    /// Shared, because it is read far more often than it changes.
    pub metadata: Arc<Map<String, Value>>,
    pub message_count: u64,
    pub first_message: Option<String>,
    /// ISO 8601, UTC, milliseconds.
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    #[default]
    Active,
    Archived,
    Deleted,
}

impl SessionStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Deleted => "deleted",
        }
    }
}

/// Where sessions are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    File,
    Mysql,
}

impl ProviderKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Mysql => "mysql",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    pub provider: String,
    pub model_id: String,
}

/// One page of a listing, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    pub items: Vec<SessionMeta>,
    pub page: u32,
    pub size: u32,
    pub total: u64,
}

/// A session, without the server's own data such as directories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    pub session_id: SessionId,
    pub provider: ProviderKind,
    pub root_entry_id: Option<EntryId>,
    pub leaf_entry_id: Option<EntryId>,
    pub parent_session_id: Option<SessionId>,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub title: Option<String>,
    pub status: SessionStatus,
    pub message_count: u64,
    pub first_message: Option<String>,
    /// The name of the directory in which its tools work, without the path to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_name: Option<String>,
    /// ISO 8601, UTC, milliseconds.
    pub created_at: String,
    pub updated_at: String,
}

impl From<SessionMeta> for SessionInfo {
    fn from(meta: SessionMeta) -> Self {
        let directory = meta.cwd.rsplit(['/', '\\']).find(|name| !name.is_empty());
        Self {
            workspace_name: directory.map(str::to_owned),
            session_id: meta.session_id,
            provider: meta.provider,
            root_entry_id: meta.root_entry_id,
            leaf_entry_id: meta.leaf_entry_id,
            parent_session_id: meta.parent_session_id,
            agent_id: meta.agent_id,
            user_id: meta.user_id,
            title: meta.title,
            status: meta.status,
            message_count: meta.message_count,
            first_message: meta.first_message,
            created_at: meta.created_at,
            updated_at: meta.updated_at,
        }
    }
}

/// A session in a list, with its current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionListItem {
    #[serde(flatten)]
    pub session: SessionInfo,
    pub running: bool,
    /// A question is open, or a tool call waits for approval.
    pub waiting: bool,
    /// A run has ended since the session was last opened.
    pub unread: bool,
    /// Number of queued messages.
    pub queued: u32,
}

/// One page of sessions, the last changed first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    pub items: Vec<SessionListItem>,
    pub page: u32,
    pub size: u32,
    pub total: u64,
}

/// Changes a session; absent fields stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SessionChange {
    /// An empty title clears it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<SessionStatus>,
}

/// The entry at which a new session starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ForkRequest {
    pub entry_id: EntryId,
}
