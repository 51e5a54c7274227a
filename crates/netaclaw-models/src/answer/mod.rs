//! Builds an answer and its events from decoded pieces. The only place that creates them.
//!
//! Decoders say what arrived; this keeps the promises of [`ModelClient`](crate::ModelClient):
//! parts start in order and end once, the message holds what the events showed, and there is one
//! last event.

mod growing;

pub use growing::GrowingAnswer;

use crate::client::{ModelEvent, StreamPart};
use crate::error::ModelError;
use netaclaw_protocol::{
    AnswerMark, AssistantMessage, Cost, ModelPrice, StopReason, Usage, now_ms,
};
use std::collections::VecDeque;

/// Text, thinking and arguments of one answer. This also bounds the memory that a model can make a
/// server use.
pub(crate) const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Who answers, as it is written on the message.
#[derive(Clone, Debug)]
pub(crate) struct AnswerMeta {
    pub(crate) api: &'static str,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) price: Option<ModelPrice>,
    /// Images of the last message that the request leaves out.
    pub(crate) unseen_images: u32,
}

#[derive(Debug)]
pub(crate) struct Answer {
    growing: GrowingAnswer,
    price: Option<ModelPrice>,
    events: VecDeque<ModelEvent>,
    /// The bytes received so far.
    bytes: usize,
    /// Something was left out because the answer would have become too large.
    oversized: bool,
    ended: bool,
}

impl Answer {
    pub(crate) fn new(answerer: AnswerMeta) -> Self {
        Self {
            growing: GrowingAnswer::new(AssistantMessage {
                content: Vec::new(),
                api: answerer.api.to_owned(),
                provider: answerer.provider,
                model: answerer.model,
                usage: Usage::default(),
                stop_reason: StopReason::Stop,
                error_message: None,
                trouble: None,
                netaclaw: (answerer.unseen_images > 0).then(|| {
                    Box::new(AnswerMark {
                        unseen_images: Some(answerer.unseen_images),
                        ..AnswerMark::default()
                    })
                }),
                timestamp: now_ms(),
            }),
            price: answerer.price,
            events: VecDeque::new(),
            bytes: 0,
            oversized: false,
            ended: false,
        }
    }

    /// The next event that was not returned yet.
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
        let open = self.growing.open_text();
        let index = open.unwrap_or_else(|| self.start(StreamPart::Text));
        self.delta(index, delta);
    }

    pub(crate) fn thinking(&mut self, delta: &str) {
        if !self.takes(delta) {
            return;
        }
        let index = self.thinking_part();
        self.delta(index, delta);
    }

    /// The signature that proves the thinking to its supplier, or names its origin. It may come
    /// without text: some models sign thinking that they do not show.
    pub(crate) fn sign(&mut self, signature: &str) {
        if !self.takes(signature) {
            return;
        }
        let index = self.thinking_part();
        self.growing.sign(index, signature);
    }

    /// Thinking that only the supplier can read; it has to go back as it came.
    pub(crate) fn redacted_thinking(&mut self, data: &str) {
        if !data.is_empty() && !self.takes(data) {
            return;
        }
        let index = self.start(StreamPart::Thinking);
        self.growing.redact(index, data);
        self.end(index);
    }

    /// Looks at the thinking of the current part so far, for suppliers that repeat themselves.
    pub(crate) fn look_at_thinking<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        self.growing.look_at_thinking(look)
    }

    /// Begins a tool call. Several may be open at once, as their fragments may come mixed.
    pub(crate) fn call(&mut self, id: &str, name: &str) -> usize {
        self.start(StreamPart::ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(crate) fn arguments(&mut self, index: usize, delta: &str) {
        if self.takes(delta) {
            self.delta(index, delta);
        }
    }

    pub(crate) fn end(&mut self, index: usize) {
        if let Some(block) = self.growing.end(index) {
            self.events.push_back(ModelEvent::PartEnd { index, block });
        }
    }

    /// Ends the text or thinking that is open.
    pub(crate) fn end_current(&mut self) {
        let text = self.growing.open_text();
        if let Some(index) = text.or_else(|| self.growing.open_thinking()) {
            self.end(index);
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        self.set_usage(usage);
        self.events
            .push_back(ModelEvent::Usage(self.growing.usage()));
    }

    fn set_usage(&mut self, mut usage: Usage) {
        usage.total_tokens = usage.input + usage.output + usage.cache_read + usage.cache_write;
        usage.cost = self
            .price
            .map(|price| cost(&usage, price))
            .unwrap_or_default();
        self.growing.set_usage(usage);
    }

    pub(crate) fn usage_so_far(&self) -> Usage {
        self.growing.usage()
    }

    /// Makes the last event of an answer that came to its end.
    pub(crate) fn finish(&mut self, reason: StopReason) {
        if self.ended {
            return;
        }
        if self.oversized {
            return self.fail(too_large());
        }
        let nothing = self.growing.is_empty();
        if nothing && matches!(reason, StopReason::Stop | StopReason::ToolUse) {
            return self.fail(ModelError::EmptyAnswer);
        }
        self.end_all();
        let calls = self.growing.has_calls();
        // Suppliers are careless here; whether tools are to run is what the content says.
        let reason = match reason {
            StopReason::Stop if calls => StopReason::ToolUse,
            StopReason::ToolUse if !calls => StopReason::Stop,
            other => other,
        };
        self.last(ModelEvent::Done(self.growing.finish(reason, None)));
    }

    /// Makes the last event of an answer that did not; what arrived is kept.
    pub(crate) fn fail(&mut self, error: ModelError) {
        if self.ended {
            return;
        }
        self.end_all();
        let reason = match error {
            ModelError::Cancelled => StopReason::Aborted,
            _ => StopReason::Error,
        };
        let partial = self.growing.finish(reason, Some(error.to_string()));
        self.last(ModelEvent::Failed { error, partial });
    }

    fn last(&mut self, event: ModelEvent) {
        self.ended = true;
        self.events.push_back(event);
    }

    fn end_all(&mut self) {
        for (index, block) in self.growing.end_all() {
            self.events.push_back(ModelEvent::PartEnd { index, block });
        }
    }

    fn thinking_part(&mut self) -> usize {
        let open = self.growing.open_thinking();
        open.unwrap_or_else(|| self.start(StreamPart::Thinking))
    }

    fn start(&mut self, part: StreamPart) -> usize {
        self.end_current();
        let index = self.growing.start(&part);
        if index == 0 {
            let growing = self.growing.clone();
            self.events.push_back(ModelEvent::AnswerStart(growing));
        }
        self.events.push_back(ModelEvent::PartStart { index, part });
        index
    }

    /// More of a part. An event that was not taken yet grows.
    fn delta(&mut self, index: usize, delta: &str) {
        if !self.growing.append(index, delta) {
            return;
        }
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
