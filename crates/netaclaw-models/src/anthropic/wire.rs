//! The body of a message, as it is written.

use crate::payload::{CallResult, UserPart};
use crate::request::ToolDefinition;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u64,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) system: Vec<Block<'a>>,
    pub(super) messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
}

impl Body<'_> {
    /// Marks what the next request will begin with: the tools, the stable instructions, and the
    /// conversation up to its last two messages of the user. Four marks are all there are.
    pub(super) fn mark_for_cache(&mut self, has_stable: bool) {
        if let Some(tool) = self.tools.last_mut() {
            tool.cache_control = Some(CacheControl::EPHEMERAL);
        }
        if let Some(stable) = self.system.first_mut().filter(|_| has_stable) {
            stable.cache_control = Some(CacheControl::EPHEMERAL);
        }
        let users = self.messages.iter_mut().rev().filter(|m| m.role == "user");
        for message in users.take(2) {
            if let Some(last) = message.content.last_mut() {
                last.cache_control = Some(CacheControl::EPHEMERAL);
            }
        }
    }
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Vec<Block<'a>>,
}

#[derive(Serialize)]
pub(super) struct Block<'a> {
    #[serde(flatten)]
    pub(super) kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheControl>,
}

impl<'a> Block<'a> {
    pub(super) fn new(kind: Kind<'a>) -> Self {
        Self {
            kind,
            cache_control: None,
        }
    }

    pub(super) fn text(text: &'a str) -> Self {
        Self::new(Kind::Text { text })
    }

    pub(super) fn user(part: &'a UserPart<'a>) -> Self {
        match part {
            UserPart::Text(text) => Self::text(text),
            UserPart::Image { data, mime_type } => Self::new(Kind::Image {
                source: Source {
                    r#type: "base64",
                    media_type: mime_type,
                    data,
                },
            }),
        }
    }

    pub(super) fn result(result: &'a CallResult<'a>) -> Self {
        Self::new(Kind::ToolResult {
            tool_use_id: &result.id,
            content: result.parts.iter().map(Block::user).collect(),
            is_error: result.is_error,
        })
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Kind<'a> {
    Text {
        text: &'a str,
    },
    /// The same, as JSON already.
    #[serde(rename = "text")]
    Written {
        text: &'a RawValue,
    },
    Image {
        source: Source<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
pub(super) struct Source<'a> {
    pub(super) r#type: &'static str,
    pub(super) media_type: &'a str,
    pub(super) data: &'a str,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a RawValue,
    pub(super) input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheControl>,
}

impl<'a> Tool<'a> {
    pub(super) fn new(tool: &'a ToolDefinition) -> Self {
        Self {
            name: &tool.name,
            description: tool.description.json(),
            input_schema: tool.schema.text(),
            cache_control: None,
        }
    }
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct CacheControl {
    pub(super) r#type: &'static str,
}

impl CacheControl {
    const EPHEMERAL: Self = Self {
        r#type: "ephemeral",
    };
}
