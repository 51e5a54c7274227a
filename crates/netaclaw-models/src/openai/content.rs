//! The shapes of an answer, as tolerant as the servers are different.

use serde::Deserialize;
use serde_json::Value;

/// One event of a stream, or a whole answer of a server that does not stream.
#[derive(Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    /// MiniMax reports failures here, with status 200.
    #[serde(default)]
    pub(super) base_resp: Option<BaseResp>,
    /// Where an error has neither of the two, it is right at the top.
    #[serde(default)]
    pub(super) message: Option<Value>,
}

impl Chunk {
    pub(super) fn is_error(&self) -> bool {
        let said = self.error.as_ref().is_some_and(|error| !error.is_null());
        let base = self.base_resp.as_ref().is_some_and(|r| r.status_code != 0);
        let top = self.choices.is_none() && self.usage.is_none() && self.message.is_some();
        said || base || top
    }
}

#[derive(Deserialize)]
pub(super) struct BaseResp {
    #[serde(default)]
    status_code: i64,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    /// The whole answer; some servers also repeat it with every delta.
    #[serde(default)]
    pub(super) message: Option<Delta>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    /// Some servers send it here instead of next to the choices.
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    pub(super) content: Option<Value>,
    #[serde(default)]
    pub(super) reasoning_content: Option<String>,
    #[serde(default)]
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) reasoning_details: Option<Vec<Detail>>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
pub(super) struct Detail {
    #[serde(default)]
    pub(super) text: Option<String>,
}

/// A text, or the texts of a list of parts; other content is ignored.
pub(super) fn text_of(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

#[derive(Deserialize)]
pub(super) struct CallDelta {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) function: Option<FunctionDelta>,
}

#[derive(Default, Deserialize)]
pub(super) struct FunctionDelta {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Option<Value>,
}

/// Arguments as JSON text. Some servers send an object instead.
pub(super) fn arguments_of(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => String::new(),
        object => object.to_string(),
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's word for what was read from the cache.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default, alias = "cache_creation_input_tokens")]
    cache_write_tokens: Option<u64>,
}

impl From<WireUsage> for netaclaw_protocol::Usage {
    /// Cached tokens are part of the prompt here, and apart from it in our count.
    fn from(wire: WireUsage) -> Self {
        let details = wire.prompt_tokens_details.unwrap_or_default();
        let prompt = wire.prompt_tokens.unwrap_or_default();
        let cache_read = details
            .cached_tokens
            .or(wire.prompt_cache_hit_tokens)
            .unwrap_or_default()
            .min(prompt);
        let cache_write = details
            .cache_write_tokens
            .unwrap_or_default()
            .min(prompt - cache_read);
        Self {
            input: prompt - cache_read - cache_write,
            output: wire.completion_tokens.unwrap_or_default(),
            cache_read,
            cache_write,
            ..Self::default()
        }
    }
}
