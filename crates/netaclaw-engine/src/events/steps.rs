//! Steps of tool calls on their way to clients: soon, but no faster than a page can show.
//!
//! Pure: times are arguments. What is held back is only shown later; the log and the timeline of a
//! call have every step.

use netaclaw_protocol::{ProcessStatus, ToolProcessEvent};
use netaclaw_tools::process::is_urgent;
use serde_json::Map;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Steps that repeat the one before wait so long for more of the same.
const MERGE_WINDOW: Duration = Duration::from_millis(400);
/// Twenty steps of one call in a second are as many as a user can follow.
const BETWEEN: Duration = Duration::from_millis(50);

/// What waits, by call.
#[derive(Debug, Default)]
pub(super) struct StepBuffer {
    calls: HashMap<String, WaitingSteps>,
}

#[derive(Debug)]
struct WaitingSteps {
    sent_at: Instant,
    /// What was sent last said this.
    said: StepContent,
    held: Option<HeldStep>,
}

#[derive(Debug)]
struct HeldStep {
    event: ToolProcessEvent,
    /// How many steps it represents.
    count: u64,
    due: Instant,
}

/// What makes two steps look the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StepContent {
    stage: Option<String>,
    message: String,
}

impl StepBuffer {
    /// Takes a step and returns what is to be sent now, in order.
    pub(super) fn push(&mut self, event: ToolProcessEvent, now: Instant) -> Vec<ToolProcessEvent> {
        let said = StepContent::of(&event);
        let changes = event.event.status != ProcessStatus::Running || is_urgent(&event.event);
        let Some(waiting) = self.calls.get_mut(&event.tool_call_id) else {
            let id = event.tool_call_id.clone();
            let sent_at = now;
            let held = None;
            self.calls.insert(
                id,
                WaitingSteps {
                    sent_at,
                    said,
                    held,
                },
            );
            return vec![event];
        };
        if !changes
            && let Some(held) = &mut waiting.held
            && StepContent::of(&held.event) == said
        {
            held.count += 1;
            held.event = event;
            return Vec::new();
        }
        let mut sent = Vec::new();
        let soon = now < waiting.sent_at + BETWEEN;
        // A step that was not sent yet is replaced by a newer one when they come too fast.
        if changes || !soon {
            sent.extend(waiting.held.take().map(HeldStep::whole));
        }
        let repeats = sent.is_empty() && waiting.said == said;
        let wait = match (changes, repeats) {
            (true, _) => Duration::ZERO,
            (false, true) => MERGE_WINDOW,
            (false, false) => BETWEEN,
        };
        let due = waiting.sent_at + wait;
        if !sent.is_empty() && !changes {
            // One of them was sent just now; the other has its turn next.
            waiting.sent_at = now;
            let due = now + BETWEEN;
            waiting.said = sent.last().map_or(said, StepContent::of);
            waiting.held = Some(HeldStep::new(event, due));
            return sent;
        }
        if due > now {
            waiting.held = Some(HeldStep::new(event, due));
            return sent;
        }
        waiting.sent_at = now;
        waiting.said = said;
        sent.push(event);
        sent
    }

    /// What has waited long enough.
    pub(super) fn due(&mut self, now: Instant) -> Vec<ToolProcessEvent> {
        let mut sent = Vec::new();
        for waiting in self.calls.values_mut() {
            if let Some(held) = waiting.held.take_if(|held| held.due <= now) {
                waiting.sent_at = now;
                waiting.said = StepContent::of(&held.event);
                sent.push(held.whole());
            }
        }
        sent
    }

    /// When something is due next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let held = self.calls.values().filter_map(|call| call.held.as_ref());
        held.map(|held| held.due).min()
    }

    /// Ends a call; returns what had waited.
    pub(super) fn finish(&mut self, tool_call_id: &str) -> Option<ToolProcessEvent> {
        self.calls.remove(tool_call_id)?.held.map(HeldStep::whole)
    }

    /// Ends all calls; returns what had waited.
    pub(super) fn flush(&mut self) -> Vec<ToolProcessEvent> {
        let held = self.calls.drain().filter_map(|(_, call)| call.held);
        held.map(HeldStep::whole).collect()
    }
}

impl HeldStep {
    fn new(event: ToolProcessEvent, due: Instant) -> Self {
        let count = 1;
        Self { event, count, due }
    }

