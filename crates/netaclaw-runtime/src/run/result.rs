//! From what a tool gave back to what is stored of it.

use super::calls::OpenCall;
use crate::machine::ResultFacts;
use netaclaw_governance::CallHash;
use netaclaw_protocol::{ContentBlock, EntryId, ProcessTimeline, ToolResultMessage};
use netaclaw_tools::{Ending, Executed};
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The end of a call, before it is stored.
pub(super) struct Outcome {
    pub(super) result_entry_id: EntryId,
    pub(super) executed: Executed,
    pub(super) duration_ms: u64,
    /// The steps it took, if it reported any.
    pub(super) timeline: Option<ProcessTimeline>,
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

    /// The tool's own details, with how long it took and how it ended: a reload shows what was
    /// shown live.
    pub(super) fn details(&self) -> Option<Value> {
        let mut details = match &self.executed.output.details {
            None => Map::new(),
            Some(Value::Object(details)) => details.clone(),
            Some(other) => return Some(other.clone()),
        };
        details.insert("durationMs".to_owned(), json!(self.duration_ms));
        if let Some(timeline) = &self.timeline
            && let Ok(Value::Object(timeline)) = serde_json::to_value(timeline)
        {
            details.extend(timeline);
        }
        let ending = match self.executed.ending {
            Ending::Finished => return Some(Value::Object(details)),
            Ending::InvalidArguments => "invalid_arguments",
            Ending::Cancelled => "cancelled",
            Ending::TimedOut => "timed_out",
            Ending::Panicked => "panicked",
        };
        details.insert("ending".to_owned(), json!(ending));
        Some(Value::Object(details))
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
        details: outcome.details(),
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
