//! From messages to turns: every rule that APIs enforce, once.

use super::ids::{CallIds, tool_name};
use super::{AnswerPart, CallResult, Exchange, Target, Turn, UserPart};
use crate::catalogue::ApiFamily;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, StopReason, ToolResultMessage, UserContent,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;

const INTERRUPTED: &str = "no result: interrupted";
const NO_OUTPUT: &str = "(no output)";
const CUT_BEGINNING: &str = "(The beginning of the conversation is omitted.)";
const CONTINUE: &str = "(continue)";
const UNSEEN_IMAGE: &str = "[an image was here, but this model does not support images]";

/// Makes a conversation legal for an API.
///
/// - Answers that failed or were stopped are left out, with the results of their calls.
/// - Every call has one result right behind its answer, in the order of the calls: the first one
///   found after it, or an error saying that there is none.
/// - Results without a call are left out.
/// - Thinking stays only with the model that thought it.
/// - Turns alternate, begin with the user and end where an answer is due.
pub fn turns<'a>(messages: &'a [Message], target: &Target<'_>) -> Vec<Turn<'a>> {
    let results = Results::bind(messages);
    let mut builder = Builder {
        target,
        ids: CallIds::new(target.api),
        turns: Vec::new(),
    };
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User(user) => builder.user(user_parts(&user.content, target)),
            Message::Assistant(answer) if is_dead(answer) => {}
            Message::Assistant(answer) => builder.answer(answer, results.of(at)),
            // It came with its call, or has none.
            Message::ToolResult(_) => {}
        }
    }
    builder.finish()
}

/// Whether an answer is stored for users only.
fn is_dead(answer: &AssistantMessage) -> bool {
    matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted)
}

/// Which result belongs to which call.
struct Results<'a> {
    /// By the position of the answer; one place for each of its calls.
    of: HashMap<usize, Vec<Option<&'a ToolResultMessage>>>,
}

impl<'a> Results<'a> {
    /// Ids are not unique: some models count from zero in every answer. A result therefore
    /// belongs to the last answer before it that called by this id, and to its first such call
    /// that has no result.
    fn bind(messages: &'a [Message]) -> Self {
        let mut of: HashMap<usize, Vec<Option<&ToolResultMessage>>> = HashMap::new();
        let mut callers: HashMap<&str, (usize, Vec<usize>)> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            match message {
                Message::User(_) => {}
                Message::Assistant(answer) => {
                    let calls: Vec<&str> = call_ids(answer).collect();
                    for (call, id) in calls.iter().enumerate() {
                        let caller = callers.entry(id).or_default();
                        if caller.0 != at {
                            *caller = (at, Vec::new());
                        }
                        caller.1.push(call);
                    }
                    of.insert(at, vec![None; calls.len()]);
                }
                Message::ToolResult(result) => {
                    let Some((answer, open)) = callers.get_mut(result.tool_call_id.as_str()) else {
                        continue;
                    };
                    if !open.is_empty() {
                        let call = open.remove(0);
                        of.get_mut(answer).expect("callers are in it")[call] = Some(result);
                    }
                }
            }
        }
        Self { of }
    }

    fn of(&self, answer: usize) -> &[Option<&'a ToolResultMessage>] {
        self.of.get(&answer).map_or(&[], Vec::as_slice)
    }
}

fn call_ids(answer: &AssistantMessage) -> impl Iterator<Item = &str> {
    answer.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

struct Builder<'a, 't> {
    target: &'t Target<'t>,
    ids: CallIds,
    turns: Vec<Turn<'a>>,
}

impl<'a> Builder<'a, '_> {
    fn user(&mut self, parts: Vec<UserPart<'a>>) {
        match self.turns.last_mut() {
            _ if parts.is_empty() => {}
            Some(Turn::User(before)) => before.extend(parts),
            _ => self.turns.push(Turn::User(parts)),
        }
    }

    fn answer(&mut self, message: &'a AssistantMessage, results: &[Option<&'a ToolResultMessage>]) {
        let mut exchange = Exchange::default();
        let mut results = results.iter();
        for block in &message.content {
            match block {
                ContentBlock::Text { text } if !text.trim().is_empty() => {
                    exchange.answer.push(AnswerPart::Text(Cow::Borrowed(text)));
                }
                ContentBlock::Thinking { .. } => {
                    exchange
                        .answer
                        .extend(own_thinking(block, message, self.target));
                }
                ContentBlock::ToolCall {
                    id,
                    name,
                    arguments,
                } => {
                    let id = self.ids.take(id);
                    let name = tool_name(name);
                    let result = results.next().copied().flatten();
                    exchange.results.push(call_result(
                        id.clone(),
                        name.clone(),
                        result,
                        self.target,
                    ));
                    exchange.answer.push(AnswerPart::Call {
                        id,
                        name,
                        arguments: object(arguments),
                    });
                }
                ContentBlock::Text { .. } | ContentBlock::Image { .. } => {}
            }
        }
        // An answer cannot end in thinking: there is nothing it was thought for.
        while let Some(AnswerPart::Thinking { .. }) = exchange.answer.last() {
            exchange.answer.pop();
        }
        if exchange.answer.is_empty() {
            exchange.answer.extend(thinking_as_text(message));
        }
        self.exchange(exchange);
    }

    fn exchange(&mut self, exchange: Exchange<'a>) {
        if exchange.answer.is_empty() {
            return;
        }
        // Anthropic takes calls in the past only with tools in the present.
        let tell = self.target.api == ApiFamily::AnthropicMessages && !self.target.tools;
        if tell && !exchange.results.is_empty() {
            let (answer, told) = as_plain_text(exchange);
            self.push(Exchange {
                answer,
                results: Vec::new(),
            });
            return self.user(told);
        }
        self.push(exchange);
    }

    fn push(&mut self, exchange: Exchange<'a>) {
        match self.turns.last_mut() {
            Some(Turn::Exchange(before)) if before.results.is_empty() => {
                before.answer.extend(exchange.answer);
                before.results = exchange.results;
            }
            _ => self.turns.push(Turn::Exchange(exchange)),
        }
    }

    fn finish(mut self) -> Vec<Turn<'a>> {
        if matches!(self.turns.first(), Some(Turn::Exchange(_))) {
            self.turns.insert(0, filler(CUT_BEGINNING));
        }
        let answer_due = match self.turns.last() {
            None => false,
            Some(Turn::User(_)) => true,
            Some(Turn::Exchange(exchange)) => !exchange.results.is_empty(),
        };
        if !answer_due {
            self.turns.push(filler(CONTINUE));
        }
        self.turns
    }
}

