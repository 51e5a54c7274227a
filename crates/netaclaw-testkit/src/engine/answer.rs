//! What the scripted agent writes: answers, calls with their results, output of tools, questions.

use netaclaw_governance::{ApprovalRequest, CallFacts, CallHash};
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, EntryId, Message, PartDelta, PartKind, RunId, RunOutcome,
    StopReason, ToolLabel, ToolOutput, ToolResultMessage, ToolRisk, ToolRoute, Usage,
};
use netaclaw_runtime::{OpenApproval, RunEvent, RunHost, RunReport, ToolStarted};
use netaclaw_session::EntryBody;
use netaclaw_tools::{ClarifyQuestion, clarify_output};
use tokio_util::sync::CancellationToken;

pub(super) struct Answer {
    run_id: RunId,
    open: Option<(EntryId, GrowingAnswer)>,
}

impl Answer {
    pub(super) fn new(run_id: RunId) -> Self {
        let open = None;
        Self { run_id, open }
    }

    pub(super) fn say(&mut self, host: &mut dyn RunHost, text: &str) {
        let (id, growing) = self.open.get_or_insert_with(|| {
            let id = host.next_entry_id();
            let growing = GrowingAnswer::new(assistant(Vec::new(), StopReason::Stop));
            host.emit(RunEvent::AnswerStarted {
                entry_id: id.clone(),
                provider: "scripted".to_owned(),
                model: "scripted".to_owned(),
                text: growing.clone(),
            });
            let kind = netaclaw_models::StreamPart::Text;
            growing.start(&kind);
            host.emit(RunEvent::PartStarted {
                entry_id: id.clone(),
                part: 0,
                kind,
            });
            (id, growing)
        });
        let offset = growing.text_of(0).chars().count() as u64;
        growing.append(0, text);
        host.emit(RunEvent::PartDelta(PartDelta {
            run_id: self.run_id.clone(),
            entry_id: id.clone(),
            part: 0,
            kind: PartKind::Text,
            tool_call_id: None,
            tool_name: None,
            offset,
            text: text.to_owned(),
        }));
    }

    pub(super) async fn store(&mut self, host: &mut dyn RunHost, stop_reason: StopReason) {
        let open = self.open.take();
        let text = open.as_ref().map(|(_, growing)| growing.text_of(0));
        let text = text.unwrap_or_default();
        let id = open.map_or_else(|| host.next_entry_id(), |(id, _)| id);
        let message = assistant(vec![ContentBlock::Text { text }], stop_reason);
        host.append(
            Some(id.clone()),
            EntryBody::message(&Message::Assistant(message)),
        )
        .await
        .unwrap();
        let usage = Usage {
            input: 90,
            output: 10,
            ..Usage::default()
        };
        host.emit(RunEvent::AnswerFinished {
            entry_id: id,
            stop_reason,
            error_message: None,
            trouble: None,
            usage,
        });
    }

    pub(super) async fn stop(&mut self, host: &mut dyn RunHost) -> RunReport {
        self.store(host, StopReason::Aborted).await;
        report(RunOutcome::Stopped)
    }
}

pub(super) async fn call(host: &mut dyn RunHost, name: &str) {
    let id = format!("call-{name}");
    append_call(host, &id, name).await;
    append_result(
        host,
        &id,
        name,
        vec![ContentBlock::Text {
            text: format!("{name} done"),
        }],
    )
    .await;
}

/// Output of a tool that is announced with its first piece.
pub(super) fn pour(host: &mut dyn RunHost, run_id: &RunId, poured: &mut u64, chars: usize) {
    let tool_call_id = "call-pour".to_owned();
    if *poured == 0 {
        host.emit(RunEvent::ToolStarted(ToolStarted {
            entry_id: "answer".into(),
            tool_call_id: tool_call_id.clone(),
            tool_name: "pour".to_owned(),
            tool_label: "pour".to_owned(),
            args: serde_json::json!({}),
            route: ToolRoute::Main,
            worker_hint: None,
            blocked_reason: None,
            policy_sources: Vec::new(),
        }));
    }
    for piece in vec!['三'; chars].chunks(1000) {
        host.emit(RunEvent::ToolOutput(ToolOutput {
            run_id: run_id.clone(),
            tool_call_id: tool_call_id.clone(),
            offset: *poured,
            text: piece.iter().collect(),
        }));
        *poured += piece.len() as u64;
    }
}

