//! The conversation: what the user types, and what the session does, one after the other.

use super::activity::Activity;
use super::command_actions::session_title;
use super::console::{Choices, Console, History, Size};
use super::line_output::{EventEffect, LineOutput};
use super::refused;
use super::view::View;
use crate::app::{App, Outcome};
use crate::config::Environment;
use crate::error::Result;
use crate::terminal::one_line;
use netaclaw_admin::AdminStore;
use netaclaw_agents::AgentPreviews;
use netaclaw_engine::{
    Caller, Engine, EventGroup, ServerEvent, Subscriber, SubscriptionId, TypedEvent,
};
use netaclaw_protocol::{
    Chat, ChatModel, ClarifyResponse, Disposition, EntryId, SessionId, SessionOpen,
    StandingApproval, Stop, ThinkingLevel,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The agent that the user chats with.
pub(super) struct ChatAgent {
    pub(super) agent_id: String,
    pub(super) name: String,
    /// The name that was asked for, if one was.
    pub(super) named: Option<String>,
    /// Channel and model, or why there is none.
    pub(super) model: std::result::Result<String, String>,
}

/// What to do about calls that need approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApprovalMode {
    /// The user at the terminal, if there is one.
    Ask,
    ApproveAll,
}

/// Hands the session's events to the chat, which prints them one after the other.
struct Events {
    // Not bounded: the one reader is this process's own loop, which does nothing but print.
    sink: mpsc::UnboundedSender<Value>,
}

impl Events {
    fn channel() -> (Arc<Self>, mpsc::UnboundedReceiver<Value>) {
        let (sink, incoming) = mpsc::unbounded_channel();
        (Arc::new(Self { sink }), incoming)
    }
}

impl Subscriber for Events {
    fn deliver(&self, _: &ServerEvent) {}

    fn observe(&self, event: TypedEvent<'_>) {
        let event = match event {
            TypedEvent::Reliable(event) => json!(event),
            TypedEvent::Delta(event) => json!(event),
        };
        // A chat that has ended listens to nothing more.
        drop(self.sink.send(event));
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

pub(super) struct TerminalChat<'a> {
    pub(super) app: &'a mut App,
    pub(super) engine: Engine,
    pub(super) caller: Caller,
    pub(super) admin: Arc<dyn AdminStore>,
    pub(super) previews: Arc<dyn AgentPreviews>,
    pub(super) chat_agent: ChatAgent,
    pub(super) view: View,
    /// Of the open session. Before there is one, it only keeps `incoming` from ending.
    events: Arc<Events>,
    pub(super) incoming: mpsc::UnboundedReceiver<Value>,
    pub(super) session: Option<(SessionId, SubscriptionId)>,
    /// The entry from which the next message continues.
    pub(super) branch: Option<EntryId>,
    pub(super) question: Option<(String, Vec<String>)>,
    pub(super) approval_mode: ApprovalMode,
    /// Calls that wait for approval; the first is being shown.
    pub(super) calls: VecDeque<Value>,
    pub(super) activity: Activity,
    /// Messages that wait, as events describe them.
    pub(super) queue: Vec<Value>,
    /// The standing approvals of this session.
    pub(super) standing: Vec<StandingApproval>,
    /// The model and the thinking level of a session that the next message begins.
    pub(super) chosen: NewSessionChoices,
    pub(super) interactive: bool,
    /// Ctrl-C was pressed, and nothing else has happened since; a second one leaves.
    pub(super) leaving: bool,
    failed: bool,
}

/// What was chosen before there was a session.
#[derive(Debug, Default)]
pub(super) struct NewSessionChoices {
    pub(super) model: Option<ChatModel>,
    pub(super) level: Option<ThinkingLevel>,
}

/// What a chat works with.
pub(super) struct ChatServices {
    pub(super) engine: Engine,
    pub(super) admin: Arc<dyn AdminStore>,
    pub(super) previews: Arc<dyn AgentPreviews>,
    pub(super) caller: Caller,
}

impl<'a> TerminalChat<'a> {
    pub(super) fn new(
        app: &'a mut App,
        services: ChatServices,
        chat_agent: ChatAgent,
        approval_mode: ApprovalMode,
        history: PathBuf,
    ) -> Self {
        let (events, incoming) = Events::channel();
        let interactive = std::io::stdin().is_terminal();
        let lang = app.lang;
        let view = match size_of_console(&app.env) {
            Some(size) if interactive => {
                let history = History::open(history);
                let with_style = app.paint.is_on();
                let console = Console::new(std::io::stdout(), with_style, size, lang, history);
                View::Console(Box::new(console))
            }
            _ if interactive => {
                let screen = LineOutput::conversation(std::io::stdout(), app.paint, lang);
                View::Lines(Box::new(screen))
            }
            _ => {
                let screen = LineOutput::filter(std::io::stdout(), app.paint, lang);
                View::Lines(Box::new(screen))
            }
        };
        Self {
            app,
            engine: services.engine,
            caller: services.caller,
            admin: services.admin,
            previews: services.previews,
            chat_agent,
            view,
            events,
            incoming,
            session: None,
            branch: None,
            question: None,
            approval_mode,
            calls: VecDeque::new(),
            activity: Activity::default(),
            queue: Vec::new(),
            standing: Vec::new(),
            chosen: NewSessionChoices::default(),
            interactive,
            leaving: false,
            failed: false,
        }
    }

