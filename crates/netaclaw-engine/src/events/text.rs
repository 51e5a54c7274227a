//! Text on its way to clients: the first piece of a part leaves at once, later ones together.
//!
//! Pure: times are arguments. This is the only place where text is coalesced.

use netaclaw_protocol::{DeltaEvent, PartDelta, PartKind};
use std::time::Duration;
use tokio::time::Instant;

/// How long text may wait for more of the same part.
const MERGE_WINDOW: Duration = Duration::from_millis(16);

/// The text that waits for its window to end, in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct TextBuffer {
    waiting: Vec<DeltaEvent>,
    last_sent: Option<Instant>,
}

impl TextBuffer {
    /// Takes text and returns what to send now, in order: nothing if the text waits for more,
    /// otherwise all that waited and the text.
    pub(super) fn push(&mut self, text: DeltaEvent, now: Instant) -> Vec<DeltaEvent> {
        if offset(&text) == Some(0) || self.due().is_none_or(|due| due <= now) {
            self.last_sent = Some(now);
            let mut sent = self.take();
            sent.push(text);
            return sent;
        }
        let mut rest = Some(text);
        for open in self.waiting.iter_mut().rev() {
            rest = rest.and_then(|text| append(open, text));
        }
        self.waiting.extend(rest);
        Vec::new()
    }

    /// The waiting text, for a caller that sends it now because another event must follow it.
    pub(super) fn take(&mut self) -> Vec<DeltaEvent> {
        std::mem::take(&mut self.waiting)
    }

    /// What has waited long enough.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<DeltaEvent> {
        match self.next_due() {
            Some(due) if due <= now => {
                self.last_sent = Some(now);
                self.take()
            }
            _ => Vec::new(),
        }
    }

    /// When what waits is due; `None` if nothing waits.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due().filter(|_| !self.waiting.is_empty())
    }

    fn due(&self) -> Option<Instant> {
        self.last_sent.map(|sent| sent + MERGE_WINDOW)
    }
}

/// The event that carries a piece of an answer.
pub(crate) fn part_event(part: PartDelta) -> DeltaEvent {
    match part.kind {
        PartKind::Thinking => DeltaEvent::ThinkingDelta(part),
        PartKind::Text | PartKind::ToolCall => DeltaEvent::AssistantStreamDelta(part),
    }
}

fn offset(text: &DeltaEvent) -> Option<u64> {
    match text {
        DeltaEvent::AssistantStreamDelta(part) | DeltaEvent::ThinkingDelta(part) => {
            Some(part.offset)
        }
        DeltaEvent::ToolResultStreamed(output) => Some(output.offset),
        _ => None,
    }
}

/// Appends `next` if it continues the text of `open`, otherwise gives it back.
fn append(open: &mut DeltaEvent, next: DeltaEvent) -> Option<DeltaEvent> {
    use DeltaEvent::{AssistantStreamDelta, ThinkingDelta, ToolResultStreamed};
    match (open, next) {
        (AssistantStreamDelta(open), AssistantStreamDelta(next))
        | (ThinkingDelta(open), ThinkingDelta(next))
            if open.entry_id == next.entry_id && open.part == next.part =>
        {
            open.text.push_str(&next.text);
            None
        }
        (ToolResultStreamed(open), ToolResultStreamed(next))
            if open.tool_call_id == next.tool_call_id =>
        {
            open.text.push_str(&next.text);
            None
        }
        (_, next) => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{EntryId, RunId, ToolOutput};

    fn piece(part: u32, offset: u64, text: &str) -> DeltaEvent {
        part_event(PartDelta {
            run_id: RunId::new("r"),
            entry_id: EntryId::new("e"),
            part,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        })
    }

    fn output(call: &str, offset: u64, text: &str) -> DeltaEvent {
        DeltaEvent::ToolResultStreamed(ToolOutput {
            run_id: RunId::new("r"),
            tool_call_id: call.to_owned(),
            offset,
            text: text.to_owned(),
        })
    }

    fn texts<'a>(sent: &'a [DeltaEvent]) -> Vec<(u64, &'a str)> {
        let text = |event: &'a DeltaEvent| match event {
            DeltaEvent::AssistantStreamDelta(part) => (part.offset, part.text.as_str()),
            DeltaEvent::ToolResultStreamed(output) => (output.offset, output.text.as_str()),
            other => panic!("{other:?} has no text"),
        };
        sent.iter().map(text).collect()
    }

    #[test]
    fn the_first_piece_of_every_part_leaves_at_once_after_what_waited() {
        let (mut buffer, start) = (TextBuffer::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(texts(&buffer.push(piece(0, 0, "a"), at(0))), [(0, "a")]);
        assert!(buffer.push(piece(0, 1, "b"), at(1)).is_empty());
        assert!(buffer.push(piece(0, 2, "c"), at(2)).is_empty());
        let sent = buffer.push(piece(1, 0, "d"), at(3));
        assert_eq!(texts(&sent), [(1, "bc"), (0, "d")]);
        assert_eq!(buffer.next_due(), None);
    }

    #[test]
    fn later_pieces_leave_when_their_window_ends() {
        let (mut buffer, start) = (TextBuffer::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        buffer.push(piece(0, 0, "a"), at(0));
        buffer.push(piece(0, 1, "b"), at(5));
        assert_eq!(buffer.next_due(), Some(at(16)));
        assert!(buffer.take_due(at(15)).is_empty());
        assert_eq!(texts(&buffer.take_due(at(16))), [(1, "b")]);
        assert_eq!(buffer.next_due(), None);
        // Text that comes after a pause does not wait.
        assert_eq!(texts(&buffer.push(piece(0, 2, "c"), at(40))), [(2, "c")]);
    }

    #[test]
    fn the_output_of_calls_that_alternate_is_merged_for_each_call() {
        let (mut buffer, now) = (TextBuffer::default(), Instant::now());
        buffer.push(output("a", 0, "a"), now);
        buffer.push(output("b", 0, "b"), now);
        for at in 1..4 {
            buffer.push(output("a", at, "a"), now);
            buffer.push(output("b", at, "b"), now);
        }
        assert_eq!(texts(&buffer.take()), [(1, "aaa"), (1, "bbb")]);
    }
}
