//! The output of an agent in one run, as one text: all its answers, in order.

use super::feed::RunEvent;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Done, EntryAdded, EntryId, Message, PartDelta, PartKind,
    Question, ReliableEvent, RunId, RunOutcome, Severity, StopReason, Unavailable, Usage,
};
use serde::Deserialize;
use std::collections::HashMap;

/// Between two answers of the same run.
const BETWEEN: &str = "\n\n";

/// Reads events, and tells the text they add.
pub(super) struct Transcript {
    run_id: RunId,
    /// Characters of each text part that were given out.
    given: HashMap<(EntryId, u32), u64>,
    /// The answer that was given out last.
    speaking: Option<EntryId>,
    stop_reason: StopReason,
    error: Option<String>,
    usage: Usage,
}

/// What an event means to a reader.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Nothing,
    Text(String),
    /// The agent asks a question, which this API cannot answer: the question is the end of the
    /// answer.
    Asked(String),
    /// A call waits for approval, which this API cannot give.
    NeedsConsent(String),
    Ended(AnswerEnding),
}

#[derive(Debug, PartialEq)]
pub(super) enum AnswerEnding {
    Stop,
    Length,
    Failed(Unavailable),
}

#[derive(Deserialize)]
struct Entry {
    id: EntryId,
    #[serde(default)]
    message: Option<EntryMessage>,
}

/// Anything but a message of the assistant is passed over.
#[derive(Deserialize)]
#[serde(untagged)]
enum EntryMessage {
    Message(Box<Message>),
    Other(serde::de::IgnoredAny),
}

impl Transcript {
    pub(super) fn new(run_id: RunId) -> Self {
        Self {
            run_id,
            given: HashMap::new(),
            speaking: None,
            stop_reason: StopReason::Stop,
            error: None,
            usage: Usage::default(),
        }
    }

    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    pub(super) fn read(&mut self, event: RunEvent) -> Step {
        let event = match event {
            RunEvent::Text(delta) => return self.delta(&delta),
            RunEvent::Reliable(event) => event,
        };
        match *event {
            ReliableEvent::SessionEntryAdded(added) => self.entry(&added),
            ReliableEvent::ClarifyRequest(question) if question.run_id == self.run_id => {
                Step::Asked(asked(&question))
            }
            ReliableEvent::ApprovalRequest(asked) if asked.run_id == self.run_id => {
                Step::NeedsConsent(asked.approval_id)
            }
            ReliableEvent::Error(error) => {
                if error.severity == Severity::Error
                    && error.run_id.is_none_or(|run| run == self.run_id)
                {
                    self.error = Some(error.message);
                }
                Step::Nothing
            }
            ReliableEvent::Done(done) if done.run_id == self.run_id => {
                Step::Ended(self.ending(&done))
            }
            _ => Step::Nothing,
        }
    }

