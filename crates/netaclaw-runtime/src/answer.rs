//! A partial answer while it arrives.

use netaclaw_models::{GrowingAnswer, StreamPart};
use netaclaw_protocol::{
    AnswerMark, AssistantMessage, EntryId, LocalizedError, PartDelta, PartKind, RunId, RunTrouble,
    StopReason, Usage,
};

/// What has arrived of an answer: its text, which the stream owns, and what only the run has of it.
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct AnswerSoFar {
    run_id: RunId,
    id: EntryId,
    text: GrowingAnswer,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    kind: StreamPart,
    chars: u64,
    started_ms: u64,
    duration_ms: Option<u64>,
}

impl AnswerSoFar {
    /// An answer of which nothing has arrived. `frame` is the message without content: its model
    /// and its start.
    pub(crate) fn new(run_id: RunId, id: EntryId, frame: AssistantMessage) -> Self {
        Self {
            run_id,
            id,
            text: GrowingAnswer::new(frame),
            parts: Vec::new(),
        }
    }

    /// The id the answer will be stored under.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// The message as it would have to be stored if nothing more came: marked as aborted.
    pub fn to_message(&self) -> AssistantMessage {
        let message = self.text.to_message();
        AssistantMessage {
            netaclaw: self.mark(message.netaclaw.as_deref()),
            ..message
        }
    }

    /// The same as the end of the server leaves it: a message that is stored in this form was not
    /// completed by its run.
    pub fn to_interrupted_message(&self) -> AssistantMessage {
        let mut message = self.to_message();
        interrupted(&mut message);
        message
    }

    /// Data of the stream that no content block stores, added to what the client has marked.
    pub(crate) fn mark(&self, by_client: Option<&AnswerMark>) -> Option<Box<AnswerMark>> {
        let thinking = self
            .parts
            .iter()
            .filter(|part| part.kind == StreamPart::Thinking);
        let thinking_ms: Vec<u64> = thinking.map_while(|part| part.duration_ms).collect();
        let mark = AnswerMark {
            thinking_ms,
            ..by_client.cloned().unwrap_or_default()
        };
        (mark != AnswerMark::default()).then(|| Box::new(mark))
    }

    pub(crate) fn text(&self) -> &GrowingAnswer {
        &self.text
    }

    /// The stream has begun, and this is where its text grows.
    pub(crate) fn set_text(&mut self, text: GrowingAnswer) {
        self.text = text;
    }

    /// Returns the number of the part.
    pub(crate) fn start_part(&mut self, kind: StreamPart, now_ms: u64) -> u32 {
        self.parts.push(Part {
            kind,
            chars: 0,
            started_ms: now_ms,
            duration_ms: None,
        });
        self.parts.len() as u32 - 1
    }

    /// The delta that carries a piece. `None` for a part that never started, which no valid stream
    /// has.
    pub(crate) fn delta(&mut self, index: usize, text: String) -> Option<PartDelta> {
        let part = self.parts.get_mut(index)?;
        let offset = part.chars;
        part.chars += text.chars().count() as u64;
        let (tool_call_id, tool_name) = match &part.kind {
            StreamPart::ToolCall { id, name } => (Some(id.clone()), Some(name.clone())),
            StreamPart::Text | StreamPart::Thinking => (None, None),
        };
        Some(PartDelta {
            run_id: self.run_id.clone(),
            entry_id: self.id.clone(),
            part: index as u32,
            kind: wire_kind(&part.kind),
            tool_call_id,
            tool_name,
            offset,
            text,
        })
    }

    /// Returns the kind of the part and how long it took.
    pub(crate) fn end_part(&mut self, index: usize, now_ms: u64) -> Option<(PartKind, u64)> {
        let part = self.parts.get_mut(index)?;
        let duration_ms = now_ms.saturating_sub(part.started_ms);
        part.duration_ms = Some(duration_ms);
        Some((wire_kind(&part.kind), duration_ms))
    }
}

fn wire_kind(kind: &StreamPart) -> PartKind {
    match kind {
        StreamPart::Text => PartKind::Text,
        StreamPart::Thinking => PartKind::Thinking,
        StreamPart::ToolCall { .. } => PartKind::ToolCall,
    }
}

/// Records that the end of the server cut the message off, and not its user.
pub(crate) fn interrupted(message: &mut AssistantMessage) {
    let trouble = LocalizedError::from(RunTrouble::Interrupted);
    message.error_message = Some(trouble.words.en.clone());
    message.trouble = Some(Box::new(trouble));
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
