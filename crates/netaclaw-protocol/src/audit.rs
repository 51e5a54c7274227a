//! Who changed what: records that are only ever added.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// One action of an administrator. Names the changed fields, but never contains values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuditRecord {
    pub id: u64,
    /// Unix time in milliseconds.
    pub at: i64,
    pub who: String,
    pub action: AuditAction,
    pub kind: RecordKind,
    pub target_id: String,
    /// The name of the target at that time.
    pub target_name: String,
    /// The fields that changed.
    pub fields: Vec<String>,
}

/// One page of the audit log, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    pub items: Vec<AuditRecord>,
    pub page: u32,
    pub size: u32,
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    Create,
    Update,
    Delete,
    Revoke,
    Login,
    LoginRefused,
    /// A user allowed a tool call.
    Allow,
    /// A user denied a tool call.
    Deny,
}

/// What an administrator can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    Agent,
    Channel,
    DictType,
    DictInfo,
    Setting,
    User,
    Token,
    Tool,
    Memory,
    McpServer,
    /// A standing approval.
    Approval,
}

impl RecordKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Channel => "channel",
            Self::DictType => "dict_type",
            Self::DictInfo => "dict_info",
            Self::Setting => "setting",
            Self::User => "user",
            Self::Token => "token",
            Self::Tool => "tool",
            Self::Memory => "memory",
            Self::McpServer => "mcp_server",
            Self::Approval => "approval",
        }
    }
}

impl fmt::Display for RecordKind {
    /// For sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DictType => "dictionary group",
            Self::DictInfo => "dictionary entry",
            Self::McpServer => "MCP server",
            Self::Approval => "standing approval",
            other => other.as_str(),
        })
    }
}
