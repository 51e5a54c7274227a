//! An answer while it is put together: the one place where a client's events are made.
//!
//! Decoders say what arrived; this keeps the promises of [`ModelClient`](crate::ModelClient):
//! parts start in order and end once, the message holds what the events showed, and there is one
//! last event.

use crate::client::{ModelEvent, PartKind};
use crate::error::ModelError;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Cost, ModelPrice, StopReason, Usage, now_ms,
};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Text, thinking and arguments of one answer. It is held several times over while it is shown and
/// stored, so this also bounds the memory that a model can make a server use.
pub(crate) const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Who answers, as it is written on the message.
#[derive(Clone, Debug)]
pub(crate) struct Answerer {
    pub(crate) api: &'static str,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) price: Option<ModelPrice>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    message: AssistantMessage,
    price: Option<ModelPrice>,
    /// One for each block of the message.
    parts: Vec<Part>,
    events: VecDeque<ModelEvent>,
    /// What was taken in so far.
    bytes: usize,
    /// Something was left out because the answer would have become too large.
    oversized: bool,
    ended: bool,
}

#[derive(Debug)]
enum Part {
    Open,
    /// The arguments so far, which are JSON only when they are whole.
    OpenCall(String),
    Ended,
}

impl Answer {
    pub(crate) fn new(answerer: Answerer) -> Self {
        Self {
            message: AssistantMessage {
                content: Vec::new(),
                api: answerer.api.to_owned(),
                provider: answerer.provider,
                model: answerer.model,
                usage: Usage::default(),
                stop_reason: StopReason::Stop,
                error_message: None,
                trouble: None,
                netaclaw: None,
                timestamp: now_ms(),
            },
            price: answerer.price,
            parts: Vec::new(),
            events: VecDeque::new(),
            bytes: 0,
            oversized: false,
            ended: false,
        }
    }

    /// The next event nobody has seen.
    pub(crate) fn next_event(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
    }

    /// Whether the last event was made.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Whether the answer is larger than an answer may be. What goes beyond is not kept.
    pub(crate) fn is_oversized(&self) -> bool {
        self.oversized
    }

    /// Counts a piece; `false` if there is no room for it, or nothing in it.
    fn takes(&mut self, piece: &str) -> bool {
        self.oversized |= piece.len() > ANSWER_BYTES_MAX - self.bytes;
        let takes = !self.oversized && !piece.is_empty();
        if takes {
            self.bytes += piece.len();
        }
        takes
    }

    pub(crate) fn text(&mut self, delta: &str) {
        if !self.takes(delta) {
            return;
        }
        let index = match self.current() {
            Some((index, ContentBlock::Text { .. })) => index,
            _ => self.start(PartKind::Text),
        };
        if let ContentBlock::Text { text } = &mut self.message.content[index] {
            text.push_str(delta);
        }
        self.delta(index, delta);
    }

    pub(crate) fn thinking(&mut self, delta: &str) {
        if !self.takes(delta) {
            return;
        }
        let index = self.thinking_part();
        if let ContentBlock::Thinking { thinking, .. } = &mut self.message.content[index] {
            thinking.push_str(delta);
        }
        self.delta(index, delta);
    }

    /// What proves the thinking to its supplier, or names where it came from. May stand alone:
    /// some models sign thinking they do not show.
    pub(crate) fn sign(&mut self, signature: &str) {
        if !self.takes(signature) {
            return;
        }
        let index = self.thinking_part();
        if let ContentBlock::Thinking {
            thinking_signature, ..
        } = &mut self.message.content[index]
        {
            thinking_signature
                .get_or_insert_default()
                .push_str(signature);
        }
    }

    /// Thinking that only the supplier can read; it has to go back as it came.
    pub(crate) fn redacted_thinking(&mut self, data: &str) {
        if !data.is_empty() && !self.takes(data) {
            return;
        }
        let index = self.start(PartKind::Thinking);
        self.message.content[index] = ContentBlock::Thinking {
            thinking: String::new(),
            thinking_signature: Some(data.to_owned()),
            redacted: true,
        };
        self.end(index);
    }

    /// The thinking of the current part so far, for suppliers that repeat themselves.
    pub(crate) fn thinking_so_far(&self) -> &str {
        match self.current() {
            Some((_, ContentBlock::Thinking { thinking, .. })) => thinking,
            _ => "",
        }
    }

