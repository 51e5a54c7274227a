//! Tools as screens see them: what there is, what an agent has of it, and why.

use crate::{AgentId, Stamp, ToolRoute};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What a call can do to the world, from harmless to far-reaching.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolRisk {
    /// Looks, and changes nothing but the session itself.
    Read,
    Write,
    Exec,
    Network,
    /// Hands work to another agent.
    Delegate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    Files,
    Shell,
    Web,
    /// The session's own things: its to-do list, its questions.
    Session,
    Memory,
    Skills,
    Agents,
    /// Of an MCP server.
    External,
}

/// A name for people.
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

/// When a person has to agree to a call.
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

/// Who had a say about a tool, in the order they are asked.
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

/// Why a tool is off. The list is closed, so that screens can say it in any language.
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
    /// It cannot be used from a worker at all.
    NotForSubagents,
}

/// A tool as it is kept for everybody: known since it was first there, also when it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord {
    pub name: String,
    /// Where it comes from: `builtin`, or `mcp:` and the name of a server.
    pub source: String,
    pub label: ToolLabel,
    pub category: ToolCategory,
    pub risk: ToolRisk,
    /// What an administrator has set for everybody; absent leaves it to the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// Whether its source had it when it was last looked at.
    pub present: bool,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// A tool with all that is known of it, whoever may use it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    #[serde(flatten)]
    pub record: ToolRecord,
    /// Empty for a tool that is gone, as is the schema.
    pub description: String,
    pub on_by_default: bool,
    /// JSON Schema of the arguments.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// Absent for tools that wait for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Absent for tools that start no programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<ToolIsolation>,
}

/// What keeps the programs of a tool apart from the machine besides Landlock and seccomp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolIsolation {
    /// Devices, temporary files, shared memory and IPC of their own.
    Namespaces,
    /// Nothing, because this machine refuses user namespaces.
    Refused,
    /// Nothing, because the operator has switched namespaces off.
    Off,
}

/// A tool and what every agent makes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolDetail {
    pub tool: ToolInfo,
    pub agents: Vec<ToolUser>,
}

/// One agent, and whether and why it has the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolUser {
    pub agent_id: AgentId,
    pub agent_name: String,
    pub agent_label: String,
    pub diagnostic: ToolDiagnostic,
}

/// The switch for everybody. `null` leaves it to the catalogue; leaving it out is a mistake.
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

/// The agent has other tools than the model was last told.
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
    /// Every layer that said something, as `layer:what`.
    pub policy_sources: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<DisabledCode>,
    /// The layer whose word was the last.
    pub decided_by: PolicyLayer,
    pub how_to_change: String,
    pub needs_approval: bool,
    /// It is on, but not as safe as it could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

/// A name in a configuration that no tool has. The agent runs without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolWarning {
    /// Where the name stands, such as `tools.enabled`.
    pub place: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    pub message: String,
}
