//! An engine over files in a temporary directory, with an agent that follows the test's script.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faulty;

pub use faulty::{Fate, Faulty, Write};

use async_trait::async_trait;
use netaclaw_engine::{
    AgentRef, AgentSource, Caller, Engine, EngineError, EventGroup, EventKind, PrepareRun,
    PreparedRun, Providers, Runner, ServerEvent, Subscriber,
};
use netaclaw_governance::{ApprovalRequest, CallHash};
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    Ack, AssistantMessage, Chat, ChatAck, ContentBlock, EntryId, InfoSource, Message, ModelInfo,
    Opened, PartDelta, PartKind, ProviderKind, RunId, RunOutcome, SessionId, SessionOpen,
    StopReason, ThinkingLevel, ToolLabel, ToolOutput, ToolResultMessage, ToolRisk, ToolRoute,
    Usage,
};
use netaclaw_runtime::{OpenApproval, PendingCalls, RunEvent, RunHost, RunReport, ToolStarted};
use netaclaw_session::{EntryBody, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use netaclaw_tools::{ClarifyQuestion, clarify_output};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// Far more than anything here takes: a test that waits longer hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

/// What the agent does next.
#[derive(Clone, Debug)]
pub enum Act {
    Say(&'static str),
    /// Ends the answer and the run.
    End,
    /// An answer with one call, and its result.
    Call(&'static str),
    /// A running tool writes this many characters, three bytes each.
    Pour(usize),
    /// An answer that asks the user, and waits.
    Ask(&'static str),
    /// Waits for the approval of a call.
    NeedConsent(&'static str),
    /// Waits until it is stopped.
    Hang,
    Panic,
}

/// The agent's script, which the test feeds while the run waits for it.
#[derive(Clone)]
pub struct Script {
    acts: mpsc::UnboundedSender<Act>,
    source: Arc<ScriptedSource>,
}

pub struct ScriptedSource {
    acts: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Act>>>,
    question_timeout: Mutex<Option<Duration>>,
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    pub fn new() -> Self {
        let (acts, receiver) = mpsc::unbounded_channel();
        let source = ScriptedSource {
            acts: Arc::new(tokio::sync::Mutex::new(receiver)),
            question_timeout: Mutex::default(),
        };
        Self {
            acts,
            source: Arc::new(source),
        }
    }

    pub fn source(&self) -> Arc<dyn AgentSource> {
        Arc::clone(&self.source) as _
    }

    /// Questions that are asked from now on stay open for so long.
    pub fn ask_for(&self, time: Duration) {
        *self.source.question_timeout.lock().unwrap() = Some(time);
    }

    pub fn act(&self, acts: impl IntoIterator<Item = Act>) {
        for act in acts {
            self.acts.send(act).unwrap();
        }
    }
}

#[async_trait]
impl AgentSource for ScriptedSource {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        match agent {
            None | Some("default") => Ok(AgentRef {
                id: "default".to_owned(),
                provider: ProviderKind::File,
                cwd: "/srv/app".to_owned(),
                think_level: ThinkingLevel::Off,
            }),
            Some(other) => Err(EngineError::NotFound(format!("there is no agent {other}"))),
        }
    }

    async fn question_timeout(&self) -> Option<Duration> {
        *self.question_timeout.lock().unwrap()
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        Ok(PreparedRun {
            model: ModelInfo {
                name: "scripted".to_owned(),
                context_window: 1000,
                max_output: 100,
                vision: false,
                tools: true,
                thinking: false,
                price: None,
                source: InfoSource::Channel,
            },
            threshold_percent: Some(70),
            runner: Box::new(ScriptedRunner {
                acts: Arc::clone(&self.acts),
                run_id: run.run_id.clone(),
                pending: run.pending,
            }),
        })
    }
}

struct ScriptedRunner {
    acts: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Act>>>,
    run_id: RunId,
    /// Calls to begin with.
    pending: Option<PendingCalls>,
}

#[async_trait]
impl Runner for ScriptedRunner {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport {
        let Self {
            acts,
            pending,
            run_id,
        } = *self;
        let mut acts = acts.lock().await;
        for call in pending.into_iter().flat_map(|pending| pending.calls) {
            let ContentBlock::ToolCall { id, name, .. } = call else {
                panic!("only calls are pending");
            };
            if !await_consent(host, &id, &name, &cancel).await {
                return report(RunOutcome::Stopped);
            }
        }
        let mut answer = Answer::new(run_id.clone());
        let mut poured = 0;
        loop {
            host.context().await.unwrap();
            let act = tokio::select! {
                act = acts.recv() => act.unwrap_or(Act::Hang),
                () = cancel.cancelled() => return answer.stop(host).await,
            };
            match act {
                Act::Say(text) => answer.say(host, text),
                Act::End => {
                    answer.store(host, StopReason::Stop).await;
                    return match host.insert_steering().await {
                        Ok(_) => report(RunOutcome::Completed),
                        Err(_) => report(RunOutcome::Error),
                    };
                }
                Act::Call(name) => call(host, name).await,
                Act::Pour(chars) => pour(host, &run_id, &mut poured, chars),
                Act::NeedConsent(tool) => {
                    if !need_consent(host, tool, &cancel).await {
                        return report(RunOutcome::Stopped);
                    }
                }
                Act::Ask(question) => {
                    if !ask(host, question, &cancel).await {
                        return report(RunOutcome::Stopped);
                    }
                }
                Act::Hang => {
                    cancel.cancelled().await;
                    return answer.stop(host).await;
                }
                Act::Panic => panic!("as told"),
            }
        }
    }
}

struct Answer {
    run_id: RunId,
    open: Option<(EntryId, GrowingAnswer)>,
}

impl Answer {
    fn new(run_id: RunId) -> Self {
        let open = None;
        Self { run_id, open }
    }

    fn say(&mut self, host: &mut dyn RunHost, text: &str) {
        let (id, growing) = self.open.get_or_insert_with(|| {
            let id = host.next_entry_id();
            let growing = GrowingAnswer::new(assistant(Vec::new(), StopReason::Stop));
            host.emit(RunEvent::AnswerStarted {
                entry_id: id.clone(),
                provider: "scripted".to_owned(),
                model: "scripted".to_owned(),
                text: growing.clone(),
            });
            let kind = netaclaw_models::PartKind::Text;
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

    async fn store(&mut self, host: &mut dyn RunHost, stop_reason: StopReason) {
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

    async fn stop(&mut self, host: &mut dyn RunHost) -> RunReport {
        self.store(host, StopReason::Aborted).await;
        report(RunOutcome::Stopped)
    }
}

async fn call(host: &mut dyn RunHost, name: &str) {
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
fn pour(host: &mut dyn RunHost, run_id: &RunId, poured: &mut u64, chars: usize) {
    let tool_call_id = "call-pour".to_owned();
    if *poured == 0 {
        host.emit(RunEvent::ToolStarted(ToolStarted {
            entry_id: "answer".into(),
            tool_call_id: tool_call_id.clone(),
            tool_name: "pour".to_owned(),
            tool_label: "pour".to_owned(),
            args: serde_json::json!({}),
            route: ToolRoute::Main,
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

async fn ask(host: &mut dyn RunHost, question: &str, cancel: &CancellationToken) -> bool {
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

async fn need_consent(host: &mut dyn RunHost, tool: &str, cancel: &CancellationToken) -> bool {
    let id = format!("call-{tool}");
    append_call(host, &id, tool).await;
    await_consent(host, &id, tool, cancel).await
}

async fn await_consent(
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

fn report(outcome: RunOutcome) -> RunReport {
    RunReport {
        outcome,
        reason: None,
        trouble: None,
        usage: Usage::default(),
        turns: 1,
        tools_refused: None,
    }
}

/// A server's engine over a directory, as one process after the other would open it.
pub struct Server {
    pub engine: Engine,
    pub script: Script,
}

impl Server {
    pub fn start(dir: &Path) -> Self {
        let settings = FileSettings {
            dir: dir.to_owned(),
            fsync: Fsync::Off,
        };
        Self::over(Arc::new(FileProvider::new(settings)))
    }

    pub fn over(file: Arc<dyn SessionTreeProvider>) -> Self {
        let script = Script::new();
        let engine = Engine::new(Providers { file, mysql: None }, script.source());
        Self { engine, script }
    }

    pub async fn chat(&self, session: Option<&SessionId>, text: &str) -> ChatAck {
        self.send(Chat {
            session_id: session.cloned(),
            content: text.to_owned(),
            ..Chat::default()
        })
        .await
        .unwrap()
        .answer
    }

    pub async fn send(&self, chat: Chat) -> Result<Ack<ChatAck>, EngineError> {
        self.engine.execute(&ann(), chat).await
    }

    pub async fn open(&self, session: &SessionId) -> (Client, Opened) {
        let client = Client::default();
        let subscriber = Arc::clone(&client.inner) as Arc<dyn Subscriber>;
        let (opened, _) = self
            .engine
            .open(&ann(), SessionOpen::of(session), subscriber)
            .await
            .unwrap();
        (client, opened)
    }

    /// The texts on the active path, with their roles.
    pub async fn path(&self, session: &SessionId) -> Vec<String> {
        let provider = &self.engine.providers().file;
        let path = provider.get_active_path(session).await.unwrap();
        path.iter()
            .filter_map(|entry| entry.message_json())
            .map(short)
            .collect()
    }
}

/// A message as `role: text`.
pub fn short(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => match &blocks[0] {
            block if block["type"] == "toolCall" => {
                format!("calls {}", block["name"].as_str().unwrap())
            }
            block => block["text"].as_str().unwrap_or_default().to_owned(),
        },
    };
    let aborted = if message["stopReason"] == "aborted" {
        " (aborted)"
    } else {
        ""
    };
    format!("{}: {text}{aborted}", message["role"].as_str().unwrap())
}

pub fn ann() -> Caller {
    Caller {
        user_id: "ann".to_owned(),
        is_admin: false,
    }
}

/// A client that keeps every event and can wait for one.
#[derive(Clone, Default)]
pub struct Client {
    inner: Arc<ClientInner>,
}

#[derive(Default)]
pub struct ClientInner {
    events: Mutex<VecDeque<Value>>,
    news: Notify,
}

impl Subscriber for ClientInner {
    fn deliver(&self, event: &ServerEvent) {
        let value: Value = serde_json::from_str(event.json.get()).unwrap();
        assert_eq!(value["type"], event.name());
        let numbered = matches!(event.kind, EventKind::Reliable { .. });
        assert_eq!(value["seq"].is_u64(), numbered);
        self.events.lock().unwrap().push_back(value);
        self.news.notify_one();
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

impl Client {
    pub fn subscriber(&self) -> Arc<dyn Subscriber> {
        Arc::clone(&self.inner) as _
    }

    /// Everything that has arrived so far.
    pub fn events(&self) -> Vec<Value> {
        self.inner.events.lock().unwrap().iter().cloned().collect()
    }

    /// Forgets what has arrived so far.
    pub fn clear(&self) {
        self.inner.events.lock().unwrap().clear();
    }

    /// Waits until an event of this type has arrived that satisfies the test, and returns it.
    pub async fn wait(&self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let news = self.inner.news.notified();
            let found = self
                .events()
                .into_iter()
                .find(|e| e["type"] == name && fits(&e["data"]));
            if let Some(event) = found {
                return event;
            }
            news.await;
        }
    }

    pub async fn done(&self, count: usize) -> Vec<Value> {
        loop {
            let news = self.inner.news.notified();
            let done: Vec<Value> = self
                .events()
                .into_iter()
                .filter(|event| event["type"] == "done")
                .collect();
            if done.len() >= count {
                return done;
            }
            news.await;
        }
    }
}

pub fn message(session: &SessionId, text: &str) -> Chat {
    Chat {
        session_id: Some(session.clone()),
        content: text.to_owned(),
        ..Chat::default()
    }
}

/// Waits for something that must happen.
pub async fn within<F: Future>(happening: F) -> F::Output {
    tokio::time::timeout(WATCHDOG, happening)
        .await
        .expect("it happens")
}
