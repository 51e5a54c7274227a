//! The conversation in a console: keys, events of the session and the clock, whichever comes first.

use super::console::{KeyAction, Size};
use super::terminal_chat::TerminalChat;
use crate::app::Outcome;
use crate::error::Result;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, EventStream};
use crossterm::execute;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use futures::StreamExt;
use netaclaw_protocol::SessionId;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::Value;
use std::io;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// Events that are taken in before the screen is painted.
const EVENTS_AT_ONCE: usize = 256;

/// The terminal gives keys instead of lines, until this is dropped.
struct Keys;

impl Keys {
    fn take() -> io::Result<Self> {
        enable_raw_mode()?;
        // From here on, dropping it puts everything back.
        let keys = Self;
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to put back.
        execute!(io::stdout(), DisableBracketedPaste).unwrap_or_default();
        disable_raw_mode().unwrap_or_default();
    }
}

impl TerminalChat<'_> {
    pub(super) async fn run_in_console(&mut self, session: Option<SessionId>) -> Result<Outcome> {
        let keys = Keys::take()?;
        let talked = self.run_with_keys(session).await;
        let closed = self.view.console().map(super::console::Console::close);
        drop(keys);
        talked?;
        closed.transpose()?;
        if let Some((session, _)) = &self.session {
            let words = self.app.lang.chat_session(session);
            let words = self.app.paint.dim(&words).into_owned();
            io::Write::write_all(&mut io::stdout(), format!("{words}\n").as_bytes())?;
        }
        Ok(self.outcome())
    }

    async fn run_with_keys(&mut self, session: Option<SessionId>) -> Result<()> {
        // Kept for the whole conversation, so that none is missed while a line is handled. Any of
        // them would leave the terminal without an echo if it ended the program.
        let mut interrupts = signal(SignalKind::interrupt())?;
        let mut terminates = signal(SignalKind::terminate())?;
        let mut hangups = signal(SignalKind::hangup())?;
        let mut keys = EventStream::new();
        self.begin(session).await?;
        loop {
            let wakes_at = self.view.console().and_then(|console| console.wakes_at());
            let wake = async {
                match wakes_at {
                    Some(at) => sleep_until(Instant::from_std(at)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                key = keys.next() => {
                    // Without keys there is nothing more to say.
                    let Some(Ok(key)) = key else { return Ok(()) };
                    if !self.handle_input(key).await? {
                        return Ok(());
                    }
                    self.paint()?;
                }
                _ = interrupts.recv() => {
                    if !self.interrupt().await? {
                        return Ok(());
                    }
                }
                _ = terminates.recv() => return Ok(()),
                _ = hangups.recv() => return Ok(()),
                event = self.incoming.recv() => {
                    let Some(event) = event else { return Ok(()) };
                    self.handle_events(event).await?;
                }
                () = wake => self.paint()?,
            }
        }
    }

    async fn handle_events(&mut self, first: Value) -> Result<()> {
        self.on_event(&first).await?;
        for _ in 0..EVENTS_AT_ONCE {
            match self.incoming.try_recv() {
                Ok(event) => self.on_event(&event).await?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn paint(&mut self) -> Result<()> {
        match self.view.console() {
            Some(console) => Ok(console.paint()?),
            None => Ok(()),
        }
    }

    /// Handles a key, a paste or another size. Returns whether to stay.
    async fn handle_input(&mut self, event: Event) -> Result<bool> {
        let Some(console) = self.view.console() else {
            return Ok(false);
        };
        let act = match event {
            Event::Key(key) => console.key(key),
            Event::Paste(text) => {
                console.paste(&text);
                KeyAction::Nothing
            }
            Event::Resize(columns, rows) => {
                console.resized(Size {
                    columns: columns.into(),
                    rows: rows.into(),
                })?;
                KeyAction::Nothing
            }
            _ => KeyAction::Nothing,
        };
        if !matches!(act, KeyAction::Interrupt) {
            self.leaving = false;
        }
        self.carry_out(act).await
    }

    async fn carry_out(&mut self, act: KeyAction) -> Result<bool> {
        match act {
            KeyAction::Nothing => {}
            KeyAction::Submit(line) => return self.typed(&line).await,
            KeyAction::Decide(choice) => self.answer_by_key(choice).await?,
            KeyAction::Grant(scope) => self.chose_scope(scope).await?,
            KeyAction::Choose(option) => self.chose_option(option).await?,
            KeyAction::Interrupt => return self.interrupt().await,
            KeyAction::Leave => return Ok(false),
            KeyAction::Suspend => self.suspend()?,
            KeyAction::ClearScreen => {
                if let Some(console) = self.view.console() {
                    console.clear_screen()?;
                }
            }
        }
        Ok(true)
    }

    /// A line that was typed. Answers to questions are not kept for the history: they may be
    /// secrets that the agent asked for.
    async fn typed(&mut self, line: &str) -> Result<bool> {
        let Some(console) = self.view.console() else {
            return Ok(false);
        };
        if console.asks_reason() {
            self.denied_because(line.trim()).await?;
            return Ok(true);
        }
        let is_answer = self.question.is_some() && !line.starts_with('/');
        if !is_answer && self.calls.is_empty() {
            console.remember(line);
        }
        self.handle_line(line.trim()).await
    }

    /// Ctrl-Z: the shell comes back, until `fg`.
    fn suspend(&mut self) -> Result<()> {
        if let Some(console) = self.view.console() {
            console.close()?;
        }
        execute!(io::stdout(), DisableBracketedPaste)?;
        disable_raw_mode()?;
        kill_process(getpid(), Signal::TSTP).map_err(io::Error::from)?;
        // Here the program continues.
        enable_raw_mode()?;
        execute!(io::stdout(), EnableBracketedPaste)?;
        let (columns, rows) = crossterm::terminal::size()?;
        match self.view.console() {
            Some(console) => Ok(console.resized(Size {
                columns: columns.into(),
                rows: rows.into(),
            })?),
            None => Ok(()),
        }
    }
}
