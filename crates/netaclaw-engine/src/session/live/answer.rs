//! The streaming answer, for snapshots.

use crate::events::text::part_event;
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    DeltaEvent, PartDelta, PartKind, StreamStart, StreamingAnswer, StreamingPart, ThinkingDone,
};

/// Its text is the stream's own, and copied only for a client that joins. It may be ahead of what
/// was sent; clients skip what they have by the offsets of what follows.
#[derive(Debug)]
pub(super) struct OpenAnswer {
    start: StreamStart,
    text: GrowingAnswer,
    /// Without their text.
    parts: Vec<StreamingPart>,
}

impl OpenAnswer {
    pub(super) fn new(start: StreamStart, text: GrowingAnswer) -> Self {
        let parts = Vec::new();
        Self { start, text, parts }
    }

    pub(super) fn start_part(&mut self, part: StreamingPart) {
        self.parts.push(part);
    }

    pub(super) fn end_part(&mut self, done: &ThinkingDone) {
        let mut parts = self.parts.iter_mut();
        let ended = parts.find(|part| part.part == done.part);
        if let Some(part) = ended.filter(|_| self.start.entry_id == done.entry_id) {
            part.done = true;
            part.duration_ms = Some(done.duration_ms);
        }
    }

    pub(super) fn text_of(&self, part: u32) -> String {
        self.text.text_of(part as usize)
    }

    /// For a snapshot.
    pub(super) fn shown(&self) -> StreamingAnswer {
        let start = self.start.clone();
        StreamingAnswer {
            run_id: start.run_id,
            entry_id: start.entry_id,
            parent_id: start.parent_id,
            provider: start.provider,
            model: start.model,
            parts: self.parts().collect(),
        }
    }

    /// All text from its beginning, for a client that comes back.
    pub(super) fn text(&self) -> impl Iterator<Item = DeltaEvent> {
        self.parts().map(|part| {
            part_event(PartDelta {
                run_id: self.start.run_id.clone(),
                entry_id: self.start.entry_id.clone(),
                part: part.part,
                kind: part.kind,
                tool_call_id: part.tool_call_id,
                tool_name: part.tool_name,
                offset: 0,
                text: part.text,
            })
        })
    }

    /// Thinking that is over.
    pub(super) fn thought(&self) -> impl Iterator<Item = ThinkingDone> {
        let thinking = self.parts.iter();
        let thinking = thinking.filter(|part| part.kind == PartKind::Thinking);
        thinking.filter_map(|part| {
            Some(ThinkingDone {
                run_id: self.start.run_id.clone(),
                entry_id: self.start.entry_id.clone(),
                part: part.part,
                duration_ms: part.duration_ms?,
            })
        })
    }

    fn parts(&self) -> impl Iterator<Item = StreamingPart> {
        self.parts.iter().map(|part| StreamingPart {
            text: self.text.text_of(part.part as usize),
            ..part.clone()
        })
    }
}
