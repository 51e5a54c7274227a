//! What an earlier process left unfinished, closed so that the next message works.

use crate::error::EngineError;
use crate::feed::now_ms;
use crate::user_message::marked;
use crate::writer::{SessionWriter, Writing};
use netaclaw_protocol::{
    ApprovalOutcome, AssistantMessage, ContentBlock, Message, Question, StopReason,
    ToolResultMessage, Trouble, TroubleKind, Usage,
};
use netaclaw_session::{Entry, EntryBody, NewEntry, Role, SessionTree};
use netaclaw_tools::{ClarifyAnswer, clarify_output};
use serde::Deserialize;
use std::collections::HashSet;

/// Closes an interrupted run and returns the questions that are still open. The queue stays.
pub(crate) async fn recover(writer: &SessionWriter) -> Result<Vec<Question>, EngineError> {
    let mut writing = writer.begin().await;
    let interrupted = writing.state.durable.run.is_some();
    if interrupted {
        // What was being streamed must be in the tree before we look what is missing there.
        writer.provider.take_over(&writer.id).await?;
    }
    let tree = writer.tree().await?;
    forget_taken_items(&tree, &mut writing);
    if !interrupted && writing.state.durable.questions.is_empty() {
        return Ok(Vec::new());
    }
    let open: Vec<Question> = writing
        .state
        .durable
        .questions
        .iter()
        .filter(|asked| asked.answer.is_none())
        .map(|asked| asked.question.clone())
        .collect();
    if open.is_empty() {
        close_calls(writer, &mut writing).await?;
        close_message(writer, &mut writing).await?;
        writing.state.durable.questions.clear();
        writing.state.durable.approvals.clear();
    }
    writing.state.durable.run = None;
    writing.save().await?;
    Ok(open)
}

/// A message that went into the log right before a crash may still stand in the queue.
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

/// Gives every unanswered call of the last answer a result: what a person answered, or that it
/// was interrupted.
pub(crate) async fn close_calls(
    writer: &SessionWriter,
    writing: &mut Writing<'_>,
) -> Result<(), EngineError> {
    let tree = writer.tree().await?;
    let asked = writing.state.durable.questions.clone();
    let consents = writing.state.durable.approvals.clone();
    for call in unanswered_calls(&tree) {
        let answer = asked
            .iter()
            .find(|asked| asked.question.tool_call_id == call.id);
        let result = match answer.and_then(|asked| asked.answer.clone()) {
            Some(texts) => {
                let answer = match texts.is_empty() {
                    true => ClarifyAnswer::Dismissed,
                    false => ClarifyAnswer::Answered(texts),
                };
                clarify_output(&answer).content
            }
            None => {
                let mut consents = consents.iter();
                let consent = consents.find(|consent| consent.asked.tool_call_id == call.id);
                let text = interrupted_call(consent.map(|consent| consent.outcome)).to_owned();
                vec![ContentBlock::Text { text }]
            }
        };
        let is_error = answer.is_none_or(|asked| asked.answer.is_none());
        let message = Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id,
            tool_name: call.name,
            content: result,
            details: None,
            is_error,
            timestamp: now_ms(),
        });
        writing
            .append(NewEntry::at_leaf(EntryBody::message(&message)))
            .await?;
    }
    Ok(())
}

/// What the model reads of a call that the end of the server has overtaken. Whoever had not agreed
/// to it yet is not asked any more: nobody is there to run it.
fn interrupted_call(consent: Option<Option<ApprovalOutcome>>) -> &'static str {
    match consent {
        Some(None | Some(ApprovalOutcome::Closed)) => {
            "Not run: the server stopped before the user decided on this call. If it is still \
             needed, make it again, and the user is asked again."
        }
        Some(Some(ApprovalOutcome::Denied)) => "Not run: the user refused this call.",
        Some(Some(ApprovalOutcome::Allowed | ApprovalOutcome::AllowedForSession)) | None => {
            "No result: the run was interrupted before this call ended."
        }
    }
}

/// A message that got no answer gets one that says why.
async fn close_message(
    writer: &SessionWriter,
    writing: &mut Writing<'_>,
) -> Result<(), EngineError> {
    let tree = writer.tree().await?;
    let last = tree.leaf().and_then(|leaf| tree.get(leaf));
    if last.is_none_or(|entry| entry.role() != Role::User) {
        return Ok(());
    }
    let trouble = interrupted();
    let message = Message::Assistant(AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        usage: Usage::default(),
        stop_reason: StopReason::Aborted,
        error_message: Some(trouble.words.en.clone()),
        trouble: Some(Box::new(trouble)),
        netaclaw: None,
        timestamp: now_ms(),
    });
    writing
        .append(NewEntry::at_leaf(EntryBody::message(&message)))
        .await?;
    Ok(())
}

fn interrupted() -> Trouble {
    Trouble::new(
        TroubleKind::Interrupted,
        "服务器在回答之前停止了，本次运行已中断。请重新发送，或继续。",
        "Interrupted: the server stopped before an answer came. Send the message again, or go on.",
    )
}

struct Call {
    id: String,
    name: String,
}

/// Calls of the last answer on the active path that have no result below it.
fn unanswered_calls(tree: &SessionTree) -> Vec<Call> {
    let path = tree.active_path().unwrap_or_default();
    let Some(at) = path
        .iter()
        .rposition(|entry| entry.role() == Role::Assistant)
    else {
        return Vec::new();
    };
    let answered: HashSet<String> = path[at..]
        .iter()
        .filter_map(|entry| result_for(entry))
        .collect();
    calls_in(path[at])
        .into_iter()
        .filter(|call| !answered.contains(&call.id))
        .collect()
}

fn calls_in(answer: &Entry) -> Vec<Call> {
    let message = answer
        .message_json()
        .and_then(|json| serde_json::from_str(json).ok());
    let Some(Message::Assistant(message)) = message else {
        return Vec::new();
    };
    let call = |block| match block {
        ContentBlock::ToolCall { id, name, .. } => Some(Call { id, name }),
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
