//! Agents as pages edit them and as runs read them.

use crate::{
    AgentId, ApprovalMode, ChannelId, EffectiveTools, ModelInfo, Stamp, ThinkingLevel, ToolRisk,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// An agent as it is kept.
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

/// An agent as those see it who only use it.
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

/// Who configures the server gets the whole agents; everybody else what they need to choose one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum AgentListItem {
    Whole(Box<Agent>),
    Brief(AgentBrief),
}

/// What an agent would be told and could use, as it is configured or about to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentPreview {
    pub tools: EffectiveTools,
    pub prompt: PromptPreview,
    /// The model whose abilities counted; absent if the agent has none that can be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelInfo>,
    /// Why the agent could not run as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The system prompt, layer by layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PromptPreview {
    pub layers: Vec<PromptLayer>,
    /// An estimate.
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
    /// What the layer may have, in characters.
    pub budget: u64,
    /// What did not fit.
    pub omitted: Vec<String>,
}

/// Everything about an agent that somebody can set. What is absent has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSpec {
    /// Unique; what clients call the agent by.
    pub name: String,
    pub label: String,
    pub description: String,
    pub system_prompt: String,
    pub model_config: ModelConfig,
    pub tools: ToolChoice,
    /// By the tool's name.
    pub tool_overrides: BTreeMap<String, ToolOverride>,
    pub subagent_config: SubagentConfig,
    /// Names of the skills it uses; what holds a slash is a directory with more of them. Without a
    /// name: every skill that is found.
    pub skills: Vec<String>,
    /// Empty: every server that is switched on.
    pub mcp_servers: Vec<String>,
    /// The directory its tools work in; absent, that of the session.
    pub workspace: Option<String>,
    /// Further directories its tools may use.
    pub extra_roots: Vec<String>,
    pub approval: ApprovalMode,
    /// Hosts that its tools may reach without asking after the session has read content from
    /// outside: `example.com`, `*.example.com`, `http://example.com:8080`. Without a scheme: https.
    pub allowed_hosts: Vec<String>,
    /// How far the programs are locked in that its tools start.
    pub sandbox: SandboxConfig,
    pub is_crew_master: bool,
    /// `file` or `mysql`. Any text is kept, and an unknown one means `file`: sessions must stay
    /// reachable after a typing mistake.
    pub session_provider: String,
    /// Percent of the context window at which it is compacted; 0 is never.
    pub compaction_threshold: u32,
    /// Messages that a compaction leaves alone at least.
    pub compaction_keep_recent: u32,
    pub auxiliary_model_channel_id: Option<ChannelId>,
    pub auxiliary_model_id: Option<String>,
    /// The agent for whoever names none. There is always exactly one.
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

/// Which model an agent uses, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelConfig {
    pub channel_id: Option<ChannelId>,
    /// Absent: the channel's first model.
    pub model: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub think_level: ThinkingLevel,
    /// Where a request goes when the channel fails before anything has arrived.
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

/// Tools that are on or off whatever their default is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolChoice {
    pub enabled: Vec<String>,
    pub disabled: Vec<String>,
}

/// What an agent changes about one tool. What is absent stays as the tool's manifest says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolOverride {
    pub description: Option<String>,
    pub risk: Option<ToolRisk>,
    pub timeout_ms: Option<u64>,
    pub approval: Option<ApprovalMode>,
    /// Arguments that have this value whatever the model says.
    pub arguments: Map<String, Value>,
}

/// What the agents may do that this one delegates to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct SubagentConfig {
    /// Absent: what the runtime policy allows.
    pub allowed_tool_names: Option<Vec<String>>,
}

/// How far programs are locked in: they write only to the agent's directories and to those for
/// temporary files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxConfig {
    /// What to do on a machine that cannot lock programs in. With the network on it also decides
    /// on sockets in the file tree, where the kernel cannot tell them apart.
    pub missing: MissingSandbox,
    /// Whether programs may use the network.
    pub network: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MissingSandbox {
    /// Start nothing.
    #[default]
    Refuse,
    /// Start it all the same, and say so.
    Warn,
}
