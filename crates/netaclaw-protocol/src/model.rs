//! Models: suppliers, capabilities and prices.

use crate::{AgentId, ChannelId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The supplier of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Supplier {
    Openai,
    Azure,
    Anthropic,
    Deepseek,
    Zhipu,
    Tongyi,
    Minimax,
    Volcengine,
    Gemini,
    Moonshot,
    Siliconflow,
    Openrouter,
    Xai,
    Mistral,
    Ollama,
    Vllm,
    Lmstudio,
    /// Any other server with OpenAI's chat completions API.
    Compatible,
    /// The built-in demo model, which needs no network.
    Demo,
}

impl Supplier {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Deepseek => "deepseek",
            Self::Zhipu => "zhipu",
            Self::Tongyi => "tongyi",
            Self::Minimax => "minimax",
            Self::Volcengine => "volcengine",
            Self::Gemini => "gemini",
            Self::Moonshot => "moonshot",
            Self::Siliconflow => "siliconflow",
            Self::Openrouter => "openrouter",
            Self::Xai => "xai",
            Self::Mistral => "mistral",
            Self::Ollama => "ollama",
            Self::Vllm => "vllm",
            Self::Lmstudio => "lmstudio",
            Self::Compatible => "compatible",
            Self::Demo => "demo",
        }
    }
}

/// A supplier that can be chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SupplierOption {
    pub id: Supplier,
    pub label: String,
    /// Absent if every customer has a different address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    pub needs_key: bool,
    /// The environment variable that usually holds the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// Well-known models.
    pub models: Vec<ModelInfo>,
}

/// How hard a model should think before it answers.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    #[default]
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

impl ThinkingLevel {
    pub const ALL: [Self; 6] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        }
    }

    /// The level of that name. Session files of other programs may hold any text.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// What a million tokens cost, in the currency of the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelPrice {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// A model as configured in a channel. Absent fields come from the model catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelModel {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Whether it answers in chats; embedding, speech and image models do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
}

/// What is known about a model, with all defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    pub name: String,
    pub context_window: u64,
    pub max_output: u64,
    pub vision: bool,
    pub tools: bool,
    pub thinking: bool,
    /// Whether it answers in chats. Other models are not offered for a chat.
    #[serde(default = "yes")]
    pub chat: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// The source of the context window; clients show it.
    pub source: InfoSource,
}

/// Servers before this field offered every model.
fn yes() -> bool {
    true
}

/// Names of models, to look up what is known about them.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ModelLookup {
    pub names: Vec<String>,
}

/// The model that an agent uses unless a session chooses another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AgentModel {
    pub agent_id: AgentId,
    pub channel_id: ChannelId,
    pub channel_name: String,
    pub model: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InfoSource {
    /// The model's entry in the channel.
    Channel,
    /// The built-in model catalog.
    Catalogue,
    /// Unknown; the number is a conservative default.
    Guess,
}
