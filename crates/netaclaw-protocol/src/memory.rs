//! What agents remember of their users.

use crate::{AgentId, MemoryId, Stamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A short fact that outlives its session. It belongs to a user, who can read, correct and delete
/// it; agents see it only in that user's sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub id: MemoryId,
    pub user_id: UserId,
    #[serde(flatten)]
    pub spec: MemorySpec,
    pub author: MemoryAuthor,
    #[serde(flatten)]
    pub stamp: Stamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MemorySpec {
    /// The agent that remembers it; `null` if all agents do.
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