pub(super) async fn ask(
    host: &mut dyn RunHost,
    question: &str,
    cancel: &CancellationToken,
) -> bool {
    append_call(host, "call-clarify", "clarify").await;
    let question = ClarifyQuestion {
        tool_call_id: "call-clarify".to_owned(),
        question: question.to_owned(),
        options: vec!["red".to_owned(), "blue".to_owned()],
        multi: false,
    };
    let answer = host.open_question(question).await.unwrap();
    let (content, go_on) = tokio::select! {
        answer = answer => (clarify_output(&answer).content, true),
        () = cancel.cancelled() => (vec![ContentBlock::Text { text: "cancelled".to_owned() }], false),
    };
    append_result(host, "call-clarify", "clarify", content).await;
    go_on
}

pub(super) async fn need_consent(
    host: &mut dyn RunHost,
    tool: &str,
    cancel: &CancellationToken,
) -> bool {
    let id = format!("call-{tool}");
    append_call(host, &id, tool).await;
    await_consent(host, &id, tool, cancel).await
}

pub(super) async fn await_consent(
    host: &mut dyn RunHost,
    id: &str,
    tool: &str,
    cancel: &CancellationToken,
) -> bool {
    let args = serde_json::json!({});
    let request = ApprovalRequest {
        tool_call_id: id.to_owned(),
        tool_name: tool.to_owned(),
        tool_label: ToolLabel {
            zh: tool.to_owned(),
            en: tool.to_owned(),
        },
        risk: ToolRisk::Exec,
        reason: "it is dangerous".to_owned(),
        foreign: None,
        hash: CallHash::of(tool, &args),
        args,
        facts: CallFacts {
            tools: [(tool.to_owned(), "as it is".to_owned())].into(),
            ..CallFacts::default()
        },
    };
    let approval = match host.open_approval(request).await.unwrap() {
        OpenApproval::Remembered(approval) => Some(approval),
        OpenApproval::Asked(waiting) => tokio::select! {
            approval = waiting => Some(approval),
            () = cancel.cancelled() => None,
        },
    };
    let text = match &approval {
        Some(approval) => format!("{:?}", approval.consent),
        None => "cancelled".to_owned(),
    };
    append_result(host, id, tool, vec![ContentBlock::Text { text }]).await;
    approval.is_some()
}

async fn append_call(host: &mut dyn RunHost, id: &str, name: &str) {
    let call = ContentBlock::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: serde_json::json!({}),
    };
    let message = assistant(vec![call], StopReason::ToolUse);
    host.append(None, EntryBody::message(&Message::Assistant(message)))
        .await
        .unwrap();
}

async fn append_result(host: &mut dyn RunHost, id: &str, name: &str, content: Vec<ContentBlock>) {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.to_owned(),
        tool_name: name.to_owned(),
        content,
        details: None,
        is_error: false,
        timestamp: 3,
    });
    host.append(None, EntryBody::message(&message))
        .await
        .unwrap();
}

fn assistant(content: Vec<ContentBlock>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage {
        content,
        api: "scripted".to_owned(),
        provider: "scripted".to_owned(),
        model: "scripted".to_owned(),
        usage: Usage {
            input: 90,
            output: 10,
            total_tokens: 100,
            ..Usage::default()
        },
        stop_reason,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 2,
    }
}

pub(super) fn report(outcome: RunOutcome) -> RunReport {
    RunReport {
        outcome,
        reason: None,
        trouble: None,
        usage: Usage::default(),
        turns: 1,
        tools_refused: None,
    }
}
