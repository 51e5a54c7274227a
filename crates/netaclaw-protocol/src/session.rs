//! What is known about a session without reading its entries.

use crate::{EntryId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    pub metadata: Map<String, Value>,
    pub message_count: u64,
    pub first_message: Option<String>,
    /// ISO 8601, UTC, milliseconds.
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Where sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    pub provider: String,
    pub model_id: String,
}

/// One page of a listing, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    pub items: Vec<SessionMeta>,
    pub page: u32,
    pub size: u32,
    pub total: u64,
}
