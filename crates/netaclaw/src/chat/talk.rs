//! The conversation: what the user types, and what the session does, one after the other.

use super::activity::Activity;
use super::refused;
use super::screen::{Heard, Screen};
use crate::app::{App, Outcome};
use crate::error::Result;
use netaclaw_engine::{
    Caller, Engine, EngineError, EventGroup, ServerEvent, Subscriber, SubscriptionId,
};
use netaclaw_protocol::{
    Chat, ClarifyResponse, Disposition, EntryId, SessionId, SessionOpen, Stop,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{IsTerminal, Stdout};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Whom the user talks to.
pub(super) struct Partner {
    pub(super) name: String,
    /// The name that was asked for, if one was.
    pub(super) named: Option<String>,
    /// Channel and model, or why there is none.
    pub(super) model: std::result::Result<String, String>,
}

/// What to do about calls that need approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// The user at the terminal, if there is one.
    Asked,
    Always,
}

/// Hands the session's events to the chat, which prints them one after the other.
struct Events {
    // Not bounded: the one reader is this process's own loop, which does nothing but print.
    sink: mpsc::UnboundedSender<Value>,
}

impl Subscriber for Events {
    fn deliver(&self, event: &ServerEvent) {
        if let Ok(event) = serde_json::from_str(event.json.get()) {
            // A chat that has ended listens to nothing more.
            drop(self.sink.send(event));
        }
    }

    fn wants(&self, group: EventGroup) -> bool {
        group == EventGroup::Current
    }
}

