//! An answer while it arrives, as far as it has come.

use netaclaw_models::PartKind as StreamPart;
use netaclaw_protocol::{
    AnswerMark, AssistantMessage, ContentBlock, EntryId, PartKind, StopReason, Usage,
};
use serde_json::Value;

/// What has arrived of an answer. Growing it copies each piece once; the message is made only
/// when somebody asks.
#[derive(Clone, Debug)]
pub struct AnswerSoFar {
    id: EntryId,
    frame: AssistantMessage,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    kind: StreamPart,
    text: String,
    chars: u64,
    /// The block as the stream ended it, which may know more than the text: signatures, parsed
    /// arguments.
    ended: Option<ContentBlock>,
    duration_ms: Option<u64>,
}

impl AnswerSoFar {
    /// `frame` is the message without content: who answers, and since when.
    pub(crate) fn new(id: EntryId, frame: AssistantMessage) -> Self {
        Self {
            id,
            frame,
            parts: Vec::new(),
        }
    }

    /// The id the answer will be stored under.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// The message as it would have to be stored if nothing more came: marked as aborted.
    pub fn to_message(&self) -> AssistantMessage {
        AssistantMessage {
            content: self.parts.iter().map(Part::block).collect(),
            netaclaw: self.mark(),
            ..self.frame.clone()
        }
    }

    /// What the stream told that no content block keeps.
    pub(crate) fn mark(&self) -> Option<Box<AnswerMark>> {
        let thinking = self
            .parts
            .iter()
            .filter(|part| part.kind == StreamPart::Thinking);
        let thinking_ms: Vec<u64> = thinking.map_while(|part| part.duration_ms).collect();
        (!thinking_ms.is_empty()).then(|| Box::new(AnswerMark { thinking_ms }))
    }

    pub(crate) fn start_part(&mut self, kind: StreamPart) {
        self.parts.push(Part {
            kind,
            text: String::new(),
            chars: 0,
            ended: None,
            duration_ms: None,
        });
    }

    /// Takes in a piece and says what it belongs to and how many characters came before it.
    /// `None` for a part that never started, which no honest stream has.
    pub(crate) fn grow(&mut self, index: usize, delta: &str) -> Option<(PartKind, u64)> {
        let part = self.parts.get_mut(index)?;
        let offset = part.chars;
        part.text.push_str(delta);
        part.chars += delta.chars().count() as u64;
        Some((wire_kind(&part.kind), offset))
    }

    pub(crate) fn end_part(
        &mut self,
        index: usize,
        block: ContentBlock,
        duration_ms: u64,
    ) -> Option<PartKind> {
        let part = self.parts.get_mut(index)?;
        part.ended = Some(block);
        part.duration_ms = Some(duration_ms);
        Some(wire_kind(&part.kind))
    }

    pub(crate) fn set_usage(&mut self, usage: Usage) {
        self.frame.usage = usage;
    }
}

impl Part {
    fn block(&self) -> ContentBlock {
        if let Some(block) = &self.ended {
            return block.clone();
        }
        match &self.kind {
            StreamPart::Text => ContentBlock::Text {
                text: self.text.clone(),
            },
            StreamPart::Thinking => ContentBlock::Thinking {
                thinking: self.text.clone(),
                thinking_signature: None,
                redacted: false,
            },
            StreamPart::ToolCall { id, name } => ContentBlock::ToolCall {
                id: id.clone(),
                name: name.clone(),
                // Half of the arguments is no JSON yet; as text it can be read and never run.
                arguments: Value::String(self.text.clone()),
            },
        }
    }
}

pub(crate) fn wire_kind(kind: &StreamPart) -> PartKind {
    match kind {
        StreamPart::Text => PartKind::Text,
        StreamPart::Thinking => PartKind::Thinking,
        StreamPart::ToolCall { .. } => PartKind::ToolCall,
    }
}

/// A message without content.
pub(crate) fn empty_answer(provider: &str, model: &str, timestamp: i64) -> AssistantMessage {
    AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        usage: Usage::default(),
        stop_reason: StopReason::Aborted,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp,
    }
}
