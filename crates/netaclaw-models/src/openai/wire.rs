//! The body of a chat completion, as it is written.

use crate::payload::UserPart;
use crate::request::ToolDefinition;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<Message<'a>>,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    /// What goes by another name, or not at all, at another supplier.
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    /// Explicitly null next to calls: some servers reject a message without the member.
    pub(super) content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<Value>,
}

impl<'a> Message<'a> {
    pub(super) fn new(role: &'static str) -> Self {
        Self {
            role,
            content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning_content: None,
            reasoning: None,
            reasoning_details: None,
        }
    }

    pub(super) fn text(role: &'static str, text: Cow<'a, str>) -> Self {
        Self {
            content: Some(Content::Text(text)),
            ..Self::new(role)
        }
    }

    /// Puts thinking where it came from, which the decoder noted as its signature.
    pub(super) fn reason(&mut self, thought: &[(&str, &str)]) {
        let text = thought.iter().map(|(text, _)| *text).collect::<String>();
        match thought.first().map(|(_, field)| *field) {
            Some("reasoning") => self.reasoning = Some(text),
            Some("reasoning_details") => {
                self.reasoning_details = Some(json!([{
                    "type": "reasoning.text",
                    "format": "MiniMax-response-v1",
                    "index": 0,
                    "text": text,
                }]));
            }
            _ => self.reasoning_content = Some(text),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    /// A text that is JSON already.
    Written(Cow<'a, RawValue>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

impl<'a> Part<'a> {
    pub(super) fn new(part: &'a UserPart<'a>) -> Self {
        match part {
            UserPart::Text(text) => Self::Text {
                text: Cow::Borrowed(text),
            },
            UserPart::Image { data, mime_type } => Self::ImageUrl {
                image_url: ImageUrl {
                    url: format!("data:{mime_type};base64,{data}"),
                },
            },
        }
    }
}

#[derive(Serialize)]
pub(super) struct ImageUrl {
    pub(super) url: String,
}

#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) r#type: &'static str,
    pub(super) function: Function<'a>,
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: String,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) r#type: &'static str,
    pub(super) function: ToolFunction<'a>,
}

#[derive(Serialize)]
pub(super) struct ToolFunction<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a RawValue,
    pub(super) parameters: &'a RawValue,
}

impl<'a> Tool<'a> {
    pub(super) fn new(tool: &'a ToolDefinition) -> Self {
        Self {
            r#type: "function",
            function: ToolFunction {
                name: &tool.name,
                description: tool.description.json(),
                parameters: tool.schema.text(),
            },
        }
    }
}
