//! The text of a growing answer: one copy, shared by all its readers.

use crate::client::StreamPart;
use netaclaw_protocol::{AssistantMessage, ContentBlock, StopReason, Usage};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An answer while it arrives. Clones share it.
///
/// A piece is appended before the event that carries it, so a reader is never behind the events
/// that it has received. The answer may be ahead of them; the offsets of deltas show what overlaps.
#[derive(Clone, Debug)]
pub struct GrowingAnswer {
    shared: Arc<Mutex<Growing>>,
}

#[derive(Debug, PartialEq)]
struct Growing {
    message: AssistantMessage,
    /// One for each block of the message.
    parts: Vec<Part>,
}

#[derive(Debug, Default, PartialEq)]
struct Part {
    /// The arguments of a call as the model wrote them, which are JSON only when they are whole.
    arguments: String,
    ended: bool,
}

impl GrowingAnswer {
    /// `frame` is the message without content.
    pub fn new(frame: AssistantMessage) -> Self {
        let growing = Growing {
            message: frame,
            parts: Vec::new(),
        };
        Self {
            shared: Arc::new(Mutex::new(growing)),
        }
    }

    /// Begins a part and returns its index.
    pub fn start(&self, kind: &StreamPart) -> usize {
        let mut growing = self.lock();
        growing.message.content.push(match kind {
            StreamPart::Text => ContentBlock::Text {
                text: String::new(),
            },
            StreamPart::Thinking => ContentBlock::Thinking {
                thinking: String::new(),
                thinking_signature: None,
                redacted: false,
            },
            StreamPart::ToolCall { id, name } => ContentBlock::ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: Value::Object(Map::new()),
            },
        });
        growing.parts.push(Part::default());
        growing.parts.len() - 1
    }

    /// Appends a piece to an open part. `false` if there is no such part.
    pub fn append(&self, index: usize, piece: &str) -> bool {
        let growing = &mut *self.lock();
        let Some(part) = growing.parts.get_mut(index).filter(|part| !part.ended) else {
            return false;
        };
        match &mut growing.message.content[index] {
            ContentBlock::Text { text } => text.push_str(piece),
            ContentBlock::Thinking { thinking, .. } => thinking.push_str(piece),
            _ => part.arguments.push_str(piece),
        }
        true
    }

    /// All pieces of a part.
    pub fn text_of(&self, index: usize) -> String {
        let growing = self.lock();
        match growing.message.content.get(index) {
            Some(ContentBlock::Text { text }) => text.clone(),
            Some(ContentBlock::Thinking { thinking, .. }) => thinking.clone(),
            _ => {
                let part = growing.parts.get(index);
                part.map(|part| part.arguments.clone()).unwrap_or_default()
            }
        }
    }

    /// The message as it would have to be stored if nothing more came: marked as aborted.
    pub fn to_message(&self) -> AssistantMessage {
        let growing = self.lock();
        let mut message = growing.message.clone();
        for (block, part) in message.content.iter_mut().zip(&growing.parts) {
            if let ContentBlock::ToolCall { arguments, .. } = block
                && !part.ended
            {
                // Half of the arguments is not JSON yet; as text they can be read and never run.
                *arguments = Value::String(part.arguments.clone());
            }
        }
        message.stop_reason = StopReason::Aborted;
        message
    }

    /// Ends a part and returns its block; `None` if it has ended.
    pub(super) fn end(&self, index: usize) -> Option<ContentBlock> {
        let growing = &mut *self.lock();
        let part = growing.parts.get_mut(index).filter(|part| !part.ended)?;
        part.ended = true;
        let block = &mut growing.message.content[index];
        if let ContentBlock::ToolCall { arguments, .. } = block {
            *arguments = read_arguments(part.arguments.clone());
        }
        Some(block.clone())
    }

    /// Ends every part that is open; returns their indices and blocks.
    pub(super) fn end_all(&self) -> Vec<(usize, ContentBlock)> {
        let ended = 0..self.lock().parts.len();
        ended
            .filter_map(|index| Some((index, self.end(index)?)))
            .collect()
    }

    /// The open text, which is always the last part.
    pub(super) fn open_text(&self) -> Option<usize> {
        self.open(|block| matches!(block, ContentBlock::Text { .. }))
    }

    /// The open thinking, which is always the last part.
    pub(super) fn open_thinking(&self) -> Option<usize> {
        self.open(|block| matches!(block, ContentBlock::Thinking { .. }))
    }

    fn open(&self, is: impl FnOnce(&ContentBlock) -> bool) -> Option<usize> {
        let growing = self.lock();
        let index = growing.parts.len().checked_sub(1)?;
        (!growing.parts[index].ended && is(&growing.message.content[index])).then_some(index)
    }

    /// Looks at the open thinking, which is empty if there is none.
    pub(super) fn look_at_thinking<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        let Some(index) = self.open_thinking() else {
            return look("");
        };
        match &self.lock().message.content[index] {
            ContentBlock::Thinking { thinking, .. } => look(thinking),
            _ => look(""),
        }
    }

    /// Appends to the signature of a thinking part.
    pub(super) fn sign(&self, index: usize, piece: &str) {
        if let ContentBlock::Thinking {
            thinking_signature, ..
        } = &mut self.lock().message.content[index]
        {
            thinking_signature.get_or_insert_default().push_str(piece);
        }
    }

    /// Makes a thinking part one that only its supplier can read.
    pub(super) fn redact(&self, index: usize, data: &str) {
        self.lock().message.content[index] = ContentBlock::Thinking {
            thinking: String::new(),
            thinking_signature: Some(data.to_owned()),
            redacted: true,
        };
    }

    pub(super) fn set_usage(&self, usage: Usage) {
        self.lock().message.usage = usage;
    }

    pub(super) fn usage(&self) -> Usage {
        self.lock().message.usage.clone()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().parts.is_empty()
    }

    pub(super) fn has_calls(&self) -> bool {
        let growing = self.lock();
        let mut blocks = growing.message.content.iter();
        blocks.any(|block| matches!(block, ContentBlock::ToolCall { .. }))
    }

    /// The message at its end.
    pub(super) fn finish(&self, reason: StopReason, error: Option<String>) -> AssistantMessage {
        let mut growing = self.lock();
        growing.message.stop_reason = reason;
        growing.message.error_message = error;
        growing.message.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Growing> {
        // Text is appended as a whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for GrowingAnswer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || *self.lock() == *other.lock()
    }
}

/// Arguments as the model wrote them. What is not JSON stays as text: the loop turns it into a
/// tool error that the model can repair, and must be able to quote it.
pub(super) fn read_arguments(raw: String) -> Value {
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
