//! Closes what an earlier process left unfinished, so that the next message works.

use crate::error::EngineError;
use crate::session::durable::{PersistedState, StoredApproval};
use crate::session::expiry::is_expired;
use crate::session::run_ending::RunEnding;
use crate::session::user_message::marked;
use crate::session::writer::{SessionWriter, Writing};
use netaclaw_governance::refusal;
use netaclaw_protocol::{
    ApprovalOutcome, ApprovalQuestion, ContentBlock, EntryId, ForeignContent, Message, Question,
    ToolResultMessage, now_ms,
};
use netaclaw_runtime::{PendingCalls, todo_on_path};
use netaclaw_session::{Entry, EntryBody, Flush, NewEntry, Role, SessionTree};
use netaclaw_tools::{ClarifyAnswer, clarify_output};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

/// What a dead run has left for a user to answer.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    pub(crate) questions: Vec<Question>,
    pub(crate) approvals: Vec<ApprovalQuestion>,
}

impl OpenRequests {
    fn read(durable: &PersistedState) -> Self {
        let questions = durable.questions.iter();
        let questions = questions.filter(|asked| asked.answer.is_none());
        let approvals = durable.approvals.iter();
        let approvals = approvals.filter(|consent| consent.outcome.is_none());
        Self {
            questions: questions.map(|asked| asked.question.clone()).collect(),
            approvals: approvals.map(|consent| consent.asked.clone()).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.approvals.is_empty()
    }
}

/// Closes an interrupted run and returns what is still open of it. The queue stays.
pub(crate) async fn recover(writer: &SessionWriter) -> Result<OpenRequests, EngineError> {
    if writer.read_only().is_some() {
        return Ok(OpenRequests::default());
    }
    let mut writing = writer.begin().await;
    let durable = &writing.state.durable;
    let interrupted = durable.run.is_some();
    if !interrupted && durable.has_nothing_open() {
        return Ok(OpenRequests::default());
    }
    if interrupted {
        // What was being streamed must be in the tree before we look what is missing there.
        writer.provider.take_over(&writer.id).await?;
    }
    let tree = writer.tree().await?;
    forget_taken_items(&tree, &mut writing);
    let durable = &mut writing.state.durable;
    if !interrupted && durable.questions.is_empty() && durable.approvals.is_empty() {
        return Ok(OpenRequests::default());
    }
    let open = OpenRequests::read(durable);
    if open.is_empty() {
        close_calls(writer, &mut writing).await?;
        RunEnding::interrupted().say(writer, &mut writing).await?;
        writing.state.durable.questions.clear();
        writing.state.durable.approvals.clear();
    } else if interrupted {
        // Whether a call ran that was allowed before is unknown. It does not run again.
        durable.approvals.retain(|consent| !consent.is_allowed());
    }
    writing.state.durable.run = None;
    writing.persist_then_publish(Flush::Now).await?;
    Ok(open)
}

/// A message that was appended right before a crash may still be in the queue.
fn forget_taken_items(tree: &SessionTree, writing: &mut Writing<'_>) {
    let taken: HashSet<String> = tree
        .entries()
        .iter()
        .filter_map(marked)
        .filter_map(|(_, mark, _)| mark.item_id)
        .collect();
    writing
        .state
        .durable
        .queue
        .retain(|queued| !taken.contains(&queued.item.item_id));
}

/// Gives every unanswered call of the last answer a result: the user's answer, or that it was
/// interrupted.
pub(crate) async fn close_calls(
    writer: &SessionWriter,
    writing: &mut Writing<'_>,
) -> Result<(), EngineError> {
    close_calls_but(&ResumableCalls::default(), writer, writing).await
}

/// The same, but for calls that are going to run.
pub(crate) async fn close_calls_but(
    agreed: &ResumableCalls,
    writer: &SessionWriter,
    writing: &mut Writing<'_>,
) -> Result<(), EngineError> {
    let tree = writer.tree().await?;
    let asked = writing.state.durable.questions.clone();
    let consents = writing.state.durable.approvals.clone();
    let (_, calls) = unanswered_calls(&tree);
    for call in calls.into_iter().filter(|call| !agreed.contains(&call.id)) {
        let answer = asked
            .iter()
            .find(|asked| asked.question.tool_call_id == call.id);
        let (content, details) = match answer.and_then(|asked| asked.answer.clone()) {
            Some(texts) => {
                let expired = answer.is_some_and(|asked| is_expired(&asked.question));
                let answer = match texts.is_empty() {
                    true if expired => ClarifyAnswer::TimedOut,
                    true => ClarifyAnswer::Dismissed,
                    false => ClarifyAnswer::Answered(texts),
                };
                let output = clarify_output(&answer);
                (output.content, output.details)
            }
            None => {
                let mut consents = consents.iter();
                let consent = consents.find(|consent| consent.asked.tool_call_id == call.id);
                let text = not_run(&call, consent);
                let details = json!({ "ending": ending(consent) });
                (vec![ContentBlock::Text { text }], Some(details))
            }
        };
        let is_error = answer.is_none_or(|asked| asked.answer.is_none());
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id,
            tool_name: call.name,
            content,
            details,
            is_error,
            timestamp: now_ms(),
        });
        writing
            .append(NewEntry::at_leaf(EntryBody::message(&message)))
            .await?;
    }
    Ok(())
}