fn filler(text: &'static str) -> Turn<'static> {
    Turn::User(vec![UserPart::Text(Cow::Borrowed(text))])
}

fn user_parts<'a>(content: &'a UserContent, target: &Target<'_>) -> Vec<UserPart<'a>> {
    match content {
        UserContent::Text(text) if text.trim().is_empty() => Vec::new(),
        UserContent::Text(text) => vec![UserPart::Text(Cow::Borrowed(text))],
        UserContent::Blocks(blocks) => parts(blocks, target),
    }
}

fn parts<'a>(blocks: &'a [ContentBlock], target: &Target<'_>) -> Vec<UserPart<'a>> {
    blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } if !text.trim().is_empty() => {
                Some(UserPart::Text(Cow::Borrowed(text)))
            }
            ContentBlock::Image { data, mime_type } if !data.is_empty() => Some(if target.vision {
                UserPart::Image { data, mime_type }
            } else {
                UserPart::Text(Cow::Borrowed(UNSEEN_IMAGE))
            }),
            _ => None,
        })
        .collect()
}

/// How many images the user sent since the last answer that a model without vision does not
/// receive.
pub(crate) fn unseen_images(messages: &[Message], vision: bool) -> u32 {
    if vision {
        return 0;
    }
    let since = messages
        .iter()
        .rev()
        .take_while(|message| !matches!(message, Message::Assistant(answer) if !is_dead(answer)));
    let blocks = since.filter_map(|message| match message {
        Message::User(user) => match &user.content {
            UserContent::Blocks(blocks) => Some(blocks),
            UserContent::Text(_) => None,
        },
        _ => None,
    });
    let images = blocks
        .flatten()
        .filter(|block| matches!(block, ContentBlock::Image { .. }));
    u32::try_from(images.count()).unwrap_or(u32::MAX)
}

/// Thinking goes back only to the model it came from: to Anthropic with the signature that proves
/// it, to the others if there is anything to read.
fn own_thinking<'a>(
    block: &'a ContentBlock,
    message: &AssistantMessage,
    target: &Target<'_>,
) -> Option<AnswerPart<'a>> {
    let ContentBlock::Thinking {
        thinking,
        thinking_signature,
        redacted,
    } = block
    else {
        return None;
    };
    let own = message.api == target.api.as_str()
        && message.provider == target.provider
        && message.model == target.model;
    let signature = thinking_signature.as_deref().unwrap_or_default();
    let worth_it = match target.api {
        ApiFamily::AnthropicMessages => !signature.is_empty(),
        ApiFamily::OpenaiChat | ApiFamily::Demo => !thinking.trim().is_empty(),
    };
    (own && worth_it).then_some(AnswerPart::Thinking {
        text: thinking,
        signature,
        redacted: *redacted,
    })
}

/// Thinking is not worth repeating next to the text; but without text, it is all there is of the
/// answer.
fn thinking_as_text(message: &AssistantMessage) -> impl Iterator<Item = AnswerPart<'_>> {
    message.content.iter().filter_map(|block| match block {
        ContentBlock::Thinking { thinking, .. } if !thinking.trim().is_empty() => {
            Some(AnswerPart::Text(Cow::Borrowed(thinking)))
        }
        _ => None,
    })
}

fn call_result<'a>(
    id: String,
    name: Cow<'a, str>,
    result: Option<&'a ToolResultMessage>,
    target: &Target<'_>,
) -> CallResult<'a> {
    let (mut parts, is_error) = match result {
        Some(result) => (parts(&result.content, target), result.is_error),
        None => (vec![UserPart::Text(Cow::Borrowed(INTERRUPTED))], true),
    };
    if parts.is_empty() {
        parts.push(UserPart::Text(Cow::Borrowed(NO_OUTPUT)));
    }
    CallResult {
        id,
        name,
        parts,
        is_error,
    }
}

/// APIs take nothing but objects; text that never became JSON is shown to the model as such.
fn object(arguments: &Value) -> Cow<'_, Value> {
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        Value::Null => Cow::Owned(json!({})),
        other => Cow::Owned(json!({ "invalid_arguments": other })),
    }
}

/// Calls and results as plain text, for a model that may not call any tools.
fn as_plain_text(exchange: Exchange<'_>) -> (Vec<AnswerPart<'_>>, Vec<UserPart<'_>>) {
    let answer = exchange
        .answer
        .into_iter()
        .map(|part| match part {
            AnswerPart::Call {
                name, arguments, ..
            } => AnswerPart::Text(Cow::Owned(format!("[called {name} with {arguments}]"))),
            other => other,
        })
        .collect();
    let told = exchange
        .results
        .into_iter()
        .flat_map(|result| {
            let head = UserPart::Text(Cow::Owned(format!("[result of {}]", result.name)));
            std::iter::once(head).chain(result.parts)
        })
        .collect();
    (answer, told)
}
