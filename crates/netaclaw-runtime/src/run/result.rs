//! Converts the output of a tool to the stored result.

use super::calls::OpenCall;
use crate::machine::ResultFacts;
use netaclaw_governance::CallHash;
use netaclaw_protocol::{ApprovalUse, ContentBlock, EntryId, ProcessTimeline, ToolResultMessage};
use netaclaw_tools::{Ending, Executed};
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The end of a call, before it is stored.
pub(super) struct Outcome {
    pub(super) result_entry_id: EntryId,
    pub(super) executed: Executed,
    pub(super) duration_ms: u64,
    /// It was cancelled because the server shuts down.
    pub(super) interrupted: bool,
    /// The steps it took, if it reported any.
    pub(super) timeline: Option<ProcessTimeline>,
    /// The standing approvals that allowed it.
    pub(super) allowed_by: Vec<ApprovalUse>,
}

impl Outcome {
    pub(super) fn facts(&self) -> ResultFacts {
        let output = &self.executed.output;
        let mut hasher = DefaultHasher::new();
        output.is_error.hash(&mut hasher);
        for block in &output.content {
            match block {
                ContentBlock::Text { text } => text.hash(&mut hasher),
                ContentBlock::Image { data, .. } => data.hash(&mut hasher),
                ContentBlock::Thinking { .. } | ContentBlock::ToolCall { .. } => {}
            }
        }
        ResultFacts {
            fingerprint: hasher.finish(),
            failed: output.is_error,
        }
    }

    /// The tool's own details, with how long it took, what allowed it, how it ended and what
    /// governance said about it: a reload shows what was shown live.
    pub(super) fn details(&self, call: &OpenCall) -> Option<Value> {
        let mut details = match &self.executed.output.details {
            None => Map::new(),
            Some(Value::Object(details)) => details.clone(),
            Some(other) => return Some(other.clone()),
        };
        let governed = &call.governed;
        let facts = [
            ("durationMs", Some(json!(self.duration_ms))),
            ("toolLabel", Some(json!(call.label))),
            ("runtimeRoute", governed.route.map(|route| json!(route))),
            (
                "workerRoutingHint",
                governed.worker_hint.map(|hint| json!(hint)),
            ),
            ("policySources", Some(json!(governed.policy_sources))),
            (
                "blockedReason",
                governed.blocked_reason.as_ref().map(|why| json!(why)),
            ),
            ("ending", self.ending().map(|ending| json!(ending))),
        ];
        let facts = facts.into_iter();
        details.extend(facts.filter_map(|(name, value)| Some((name.to_owned(), value?))));
        if !self.allowed_by.is_empty() {
            details.insert("allowedBy".to_owned(), json!(self.allowed_by));
        }
        if let Some(timeline) = &self.timeline
            && let Ok(Value::Object(timeline)) = serde_json::to_value(timeline)
        {
            details.extend(timeline);
        }
        Some(Value::Object(details))
    }

    /// `None` if the tool itself ended the call.
    fn ending(&self) -> Option<&'static str> {
        Some(match self.executed.ending {
            Ending::Finished => return None,
            Ending::InvalidArguments => "invalid_arguments",
            Ending::Blocked => "blocked",
            Ending::Denied => "denied",
            Ending::Undecided => "undecided",
            Ending::NotStarted => "not_started",
            Ending::Cancelled if self.interrupted => "interrupted",
            Ending::Cancelled => "cancelled",
            Ending::TimedOut => "timed_out",
            Ending::Panicked => "panicked",
        })
    }
}

pub(super) fn result_message(
    call: &OpenCall,
    outcome: Outcome,
    timestamp: i64,
) -> ToolResultMessage {
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        details: outcome.details(call),
        is_error: outcome.executed.output.is_error,
        content: outcome.executed.output.content,
        timestamp,
    }
}

/// The same for the same tool with the same arguments, in any order.
pub(super) fn call_fingerprint(name: &str, args: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    CallHash::of(name, args).hash(&mut hasher);
    hasher.finish()
}
