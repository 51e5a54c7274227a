//! The conversation: what the user types, and what the session does, one after the other.

use super::refused;
use super::screen::{Heard, Screen};
use crate::app::{App, Outcome};
use crate::error::{Failure, Result};
use crate::session::draw_tree;
use crate::terminal::one_line;
use netaclaw_engine::{
    Caller, Engine, EngineError, EventGroup, ServerEvent, Subscriber, SubscriptionId,
};
use netaclaw_protocol::{
    ApprovalDecision, ApprovalResponse, Chat, ClarifyResponse, Disposition, EntryId, SessionId,
};
use netaclaw_session::SessionTree;
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

/// What to do about calls that need consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// The person in front of the terminal, if there is one, else nobody.
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
    app: &'a mut App,
    engine: Engine,
    caller: Caller,
    partner: Partner,
    screen: Screen<Stdout>,
    events: Arc<Events>,
    heard: mpsc::UnboundedReceiver<Value>,
    session: Option<(SessionId, SubscriptionId)>,
    /// Where the next message goes on from.
    branch: Option<EntryId>,
    question: Option<(String, Vec<String>)>,
    consent: Consent,
    /// Calls that wait for consent; the first is being asked about.
    calls: VecDeque<Value>,
    running: bool,
    interactive: bool,
    /// Ctrl-C was pressed while nothing was under way; a second one leaves.
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
            running: false,
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
        while more || self.running {
            let listen = more && !self.failed && (self.interactive || !self.running);
            if !listen && !self.running {
                break;
            }
            tokio::select! {
                event = self.heard.recv() => if let Some(event) = event {
                    self.hear(&event).await?;
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
                _ = interrupts.recv() => more = self.interrupt().await?,
            }
        }
        self.end()?;
        Ok(match self.failed {
            true => Outcome::Failed,
            false => Outcome::Done,
        })
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
            self.running = snapshot["run"]["status"] != "idle";
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

    fn prompt(&mut self) -> Result<()> {
        match self.interactive && !self.running {
            true => Ok(self.screen.prompt()?),
            false => Ok(()),
        }
    }

    async fn hear(&mut self, event: &Value) -> Result<()> {
        match self.screen.event(event)? {
            Heard::Nothing => {}
            Heard::Asked {
                request_id,
                options,
            } => {
                self.question = Some((request_id, options));
                self.running = self.interactive;
            }
            Heard::NeedsConsent(call) => self.needs_consent(call).await?,
            Heard::Decided(id) => {
                let first = self
                    .calls
                    .front()
                    .is_some_and(|call| call["approvalId"] == *id);
                self.calls.retain(|call| call["approvalId"] != *id);
                if let (true, Some(next)) = (first, self.calls.front()) {
                    self.screen.consent(next)?;
                }
            }
            Heard::Done => self.is_done()?,
            Heard::Failed => {
                // In a terminal the user sees it and says something else.
                self.failed = !self.interactive;
                self.is_done()?;
            }
        }
        Ok(())
    }

    fn is_done(&mut self) -> Result<()> {
        self.running = false;
        self.question = None;
        self.calls.clear();
        self.prompt()
    }

    /// Without a terminal nobody can be asked, and nobody has agreed.
    async fn needs_consent(&mut self, call: Value) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        match (self.consent, self.interactive) {
            (Consent::Always, _) => self.decide(id, ApprovalDecision::Allow, false, None).await,
            (Consent::Asked, false) => {
                let tool = call["toolName"].as_str().unwrap_or_default();
                self.screen
                    .remark(&self.app.lang.chat_consent_nobody(one_line(tool, 64)))?;
                let reason = "nobody is there to be asked. Go on without this call.".to_owned();
                self.decide(id, ApprovalDecision::Deny, false, Some(reason))
                    .await
            }
            (Consent::Asked, true) => {
                self.calls.push_back(call);
                match self.calls.len() {
                    1 => Ok(self.screen.consent(&self.calls[0])?),
                    _ => Ok(()),
                }
            }
        }
    }

    /// What the user says to a call. Anything unclear is no consent.
    async fn consented(&mut self, call: &Value, line: &str) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word.to_lowercase().as_str() {
            "y" | "yes" | "是" if rest.is_empty() => {
                self.decide(id, ApprovalDecision::Allow, false, None).await
            }
            "a" | "always" | "总是" if rest.is_empty() => {
                self.decide(id, ApprovalDecision::Allow, true, None).await
            }
            "n" | "no" | "否" => {
                let reason = Some(rest.trim().to_owned());
                self.decide(id, ApprovalDecision::Deny, false, reason).await
            }
            _ => Ok(self.screen.remark(&self.app.lang.chat_consent_hint())?),
        }
    }

    async fn decide(
        &mut self,
        approval_id: String,
        decision: ApprovalDecision,
        remember: bool,
        reason: Option<String>,
    ) -> Result<()> {
        let Some((session, _)) = &self.session else {
            return Ok(());
        };
        let response = ApprovalResponse {
            session_id: session.clone(),
            approval_id,
            decision,
            remember,
            reason,
        };
        match self.engine.decide_call(&self.caller, response).await {
            Ok(()) => Ok(()),
            Err(error) => self.was_refused(&error),
        }
    }

    /// One line of the user. Returns whether there may be more.
    async fn say(&mut self, line: &str) -> Result<bool> {
        let lang = self.app.lang;
        self.screen.line_was_typed();
        match line.split_once(char::is_whitespace).unwrap_or((line, "")) {
            ("", _) => {}
            ("/quit" | "/exit", _) => return Ok(false),
            ("/help", _) => self.screen.line(&lang.chat_help())?,
            ("/new", _) => self.leave().await?,
            ("/tree", _) => match self.tree().await? {
                Some(tree) => draw_tree(self.app, &tree)?,
                None => self.screen.line(&lang.chat_no_session())?,
            },
            ("/branch", entry) => self.branch_from(entry.trim()).await?,
            (command, _) if command.starts_with('/') => {
                self.screen.complaint(&lang.chat_unknown_command(command))?;
            }
            _ => self.send(line).await?,
        }
        self.prompt()?;
        Ok(true)
    }

    async fn send(&mut self, line: &str) -> Result<()> {
        if let Some(call) = self.calls.front().cloned() {
            return self.consented(&call, line).await;
        }
        if let Some((request_id, options)) = self.question.take() {
            return self.answer(request_id, &options, line).await;
        }
        let chat = Chat {
            session_id: self.session.as_ref().map(|(session, _)| session.clone()),
            content: line.to_owned(),
            agent_name: self.partner.named.clone(),
            leaf_entry_id: self.branch.take(),
            ..Chat::default()
        };
        match self.engine.chat(&self.caller, chat).await {
            Ok(ack) => {
                self.running = true;
                if ack.disposition == Disposition::Queued {
                    self.screen.remark(&self.app.lang.chat_queued())?;
                }
                match self.session {
                    Some(_) => Ok(()),
                    None => self.follow(ack.session_id).await,
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
        self.running = true;
        match self.engine.answer_question(&self.caller, answer).await {
            Ok(_) => Ok(()),
            Err(error) => self.was_refused(&error),
        }
    }

    /// Opens the session that our first message has made.
    async fn follow(&mut self, session: SessionId) -> Result<()> {
        let snapshot = self.open(session).await?;
        // A run so short that it ended before we looked has left its answer in the entries.
        if snapshot["run"]["status"] == "idle" {
            for entry in snapshot["entries"].as_array().into_iter().flatten() {
                self.screen
                    .event(&json!({"type": "session_entry_added", "data": {"entry": entry}}))?;
            }
            self.running = false;
        }
        self.screen.snapshot(&snapshot)?;
        // What was asked before we looked.
        for call in snapshot["approvals"].as_array().into_iter().flatten() {
            self.needs_consent(call.clone()).await?;
        }
        Ok(())
    }

    async fn open(&mut self, session: SessionId) -> Result<Value> {
        let subscriber = Arc::clone(&self.events) as Arc<dyn Subscriber>;
        let opened = self
            .engine
            .open(&self.caller, &session, None, None, subscriber)
            .await;
        let (opened, subscription) = opened.map_err(|error| refused(self.app.lang, &error))?;
        let snapshot = serde_json::to_value(&opened.snapshot).unwrap_or_default();
        self.session = Some((session, subscription));
        Ok(snapshot)
    }

    async fn leave(&mut self) -> Result<()> {
        if let Some((session, subscription)) = self.session.take() {
            self.engine.close(&session, subscription).await;
        }
        self.branch = None;
        self.question = None;
        self.calls.clear();
        self.running = false;
        Ok(self.screen.remark(&self.app.lang.chat_new())?)
    }

    /// The session so far; `None` if nothing has been said.
    async fn tree(&mut self) -> Result<Option<Arc<SessionTree>>> {
        let lang = self.app.lang;
        let Some((session, _)) = &self.session else {
            return Ok(None);
        };
        let meta = self.engine.session(&self.caller, session).await;
        let meta = meta.map_err(|error| refused(lang, &error))?;
        let providers = self.engine.providers();
        let provider = match (meta.provider, &providers.mysql) {
            (netaclaw_protocol::ProviderKind::Mysql, Some(mysql)) => mysql,
            _ => &providers.file,
        };
        let tree = provider.load_tree(session).await;
        Ok(Some(tree.map_err(|error| Failure::session(lang, error))?))
    }

    /// An entry, by its id or its beginning, that the next message goes on from.
    async fn branch_from(&mut self, wanted: &str) -> Result<()> {
        let lang = self.app.lang;
        let Some(tree) = self.tree().await? else {
            return Ok(self.screen.line(&lang.chat_no_session())?);
        };
        if wanted.is_empty() {
            return Ok(self.screen.complaint(&lang.chat_branch_usage())?);
        }
        let ids = tree.entries().iter().map(|entry| entry.id());
        let found: Vec<&EntryId> = ids.filter(|id| id.as_str().starts_with(wanted)).collect();
        match found.as_slice() {
            [entry] => {
                self.branch = Some((*entry).clone());
                Ok(self.screen.remark(&lang.chat_branched(entry))?)
            }
            [] => Ok(self.screen.complaint(&lang.chat_no_entry(wanted))?),
            _ => Ok(self.screen.complaint(&lang.chat_many_entries(wanted))?),
        }
    }

    /// Ctrl-C stops an answer. Without one it asks for a second one, since an answer may have
    /// ended at the very moment it was to be stopped.
    async fn interrupt(&mut self) -> Result<bool> {
        let lang = self.app.lang;
        let Some((session, _)) = self.session.as_ref().filter(|_| self.running) else {
            let stay = self.interactive && !self.leaving;
            if stay {
                self.leaving = true;
                self.screen.leave_prompt()?;
                self.screen.remark(&lang.chat_leave_hint())?;
                self.prompt()?;
            }
            return Ok(stay);
        };
        self.screen.remark(&lang.chat_stopping())?;
        if let Err(error) = self.engine.stop(&self.caller, session).await {
            self.was_refused(&error)?;
        }
        Ok(true)
    }

    /// Said in a terminal, where something else can be tried; otherwise the end.
    fn was_refused(&mut self, error: &EngineError) -> Result<()> {
        let failure = refused(self.app.lang, error);
        self.running = false;
        match self.interactive {
            true => Ok(self.screen.complaint(&failure.to_string())?),
            false => Err(failure),
        }
    }
}