pub(super) struct Terminal<'a> {
    pub(super) app: &'a mut App,
    pub(super) engine: Engine,
    pub(super) caller: Caller,
    partner: Partner,
    pub(super) screen: Screen<Stdout>,
    events: Arc<Events>,
    heard: mpsc::UnboundedReceiver<Value>,
    pub(super) session: Option<(SessionId, SubscriptionId)>,
    /// The entry from which the next message continues.
    pub(super) branch: Option<EntryId>,
    pub(super) question: Option<(String, Vec<String>)>,
    pub(super) consent: Consent,
    /// Calls that wait for approval; the first is being shown.
    pub(super) calls: VecDeque<Value>,
    pub(super) activity: Activity,
    pub(super) interactive: bool,
    /// Ctrl-C was pressed, and nothing else has happened since; a second one leaves.
    leaving: bool,
    failed: bool,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(
        app: &'a mut App,
        engine: Engine,
        caller: Caller,
        partner: Partner,
        consent: Consent,
    ) -> Self {
        let (sink, heard) = mpsc::unbounded_channel();
        let interactive = std::io::stdin().is_terminal();
        let screen = match interactive {
            true => Screen::conversation(std::io::stdout(), app.paint, app.lang),
            false => Screen::filter(std::io::stdout(), app.paint, app.lang),
        };
        Self {
            app,
            engine,
            caller,
            partner,
            screen,
            events: Arc::new(Events { sink }),
            heard,
            session: None,
            branch: None,
            question: None,
            consent,
            calls: VecDeque::new(),
            activity: Activity::default(),
            interactive,
            leaving: false,
            failed: false,
        }
    }

    pub(super) async fn talk(&mut self, session: Option<SessionId>) -> Result<Outcome> {
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
                event = self.heard.recv() => if let Some(event) = event {
                    self.hear(&event).await?;
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
                        more = self.say(&line).await?;
                    }
                },
            }
        }
        self.end()?;
        Ok(match self.failed {
            true => Outcome::Failed,
            false => Outcome::Done,
        })
    }

    /// Whether something is still to come before the chat can continue or end. A session that waits
    /// for a user whose input has ended is left alone.
    fn waits(&self, more: bool) -> bool {
        let asks = self.question.is_some() || !self.calls.is_empty();
        let answers = self.interactive && more;
        !self.heard.is_empty() || (self.activity.is_running() && (answers || !asks))
    }

    async fn begin(&mut self, session: Option<SessionId>) -> Result<()> {
        let lang = self.app.lang;
        if self.interactive {
            let agent = &self.partner.name;
            match &self.partner.model {
                Ok(model) => self.screen.line(&lang.chat_welcome(agent, model))?,
                Err(why) => {
                    self.screen.line(&lang.chat_welcome_bare(agent))?;
                    self.screen.complaint(why)?;
                }
            }
        }
        if let Some(session) = session {
            let snapshot = self.open(session).await?;
            if self.interactive {
                self.screen.last_exchange(&snapshot)?;
            }
            self.screen.snapshot(&snapshot)?;
            self.take_up(&snapshot).await?;
        }
        self.prompt()
    }

    /// Says how to come back.
    fn end(&mut self) -> Result<()> {
        if self.interactive {
            self.screen.leave_prompt()?;
        }
        match &self.session {
            Some((session, _)) => Ok(self.screen.remark(&self.app.lang.chat_session(session))?),
            None => Ok(()),
        }
    }

    pub(super) fn prompt(&mut self) -> Result<()> {
        match self.interactive && !self.activity.is_running() {
            true => Ok(self.screen.prompt()?),
            false => Ok(()),
        }
    }

    async fn hear(&mut self, event: &Value) -> Result<()> {
        let session = self.session.as_ref().map(|(session, _)| session.as_str());
        // Of a session that was left, something may still be on its way.
        if event["sessionId"].as_str() != session {
            return Ok(());
        }
        let ran = self.activity.is_running();
        self.activity.hear(event);
        match self.screen.event(event)? {
            Heard::Nothing => {}
            Heard::Asked {
                request_id,
                options,
            } => self.question = Some((request_id, options)),
            Heard::NeedsConsent(call) => self.needs_consent(call).await?,
            Heard::Decided(id) => self.was_decided(&id)?,
            Heard::Done => self.is_done(),
            Heard::Failed => {
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

    fn is_done(&mut self) {
        self.question = None;
        self.calls.clear();
    }

    pub(super) async fn send(&mut self, line: &str) -> Result<()> {
        if let Some(call) = self.calls.front().cloned() {
            return self.consented(&call, line).await;
        }
        if let Some((request_id, options)) = self.question.take() {
            return self.answer(request_id, &options, line).await;
        }
        let mut chat = Chat {
            content: line.to_owned(),
            agent_name: self.partner.named.clone(),
            leaf_entry_id: self.branch.take(),
            ..Chat::default()
        };
        if self.session.is_none() {
            // The chat subscribes before the message is stored: a short run emits much before the
            // acknowledgement.
            match self.engine.begin_session(&self.caller, &chat).await {
                Ok(session) => drop(self.open(session).await?),
                Err(error) => return self.was_refused(&error),
            }
        }
        chat.session_id = self.session.as_ref().map(|(session, _)| session.clone());
        match self.engine.execute(&self.caller, chat).await {
            Ok(ack) => {
                self.activity.begins();
                match ack.answer.disposition {
                    Disposition::Queued => Ok(self.screen.remark(&self.app.lang.chat_queued())?),
                    _ => Ok(()),
                }
            }
            Err(error) => self.was_refused(&error),
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
        let answer = json!(chosen.map_or(line, String::as_str));
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
            Err(error) => self.was_refused(&error),
        }
    }

    /// The active run of a session that was opened, and its questions from before.
    async fn take_up(&mut self, snapshot: &Value) -> Result<()> {
        self.activity = Activity::of_snapshot(snapshot);
        if let Some(question) = snapshot["questions"].as_array().and_then(|all| all.first())
            && let Heard::Asked {
                request_id,
                options,
            } = self.screen.question(question)?
        {
            self.question = Some((request_id, options));
        }
        for call in snapshot["approvals"].as_array().into_iter().flatten() {
            self.needs_consent(call.clone()).await?;
        }
        Ok(())
    }

    async fn open(&mut self, session: SessionId) -> Result<Value> {
        let subscriber = Arc::clone(&self.events) as Arc<dyn Subscriber>;
        let open = SessionOpen::of(&session);
        let opened = self.engine.open(&self.caller, open, subscriber).await;
        let (opened, subscription) = opened.map_err(|error| refused(self.app.lang, &error))?;
        let snapshot = serde_json::to_value(&opened.snapshot).unwrap_or_default();
        self.session = Some((session, subscription));
        Ok(snapshot)
    }

    /// Ctrl-C stops an answer. Without one it asks for a second one, since an answer may have ended
    /// at the very moment it was to be stopped. A second one leaves, whatever is running. Returns
    /// whether to stay.
    async fn interrupt(&mut self) -> Result<bool> {
        let lang = self.app.lang;
        if std::mem::replace(&mut self.leaving, true) {
            return Ok(false);
        }
        let running = self.activity.is_running();
        let Some((session, _)) = self.session.as_ref().filter(|_| running) else {
            if self.interactive {
                self.screen.leave_prompt()?;
                self.screen.remark(&lang.chat_leave_hint())?;
                self.prompt()?;
            }
            return Ok(self.interactive);
        };
        self.screen.remark(&lang.chat_stopping())?;
        if let Err(error) = self.engine.execute(&self.caller, Stop::of(session)).await {
            self.was_refused(&error)?;
        }
        Ok(true)
    }

    /// Said in a terminal, where something else can be tried; otherwise the end.
    pub(super) fn was_refused(&mut self, error: &EngineError) -> Result<()> {
        let failure = refused(self.app.lang, error);
        match self.interactive {
            true => Ok(self.screen.complaint(&failure.to_string())?),
            false => Err(failure),
        }
    }
}
