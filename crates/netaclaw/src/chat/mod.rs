//! `netaclaw chat`: a conversation in the terminal, on the same engine as the server.

mod screen;
mod text;

use crate::app::{App, Outcome};
use crate::assemble::assemble;
use crate::error::{Failure, Result};
use crate::session::draw_tree;
use clap::Args;
use netaclaw_admin::UserStore;
use netaclaw_engine::{
    Caller, Engine, EngineError, EventGroup, ServerEvent, Subscriber, SubscriptionId,
};
use netaclaw_protocol::{Chat, ClarifyResponse, Disposition, EntryId, SessionId};
use screen::{Heard, Screen};
use serde_json::{Value, json};
use std::io::{IsTerminal, Stdout};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

/// How long a run may take to end when the chat is left.
const LEAVE_GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Go on with this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The agent to chat with, by name
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(crate) async fn run(args: ChatArgs, app: &mut App) -> Result<Outcome> {
    let assembled = assemble(app).await?;
    let (events, heard) = mpsc::unbounded_channel();
    // The sessions of the terminal are those the web app shows to whoever has the access token.
    let owner = assembled.admin.user_named(netaclaw_admin::FIRST_USER).await;
    let owner = owner.map_err(|error| crate::admin::failure(app.lang, error))?;
    let mut chat = Terminal {
        engine: assembled.engine.clone(),
        caller: Caller {
            user_id: owner.id.as_str().to_owned(),
            is_admin: true,
        },
        screen: Screen::new(std::io::stdout(), app.paint, app.lang),
        events: Arc::new(Events { sink: events }),
        app,
        agent: args.agent,
        session: None,
        branch: None,
        question: None,
        running: false,
        interactive: std::io::stdin().is_terminal(),
    };
    let outcome = chat.talk(args.session.map(SessionId::new), heard).await;
    assembled.engine.shut_down(LEAVE_GRACE).await;
    assembled.admin.close().await;
    outcome.map(|()| Outcome::Done)
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

struct Terminal<'a> {
    engine: Engine,
    caller: Caller,
    screen: Screen<Stdout>,
    events: Arc<Events>,
    app: &'a mut App,
    agent: Option<String>,
    session: Option<(SessionId, SubscriptionId)>,
    /// Where the next message goes on from.
    branch: Option<EntryId>,
    question: Option<(String, Vec<String>)>,
    running: bool,
    interactive: bool,
}

