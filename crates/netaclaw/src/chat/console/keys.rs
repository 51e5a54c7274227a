//! What keys do outside the text: menus, answers with one key, leaving.

use super::super::approval::{choice_of_key, grant_of_key};
use super::editor::Typed;
use super::{Console, Instant, PROMPT, PendingAnswer, is_offered};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io::Write;

/// What the chat has to do about a key.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::chat) enum KeyAction {
    Nothing,
    /// A line is complete.
    Submit(String),
    /// The choice of this index about the call that waits.
    Decide(usize),
    /// The scope of this index is allowed.
    Grant(usize),
    /// The option of this index answers the question.
    Choose(usize),
    Interrupt,
    Leave,
    Suspend,
    ClearScreen,
}

impl<W: Write> Console<W> {
    pub(in crate::chat) fn paste(&mut self, text: &str) {
        self.editor.paste(text);
        self.refresh_menu();
    }

    pub(in crate::chat) fn key(&mut self, key: KeyEvent) -> KeyAction {
        if key.kind == KeyEventKind::Release {
            return KeyAction::Nothing;
        }
        let act = self.act(key);
        self.refresh_menu();
        act
    }

    fn act(&mut self, key: KeyEvent) -> KeyAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.editor.search().is_none() {
            match key.code {
                KeyCode::Char('c') if control => {
                    if self.editor.is_empty() {
                        return KeyAction::Interrupt;
                    }
                    self.editor.clear();
                    return KeyAction::Nothing;
                }
                KeyCode::Char('d') if control && self.editor.is_empty() => return KeyAction::Leave,
                KeyCode::Char('l') if control => return KeyAction::ClearScreen,
                KeyCode::Char('z') if control => return KeyAction::Suspend,
                KeyCode::Char(char) if key.modifiers.is_empty() && self.editor.is_empty() => {
                    if let Some(act) = self.answer_key(char) {
                        return act;
                    }
                }
                KeyCode::Esc if self.asks_reason() || self.asks_scope() => {
                    self.editor.clear();
                    self.back_to_approval();
                    return KeyAction::Nothing;
                }
                _ => {}
            }
            if self.menu.is_open()
                && let Some(act) = self.menu_key(key)
            {
                return act;
            }
        }
        let width = self.width().saturating_sub(PROMPT.len());
        match self.editor.key(key, width) {
            Typed::Submitted(line) => KeyAction::Submit(line),
            Typed::Edited | Typed::Other => KeyAction::Nothing,
        }
    }

    /// A key that answers what waits, if it was there for long enough to be read.
    fn answer_key(&self, char: char) -> Option<KeyAction> {
        let now = Instant::now();
        match self.ask.as_ref()? {
            PendingAnswer::Approval { armed_at, scopes } if *armed_at <= now => choice_of_key(char)
                .filter(|choice| is_offered(*choice, scopes))
                .map(KeyAction::Decide),
            PendingAnswer::Scope { scopes } => grant_of_key(char)
                .filter(|scope| *scope < scopes.len())
                .map(KeyAction::Grant),
            PendingAnswer::Question { options, armed_at } if *armed_at <= now => {
                let number = usize::try_from(char.to_digit(10)?).ok()?;
                // With more options, a digit may be the first of a number.
                let is_whole = (1..=*options).contains(&number) && *options <= 9;
                is_whole.then(|| KeyAction::Choose(number - 1))
            }
            _ => None,
        }
    }

    fn menu_key(&mut self, key: KeyEvent) -> Option<KeyAction> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Tab => {
                let chosen = self.menu.chosen.unwrap_or(0);
                let line = self.menu.items.get(chosen)?.line.clone();
                self.editor.set(&line);
            }
            KeyCode::BackTab | KeyCode::Up => self.menu.step(false),
            KeyCode::Down => self.menu.step(true),
            KeyCode::Char('p') if control => self.menu.step(false),
            KeyCode::Char('n') if control => self.menu.step(true),
            KeyCode::Esc => self.without_menu = Some(self.editor.text().to_owned()),
            KeyCode::Enter if key.modifiers.is_empty() => {
                let item = self.menu.items.get(self.menu.chosen?)?.clone();
                self.editor.set(&item.line);
                if item.is_complete {
                    self.editor.clear();
                    return Some(KeyAction::Submit(item.line));
                }
            }
            _ => return None,
        }
        Some(KeyAction::Nothing)
    }
}
