//! The tool calls of stored answers: one projection for snapshots, pages, events and programs.
//!
//! Pure, and made of stored entries alone: what it says after a reload is what it said before.

use netaclaw_protocol::{
    AnswerMark, CallMark, EntryId, ProcessTimeline, ToolExecution, ToolExecutionStatus, ToolRoute,
};
use netaclaw_session::{Entry, Role};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// How far above a result its answer may be: other results and lists of tasks come between.
const DEPTH_MAX: usize = 10_000;

/// Which results belong to which answers, on whatever branch: a projection does not change when the
/// leaf moves. Calls are found by their answer and their id, because ids may come again in later
/// answers.
#[derive(Default)]
pub(super) struct Results<'e> {
    by_answer: HashMap<&'e EntryId, Vec<&'e Entry>>,
}

impl<'e> Results<'e> {
    /// Looks for results among all entries of a session, in the order they were appended.
    pub(super) fn read(
        entries: impl Iterator<Item = &'e Entry>,
        find: impl Fn(&EntryId) -> Option<&'e Entry>,
    ) -> Self {
        let mut results = Self::default();
        for result in entries.filter(|entry| entry.role() == Role::ToolResult) {
            if let Some(answer) = answer_above(result, &find) {
                let by_answer = &mut results.by_answer;
                by_answer.entry(answer.id()).or_default().push(result);
            }
        }
        results
    }

    /// The calls of an entry, in their order; empty if it has none.
    pub(super) fn executions(&self, entry: &Entry) -> Vec<ToolExecution> {
        let Some(answer) = Answer::read(entry) else {
            return Vec::new();
        };
        let results = self.by_answer.get(entry.id());
        let results = results.map(Vec::as_slice).unwrap_or_default();
        // Of several results of a call the last one counts.
        let results: HashMap<String, (&EntryId, Stored)> = results
            .iter()
            .filter_map(|entry| {
                let stored = Stored::read(entry)?;
                Some((stored.tool_call_id.clone(), (entry.id(), stored)))
            })
            .collect();
        let without_result = match answer.is_broken_off() {
            // The calls of an answer that failed were never made.
            true => ToolExecutionStatus::NotStarted,
            false => ToolExecutionStatus::Pending,
        };
        let marks: HashMap<&str, &CallMark> = answer
            .netaclaw
            .calls
            .iter()
            .map(|mark| (mark.tool_call_id.as_str(), mark))
            .collect();
        let calls = answer.content.into_iter().filter(Block::is_call);
        calls
            .map(|call| {
                let mark = marks.get(call.id.as_str()).copied();
                match results.get(&call.id) {
                    Some((id, stored)) => ended(call, mark, id, stored),
                    None => unended(call, mark, without_result),
                }
            })
            .collect()
    }
}

/// The answer whose call has this result.
pub(super) fn answer_above<'e>(
    result: &'e Entry,
    find: impl Fn(&EntryId) -> Option<&'e Entry>,
) -> Option<&'e Entry> {
    let mut above = result;
    // Of other programs, parents may form a circle.
    for _ in 0..DEPTH_MAX {
        above = find(above.parent_id()?)?;
        if above.role() == Role::Assistant {
            return Some(above);
        }
    }
    None
}

fn ended(call: Block, mark: Option<&CallMark>, result: &EntryId, stored: &Stored) -> ToolExecution {
    let facts = stored.facts();
    let status = facts.status(&call.name, stored.is_error);
    // A result that the next process wrote says nothing about how the call ran.
    let marked = unended(call, mark, status);
    ToolExecution {
        label: facts.tool_label.unwrap_or(marked.label),
        duration_ms: facts.duration_ms.filter(|_| !status.is_unrun()),
        runtime_route: facts.runtime_route.or(marked.runtime_route),
        worker_routing_hint: facts.worker_routing_hint.or(marked.worker_routing_hint),
        policy_sources: match facts.policy_sources.is_empty() {
            true => marked.policy_sources,
            false => facts.policy_sources,
        },
        blocked_reason: facts.blocked_reason,
        result_entry_id: Some(result.clone()),
        timeline: facts.timeline,
        ..marked
    }
}