    /// Begins a tool call. Several may be open at once, as their fragments may come mixed.
    pub(crate) fn call(&mut self, id: &str, name: &str) -> usize {
        self.start(PartKind::ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(crate) fn arguments(&mut self, index: usize, delta: &str) {
        if !self.takes(delta) {
            return;
        }
        if let Some(Part::OpenCall(raw)) = self.parts.get_mut(index) {
            raw.push_str(delta);
            self.delta(index, delta);
        }
    }

    pub(crate) fn end(&mut self, index: usize) {
        let Some(part) = self.parts.get_mut(index) else {
            return;
        };
        match std::mem::replace(part, Part::Ended) {
            Part::Ended => return,
            Part::Open => {}
            Part::OpenCall(raw) => {
                if let ContentBlock::ToolCall { arguments, .. } = &mut self.message.content[index] {
                    *arguments = read_arguments(raw);
                }
            }
        }
        self.events.push_back(ModelEvent::PartEnd {
            index,
            block: self.message.content[index].clone(),
        });
    }

    /// Ends the text or thinking that is open.
    pub(crate) fn end_current(&mut self) {
        if let Some((index, _)) = self.current() {
            self.end(index);
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        self.set_usage(usage);
        self.events
            .push_back(ModelEvent::Usage(self.message.usage.clone()));
    }

    fn set_usage(&mut self, mut usage: Usage) {
        usage.total_tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
        usage.cost = self
            .price
            .map(|price| cost(&usage, price))
            .unwrap_or_default();
        self.message.usage = usage;
    }

    pub(crate) fn usage_so_far(&self) -> &Usage {
        &self.message.usage
    }

    /// Makes the last event of an answer that came to its end.
    pub(crate) fn finish(&mut self, reason: StopReason) {
        if self.ended {
            return;
        }
        if self.oversized {
            return self.fail(too_large());
        }
        let nothing = self.message.content.is_empty();
        if nothing && matches!(reason, StopReason::Stop | StopReason::ToolUse) {
            return self.fail(ModelError::EmptyAnswer);
        }
        self.end_all();
        let calls = self
            .message
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::ToolCall { .. }));
        // Suppliers are careless here; whether tools are to run is what the content says.
        self.message.stop_reason = match reason {
            StopReason::Stop if calls => StopReason::ToolUse,
            StopReason::ToolUse if !calls => StopReason::Stop,
            other => other,
        };
        self.last(ModelEvent::Done(self.message.clone()));
    }

    /// Makes the last event of an answer that did not; what arrived is kept.
    pub(crate) fn fail(&mut self, error: ModelError) {
        if self.ended {
            return;
        }
        self.end_all();
        self.message.stop_reason = match error {
            ModelError::Cancelled => StopReason::Aborted,
            _ => StopReason::Error,
        };
        self.message.error_message = Some(error.to_string());
        let partial = self.message.clone();
        self.last(ModelEvent::Failed { error, partial });
    }

    fn last(&mut self, event: ModelEvent) {
        self.ended = true;
        self.events.push_back(event);
    }

    fn end_all(&mut self) {
        for index in 0..self.parts.len() {
            self.end(index);
        }
    }

    /// The open text or thinking, which is always the last part.
    fn current(&self) -> Option<(usize, &ContentBlock)> {
        let index = self.parts.len().checked_sub(1)?;
        matches!(self.parts[index], Part::Open).then(|| (index, &self.message.content[index]))
    }

    fn thinking_part(&mut self) -> usize {
        match self.current() {
            Some((index, ContentBlock::Thinking { .. })) => index,
            _ => self.start(PartKind::Thinking),
        }
    }

    fn start(&mut self, kind: PartKind) -> usize {
        self.end_current();
        let index = self.parts.len();
        let (part, block) = match &kind {
            PartKind::Text => (
                Part::Open,
                ContentBlock::Text {
                    text: String::new(),
                },
            ),
            PartKind::Thinking => (
                Part::Open,
                ContentBlock::Thinking {
                    thinking: String::new(),
                    thinking_signature: None,
                    redacted: false,
                },
            ),
            PartKind::ToolCall { id, name } => (
                Part::OpenCall(String::new()),
                ContentBlock::ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: Value::Object(Map::new()),
                },
            ),
        };
        self.parts.push(part);
        self.message.content.push(block);
        self.events
            .push_back(ModelEvent::PartStart { index, part: kind });
        index
    }

    /// More of a part. What nobody has seen yet grows.
    fn delta(&mut self, index: usize, delta: &str) {
        if let Some(ModelEvent::PartDelta {
            index: open,
            delta: unseen,
        }) = self.events.back_mut()
            && *open == index
        {
            unseen.push_str(delta);
            return;
        }
        self.events.push_back(ModelEvent::PartDelta {
            index,
            delta: delta.to_owned(),
        });
    }
}

pub(crate) fn too_large() -> ModelError {
    ModelError::AnswerTooLarge {
        limit_bytes: ANSWER_BYTES_MAX,
    }
}

/// Arguments as the model wrote them. What is no JSON stays as text: the loop turns it into a
/// tool error that the model can repair, and must be able to quote it.
fn read_arguments(raw: String) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(&raw) {
        // Some servers encode the arguments twice.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::String(inner),
        },
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(value) => value,
        Err(_) => Value::String(raw),
    }
}

fn cost(usage: &Usage, price: ModelPrice) -> Cost {
    let of = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
    let cost = Cost {
        input: of(usage.input, price.input),
        output: of(usage.output, price.output),
        cache_read: of(usage.cache_read, price.cache_read),
        cache_write: of(usage.cache_write, price.cache_write),
        total: 0.0,
    };
    Cost {
        total: cost.input + cost.output + cost.cache_read + cost.cache_write,
        ..cost
    }
}

#[cfg(test)]
mod tests;
