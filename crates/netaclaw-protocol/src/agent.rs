//! Agents as pages edit them and as runs read them.

use crate::{
    AgentId, ApprovalMode, ChannelId, EffectiveTools, LocalizedText, ModelInfo, Stamp,
    ThinkingLevel, ToolRisk,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An agent as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub id: AgentId,
    #[serde(flatten)]
    pub spec: AgentSpec,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// An agent, as shown to users who do not configure it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
// Closed, so that an agent fits one description only.
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentBrief {
    pub id: AgentId,
    pub name: String,
    pub label: String,
    pub description: String,
    pub is_default: bool,
}

/// Complete agents for administrators; for other users what they need to choose one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum AgentListItem {
    Whole(Box<Agent>),
    Brief(AgentBrief),
}

/// The system prompt and the tools of an agent, saved or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentPreview {
    pub tools: EffectiveTools,
    pub prompt: PromptPreview,
    /// The model that determines the tools; absent if none is available to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelInfo>,
    /// Why the agent cannot run with these settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The same in both languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_words: Option<LocalizedText>,
}

/// The system prompt, layer by layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PromptPreview {
    pub layers: Vec<PromptLayer>,
    /// Of the names, descriptions and schemas of the tools that are enabled.
    pub tool_tokens: u64,
    /// What every request carries before the first message: the layers and the tools. An estimate.
    pub tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PromptLayer {
    pub name: String,
    pub text: String,
    pub chars: u64,
    pub tokens: u64,
    /// Maximum size of the layer, in characters.
    pub budget: u64,
    /// What was omitted because of the maximum.
    pub omitted: Vec<String>,
}

/// The settings of an agent. Absent fields have their default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSpec {
    /// Unique; clients use it to name the agent.
    pub name: String,
    pub label: String,
    pub description: String,
    pub system_prompt: String,
    pub model_config: ModelConfig,
    pub tools: ToolChoice,
    /// By the tool's name.
    pub tool_overrides: BTreeMap<String, ToolOverride>,
    pub subagent_config: SubagentConfig,
    /// Names of its skills; an item with a slash is a directory that contains further skills.
    /// Without any name: all skills.
    pub skills: Vec<String>,
    /// Empty: all enabled servers.
    pub mcp_servers: Vec<String>,
    /// The directory in which its tools work. Default: that of the session.
    pub workspace: Option<String>,
    /// Additional directories that its tools may use.
    pub extra_roots: Vec<String>,
    pub approval: ApprovalMode,
    /// Hosts that its tools may reach without approval after the session has read external content:
    /// `example.com`, `*.example.com`, `http://example.com:8080`. Default scheme: https.
    pub allowed_hosts: Vec<String>,
    /// The sandbox of the programs that its tools start.
    pub sandbox: SandboxConfig,
    pub is_crew_master: bool,
    /// `file` or `mysql`. Any text is stored, and an unknown one means `file`, so that sessions
    /// stay reachable after a typing mistake.
    pub session_provider: String,
    /// Percentage of the context window at which the context is compacted; 0 means never.
    pub compaction_threshold: u32,
    /// Minimum number of recent messages that a compaction keeps.
    pub compaction_keep_recent: u32,
    pub auxiliary_model_channel_id: Option<ChannelId>,
    pub auxiliary_model_id: Option<String>,
    /// Used when a client does not name an agent. Exactly one agent is the default.
    pub is_default: bool,
}

impl Default for AgentSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            label: String::new(),
            description: String::new(),
            system_prompt: String::new(),
            model_config: ModelConfig::default(),
            tools: ToolChoice::default(),
            tool_overrides: BTreeMap::new(),
            subagent_config: SubagentConfig::default(),
            skills: Vec::new(),
            mcp_servers: Vec::new(),
            workspace: None,
            extra_roots: Vec::new(),
            approval: ApprovalMode::default(),
            allowed_hosts: Vec::new(),
            sandbox: SandboxConfig::default(),
            is_crew_master: false,
            session_provider: "file".to_owned(),
            compaction_threshold: 70,
            compaction_keep_recent: 4,
            auxiliary_model_channel_id: None,
            auxiliary_model_id: None,
            is_default: false,
        }
    }
}

/// The model of an agent and its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelConfig {
    pub channel_id: Option<ChannelId>,
    /// Default: the first model of the channel.
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub think_level: ThinkingLevel,
    /// Used when the channel fails before it has sent anything.
    pub fallback: Option<ModelFallback>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelFallback {
    pub channel_id: ChannelId,
    #[serde(default)]
    pub model: Option<String>,
}

/// Tools that are enabled or disabled regardless of their default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolChoice {
    pub enabled: Vec<String>,
    pub disabled: Vec<String>,
}

/// Overrides of an agent for one tool. Absent fields keep the values of the tool's manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolOverride {
    pub description: Option<String>,
    pub risk: Option<ToolRisk>,
    pub timeout_ms: Option<u64>,
    pub approval: Option<ApprovalMode>,
    /// Arguments that always have this value, regardless of what the model sends.
    pub arguments: Map<String, Value>,
}

/// Limits of the subagents that this agent starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct SubagentConfig {
    /// Default: what the runtime policy allows.
    pub allowed_tool_names: Option<Vec<String>>,
}

/// The sandbox of programs. They can write only to the agent's directories and to temporary
/// directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxConfig {
    /// What to do on a machine that does not support the sandbox. With `network`, it also applies
    /// to sockets in the file system, if the kernel cannot distinguish them.
    pub missing: MissingSandbox,
    /// Whether programs may use the network.
    pub network: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MissingSandbox {
    /// Do not start programs.
    #[default]
    Refuse,
    /// Start programs without a sandbox, and warn.
    Warn,
}