fn unended(call: Block, mark: Option<&CallMark>, status: ToolExecutionStatus) -> ToolExecution {
    ToolExecution {
        label: mark.map_or_else(|| call.name.clone(), |mark| mark.tool_label.clone()),
        tool_call_id: call.id,
        name: call.name,
        status,
        duration_ms: None,
        runtime_route: mark.map(|mark| mark.runtime_route),
        worker_routing_hint: mark.and_then(|mark| mark.worker_routing_hint),
        policy_sources: mark.map_or(Vec::new(), |mark| mark.policy_sources.clone()),
        blocked_reason: None,
        result_entry_id: None,
        timeline: ProcessTimeline::default(),
    }
}

/// How a call ended whose result is not stored yet.
pub(crate) fn status_of(
    tool_name: &str,
    is_error: bool,
    details: Option<&Value>,
) -> ToolExecutionStatus {
    let facts = details.and_then(|details| Facts::deserialize(details).ok());
    facts.unwrap_or_default().status(tool_name, is_error)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    stop_reason: String,
    content: Vec<Block>,
    #[serde(default, deserialize_with = "mark_or_none")]
    netaclaw: AnswerMark,
}

/// What other programs write under this name says nothing here.
fn mark_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AnswerMark, D::Error> {
    let mark = Value::deserialize(deserializer)?;
    Ok(AnswerMark::deserialize(mark).unwrap_or_default())
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
}

impl Block {
    fn is_call(&self) -> bool {
        self.kind == "toolCall"
    }
}

impl Answer {
    /// `None` if it has no calls, which most answers need not be parsed for.
    fn read(entry: &Entry) -> Option<Self> {
        if entry.role() != Role::Assistant {
            return None;
        }
        let message = entry.message_json()?;
        if !message.contains("\"toolCall\"") {
            return None;
        }
        let answer: Self = serde_json::from_str(message).ok()?;
        answer.content.iter().any(Block::is_call).then_some(answer)
    }

    fn is_broken_off(&self) -> bool {
        matches!(self.stop_reason.as_str(), "error" | "aborted")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    tool_call_id: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    details: Option<Box<RawValue>>,
}

impl Stored {
    fn read(entry: &Entry) -> Option<Self> {
        serde_json::from_str(entry.message_json()?).ok()
    }

    /// Details of other programs have other forms, and then say nothing here.
    fn facts(&self) -> Facts {
        let facts = self.details.as_ref();
        let facts = facts.and_then(|details| serde_json::from_str(details.get()).ok());
        facts.unwrap_or_default()
    }
}

/// What the details of a result say besides the tool's own.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Facts {
    duration_ms: Option<u64>,
    tool_label: Option<String>,
    runtime_route: Option<ToolRoute>,
    worker_routing_hint: Option<ToolRoute>,
    policy_sources: Vec<String>,
    blocked_reason: Option<String>,
    ending: Option<String>,
    /// Of a skill.
    skill_ending: Option<String>,
    /// Of a question.
    status: Option<String>,
    #[serde(flatten)]
    timeline: ProcessTimeline,
}

