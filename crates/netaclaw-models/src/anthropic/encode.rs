//! A request as the body of a message.

use super::wire::{Block, Body, Kind, Message, Tool};
use crate::catalogue::{AdaptiveOff, ApiFamily, Resolved, ThinkingStyle};
use crate::channel::Channel;
use crate::payload::{self, AnswerPart, Exchange, Target, Turn};
use crate::request::{ModelRequest, PromptCache, SystemPrompt, ToolDefinition};
use crate::thinking::budget;
use crate::tokens;
use netaclaw_protocol::ThinkingLevel;
use serde_json::{Value, json};

/// The answer when the caller sets no limit; the API insists on one.
const DEFAULT_MAX_TOKENS: u64 = 32_000;
/// The minimum for the answer besides the thinking, and the minimum for the thinking.
const ROOM: u64 = 1024;

pub(crate) fn body(request: &ModelRequest, channel: &Channel, model: &Resolved) -> Vec<u8> {
    let tools: &[ToolDefinition] = match model.info.tools {
        true => &request.tools,
        false => &[],
    };
    let turns = payload::turns(
        &request.messages,
        &Target {
            api: ApiFamily::AnthropicMessages,
            provider: &channel.name,
            model: &request.model,
            vision: model.info.vision,
            tools: !tools.is_empty(),
        },
    );
    let thinking = Thinking::new(request, model, &turns);
    let mut body = Body {
        model: &request.model,
        max_tokens: thinking.max_tokens,
        stream: true,
        system: system(&request.system),
        messages: messages(&turns),
        tools: tools.iter().map(Tool::new).collect(),
        thinking: thinking.thinking,
        output_config: thinking.output_config,
        temperature: request.temperature.filter(|_| thinking.takes_temperature),
    };
    if request.cache == PromptCache::On {
        body.mark_for_cache(!request.system.stable.trim().is_empty());
    }
    request.write(&body)
}

fn system(prompt: &SystemPrompt) -> Vec<Block<'_>> {
    let said = |text: &&str| !text.trim().is_empty();
    let stable = Some(&*prompt.stable).filter(said);
    let stable = stable.map(|_| Kind::Written {
        text: prompt.stable.json(),
    });
    let volatile = Some(prompt.volatile.as_str()).filter(said);
    let volatile = volatile.map(|text| Kind::Text { text });
    stable.into_iter().chain(volatile).map(Block::new).collect()
}

/// What a request says about thinking, and the limit that thinking counts against.
struct Thinking {
    thinking: Option<Value>,
    output_config: Option<Value>,
    max_tokens: u64,
    takes_temperature: bool,
}

impl Thinking {
    fn new(request: &ModelRequest, model: &Resolved, turns: &[Turn<'_>]) -> Self {
        let level = request.thinking;
        let plain = Self {
            thinking: None,
            output_config: None,
            max_tokens: max_tokens(request, model),
            takes_temperature: true,
        };
        match model.thinking {
            ThinkingStyle::Budget if begins_with_thinking(turns) => match budget(level) {
                Some(tokens) => plain.with_budget(tokens, model.info.max_output),
                None => plain,
            },
            ThinkingStyle::Adaptive { off, most } => plain.adaptive(level, off, most),
            _ => plain,
        }
    }

    /// Thinking counts as output, so the limit grows by it as far as the model allows; what is
    /// still missing is taken from the thinking.
    fn with_budget(mut self, tokens: u64, max_output: u64) -> Self {
        let limit = (self.max_tokens + tokens).min(max_output.max(self.max_tokens));
        let tokens = tokens.min(limit.saturating_sub(ROOM));
        if tokens >= ROOM {
            self.max_tokens = limit;
            self.thinking = Some(json!({"type": "enabled", "budget_tokens": tokens}));
            self.takes_temperature = false;
        }
        self
    }

    fn adaptive(mut self, level: ThinkingLevel, off: AdaptiveOff, most: &str) -> Self {
        // These models reject a temperature, thinking or not.
        self.takes_temperature = false;
        let effort = match (level, off) {
            (ThinkingLevel::Off, AdaptiveOff::Disabled) => {
                self.thinking = Some(json!({"type": "disabled"}));
                return self;
            }
            (ThinkingLevel::Off, AdaptiveOff::LeastEffort) => "low",
            (ThinkingLevel::Minimal | ThinkingLevel::Low, _) => "low",
            (ThinkingLevel::Medium, _) => "medium",
            (ThinkingLevel::High, _) => "high",
            (ThinkingLevel::Xhigh, _) => most,
        };
        let display = match level {
            ThinkingLevel::Off => "omitted",
            _ => "summarized",
        };
        self.thinking = Some(json!({"type": "adaptive", "display": display}));
        self.output_config = Some(json!({"effort": effort}));
        self
    }
}

fn max_tokens(request: &ModelRequest, model: &Resolved) -> u64 {
    let wanted = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    // A limit that does not fit behind the prompt is refused as if the prompt were too long.
    let room = model
        .info
        .context_window
        .saturating_sub(tokens::estimate_request(request));
    wanted.min(model.info.max_output).min(room.max(ROOM)).max(1)
}

/// Within a turn of tool calls, thinking can continue but not begin: the answer with the last calls
/// has to start with it. After a change of models it does not.
fn begins_with_thinking(turns: &[Turn<'_>]) -> bool {
    let last = turns.iter().rev().find_map(|turn| match turn {
        Turn::Exchange(exchange) => Some(exchange),
        Turn::User(_) => None,
    });
    last.is_none_or(|exchange| {
        exchange.results.is_empty()
            || matches!(exchange.answer.first(), Some(AnswerPart::Thinking { .. }))
    })
}

/// Results are blocks of the user's next message, and come before what the user says.
fn messages<'a>(turns: &'a [Turn<'a>]) -> Vec<Message<'a>> {
    let mut messages: Vec<Message<'a>> = Vec::with_capacity(turns.len() + 1);
    for turn in turns {
        match turn {
            Turn::User(parts) => {
                let blocks = parts.iter().map(Block::user);
                match messages.last_mut() {
                    Some(last) if last.role == "user" => last.content.extend(blocks),
                    _ => messages.push(Message {
                        role: "user",
                        content: blocks.collect(),
                    }),
                }
            }
            Turn::Exchange(exchange) => {
                messages.push(answer(exchange));
                if !exchange.results.is_empty() {
                    messages.push(Message {
                        role: "user",
                        content: exchange.results.iter().map(Block::result).collect(),
                    });
                }
            }
        }
    }
    messages
}

fn answer<'a>(exchange: &'a Exchange<'a>) -> Message<'a> {
    let content = exchange.answer.iter().map(|part| match part {
        AnswerPart::Text(text) => Block::text(text),
        AnswerPart::Thinking {
            signature,
            redacted: true,
            ..
        } => Block::new(Kind::RedactedThinking { data: signature }),
        AnswerPart::Thinking {
            text, signature, ..
        } => Block::new(Kind::Thinking {
            thinking: text,
            signature,
        }),
        AnswerPart::Call {
            id,
            name,
            arguments,
        } => Block::new(Kind::ToolUse {
            id,
            name,
            input: arguments,
        }),
    });
    Message {
        role: "assistant",
        content: content.collect(),
    }
}
