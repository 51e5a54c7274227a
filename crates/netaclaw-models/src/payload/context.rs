//! Stored messages as plain ones: every role of a session becomes a role of a model.

use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, StopReason, ToolResultMessage, Usage, UserContent,
    UserMessage,
};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// What a context has to say to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextPayload {
    pub messages: Vec<Message>,
    /// The texts of system messages, which Pi writes into its files. They are instructions of
    /// another program: the prompt builder decides whether to take them over.
    pub system: Vec<String>,
    /// How many messages could not be read at all and are missing.
    pub unreadable: usize,
}

impl ContextPayload {
    /// Adds what comes behind it.
    pub fn append(&mut self, rest: Self) {
        self.messages.extend(rest.messages);
        self.system.extend(rest.system);
        self.unreadable += rest.unreadable;
    }
}

/// Reads the messages of a context, given as JSON in their order. Unknown roles are left out.
pub fn read_context<'a>(messages: impl IntoIterator<Item = &'a str>) -> ContextPayload {
    let mut payload = ContextPayload::default();
    for json in messages {
        let read = read(json, |stored| match &*stored.role {
            "system" => payload.system.extend(stored.text()),
            _ => payload.messages.extend(stored.into_message()),
        });
        payload.unreadable += usize::from(read.is_none());
    }
    payload
}

const SUMMARY_OF_THE_PAST: &str = "Earlier parts of this conversation were compacted to save \
                                   space. This summary replaces them:";
const SUMMARY_OF_A_BRANCH: &str = "The conversation followed another branch for a while and then \
                                   returned to this point. Summary of that branch:";

/// A message as it may be found in a file: any field can be missing, unknown ones are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    timestamp: Option<Value>,
    // Answers.
    #[serde(default)]
    api: Option<String>,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    usage: Option<Value>,
    // Tool results.
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
    // Commands the user ran.
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    cancelled: Option<bool>,
    #[serde(default)]
    truncated: Option<bool>,
    #[serde(default)]
    full_output_path: Option<String>,
    #[serde(default)]
    exclude_from_context: Option<bool>,
    // Summaries.
    #[serde(default)]
    summary: Option<String>,
}

enum Content {
    Text(String),
    Blocks(Vec<ContentBlock>),
}

/// Derived as untagged, all of it would be copied before it is looked at.
impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrBlocks;
        impl<'de> Visitor<'de> for TextOrBlocks {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of blocks")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
                let mut blocks = Vec::new();
                while let Some(found) = items.next_element::<Block<'_>>()? {
                    blocks.extend(block(found));
                }
                Ok(Content::Blocks(blocks))
            }
        }
        deserializer.deserialize_any(TextOrBlocks)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    thinking_signature: Option<String>,
    #[serde(default)]
    redacted: Option<bool>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

/// Hands what it reads on, as it may borrow from a text that is mended here.
fn read<T>(json: &str, take: impl FnOnce(Stored<'_>) -> T) -> Option<T> {
    if let Ok(stored) = serde_json::from_str(json) {
        return Some(take(stored));
    }
    let mended = replace_lone_surrogates(json);
    serde_json::from_str(&mended).ok().map(take)
}

impl Stored<'_> {
    fn into_message(self) -> Option<Message> {
        let timestamp = self
            .timestamp
            .as_ref()
            .and_then(Value::as_f64)
            .unwrap_or_default() as i64;
        let user = |content| Message::User(UserMessage { content, timestamp });
        let text = |text| Some(user(UserContent::Text(text)));
        match &*self.role {
            "user" | "custom" => Some(user(match self.content {
                Some(Content::Text(text)) => UserContent::Text(text),
                content => UserContent::Blocks(blocks(content)),
            })),
            "assistant" => Some(Message::Assistant(self.into_answer(timestamp))),
            "toolResult" => Some(Message::ToolResult(ToolResultMessage {
                tool_call_id: self.tool_call_id.unwrap_or_default(),
                tool_name: self.tool_name.unwrap_or_default(),
                content: blocks(self.content),
                details: None,
                is_error: self.is_error.unwrap_or_default(),
                timestamp,
            })),
            "bashExecution" if self.exclude_from_context.unwrap_or_default() => None,
            "bashExecution" => text(self.command_text()),
            "compactionSummary" => {
                let summary = self.summary.unwrap_or_default();
                text(format!(
                    "{SUMMARY_OF_THE_PAST}\n\n<summary>\n{summary}\n</summary>"
                ))
            }
            "branchSummary" => {
                let summary = self.summary.unwrap_or_default();
                text(format!(
                    "{SUMMARY_OF_A_BRANCH}\n\n<summary>\n{summary}</summary>"
                ))
            }
            _ => None,
        }
    }

    fn into_answer(self, timestamp: i64) -> AssistantMessage {
        AssistantMessage {
            content: blocks(self.content),
            api: self.api.unwrap_or_default(),
            provider: self.provider.unwrap_or_default(),
            model: self.model.unwrap_or_default(),
            usage: self
                .usage
                .and_then(|usage| serde_json::from_value::<Usage>(usage).ok())
                .unwrap_or_default(),
            stop_reason: match self.stop_reason.as_deref() {
                Some("length") => StopReason::Length,
                Some("toolUse") => StopReason::ToolUse,
                Some("error") => StopReason::Error,
                Some("aborted") => StopReason::Aborted,
                _ => StopReason::Stop,
            },
            error_message: self.error_message,
            trouble: None,
            netaclaw: None,
            timestamp,
        }
    }

    /// A command that the user ran outside the conversation, as a user message.
    fn command_text(&self) -> String {
        let command = self.command.as_deref().unwrap_or_default();
        let output = self.output.as_deref().unwrap_or_default();
        let mut text = format!("Ran `{command}`\n");
        if output.is_empty() {
            text.push_str("(no output)");
        } else {
            text.push_str(&format!("```\n{output}\n```"));
        }
        if self.cancelled.unwrap_or_default() {
            text.push_str("\n\n(command cancelled)");
        } else if let Some(code) = self.exit_code.filter(|code| *code != 0) {
            text.push_str(&format!("\n\nCommand exited with code {code}"));
        }
        if let (Some(true), Some(path)) = (self.truncated, &self.full_output_path) {
            text.push_str(&format!(
                "\n\n[Truncated; the complete output is in {path}]"
            ));
        }
        text
    }

    fn text(self) -> Option<String> {
        let text = match self.content? {
            Content::Text(text) => text,
            blocks => texts(blocks).join("\n\n"),
        };
        (!text.trim().is_empty()).then_some(text)
    }
}

