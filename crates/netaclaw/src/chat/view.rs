//! How the chat looks: lines that follow each other, for pipes and for terminals that can do
//! nothing else, or a console with an editor below a transcript.

use super::console::Console;
use super::line_output::{EventEffect, LineOutput};
use serde_json::Value;
use std::io::{self, Stdout};

pub(super) enum View {
    Lines(Box<LineOutput<Stdout>>),
    Console(Box<Console<Stdout>>),
}

impl View {
    pub(super) fn console(&mut self) -> Option<&mut Console<Stdout>> {
        match self {
            Self::Lines(_) => None,
            Self::Console(console) => Some(console),
        }
    }

    /// A line that was asked for.
    pub(super) fn line(&mut self, words: &str) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.line(words),
            Self::Console(console) => {
                console.line(words);
                Ok(())
            }
        }
    }

    /// Lines that are laid out already. The console paints them itself.
    pub(super) fn drawing(&mut self, drawn: &str) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.line(drawn.trim_end_matches('\n')),
            Self::Console(console) => {
                console.drawing(drawn);
                Ok(())
            }
        }
    }

    /// A line about the progress.
    pub(super) fn progress_line(&mut self, words: &str) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.progress_line(words),
            Self::Console(console) => {
                console.progress_line(words);
                Ok(())
            }
        }
    }

    /// A line about what went wrong.
    pub(super) fn complaint(&mut self, words: &str) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.complaint(words),
            Self::Console(console) => {
                console.complaint(words);
                Ok(())
            }
        }
    }

    pub(super) fn event(&mut self, event: &Value) -> io::Result<EventEffect> {
        match self {
            Self::Lines(screen) => screen.event(event),
            Self::Console(console) => Ok(console.event(event)),
        }
    }

    /// The part of a session from before the chat joined.
    pub(super) fn snapshot(&mut self, snapshot: &Value) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.snapshot(snapshot),
            Self::Console(console) => {
                console.snapshot(snapshot);
                Ok(())
            }
        }
    }

    pub(super) fn last_exchange(&mut self, snapshot: &Value) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.last_exchange(snapshot),
            Self::Console(console) => {
                console.last_exchange(snapshot);
                Ok(())
            }
        }
    }

    /// A question of the model; returns its options.
    pub(super) fn question(&mut self, question: &Value) -> io::Result<Vec<String>> {
        match self {
            Self::Lines(screen) => screen.question(question),
            Self::Console(console) => Ok(console.question(question)),
        }
    }

    /// A call that waits for a person.
    pub(super) fn approval(&mut self, call: &Value) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.approval(call),
            Self::Console(console) => {
                console.approval(call);
                Ok(())
            }
        }
    }

    /// What the user has sent and no entry will repeat.
    pub(super) fn said(&mut self, words: &str) {
        if let Some(console) = self.console() {
            console.said(words);
        }
    }

    /// A line that could not be used. Where lines follow each other it is on the screen.
    pub(super) fn restore_line(&mut self, line: &str) {
        if let Some(console) = self.console() {
            console.restore_line(line);
        }
    }

    pub(super) fn ask_scope(&mut self) {
        if let Some(console) = self.console() {
            console.ask_scope();
        }
    }

    pub(super) fn ask_reason(&mut self) {
        if let Some(console) = self.console() {
            console.ask_reason();
        }
    }

    pub(super) fn close_question(&mut self) {
        if let Some(console) = self.console() {
            console.close_question();
        }
    }

    /// The agent and the model of the next message.
    pub(super) fn chat_agent(&mut self, agent: &str, model: &str) {
        if let Some(console) = self.console() {
            console.chat_agent(agent, model);
        }
    }

    pub(super) fn leave_session(&mut self) {
        if let Some(console) = self.console() {
            console.leave_session();
        }
    }

    /// Asks for a line, where lines follow each other.
    pub(super) fn prompt(&mut self) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.prompt(),
            Self::Console(_) => Ok(()),
        }
    }

    /// The terminal has shown what the user typed, line break included.
    pub(super) fn line_was_typed(&mut self) {
        if let Self::Lines(screen) = self {
            screen.line_was_typed();
        }
    }

    /// Ends a prompt line that will get no input.
    pub(super) fn leave_prompt(&mut self) -> io::Result<()> {
        match self {
            Self::Lines(screen) => screen.leave_prompt(),
            Self::Console(_) => Ok(()),
        }
    }
}
