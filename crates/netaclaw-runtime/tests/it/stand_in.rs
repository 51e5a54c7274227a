//! The session, the tools and the clock of a test.

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use netaclaw_governance::{
    Approval, ApprovalRequest, ApprovedCall, CallHash, Concurrency, Consent, EgressTarget,
    ToolManifest, WorkerUse,
};
use netaclaw_models::ModelError;
use netaclaw_protocol::{
    ContentBlock, EntryId, ForeignContent, ToolCategory, ToolLabel, ToolRisk, ToolStatus,
};
use netaclaw_runtime::{
    AnswerSoFar, Clock, HostError, ModelCall, OpenApproval, Overflow, RunContext, RunEvent,
    RunHost, ToolStep, todo_on_path,
};
use netaclaw_session::{
    Entry, EntryBody, SessionLog, SessionTree, build_session_context, encode_entry,
};
use netaclaw_tools::{ClarifyAnswer, ClarifyQuestion, Tool, ToolContext, ToolOutput, ToolUpdate};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#;
const WHEN: &str = "2026-01-01T00:00:00.000Z";

/// A session in memory that records all calls to it.
pub(crate) struct RecordingHost {
    pub(crate) tree: SessionTree,
    pub(crate) tip: Option<EntryId>,
    pub(crate) events: Vec<RunEvent>,
    pub(crate) steps: Vec<ToolStep>,
    /// Texts that come as steering, one group each time the loop asks.
    pub(crate) steering: VecDeque<Vec<String>>,
    pub(crate) overflow: Vec<Overflow>,
    /// After this many appends the session fails.
    pub(crate) appends_left: usize,
    /// Cancelled after this many events.
    pub(crate) stop_after: Option<(usize, CancellationToken)>,
    /// Every event and every question, for a test that looks on.
    pub(crate) watch: Option<mpsc::UnboundedSender<Seen>>,
    /// The texts of partial answers.
    pub(crate) kept: Vec<String>,
    /// Who decides on calls that need approval.
    pub(crate) clerk: Clerk,
    pub(crate) asked: Vec<ApprovalRequest>,
    pub(crate) shuts_down: bool,
    next_id: u32,
}

/// A user who is asked to approve.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clerk {
    /// Has agreed before, for the whole session.
    Remembers,
    Consents,
    /// Approves another call.
    Mistakes,
    Refuses,
    Panics,
    Sleeps,
    /// Approves after an hour.
    Dawdles,
}

impl Clerk {
    fn decide(self, request: &ApprovalRequest) -> Approval {
        let mut approval = Approval {
            hash: request.hash.clone(),
            consent: Consent::Given,
        };
        match self {
            Self::Consents | Self::Remembers | Self::Dawdles => {}
            Self::Mistakes => approval.hash = CallHash::of("other", &json!({})),
            Self::Refuses => {
                let reason = Some("too risky".into());
                approval.consent = Consent::Refused { reason };
            }
            Self::Panics | Self::Sleeps => panic!("a mistake of the clerk"),
        }
        approval
    }
}

/// What a watching test sees.
pub(crate) enum Seen {
    Event(RunEvent),
    Question(ClarifyQuestion, oneshot::Sender<ClarifyAnswer>),
}

impl RecordingHost {
    pub(crate) fn new(question: &str) -> Self {
        let log = SessionLog::parse(HEADER.as_bytes().to_vec()).unwrap();
        let mut host = Self {
            tree: SessionTree::new(log),
            tip: None,
            events: Vec::new(),
            steps: Vec::new(),
            steering: VecDeque::new(),
            overflow: Vec::new(),
            appends_left: usize::MAX,
            stop_after: None,
            watch: None,
            kept: Vec::new(),
            clerk: Clerk::Panics,
            asked: Vec::new(),
            shuts_down: false,
            next_id: 0,
        };
        host.push(None, user(question));
        host
    }

