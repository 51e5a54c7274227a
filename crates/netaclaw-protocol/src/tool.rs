//! Tools as screens see them: what there is, what an agent has of it, and why.

use crate::{AgentId, Stamp, ToolRoute};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The risk of a call, from the least to the greatest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolRisk {
    /// Reads; changes nothing but the session itself.
    Read,
    Write,
    Exec,
    Network,
    /// Delegates work to another agent.
    Delegate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    Files,
    Shell,
    Web,
    /// The session itself: its to-do list, its questions.
    Session,
    Memory,
    Skills,
    Agents,
    /// Of an MCP server.
    External,
}

/// A display name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolLabel {
    pub zh: String,
    pub en: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Enabled,
    Disabled,
}

/// Which calls need approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    Never,
    /// For tools that write or execute.
    #[default]
    Risky,
    Always,
}

/// The layers that decide about a tool, in their order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PolicyLayer {
    Catalogue,
    Global,
    Agent,
    Model,
    Environment,
    Subagent,
}

/// Why a tool is disabled. The list is closed, so that clients can translate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DisabledCode {
    OffByDefault,
    OffGlobally,
    OffForAgent,
    ModelWithoutTools,
    ModelWithoutVision,
    NotAvailableHere,
    /// The parent of the subagent does not have it.
    ParentWithout,
    NotGrantedToSubagent,
    /// Subagents cannot use it.
    NotForSubagents,
}

/// A tool and its global setting. A tool stays in the list after it has disappeared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord {
    pub name: String,
    /// Its source: `builtin`, or `mcp:` and the name of a server.
    pub source: String,
    pub label: ToolLabel,
    pub category: ToolCategory,
    pub risk: ToolRisk,
    /// The global setting of an administrator; absent: the default of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// Whether its source offered it at the last check.
    pub present: bool,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// A tool with all its properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    #[serde(flatten)]
    pub record: ToolRecord,
    /// Empty for a tool that no longer exists, like the schema.
    pub description: String,
    pub on_by_default: bool,
    /// JSON Schema of the arguments.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// Absent for tools that wait for a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Absent for tools that do not start programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<ToolIsolation>,
}

/// The isolation of a tool's programs, in addition to Landlock and seccomp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolIsolation {
    /// Private devices, temporary files, shared memory and IPC.
    Namespaces,
    /// None, because this machine does not allow user namespaces.
    Refused,
    /// None, because namespaces are disabled in the configuration.
    Off,
}

/// A tool, and whether each agent has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolDetail {
    pub tool: ToolInfo,
    pub agents: Vec<ToolUser>,
}

/// An agent, and whether and why it has the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolUser {
    pub agent_id: AgentId,
    pub agent_name: String,
    pub agent_label: String,
    pub diagnostic: ToolDiagnostic,
}

/// The global setting. `null` resets it to the default of the tool; the field is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolSwitch {
    #[serde(deserialize_with = "Option::deserialize")]
    pub status: Option<ToolStatus>,
}

/// Every known tool for one agent. The tool page, the agent page and the chat show this same
/// projection, and the loop executes by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct EffectiveTools {
    pub tool_names: Vec<String>,
    pub disabled_reasons: Vec<DisabledTool>,
    pub runtime_diagnostic: Vec<ToolDiagnostic>,
    pub warnings: Vec<ToolWarning>,
}

/// The agent's tools have changed since the model was last notified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolsChanged {
    pub added: Vec<String>,
    /// Each with its reason.
    pub removed: Vec<DisabledTool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DisabledTool {
    pub tool_name: String,
    pub code: DisabledCode,
    pub reason: String,
    pub decided_by: PolicyLayer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolDiagnostic {
    pub tool_name: String,
    pub tool_label: ToolLabel,
    pub category: ToolCategory,
    pub risk: ToolRisk,
    pub status: ToolStatus,
    pub route: ToolRoute,
    /// Every layer that contributed, as `layer:what`.
    pub policy_sources: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<DisabledCode>,
    /// The layer that decided.
    pub decided_by: PolicyLayer,
    pub how_to_change: String,
    pub needs_approval: bool,
    /// It is enabled, but with reduced safety.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

/// An unknown tool name in a configuration. The agent ignores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolWarning {
    /// The setting that contains the name, such as `tools.enabled`.
    pub place: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    pub message: String,
}
