//! Requests as OpenAI's clients write them, and what they become in a session.

use crate::error::ApiError;
use netaclaw_protocol::{
    AssistantMessage, Attachment, BadRequest, ContentBlock, Message, StopReason, Usage,
    UserContent, UserMessage,
};
use netaclaw_session::{EntryBody, raw_json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// What is read of a request. The rest, such as temperature or tools, is the agent's own matter.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) model: String,
    #[serde(deserialize_with = "read_messages")]
    messages: Vec<RequestMessage>,
    #[serde(default)]
    pub(super) stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize)]
struct RequestMessage {
    role: String,
    #[serde(default)]
    content: Content,
}

/// A list would be taken for the fields of a message, in the order of their declaration.
fn read_messages<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RequestMessage>, D::Error> {
    let objects = Vec::<Map<String, Value>>::deserialize(from)?;
    let read = |object| RequestMessage::deserialize(Value::Object(object));
    let messages: Result<_, _> = objects.into_iter().map(read).collect();
    messages.map_err(D::Error::custom)
}

#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Content {
    #[default]
    Nothing,
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Debug, Deserialize)]
struct ImageUrl {
    url: String,
}

/// A request split into the earlier messages and the new one.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) before: Vec<EntryBody>,
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

impl Request {
    pub(super) fn wants_usage(&self) -> bool {
        self.stream_options.include_usage
    }

    pub(super) fn conversation(&mut self, now_ms: i64) -> Result<Conversation, ApiError> {
        let Some(last) = self.messages.pop().filter(|last| last.role == "user") else {
            let error = ApiError::new(BadRequest::LastMessageNotUsers);
            return Err(error.with_details(field("messages")));
        };
        let before = self.messages.drain(..).map(|said| said.entry(now_ms));
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let blocks = last.content.blocks()?;
        let images = blocks.iter().filter_map(|block| match block {
            ContentBlock::Image { data, mime_type } => Some(Attachment {
                id: None,
                name: "image".to_owned(),
                mime_type: mime_type.clone(),
                data: Some(data.clone()),
            }),
            _ => None,
        });
        Ok(Conversation {
            before,
            attachments: images.collect(),
            text: text_of(&blocks),
        })
    }
}

impl RequestMessage {
    fn entry(self, timestamp: i64) -> Result<EntryBody, ApiError> {
        let blocks = self.content.blocks()?;
        Ok(match self.role.as_str() {
            // A session has no place for a second system prompt: the agent brings its own. The
            // words go before the conversation, where the model reads them.
            "system" | "developer" => EntryBody::CustomMessage {
                custom_type: "openai.system".to_owned(),
                content: raw_json(&text_of(&blocks)),
                display: true,
                details: None,
            },
            "user" => EntryBody::message(&Message::User(UserMessage {
                content: UserContent::Blocks(blocks),
                timestamp,
            })),
            "assistant" => EntryBody::message(&Message::Assistant(AssistantMessage {
                content: blocks,
                api: String::new(),
                provider: "caller".to_owned(),
                model: String::new(),
                usage: Usage::default(),
                stop_reason: StopReason::Stop,
                error_message: None,
                trouble: None,
                netaclaw: None,
                timestamp,
            })),
            other => {
                let role = other.to_owned();
                let error = ApiError::new(BadRequest::RoleNotTaken { role });
                return Err(error.with_details(field("messages")));
            }
        })
    }
}

impl Content {
    fn blocks(self) -> Result<Vec<ContentBlock>, ApiError> {
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::Text(text) => Ok(vec![ContentBlock::Text { text }]),
            Self::Parts(parts) => parts.into_iter().map(Part::block).collect(),
        }
    }
}

impl Part {
    fn block(self) -> Result<ContentBlock, ApiError> {
        match self {
            Self::Text { text } => Ok(ContentBlock::Text { text }),
            Self::ImageUrl { image_url } => {
                let inline = image_url.url.strip_prefix("data:");
                let parts = inline.and_then(|rest| rest.split_once(";base64,"));
                let (mime_type, data) = parts.ok_or_else(|| {
                    ApiError::new(BadRequest::ImageNotInPlace).with_details(field("messages"))
                })?;
                Ok(ContentBlock::Image {
                    data: data.to_owned(),
                    mime_type: mime_type.to_owned(),
                })
            }
        }
    }
}

fn text_of(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn field(name: &str) -> serde_json::Value {
    serde_json::json!({ "field": name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(messages: serde_json::Value) -> Result<Conversation, ApiError> {
        let request = json!({"model": "m", "messages": messages, "temperature": 0.1});
        let mut request: Request = serde_json::from_value(request).unwrap();
        request.conversation(7)
    }

    #[test]
    fn earlier_output_is_distinguished_from_new_output() {
        let conversation = read(json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "1"},
            {"role": "user", "content": [{"type": "text", "text": "two"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
        ]))
        .unwrap();
        assert_eq!(conversation.before.len(), 3);
        assert_eq!(conversation.text, "two");
        assert_eq!(conversation.attachments[0].mime_type, "image/png");
    }

    #[test]
    fn what_cannot_be_taken_is_refused_with_its_reason() {
        let refused = |messages, reason: BadRequest| {
            assert_eq!(*read(messages).unwrap_err().reason, reason.into());
        };
        refused(json!([]), BadRequest::LastMessageNotUsers);
        let answer = json!([{"role": "assistant", "content": "x"}]);
        refused(answer, BadRequest::LastMessageNotUsers);
        let tool = json!([{"role": "tool", "content": "x"}, {"role": "user", "content": "y"}]);
        let role = "tool".to_owned();
        refused(tool, BadRequest::RoleNotTaken { role });
        let image = json!([{"role": "user", "content":
            [{"type": "image_url", "image_url": {"url": "https://a.test/x.png"}}]}]);
        refused(image, BadRequest::ImageNotInPlace);
    }
}