    /// The last of the steps, which says how many there were.
    fn whole(mut self) -> ToolProcessEvent {
        if self.count > 1 {
            let payload = self.event.event.payload.get_or_insert_with(Map::new);
            payload.insert("repeatCount".to_owned(), self.count.into());
        }
        self.event
    }
}

impl StepContent {
    fn of(event: &ToolProcessEvent) -> Self {
        Self {
            stage: event.event.stage.clone(),
            message: event.event.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_protocol::{
        ProcessLevel, ProcessSource, ProcessTarget, RunId, RuntimeProcessEvent,
    };

    fn step(sequence: u64, message: &str) -> ToolProcessEvent {
        ToolProcessEvent {
            event: RuntimeProcessEvent {
                version: 1,
                operation_id: "tool-a".to_owned(),
                parent_operation_id: None,
                target_type: ProcessTarget::Skill,
                source: ProcessSource::Skill,
                task_id: None,
                stage: None,
                status: ProcessStatus::Running,
                level: ProcessLevel::Info,
                message: message.to_owned(),
                words: None,
                reason: None,
                detail: None,
                current: None,
                total: None,
                percent: None,
                payload: None,
                timestamp: String::new(),
                sequence,
            },
            run_id: RunId::new("r"),
            tool_call_id: "a".to_owned(),
            assistant_entry_id: None,
            tool_name: "t".to_owned(),
            tool_label: None,
        }
    }

    fn numbers(sent: &[ToolProcessEvent]) -> Vec<(u64, u64)> {
        let number = |event: &ToolProcessEvent| {
            let payload = event.event.payload.as_ref();
            let count = payload.and_then(|payload| payload["repeatCount"].as_u64());
            (event.event.sequence, count.unwrap_or(1))
        };
        sent.iter().map(number).collect()
    }

    #[test]
    fn repeated_steps_are_sent_as_one_that_says_how_many_they_are() {
        let (mut buffer, start) = (StepBuffer::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(numbers(&buffer.push(step(1, "x"), at(0))), [(1, 1)]);
        for (number, ms) in [(2, 10), (3, 200), (4, 399)] {
            assert!(buffer.push(step(number, "x"), at(ms)).is_empty());
        }
        assert_eq!(buffer.next_due(), Some(at(400)));
        assert!(buffer.due(at(399)).is_empty());
        assert_eq!(numbers(&buffer.due(at(400))), [(4, 3)]);
        assert_eq!(buffer.next_due(), None);
        // The window is over, so the next one is shown at once.
        assert_eq!(numbers(&buffer.push(step(5, "x"), at(900))), [(5, 1)]);
    }

    #[test]
    fn what_changes_is_sent_at_once_after_what_waited() {
        let (mut buffer, start) = (StepBuffer::default(), Instant::now());
        let mut end = step(4, "end");
        end.event.status = ProcessStatus::Failed;
        let mut wrong = step(3, "x");
        wrong.event.level = ProcessLevel::Error;
        buffer.push(step(1, "x"), start);
        assert!(buffer.push(step(2, "x"), start).is_empty());
        assert_eq!(numbers(&buffer.push(wrong, start)), [(2, 1), (3, 1)]);
        assert_eq!(numbers(&buffer.push(end, start)), [(4, 1)]);
        assert_eq!(buffer.finish("a"), None);
    }

    #[test]
    fn another_message_is_shown_when_there_was_a_moment_between() {
        let (mut buffer, start) = (StepBuffer::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        buffer.push(step(1, "x"), at(0));
        assert_eq!(numbers(&buffer.push(step(2, "y"), at(60))), [(2, 1)]);
        assert!(buffer.push(step(3, "z"), at(61)).is_empty());
        assert_eq!(numbers(&buffer.due(at(110))), [(3, 1)]);
    }

    #[test]
    fn of_a_flood_no_more_is_sent_than_can_be_followed_and_the_last_is_not_lost() {
        let (mut buffer, start) = (StepBuffer::default(), Instant::now());
        let mut sent = Vec::new();
        for number in 1..=10_000u64 {
            let now = start + Duration::from_micros(number * 100);
            sent.extend(buffer.push(step(number, &number.to_string()), now));
            sent.extend(buffer.due(now));
        }
        sent.extend(buffer.flush());
        assert!(sent.len() <= 22, "{}", sent.len());
        let numbers: Vec<u64> = sent.iter().map(|event| event.event.sequence).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert_eq!(numbers.last(), Some(&10_000));
    }
}
