//! A request as the body of a chat completion.

use super::wire::{Body, Call, Content, Function, Message, Part, StreamOptions, Tool};
use crate::catalogue::{
    self, ApiFamily, EffortNames, Quirks, ReasoningBack, Resolved, ThinkingStyle,
};
use crate::channel::Channel;
use crate::payload::{self, AnswerPart, CallResult, Exchange, Target, Turn, UserPart};
use crate::request::{ModelRequest, SystemPrompt, ToolDefinition};
use crate::thinking::budget;
use netaclaw_protocol::{InfoSource, SharedText, ThinkingLevel};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The content of a tool result whose images follow in a user message.
const PICTURES_FOLLOW: &str = "(see the images in the next message)";

pub(crate) fn body(request: &ModelRequest, channel: &Channel, model: &Resolved) -> Vec<u8> {
    let quirks = &catalogue::supplier(channel.supplier).quirks;
    let tools: &[ToolDefinition] = match model.info.tools {
        true => &request.tools,
        false => &[],
    };
    let turns = payload::turns(
        &request.messages,
        &Target {
            api: ApiFamily::OpenaiChat,
            provider: &channel.name,
            model: &request.model,
            vision: model.info.vision,
            tools: !tools.is_empty(),
        },
    );
    let thinking = Thinking::new(model.thinking, request.thinking, !tools.is_empty());
    let mut more = thinking.members;
    if let Some(max) = max_tokens(request, model) {
        more.insert(quirks.max_tokens.into(), max.into());
    }
    for name in quirks.always {
        more.insert((*name).into(), true.into());
    }
    let body = Body {
        model: &request.model,
        messages: messages(request, &turns, quirks, thinking.is_on),
        stream: true,
        stream_options: quirks.asks_for_usage.then_some(StreamOptions {
            include_usage: true,
        }),
        tools: tools.iter().map(Tool::new).collect(),
        temperature: request.temperature.filter(|_| thinking.takes_temperature),
        more,
    };
    request.write(&body)
}

/// Only what the caller asked for: a server may refuse a limit that its window cannot hold, and
/// some count it against the rate limit.
fn max_tokens(request: &ModelRequest, model: &Resolved) -> Option<u64> {
    let wanted = request.max_output_tokens?;
    Some(match model.info.source {
        InfoSource::Guess => wanted,
        InfoSource::Channel | InfoSource::Catalogue => wanted.min(model.info.max_output),
    })
}

/// What a request says about thinking.
struct Thinking {
    members: Map<String, Value>,
    is_on: bool,
    /// Models that think work best with their default temperature, and some refuse another one.
    takes_temperature: bool,
}

impl Thinking {
    fn new(style: ThinkingStyle, level: ThinkingLevel, with_tools: bool) -> Self {
        let mut members = Map::new();
        let wanted = level != ThinkingLevel::Off;
        let mut is_on = wanted;
        let switch = |on: bool, word: &str| json!({"type": if on { word } else { "disabled" }});
        let mut takes_temperature = !wanted;
        match style {
            ThinkingStyle::None | ThinkingStyle::Budget | ThinkingStyle::Adaptive { .. } => {
                is_on = false;
                takes_temperature = true;
            }
            ThinkingStyle::Effort(names) => {
                let name = effort(names, level, with_tools);
                if let Some(name) = name {
                    members.insert("reasoning_effort".into(), name.into());
                }
                is_on = !matches!(name, None | Some("none"));
                takes_temperature = !is_on;
            }
            ThinkingStyle::Switch => {
                members.insert("thinking".into(), switch(wanted, "enabled"));
            }
            ThinkingStyle::SwitchAndEffort(names) => {
                members.insert("thinking".into(), switch(wanted, "enabled"));
                if let Some(name) = effort(names, level, with_tools) {
                    members.insert("reasoning_effort".into(), name.into());
                }
            }
            ThinkingStyle::AdaptiveSwitch => {
                members.insert("thinking".into(), switch(wanted, "adaptive"));
            }
            ThinkingStyle::FlagAndBudget => {
                members.insert("enable_thinking".into(), wanted.into());
                // The highest level has no limit but the model's own.
                if let Some(tokens) = budget(level).filter(|_| level != ThinkingLevel::Xhigh) {
                    members.insert("thinking_budget".into(), tokens.into());
                }
            }
        }
        Self {
            members,
            is_on,
            takes_temperature,
        }
    }
}

fn effort(names: &EffortNames, level: ThinkingLevel, with_tools: bool) -> Option<&'static str> {
    let level = match names.tools_only_when_off && with_tools {
        true => ThinkingLevel::Off,
        false => level,
    };
    names.names[level as usize]
}