fn texts(content: Content) -> Vec<String> {
    blocks(Some(content))
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        })
        .collect()
}

fn blocks(content: Option<Content>) -> Vec<ContentBlock> {
    match content {
        None => Vec::new(),
        Some(Content::Text(text)) => vec![ContentBlock::Text { text }],
        Some(Content::Blocks(blocks)) => blocks,
    }
}

fn block(block: Block<'_>) -> Option<ContentBlock> {
    Some(match &*block.r#type {
        "text" => ContentBlock::Text { text: block.text? },
        "thinking" => ContentBlock::Thinking {
            thinking: block.thinking.unwrap_or_default(),
            thinking_signature: block.thinking_signature,
            redacted: block.redacted.unwrap_or_default(),
        },
        "image" => ContentBlock::Image {
            data: block.data?,
            mime_type: block.mime_type?,
        },
        "toolCall" => ContentBlock::ToolCall {
            id: block.id.unwrap_or_default(),
            name: block.name.unwrap_or_default(),
            arguments: block.arguments.unwrap_or(Value::Null),
        },
        _ => return None,
    })
}

/// JavaScript stores unpaired surrogates, which are not characters. They become U+FFFD; otherwise
/// one of them would cost the whole message.
fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        let length = match (unit(escape), unit(escape.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str(&rest[..at]);
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            // Any other escape is a backslash and one character; `\\` must be skipped as a pair.
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..at + length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// The code unit of an escape at the beginning of a text.
fn unit(escape: &str) -> Option<u16> {
    let hex = escape.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let payload = read_context([json]);
        let Some(Message::User(user)) = payload.messages.first() else {
            panic!("{payload:?}")
        };
        assert_eq!(user.content, UserContent::Text(expected.into()));
    }

    #[test]
    fn commands_and_summaries_become_words_of_the_user() {
        check(
            r#"{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":2,"cancelled":false,"truncated":true,"fullOutputPath":"out.txt"}"#,
            "Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2\n\n[Truncated; the complete output is in out.txt]",
        );
        check(
            r#"{"role":"bashExecution","command":"true","output":"","exitCode":0,"cancelled":true,"truncated":false}"#,
            "Ran `true`\n(no output)\n\n(command cancelled)",
        );
        check(
            r#"{"role":"compactionSummary","summary":"S","tokensBefore":1,"timestamp":1}"#,
            &format!("{SUMMARY_OF_THE_PAST}\n\n<summary>\nS\n</summary>"),
        );
        check(
            r#"{"role":"branchSummary","summary":"S","fromId":"x","timestamp":null}"#,
            &format!("{SUMMARY_OF_A_BRANCH}\n\n<summary>\nS</summary>"),
        );
        check(
            r#"{"role":"custom","customType":"x","content":"hi","display":false}"#,
            "hi",
        );
    }

    #[test]
    fn what_is_excluded_or_unknown_is_left_out_and_what_is_broken_is_counted() {
        let payload = read_context([
            r#"{"role":"bashExecution","command":"x","output":"","excludeFromContext":true}"#,
            r#"{"role":"hookMessage","content":"x"}"#,
            r#"{"role":"system","content":"Be kind."}"#,
            r#"{"role":"system","content":[{"type":"text","text":"Be brief."}]}"#,
            "not json",
            "[]",
        ]);
        assert_eq!(payload.messages, []);
        assert_eq!(payload.system, ["Be kind.", "Be brief."]);
        assert_eq!(payload.unreadable, 2);
    }

    #[test]
    fn half_a_surrogate_pair_does_not_cost_a_message() {
        check(
            r#"{"role":"user","content":"a\ud83d b\\ud83d \ud83d\ude00 \udc00 \" c"}"#,
            "a\u{fffd} b\\ud83d 😀 \u{fffd} \" c",
        );
    }

    #[test]
    fn answers_and_results_are_read_whatever_is_missing() {
        let payload = read_context([
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"text","text":"x"},{"type":"toolCall","id":"1","name":"ls","arguments":{"p":1}},{"type":"new"}],"stopReason":"aborted","usage":{"input":3}}"#,
            r#"{"role":"assistant","content":null}"#,
            r#"{"role":"toolResult","toolCallId":"1","content":"plain","isError":true}"#,
        ]);
        let [
            Message::Assistant(first),
            Message::Assistant(second),
            Message::ToolResult(result),
        ] = payload.messages.as_slice()
        else {
            panic!("{payload:?}")
        };
        assert_eq!(first.content.len(), 3);
        assert_eq!(first.stop_reason, StopReason::Aborted);
        assert_eq!(first.usage.input, 3);
        assert_eq!(second.content, []);
        assert!(result.is_error);
    }
}