    /// What is still to be said before a text that comes from outside the answers.
    pub(super) fn gap(&self) -> &'static str {
        self.speaking.as_ref().map_or("", |_| BETWEEN)
    }

    fn delta(&mut self, delta: &PartDelta) -> Step {
        if delta.kind != PartKind::Text || delta.run_id != self.run_id {
            return Step::Nothing;
        }
        self.give(&delta.entry_id, delta.part, delta.offset, &delta.text)
            .map_or(Step::Nothing, Step::Text)
    }

    /// The entry, as it is stored, has all of the text, also dropped deltas.
    fn entry(&mut self, added: &EntryAdded) -> Step {
        let Ok(entry) = serde_json::from_str::<Entry>(added.entry.get()) else {
            return Step::Nothing;
        };
        let Some(EntryMessage::Message(message)) = entry.message else {
            return Step::Nothing;
        };
        let Message::Assistant(answer) = *message else {
            return Step::Nothing;
        };
        self.count(&answer);
        let mut rest = String::new();
        for (part, block) in (0..).zip(&answer.content) {
            if let ContentBlock::Text { text } = block
                && let Some(missing) = self.give(&entry.id, part, 0, text)
            {
                rest.push_str(&missing);
            }
        }
        match rest.is_empty() {
            true => Step::Nothing,
            false => Step::Text(rest),
        }
    }

    fn count(&mut self, answer: &AssistantMessage) {
        self.stop_reason = answer.stop_reason;
        if let Some(error) = &answer.error_message {
            self.error = Some(error.clone());
        }
        let Usage {
            input,
            output,
            cache_read,
            cache_write,
            total_tokens,
            ..
        } = &answer.usage;
        self.usage.input += input + cache_read + cache_write;
        self.usage.output += output;
        self.usage.cache_read += cache_read;
        self.usage.total_tokens += total_tokens;
    }

    /// The part of a text that was not given out yet. Text after a gap is left for the entry.
    fn give(&mut self, entry: &EntryId, part: u32, offset: u64, text: &str) -> Option<String> {
        let given = self.given.entry((entry.clone(), part)).or_default();
        let skipped = given.checked_sub(offset)?;
        let fresh: String = text.chars().skip(usize::try_from(skipped).ok()?).collect();
        if fresh.is_empty() {
            return None;
        }
        *given += fresh.chars().count() as u64;
        let gap = match self.speaking.replace(entry.clone()) {
            Some(before) if before != *entry => BETWEEN,
            _ => "",
        };
        Some(format!("{gap}{fresh}"))
    }

    fn ending(&self, done: &Done) -> AnswerEnding {
        let failed = |otherwise: Unavailable| {
            let told = self.error.clone().or_else(|| done.reason.clone());
            AnswerEnding::Failed(told.map_or(otherwise, |detail| Unavailable::RunFailed { detail }))
        };
        match done.outcome {
            RunOutcome::Completed if self.stop_reason == StopReason::Length => AnswerEnding::Length,
            RunOutcome::Completed | RunOutcome::Stopped => AnswerEnding::Stop,
            RunOutcome::Error => failed(Unavailable::RunEnded),
            RunOutcome::Interrupted => failed(Unavailable::ShuttingDown),
        }
    }
}

fn asked(question: &Question) -> String {
    let mut text = question.question.clone();
    for option in &question.options {
        text.push_str("\n- ");
        text.push_str(option);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(name: &str, data: Value) -> RunEvent {
        let event = json!({"type": name, "data": data});
        RunEvent::Reliable(Box::new(serde_json::from_value(event).unwrap()))
    }

    fn delta(entry: &str, offset: u64, text: &str) -> RunEvent {
        RunEvent::Text(PartDelta {
            run_id: RunId::new("r"),
            entry_id: EntryId::new(entry),
            part: 0,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        })
    }

    fn entry(id: &str, text: &str) -> RunEvent {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}],
            "api": "", "provider": "", "model": "", "usage": {"input": 3, "output": 2, "totalTokens": 5},
            "stopReason": "stop", "timestamp": 1});
        let entry = json!({"type": "message", "id": id, "message": message});
        let added = EntryAdded {
            entry: serde_json::value::to_raw_value(&entry).unwrap(),
            leaf_entry_id: Some(EntryId::new(id)),
        };
        RunEvent::Reliable(Box::new(ReliableEvent::SessionEntryAdded(added)))
    }

    fn text(step: Step) -> String {
        match step {
            Step::Text(text) => text,
            Step::Nothing => String::new(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lost_and_repeated_pieces_make_no_difference() {
        let mut transcript = Transcript::new(RunId::new("r"));
        let mut all = String::new();
        for event in [
            delta("a", 0, "He"),
            delta("a", 0, "Hel"),
            delta("a", 9, "lost"),
            entry("a", "Hello"),
            delta("b", 0, "B"),
            entry("b", "Bye"),
        ] {
            all.push_str(&text(transcript.read(event)));
        }
        assert_eq!(all, "Hello\n\nBye");
        assert_eq!(transcript.usage().total_tokens, 10);
        let done = event("done", json!({"runId": "r", "outcome": "completed"}));
        assert_eq!(transcript.read(done), Step::Ended(AnswerEnding::Stop));
    }

    #[test]
    fn only_the_own_run_ends_it() {
        let mut transcript = Transcript::new(RunId::new("r"));
        let other = event("done", json!({"runId": "x", "outcome": "completed"}));
        assert_eq!(transcript.read(other), Step::Nothing);
        let error = event(
            "error",
            json!({"code": "unavailable", "message": "wrong key"}),
        );
        assert_eq!(transcript.read(error), Step::Nothing);
        let failed = event("done", json!({"runId": "r", "outcome": "error"}));
        let detail = "wrong key".to_owned();
        let ending = AnswerEnding::Failed(Unavailable::RunFailed { detail });
        assert_eq!(transcript.read(failed), Step::Ended(ending));
    }
}