impl Terminal<'_> {
    async fn talk(
        &mut self,
        session: Option<SessionId>,
        mut heard: mpsc::UnboundedReceiver<Value>,
    ) -> Result<()> {
        if let Some(session) = session {
            self.open(session).await?;
        }
        if self.interactive {
            let agent = self.agent.clone().unwrap_or_else(|| "default".to_owned());
            self.screen.line(&self.app.lang.chat_welcome(agent))?;
            self.screen.prompt()?;
        }
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut more = true;
        // With no terminal, one line is said after the other, each when the answer before it is
        // complete.
        while more || self.running {
            let listen = more && (self.interactive || !self.running);
            tokio::select! {
                event = heard.recv() => if let Some(event) = event {
                    self.hear(&event)?;
                },
                line = lines.next_line(), if listen => match line? {
                    Some(line) => more = self.say(line.trim()).await?,
                    None => more = false,
                },
                interrupt = tokio::signal::ctrl_c() => {
                    interrupt?;
                    more = self.interrupt().await?;
                }
            }
        }
        if let Some((session, _)) = &self.session {
            let line = self
                .app
                .paint
                .dim(&self.app.lang.chat_session(session))
                .into_owned();
            self.screen.line(&line)?;
        }
        Ok(())
    }

    fn hear(&mut self, event: &Value) -> Result<()> {
        match self.screen.event(event)? {
            Heard::Nothing => {}
            Heard::Asked {
                request_id,
                options,
            } => {
                self.question = Some((request_id, options));
                self.running = self.interactive;
            }
            Heard::Done => {
                self.running = false;
                self.question = None;
                if self.interactive {
                    self.screen.prompt()?;
                }
            }
        }
        Ok(())
    }

    /// One line of the user. Returns whether there may be more.
    async fn say(&mut self, line: &str) -> Result<bool> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("", _) => {}
            ("/quit" | "/exit", _) => return Ok(false),
            ("/help", _) => self.screen.line(&self.app.lang.chat_help())?,
            ("/new", _) => self.leave().await,
            ("/tree", _) => self.tree().await?,
            ("/branch", entry) => {
                self.branch = Some(EntryId::new(entry.trim()));
                self.screen
                    .line(&self.app.lang.chat_branched(entry.trim()))?;
            }
            (command, _) if command.starts_with('/') => {
                self.screen
                    .line(&self.app.lang.chat_unknown_command(command))?;
            }
            _ => return self.send(line).await,
        }
        if self.interactive && !self.running {
            self.screen.prompt()?;
        }
        Ok(true)
    }

    async fn send(&mut self, line: &str) -> Result<bool> {
        if let Some((request_id, options)) = self.question.take() {
            self.answer(request_id, &options, line).await?;
            return Ok(true);
        }
        let chat = Chat {
            session_id: self.session.as_ref().map(|(session, _)| session.clone()),
            content: line.to_owned(),
            agent_name: self.agent.clone(),
            leaf_entry_id: self.branch.take(),
            ..Chat::default()
        };
        match self.engine.chat(&self.caller, chat).await {
            Ok(ack) => {
                self.running = true;
                if ack.disposition == Disposition::Queued {
                    self.screen.line(&self.app.lang.chat_queued())?;
                }
                if self.session.is_none() {
                    self.open(ack.session_id).await?;
                }
            }
            Err(error) => self.refused(&error)?,
        }
        Ok(true)
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
            Ok(()) => Ok(()),
            Err(error) => self.refused(&error),
        }
    }

    async fn open(&mut self, session: SessionId) -> Result<()> {
        let subscriber = Arc::clone(&self.events) as Arc<dyn Subscriber>;
        let opened = self
            .engine
            .open(&self.caller, &session, None, None, subscriber)
            .await;
        let (opened, subscription) = opened.map_err(|error| self.failure(&error))?;
        let snapshot = serde_json::to_value(&opened.snapshot).unwrap_or_default();
        self.screen.snapshot(&snapshot)?;
        // A run so short that it ended before we looked has left its answer in the entries.
        if snapshot["run"]["status"] == "idle" && self.running {
            for entry in snapshot["entries"].as_array().into_iter().flatten() {
                self.screen
                    .event(&json!({"type": "session_entry_added", "data": {"entry": entry}}))?;
            }
            self.running = false;
        }
        self.session = Some((session, subscription));
        Ok(())
    }

    async fn leave(&mut self) {
        if let Some((session, subscription)) = self.session.take() {
            self.engine.close(&session, subscription).await;
        }
        self.branch = None;
    }

    async fn tree(&mut self) -> Result<()> {
        let Some((session, _)) = &self.session else {
            return Ok(self.screen.line(&self.app.lang.chat_no_session())?);
        };
        let meta = self.engine.session(&self.caller, session).await;
        let meta = meta.map_err(|error| self.failure(&error))?;
        let providers = self.engine.providers();
        let provider = match (meta.provider, &providers.mysql) {
            (netaclaw_protocol::ProviderKind::Mysql, Some(mysql)) => mysql,
            _ => &providers.file,
        };
        let tree = provider.load_tree(session).await;
        let tree = tree.map_err(|error| Failure::session(self.app.lang, error))?;
        draw_tree(self.app, &tree)
    }

    /// Ctrl-C stops an answer; without one it ends the chat.
    async fn interrupt(&mut self) -> Result<bool> {
        let Some((session, _)) = self.session.as_ref().filter(|_| self.running) else {
            return Ok(false);
        };
        self.screen.line(&self.app.lang.chat_stopping())?;
        if let Err(error) = self.engine.stop(&self.caller, session).await {
            self.refused(&error)?;
        }
        Ok(true)
    }

    fn refused(&mut self, error: &EngineError) -> Result<()> {
        let line = self.app.paint.bad(&error.to_string()).into_owned();
        Ok(self.screen.line(&line)?)
    }

    fn failure(&self, error: &EngineError) -> Failure {
        Failure::plain("chat", error.to_string())
    }
}