impl Facts {
    fn status(&self, tool_name: &str, is_error: bool) -> ToolExecutionStatus {
        use ToolExecutionStatus::{
            Blocked, Completed, Denied, Dismissed, Expired, Failed, Interrupted, NotStarted,
            Stopped, TimedOut, Undecided,
        };
        match self.ending.as_deref() {
            Some("blocked") => return Blocked,
            Some("denied") => return Denied,
            Some("undecided") => return Undecided,
            Some("not_started") => return NotStarted,
            Some("cancelled") => return Stopped,
            Some("interrupted") => return Interrupted,
            Some("timed_out") => return TimedOut,
            _ => {}
        }
        match (tool_name, self.status.as_deref()) {
            ("clarify", Some("timed_out")) => return Expired,
            ("clarify", Some("dismissed")) => return Dismissed,
            _ => {}
        }
        match self.skill_ending.as_deref() {
            Some("timed_out") => TimedOut,
            _ if is_error => Failed,
            _ => Completed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(id: &str, parent: Option<&str>, message: &Value) -> Entry {
        let line = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "T", "message": message});
        Entry::parse(line.to_string()).unwrap()
    }

    fn answer(id: &str, parent: Option<&str>, stop: &str, calls: &[(&str, &str)]) -> Entry {
        let calls = calls.iter();
        let calls = calls
            .map(|(id, name)| json!({"type": "toolCall", "id": id, "name": name, "arguments": {}}));
        let content: Vec<Value> = calls.collect();
        let message = json!({"role": "assistant", "stopReason": stop, "content": content});
        entry(id, parent, &message)
    }

    fn result(id: &str, parent: &str, call: &str, is_error: bool, details: Value) -> Entry {
        let message = json!({"role": "toolResult", "toolCallId": call, "toolName": "x", "content": [], "isError": is_error, "details": details});
        entry(id, Some(parent), &message)
    }