/// The same for users.
fn ending(consent: Option<&StoredApproval>) -> &'static str {
    match consent.map(|consent| consent.outcome) {
        Some(None | Some(ApprovalOutcome::Closed)) => "undecided",
        Some(Some(ApprovalOutcome::Denied)) => "denied",
        // Whether it ran is unknown.
        Some(Some(
            ApprovalOutcome::Allowed
            | ApprovalOutcome::AllowedForSession
            | ApprovalOutcome::AllowedForAgent,
        ))
        | None => "interrupted",
    }
}

/// What the model reads of a call that the end of the server has overtaken.
fn not_run(call: &Call, consent: Option<&StoredApproval>) -> String {
    let outcome = consent.map(|consent| (consent.outcome, &consent.words));
    match outcome {
        Some((None | Some(ApprovalOutcome::Closed), _)) => {
            "Not run: the user continued without deciding about this call. If it is still needed, \
             make it again; the user is then asked again."
                .to_owned()
        }
        Some((Some(ApprovalOutcome::Denied), words)) => refusal(&call.name, words.as_deref()),
        Some((
            Some(
                ApprovalOutcome::Allowed
                | ApprovalOutcome::AllowedForSession
                | ApprovalOutcome::AllowedForAgent,
            ),
            _,
        ))
        | None => "No result: the run was interrupted before this call ended.".to_owned(),
    }
}

/// Calls of the last answer that were approved after their run had died, and have not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResumableCalls {
    tool_call_ids: Vec<String>,
}

impl ResumableCalls {
    /// Consents of a run that is alive do not count: [`recover`] and the end of a run remove them.
    pub(crate) fn read(tree: &SessionTree, durable: &PersistedState) -> Self {
        if durable.approvals.is_empty() {
            return Self::default();
        }
        let allowed = |call: &Call| {
            let mut consents = durable.approvals.iter();
            consents.any(|consent| consent.is_allowed() && consent.asked.tool_call_id == call.id)
        };
        let (_, calls) = unanswered_calls(tree);
        let calls = calls.into_iter().filter(allowed);
        Self {
            tool_call_ids: calls.map(|call| call.id).collect(),
        }
    }

    pub(crate) fn contains(&self, tool_call_id: &str) -> bool {
        self.tool_call_ids.iter().any(|id| id == tool_call_id)
    }

    /// For the run that is to begin with them; `None` if there are none.
    pub(crate) fn into_pending(
        self,
        tree: &SessionTree,
        foreign: ForeignContent,
    ) -> Option<PendingCalls> {
        if self.tool_call_ids.is_empty() {
            return None;
        }
        let (answer, calls) = unanswered_calls(tree);
        let calls: Vec<ContentBlock> = calls
            .into_iter()
            .filter(|call| self.contains(&call.id))
            .map(Call::into_block)
            .collect();
        let path = tree.active_path().unwrap_or_default();
        (!calls.is_empty()).then_some(PendingCalls {
            entry_id: answer?,
            calls,
            todo: todo_on_path(path.into_iter()),
            foreign,
        })
    }
}

struct Call {
    id: String,
    name: String,
    arguments: Value,
}

impl Call {
    fn into_block(self) -> ContentBlock {
        ContentBlock::ToolCall {
            id: self.id,
            name: self.name,
            arguments: self.arguments,
        }
    }
}

/// The last answer on the active path, and its calls that have no result below it.
fn unanswered_calls(tree: &SessionTree) -> (Option<EntryId>, Vec<Call>) {
    let path = tree.active_path().unwrap_or_default();
    let Some(at) = path
        .iter()
        .rposition(|entry| entry.role() == Role::Assistant)
    else {
        return (None, Vec::new());
    };
    let answered: HashSet<String> = path[at..]
        .iter()
        .filter_map(|entry| result_for(entry))
        .collect();
    let calls = calls_in(path[at]).into_iter();
    let open = calls.filter(|call| !answered.contains(&call.id));
    (Some(path[at].id().clone()), open.collect())
}

fn calls_in(answer: &Entry) -> Vec<Call> {
    let message = answer
        .message_json()
        .and_then(|json| serde_json::from_str(json).ok());
    let Some(Message::Assistant(message)) = message else {
        return Vec::new();
    };
    let call = |block| match block {
        ContentBlock::ToolCall {
            id,
            name,
            arguments,
        } => Some(Call {
            id,
            name,
            arguments,
        }),
        _ => None,
    };
    message.content.into_iter().filter_map(call).collect()
}

fn result_for(entry: &Entry) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Result {
        tool_call_id: String,
    }
    if entry.role() != Role::ToolResult {
        return None;
    }
    serde_json::from_str::<Result>(entry.message_json()?)
        .ok()
        .map(|result| result.tool_call_id)
}
