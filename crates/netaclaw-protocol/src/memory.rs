//! What agents remember of their users.

use crate::{AgentId, MemoryId, SessionId, Stamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A fact that agents remember across sessions. It belongs to a user, who can read, correct and
/// delete it; agents see it only in that user's sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub id: MemoryId,
    pub user_id: UserId,
    #[serde(flatten)]
    pub spec: MemorySpec,
    pub author: MemoryAuthor,
    #[serde(default)]
    pub status: MemoryStatus,
    /// The session that a pending fact was saved in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The fact that a pending one replaces when it is confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<MemoryId>,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// Whether agents use a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MemoryStatus {
    #[default]
    Confirmed,
    /// Saved by an agent that had read external content. Only its own session uses it until the
    /// user confirms it.
    Pending,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MemorySpec {
    /// The agent that uses it; `null` for all agents.
    #[serde(default)]
    pub agent_id: Option<AgentId>,
    pub text: String,
}

/// Who wrote a fact last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MemoryAuthor {
    Agent,
    User,
}