    pub(crate) fn watch(&mut self) -> mpsc::UnboundedReceiver<Seen> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.watch = Some(tx);
        rx
    }

    fn push(&mut self, id: Option<EntryId>, body: EntryBody) -> Entry {
        let id = id.unwrap_or_else(|| self.next_entry_id());
        assert!(!self.tree.contains(&id), "{id} is taken");
        let entry = encode_entry(&body, &id, self.tip.as_ref(), WHEN);
        self.tree.push(entry.clone());
        self.tip = Some(id);
        entry
    }

    /// The chain of the run as `role: text`, one line for each entry.
    pub(crate) fn transcript(&self) -> String {
        let lines = self.tree.entries().iter().map(describe);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The details of the first tool result.
    pub(crate) fn result_details(&self) -> serde_json::Value {
        let entries = self.tree.entries().iter();
        let mut json = entries.map(|entry| serde_json::from_str(entry.json()).unwrap());
        let result: serde_json::Value = json
            .find(|entry: &serde_json::Value| entry["message"]["role"] == "toolResult")
            .unwrap();
        result["message"]["details"].clone()
    }

    pub(crate) fn last_message(&self) -> serde_json::Value {
        let last = self.tree.entries().last().unwrap();
        let json: serde_json::Value = serde_json::from_str(last.json()).unwrap();
        json["message"].clone()
    }
}

fn user(text: &str) -> EntryBody {
    EntryBody::message(&json!({"role": "user", "content": text, "timestamp": 0}))
}

fn describe(entry: &Entry) -> String {
    let json: serde_json::Value = serde_json::from_str(entry.json()).unwrap();
    let message = &json["message"];
    let Some(role) = message["role"].as_str() else {
        let what = json["customType"].as_str().unwrap_or_default();
        return format!(
            "{} {what}: {}{}",
            entry.type_name(),
            json["content"],
            json["data"]
        );
    };
    let parts = match &message["content"] {
        serde_json::Value::String(text) => text.clone(),
        blocks => {
            let blocks = blocks.as_array().cloned().unwrap_or_default();
            let blocks = blocks.iter().map(|block| match block["type"].as_str() {
                Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
                Some("thinking") => format!("<{}>", block["thinking"].as_str().unwrap_or("")),
                Some("toolCall") => format!(
                    "{}({})#{}",
                    block["name"].as_str().unwrap_or_default(),
                    block["arguments"],
                    block["id"].as_str().unwrap_or_default()
                ),
                _ => block.to_string(),
            });
            blocks.collect::<Vec<_>>().join(" | ")
        }
    };
    let mark = match (
        role,
        message["stopReason"].as_str(),
        message["isError"].as_bool(),
    ) {
        ("assistant", Some(reason), _) => format!(" [{reason}]"),
        ("toolResult", _, error) => {
            let id = message["toolCallId"].as_str().unwrap_or_default();
            format!("#{id}{}", if error == Some(true) { " [error]" } else { "" })
        }
        _ => String::new(),
    };
    format!("{role}{mark}: {parts}")
}

#[async_trait]
impl RunHost for RecordingHost {
    async fn context(&mut self) -> Result<RunContext, HostError> {
        let context = build_session_context(&self.tree, self.tip.as_ref()).unwrap();
        let path = self.tree.path(self.tip.as_ref().unwrap()).unwrap();
        let todo = todo_on_path(path.into_iter());
        Ok(RunContext::read(&context, todo, ForeignContent::default()))
    }

    fn next_entry_id(&mut self) -> EntryId {
        self.next_id += 1;
        EntryId::new(format!("e{}", self.next_id))
    }

    async fn append(&mut self, id: Option<EntryId>, body: EntryBody) -> Result<Entry, HostError> {
        if self.appends_left == 0 {
            return Err(HostError::Unavailable("the disk is full".into()));
        }
        self.appends_left -= 1;
        // A real session takes time, in which other tasks run.
        tokio::task::yield_now().await;
        Ok(self.push(id, body))
    }

    async fn tool_step(&mut self, step: ToolStep) {
        self.steps.push(step);
    }

    fn emit(&mut self, event: RunEvent) {
        self.events.push(event.clone());
        if let Some((after, cancel)) = &self.stop_after
            && self.events.len() > *after
        {
            cancel.cancel();
        }
        if let Some(watch) = &self.watch {
            watch.send(Seen::Event(event)).ok();
        }
    }

    fn is_shutting_down(&self) -> bool {
        self.shuts_down
    }