    fn results_in(entries: &[Entry]) -> Results<'_> {
        let find = |id: &EntryId| entries.iter().find(|entry| entry.id() == id);
        Results::read(entries.iter(), find)
    }

    fn statuses(entries: &[Entry]) -> Vec<ToolExecutionStatus> {
        let results = results_in(entries);
        let executions = entries.iter().flat_map(|entry| results.executions(entry));
        executions.map(|execution| execution.status).collect()
    }

    #[track_caller]
    fn ends_as(name: &str, is_error: bool, details: Value, expected: ToolExecutionStatus) {
        assert_eq!(status_of(name, is_error, Some(&details)), expected);
        let entries = [
            answer("a", None, "toolUse", &[("c", name)]),
            result("r", "a", "c", is_error, details),
        ];
        assert_eq!(statuses(&entries), [expected]);
    }

    #[test]
    fn every_ending_has_its_status() {
        use ToolExecutionStatus::*;
        ends_as("ls", false, json!({}), Completed);
        ends_as("ls", true, json!({}), Failed);
        ends_as("ls", true, json!({"ending": "invalid_arguments"}), Failed);
        ends_as("ls", true, json!({"ending": "panicked"}), Failed);
        ends_as("ls", true, json!({"ending": "blocked"}), Blocked);
        ends_as("ls", true, json!({"ending": "denied"}), Denied);
        ends_as("ls", true, json!({"ending": "undecided"}), Undecided);
        ends_as("ls", true, json!({"ending": "not_started"}), NotStarted);
        ends_as("ls", true, json!({"ending": "cancelled"}), Stopped);
        ends_as("ls", true, json!({"ending": "interrupted"}), Interrupted);
        ends_as("ls", true, json!({"ending": "timed_out"}), TimedOut);
        let skill = json!({"skillEnding": "timed_out"});
        ends_as("execute_skill", true, skill, TimedOut);
        ends_as("clarify", false, json!({"status": "answered"}), Completed);
        ends_as("clarify", false, json!({"status": "dismissed"}), Dismissed);
        ends_as("clarify", false, json!({"status": "timed_out"}), Expired);
        // Of another program, whose words mean something else.
        ends_as("ls", false, json!({"status": "timed_out"}), Completed);
        ends_as("ls", false, json!(["details", 3]), Completed);
        ends_as("ls", true, json!({"durationMs": "long"}), Failed);
    }

    #[test]
    fn a_call_without_a_result_waits_or_never_ran() {
        use ToolExecutionStatus::*;
        let calls = [("c", "ls"), ("d", "ls")];
        let asked = answer("a", None, "toolUse", &calls);
        let first = result("r", "a", "c", false, json!({}));
        assert_eq!(statuses(&[asked, first]), [Completed, Pending]);
        for stop in ["error", "aborted"] {
            assert_eq!(
                statuses(&[answer("a", None, stop, &calls[..1])]),
                [NotStarted]
            );
        }
    }

    /// After `kill -9` there is no result, or one of the next process.
    #[test]
    fn a_call_whose_process_died_shows_how_it_was_going_to_run() {
        let call = json!({"type": "toolCall", "id": "c", "name": "ls", "arguments": {}});
        let mark = json!({
            "toolCallId": "c", "toolLabel": "List", "runtimeRoute": "main",
            "workerRoutingHint": "worker-local", "policySources": ["catalogue:on_by_default"]
        });
        let answer = |mark: Value| {
            let netaclaw = json!({"calls": mark});
            let message = json!({"role": "assistant", "stopReason": "toolUse", "content": [call], "netaclaw": netaclaw});
            entry("a", None, &message)
        };
        let shown = |entries: &[Entry]| {
            let executions = results_in(entries).executions(&entries[0]);
            serde_json::to_value(&executions[0]).unwrap()
        };
        let pending = json!({
            "toolCallId": "c", "name": "ls", "label": "List", "status": "pending", "runtimeRoute": "main",
            "workerRoutingHint": "worker-local", "policySources": ["catalogue:on_by_default"],
            "processEventCount": 0
        });
        assert_eq!(shown(&[answer(json!([mark]))]), pending);
        let mut interrupted = pending;
        interrupted["status"] = json!("interrupted");
        interrupted["resultEntryId"] = json!("r");
        let ending = json!({"ending": "interrupted"});
        let entries = [
            answer(json!([mark])),
            result("r", "a", "c", true, ending.clone()),
        ];
        assert_eq!(shown(&entries), interrupted);
        // What another program writes there.
        for other in [json!("x"), json!([{"toolCallId": 3}])] {
            let entries = [answer(other), result("r", "a", "c", true, ending.clone())];
            assert_eq!(shown(&entries)["label"], "ls");
        }
    }

    #[test]
    fn a_call_is_found_by_its_answer_and_shows_what_its_result_keeps() {
        let step = json!({
            "version": 1, "operationId": "tool-c", "targetType": "tool", "source": "tool",
            "status": "running", "level": "info", "message": "half way", "timestamp": "T", "sequence": 1
        });
        let details = json!({
            "durationMs": 7, "toolLabel": "List", "runtimeRoute": "main",
            "workerRoutingHint": "worker-local", "policySources": ["catalogue:on_by_default"],
            "latestProcessEvent": step, "processEvents": [step], "processEventCount": 1
        });
        let entries = [
            answer("a", None, "toolUse", &[("c", "ls")]),
            result("r", "a", "c", false, details),
            // The same id again, denied.
            answer("b", Some("r"), "toolUse", &[("c", "ls")]),
            result(
                "s",
                "b",
                "c",
                true,
                json!({"ending": "denied", "durationMs": 9}),
            ),
        ];
        let results = results_in(&entries);
        let shown = |at: usize| serde_json::to_value(results.executions(&entries[at])).unwrap();
        assert_eq!(
            shown(0),
            json!([{
                "toolCallId": "c", "name": "ls", "label": "List", "status": "completed", "durationMs": 7,
                "runtimeRoute": "main", "workerRoutingHint": "worker-local",
                "policySources": ["catalogue:on_by_default"], "resultEntryId": "r",
                "latestProcessEvent": step, "processEvents": [step], "processEventCount": 1
            }])
        );
        assert_eq!(
            shown(2),
            json!([{
                "toolCallId": "c", "name": "ls", "label": "ls", "status": "denied",
                "policySources": [], "resultEntryId": "s", "processEventCount": 0
            }])
        );
    }
}
