//! Standing approvals: what a user has allowed beyond one call.

use crate::{SessionId, ToolLabel, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The calls that a standing approval covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalScope {
    /// One call with these very arguments.
    Call { hash: String },
    /// Every call of the tool.
    Tool,
    /// Writing and editing files below a folder of the workspace; `.` is the whole workspace.
    Edits { folder: String },
    /// Shell commands. A pattern is a command; with `*` as its last word, any words may follow.
    Commands { patterns: Vec<String> },
}

/// Where a standing approval is valid. Further places, such as a subagent, may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWithin {
    /// In this session, until it is revoked.
    Session,
    /// In all sessions of the same user with the same agent, until it is revoked.
    Agent,
}

/// A scope that can be granted with the answer to an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApprovalOffer {
    pub scope: ApprovalScope,
    pub within: Vec<ApprovalWithin>,
}

/// The scope that a user grants: one that was offered, or a narrower one that covers the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApprovalGrant {
    pub scope: ApprovalScope,
    pub within: ApprovalWithin,
}

/// Calls that a user has allowed in advance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    pub id: String,
    /// The tool of the call that it was granted for.
    pub tool_name: String,
    pub tool_label: ToolLabel,
    pub scope: ApprovalScope,
    pub within: ApprovalWithin,
    /// The beginning of the command, path or arguments that it was granted for.
    pub sample: String,
    /// The user in whose sessions it is valid.
    pub user_id: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Absent if it is valid for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The name of the user who granted it.
    pub granted_by: String,
    /// Unix time in milliseconds.
    pub granted_at: i64,
    /// The tools that it covers, each with a hash of its definition and of the agent's settings.
    /// With another hash it covers nothing.
    pub tools: BTreeMap<String, String>,
}

/// The standing approval that allowed a call, as it is shown with the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalUse {
    pub id: String,
    pub scope: ApprovalScope,
    pub within: ApprovalWithin,
    pub granted_by: String,
    /// Unix time in milliseconds.
    pub granted_at: i64,
}

impl StandingApproval {
    pub fn shown(&self) -> ApprovalUse {
        ApprovalUse {
            id: self.id.clone(),
            scope: self.scope.clone(),
            within: self.within,
            granted_by: self.granted_by.clone(),
            granted_at: self.granted_at,
        }
    }
}

/// A tool call runs without a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalUsed {
    pub tool_call_id: String,
    /// One for each part of the call that needed its own.
    pub allowed_by: Vec<ApprovalUse>,
}

/// The standing approvals of the session itself, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StandingApprovals {
    pub items: Vec<StandingApproval>,
}

/// A standing approval as lists show it, with the names that people know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalListItem {
    #[serde(flatten)]
    pub approval: StandingApproval,
    pub user_name: String,
    /// Absent if the agent no longer exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
}