    fn answer_progress(&mut self, so_far: &AnswerSoFar) {
        let texts = so_far
            .to_message()
            .content
            .into_iter()
            .filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text),
                _ => None,
            });
        self.kept.push(texts.collect());
    }

    async fn insert_steering(&mut self) -> Result<usize, HostError> {
        let texts = self.steering.pop_front().unwrap_or_default();
        for text in &texts {
            self.push(None, user(text));
        }
        Ok(texts.len())
    }

    async fn open_question(
        &mut self,
        question: ClarifyQuestion,
    ) -> Result<BoxFuture<'static, ClarifyAnswer>, HostError> {
        let (answer, waiting) = oneshot::channel();
        if let Some(watch) = &self.watch {
            watch.send(Seen::Question(question, answer)).ok();
        }
        Ok(waiting
            .map(|answer| answer.unwrap_or(ClarifyAnswer::Dismissed))
            .boxed())
    }

    async fn open_approval(&mut self, request: ApprovalRequest) -> Result<OpenApproval, HostError> {
        self.asked.push(request.clone());
        let clerk = self.clerk;
        Ok(match clerk {
            Clerk::Remembers => OpenApproval::Remembered(clerk.decide(&request)),
            Clerk::Sleeps => OpenApproval::Asked(futures::future::pending().boxed()),
            Clerk::Dawdles => {
                let decided = async move {
                    tokio::time::sleep(Duration::from_secs(3600)).await;
                    clerk.decide(&request)
                };
                OpenApproval::Asked(decided.boxed())
            }
            _ => OpenApproval::Asked(async move { clerk.decide(&request) }.boxed()),
        })
    }

    async fn on_overflow(
        &mut self,
        call: &ModelCall<'_>,
        error: &ModelError,
    ) -> Result<Overflow, HostError> {
        assert!(matches!(error, ModelError::ContextTooLong(_)) && !call.system.stable.is_empty());
        Ok(self.overflow.pop().unwrap_or(Overflow::GiveUp))
    }
}

/// Time that moves only when the runtime's does.
pub(crate) struct TestClock(Instant);

impl Default for TestClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TestClock {
    fn unix_ms(&self) -> i64 {
        1_790_000_000_000
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }
}

/// Tools with manners a test needs; each is called by its name.
#[derive(Clone, Copy)]
struct Manner {
    name: &'static str,
    concurrency: Concurrency,
    risk: ToolRisk,
}

pub(crate) fn test_tools() -> Vec<Arc<dyn Tool>> {
    let parallel = ["echo", "nap", "obey", "ignore", "crash", "chatty", "fail"];
    let manner = |name, concurrency, risk| Manner {
        name,
        concurrency,
        risk,
    };
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for name in parallel {
        tools.push(Arc::new(manner(
            name,
            Concurrency::Parallel,
            ToolRisk::Read,
        )));
    }
    tools.push(Arc::new(manner(
        "alone",
        Concurrency::Exclusive,
        ToolRisk::Read,
    )));
    tools.push(Arc::new(manner(
        "danger",
        Concurrency::Parallel,
        ToolRisk::Exec,
    )));
    tools
}

#[async_trait]
impl Tool for Manner {
    fn manifest(&self) -> ToolManifest {
        ToolManifest {
            name: self.name.into(),
            label: ToolLabel {
                zh: self.name.into(),
                en: self.name.into(),
            },
            description: "For tests.".into(),
            guidance: String::new(),
            category: ToolCategory::Session,
            schema: json!({
                "type": "object",
                "properties": {"say": {"type": "string"}, "ms": {"type": "integer"}},
            })
            .into(),
            risk: self.risk,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Never,
            needs: Vec::new(),
            timeout: None,
            output_cap: 10_000,
            concurrency: self.concurrency,
            outlet: EgressTarget::None,
        }
    }

    async fn execute(&self, call: ApprovedCall, context: ToolContext) -> ToolOutput {
        let say = call.args()["say"].as_str().unwrap_or_default().to_owned();
        let ms = call.args()["ms"].as_u64().unwrap_or(0);
        match self.name {
            "nap" => tokio::time::sleep(std::time::Duration::from_millis(ms)).await,
            "obey" => {
                context.cancel.cancelled().await;
                return ToolOutput::error("gave up");
            }
            "ignore" => std::future::pending().await,
            "crash" => panic!("a mistake"),
            "chatty" => {
                for piece in ["één ", "two"] {
                    context.updates.send(ToolUpdate::Output(piece.into()));
                }
            }
            "fail" => return ToolOutput::error("no luck"),
            _ => {}
        }
        ToolOutput::text(format!("{}: {say}", self.name))
    }
}