fn messages<'a>(
    request: &'a ModelRequest,
    turns: &'a [Turn<'a>],
    quirks: &Quirks,
    thinks: bool,
) -> Vec<Message<'a>> {
    let mut messages = Vec::with_capacity(turns.len() + 1);
    if let Some(text) = system(&request.system) {
        messages.push(Message {
            content: Some(Content::Written(text)),
            ..Message::new("system")
        });
    }
    // Tool results are text to this API; their pictures wait here for the user's next message.
    let mut pictures: Vec<Part<'a>> = Vec::new();
    for turn in turns {
        match turn {
            Turn::User(parts) => {
                let mut all = std::mem::take(&mut pictures);
                all.extend(parts.iter().map(Part::new));
                messages.push(user(all));
            }
            Turn::Exchange(exchange) => {
                if !pictures.is_empty() {
                    messages.push(user(std::mem::take(&mut pictures)));
                }
                messages.push(answer(exchange, quirks, thinks));
                for result in &exchange.results {
                    messages.push(tool_result(result));
                    pictures.extend(pictures_of(result));
                }
            }
        }
    }
    if !pictures.is_empty() {
        messages.push(user(pictures));
    }
    messages
}

/// The instructions as one text. The stable ones are the same in every request, and are written as
/// JSON only once.
fn system(prompt: &SystemPrompt) -> Option<Cow<'_, RawValue>> {
    let stable = Some(&prompt.stable).filter(|text| !text.trim().is_empty());
    let stable = stable.map(SharedText::json);
    let volatile = Some(&prompt.volatile).filter(|text| !text.trim().is_empty());
    let volatile = volatile.map(|text| to_raw_value(text).expect("a text can be written as JSON"));
    match (stable, volatile) {
        (None, None) => None,
        (Some(stable), None) => Some(Cow::Borrowed(stable)),
        (None, Some(volatile)) => Some(Cow::Owned(volatile)),
        (Some(stable), Some(volatile)) => {
            let (stable, volatile) = (stable.get(), volatile.get());
            // The closing quote of the one and the opening quote of the other go.
            let both = [&stable[..stable.len() - 1], "\\n\\n", &volatile[1..]].concat();
            let both = RawValue::from_string(both).expect("two texts are one");
            Some(Cow::Owned(both))
        }
    }
}

/// Plain text where possible: not every server accepts parts.
fn user(parts: Vec<Part<'_>>) -> Message<'_> {
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => Some(&**text),
            Part::ImageUrl { .. } => None,
        })
        .collect();
    match texts {
        Some(texts) => Message::text("user", Cow::Owned(texts.join("\n\n"))),
        None => Message {
            content: Some(Content::Parts(parts)),
            ..Message::new("user")
        },
    }
}

fn answer<'a>(exchange: &'a Exchange<'a>, quirks: &Quirks, thinks: bool) -> Message<'a> {
    let mut texts: Vec<&str> = Vec::new();
    let mut thought: Vec<(&str, &str)> = Vec::new();
    let mut message = Message::new("assistant");
    for part in &exchange.answer {
        match part {
            AnswerPart::Text(text) => texts.push(text),
            AnswerPart::Thinking {
                text, signature, ..
            } => {
                // What came inside the text, between tags, has no field to go back to.
                if !signature.is_empty() {
                    thought.push((text, signature));
                }
            }
            AnswerPart::Call {
                id,
                name,
                arguments,
            } => message.tool_calls.push(Call {
                id,
                r#type: "function",
                function: Function {
                    name,
                    arguments: arguments.to_string(),
                },
            }),
        }
    }
    if !texts.is_empty() {
        message.content = Some(Content::Text(Cow::Owned(texts.join("\n\n"))));
    }
    let called = !message.tool_calls.is_empty();
    let goes_back = match quirks.reasoning_back {
        ReasoningBack::Never => false,
        ReasoningBack::WithCalls => called && !thought.is_empty(),
        ReasoningBack::RequiredWithCalls => called && (thinks || !thought.is_empty()),
        ReasoningBack::Always => !thought.is_empty(),
    };
    if goes_back {
        message.reason(&thought);
    }
    message
}

fn tool_result<'a>(result: &'a CallResult<'a>) -> Message<'a> {
    let texts: Vec<&str> = result
        .parts
        .iter()
        .filter_map(|part| match part {
            UserPart::Text(text) => Some(&**text),
            UserPart::Image { .. } => None,
        })
        .collect();
    let text = match texts.as_slice() {
        [] => Cow::Borrowed(PICTURES_FOLLOW),
        _ => Cow::Owned(texts.join("\n\n")),
    };
    Message {
        tool_call_id: Some(&result.id),
        ..Message::text("tool", text)
    }
}

fn pictures_of<'a>(result: &'a CallResult<'a>) -> Vec<Part<'a>> {
    let mut pictures: Vec<Part<'_>> = result
        .parts
        .iter()
        .filter(|part| matches!(part, UserPart::Image { .. }))
        .map(Part::new)
        .collect();
    if !pictures.is_empty() {
        let label = format!("[images from the result of {}]", result.name);
        pictures.insert(
            0,
            Part::Text {
                text: Cow::Owned(label),
            },
        );
    }
    pictures
}