    pub(super) async fn run(&mut self, session: Option<SessionId>) -> Result<Outcome> {
        match self.view {
            View::Console(_) => self.run_in_console(session).await,
            View::Lines(_) => self.run_in_lines(session).await,
        }
    }

    async fn run_in_lines(&mut self, session: Option<SessionId>) -> Result<Outcome> {
        // Kept for the whole conversation, so that none is missed while a line is handled.
        let mut interrupts = signal(SignalKind::interrupt())?;
        self.begin(session).await?;
        let mut input = BufReader::new(tokio::io::stdin());
        let mut typed = Vec::new();
        let mut more = true;
        while more || self.waits(more) {
            let listen = more && !self.failed && (self.interactive || !self.waits(more));
            if !listen && !self.waits(more) {
                break;
            }
            tokio::select! {
                biased;
                event = self.incoming.recv() => if let Some(event) = event {
                    self.on_event(&event).await?;
                },
                _ = interrupts.recv() => if !self.interrupt().await? {
                    break;
                },
                read = input.read_until(b'\n', &mut typed), if listen => {
                    // What was read before an event came in between is still there.
                    more = read? > 0 || !typed.is_empty();
                    if more {
                        let line = String::from_utf8_lossy(&typed).trim().to_owned();
                        typed.clear();
                        self.leaving = false;
                        more = self.handle_line(&line).await?;
                    }
                },
            }
        }
        self.end()?;
        Ok(self.outcome())
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.failed {
            true => Outcome::Failed,
            false => Outcome::Done,
        }
    }

    /// Reads the names that commands complete to. Without them, there is less to choose from.
    pub(super) async fn refresh_choices(&mut self) {
        if self.view.console().is_some() {
            let choices = self.choices().await;
            if let Some(console) = self.view.console() {
                console.set_choices(choices);
            }
        }
    }

    async fn choices(&self) -> Choices {
        let lang = self.app.lang;
        let agents = self.admin.agents().await.unwrap_or_default();
        let agents = agents.into_iter().map(|agent| {
            let about = match agent.spec.description.is_empty() {
                true => agent.spec.label,
                false => agent.spec.description,
            };
            (agent.spec.name, one_line(&about, 80))
        });
        let models = self.models().await.unwrap_or_default();
        let models = models.into_iter().map(|model| (model.name, String::new()));
        let sessions = self.latest_sessions().await.unwrap_or_default();
        let sessions = sessions.iter().map(|session| {
            let id = session.session.session_id.as_str().to_owned();
            (id, session_title(session))
        });
        let skills = self.previews.skills(Some(&self.chat_agent.agent_id)).await;
        let skills = skills.unwrap_or_default().into_iter().map(|skill| {
            let about = one_line(&skill.description, 80);
            (skill.name, about)
        });
        let levels = ThinkingLevel::ALL.map(|level| {
            let name = level.as_str().to_owned();
            (name, lang.chat_level(level))
        });
        Choices {
            agents: agents.collect(),
            models: models.collect(),
            sessions: sessions.collect(),
            skills: skills.collect(),
            levels: levels.into(),
        }
    }

    /// Whether something is still to come before the chat can continue or end. A session that waits
    /// for a user whose input has ended is left alone.
    fn waits(&self, more: bool) -> bool {
        let asks = self.question.is_some() || !self.calls.is_empty();
        let answers = self.interactive && more;
        !self.incoming.is_empty() || (self.activity.is_running() && (answers || !asks))
    }

    pub(super) async fn begin(&mut self, session: Option<SessionId>) -> Result<()> {
        let lang = self.app.lang;
        if self.interactive {
            let agent = &self.chat_agent.name;
            match &self.chat_agent.model {
                Ok(model) => self.view.line(&lang.chat_welcome(agent, model))?,
                Err(why) => {
                    self.view.line(&lang.chat_welcome_bare(agent))?;
                    self.view.complaint(why)?;
                }
            }
        }
        self.show_chat_agent();
        if let Some(session) = session {
            self.resume_session(session).await?;
        }
        self.refresh_choices().await;
        self.prompt()
    }

    pub(super) fn show_chat_agent(&mut self) {
        let model = self.chat_agent.model.as_deref().unwrap_or_default();
        self.view
            .chat_agent(&self.chat_agent.name, &model.replace(", ", "/"));
    }

    /// Opens a session, and shows where it had got to.
    pub(super) async fn resume_session(&mut self, session: SessionId) -> Result<()> {
        let snapshot = self.open(session).await?;
        if self.interactive {
            self.view.last_exchange(&snapshot)?;
        }
        self.view.snapshot(&snapshot)?;
        self.restore_state(&snapshot).await
    }

    /// Says how to come back.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.interactive {
            self.view.leave_prompt()?;
        }
        match &self.session {
            Some((session, _)) => Ok(self
                .view
                .progress_line(&self.app.lang.chat_session(session))?),
            None => Ok(()),
        }
    }

    pub(super) fn prompt(&mut self) -> Result<()> {
        match self.interactive && !self.activity.is_running() {
            true => Ok(self.view.prompt()?),
            false => Ok(()),
        }
    }

    pub(super) async fn on_event(&mut self, event: &Value) -> Result<()> {
        let ran = self.activity.is_running();
        self.activity.on_event(event);
        if event["type"] == "queue_update" {
            self.queue = items(&event["data"]);
        }
        if event["type"] == "standing_approvals" {
            self.standing = standing(&event["data"]["items"]);
        }
        if event["type"] == "clarify_answered" {
            self.was_answered(event["data"]["requestId"].as_str().unwrap_or_default());
        }
        match self.view.event(event)? {
            EventEffect::Nothing => {}
            EventEffect::QuestionAsked {
                request_id,
                options,
            } => self.question = Some((request_id, options)),
            EventEffect::ApprovalRequested(call) => self.approval_requested(call).await?,
            EventEffect::ApprovalDecided(id) => self.was_decided(&id)?,
            EventEffect::Done => self.is_done(),
            EventEffect::Failed => {
                // In a terminal the user sees it and says something else.
                self.failed = !self.interactive;
                self.is_done();
            }
        }
        if ran && !self.activity.is_running() {
            self.leaving = false;
            self.prompt()?;
        }
        Ok(())
    }

    /// The question of this id is closed, perhaps by another client.
    fn was_answered(&mut self, id: &str) {
        let is_open = |(open, _): &(String, Vec<String>)| open == id;
        if self.question.as_ref().is_some_and(is_open) {
            self.question = None;
            self.view.close_question();
        }
    }

    fn is_done(&mut self) {
        self.question = None;
        self.calls.clear();
        self.view.close_question();
    }

    /// Sends `text`, for which the user typed `line`.
    pub(super) async fn send(&mut self, text: &str, line: &str) -> Result<()> {
        if let Some(call) = self.calls.front().cloned() {
            return self.answer_approval(&call, line).await;
        }
        if let Some((request_id, options)) = self.question.take() {
            return self.answer(request_id, &options, text).await;
        }
        let is_first = self.session.is_none();
        let mut chat = Chat {
            content: text.to_owned(),
            agent_name: self.chat_agent.named.clone(),
            leaf_entry_id: self.branch.clone(),
            model: self.chosen.model.clone().filter(|_| is_first),
            thinking_level: self.chosen.level.filter(|_| is_first),
            ..Chat::default()
        };
        if self.session.is_none() {
            // The chat subscribes before the message is stored: a short run emits much before the
            // acknowledgement.
            match self.engine.begin_session(&self.caller, &chat).await {
                Ok(session) => drop(self.open(session).await?),
                Err(error) => {
                    self.view.restore_line(line);
                    return self.report_refusal(&error);
                }
            }
        }
        let Some((session, _)) = &self.session else {
            return Ok(());
        };
        chat.session_id = Some(session.clone());
        let sent = match is_first {
            // With what was chosen for the session before it began.
            true => self.engine.chat_first(&self.caller, session, chat).await,
            false => self.engine.execute(&self.caller, chat).await,
        };
        match sent {
            Ok(ack) => {
                self.branch = None;
                self.activity.begins();
                match ack.answer.disposition {
                    Disposition::Queued => {
                        Ok(self.view.progress_line(&self.app.lang.chat_queued())?)
                    }
                    _ => Ok(()),
                }
            }
            Err(error) => {
                self.view.restore_line(line);
                self.report_refusal(&error)
            }
        }
    }

    /// The option of an open question that was chosen with one key.
    pub(super) async fn chose_option(&mut self, option: usize) -> Result<()> {
        match self.question.take() {
            Some((request_id, options)) => {
                let number = (option + 1).to_string();
                self.answer(request_id, &options, &number).await
            }
            None => Ok(()),
        }
    }

    async fn answer(&mut self, request_id: String, options: &[String], line: &str) -> Result<()> {
        let Some((session, _)) = &self.session else {
            return Ok(());
        };
        let chosen = line
            .parse::<usize>()
            .ok()
            .and_then(|number| options.get(number.checked_sub(1)?));
        let answer = chosen.map_or(line, String::as_str);
        self.view.said(answer);
        self.view.close_question();
        let answer = json!(answer);
        let answer = ClarifyResponse {
            session_id: session.clone(),
            request_id,
            answer,
        };
        match self.engine.execute(&self.caller, answer).await {
            Ok(_) => {
                self.activity.begins();
                Ok(())
            }
            Err(error) => self.report_refusal(&error),
        }
    }

    /// The active run of a session that was opened, and its questions from before.
    async fn restore_state(&mut self, snapshot: &Value) -> Result<()> {
        self.activity = Activity::of_snapshot(snapshot);
        self.queue = items(&snapshot["queue"]);
        self.standing = standing(&snapshot["standingApprovals"]);
        if let Some(question) = snapshot["questions"].as_array().and_then(|all| all.first()) {
            let request_id = question["requestId"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let options = self.view.question(question)?;
            self.question = Some((request_id, options));
        }
        for call in snapshot["approvals"].as_array().into_iter().flatten() {
            self.approval_requested(call.clone()).await?;
        }
        Ok(())
    }

    async fn open(&mut self, session: SessionId) -> Result<Value> {
        let (events, incoming) = Events::channel();
        let subscriber = Arc::clone(&events) as Arc<dyn Subscriber>;
        let open = SessionOpen::of(&session);
        let opened = self.engine.open(&self.caller, open, subscriber).await;
        let (opened, subscription) = opened.map_err(|error| refused(self.app.lang, &error))?;
        // What is still on its way from a session that was left goes with its receiver.
        (self.events, self.incoming) = (events, incoming);
        let snapshot = serde_json::to_value(&opened.snapshot).unwrap_or_default();
        self.session = Some((session, subscription));
        Ok(snapshot)
    }

    /// Ctrl-C stops an answer. Without one it asks for a second one, since an answer may have ended
    /// at the very moment it was to be stopped. A second one leaves, whatever is running. Returns
    /// whether to stay.
    pub(super) async fn interrupt(&mut self) -> Result<bool> {
        let lang = self.app.lang;
        if std::mem::replace(&mut self.leaving, true) {
            return Ok(false);
        }
        let running = self.activity.is_running();
        let Some((session, _)) = self.session.as_ref().filter(|_| running) else {
            if self.interactive {
                self.view.leave_prompt()?;
                self.view.progress_line(&lang.chat_leave_hint())?;
                self.prompt()?;
            }
            return Ok(self.interactive);
        };
        let session = session.clone();
        self.stop(&session).await?;
        Ok(true)
    }

    pub(super) async fn stop(&mut self, session: &SessionId) -> Result<()> {
        self.view.progress_line(&self.app.lang.chat_stopping())?;
        match self.engine.execute(&self.caller, Stop::of(session)).await {
            Ok(_) => Ok(()),
            Err(error) => self.report_refusal(&error),
        }
    }
}

fn items(queue: &Value) -> Vec<Value> {
    queue["items"].as_array().cloned().unwrap_or_default()
}

fn standing(items: &Value) -> Vec<StandingApproval> {
    serde_json::from_value(items.clone()).unwrap_or_default()
}

/// The size of a terminal in which the cursor can be moved. A dumb one prints lines, and an output
/// that is not a terminal gets them.
fn size_of_console(env: &Environment) -> Option<Size> {
    let is_smart = env.term.as_deref().is_some_and(|term| term != "dumb");
    if !is_smart || !std::io::stdout().is_terminal() {
        return None;
    }
    let (columns, rows) = crossterm::terminal::size().ok()?;
    // A terminal of which nothing is known says that it has no columns.
    (columns > 0 && rows > 0).then(|| Size {
        columns: columns.into(),
        rows: rows.into(),
    })
}
