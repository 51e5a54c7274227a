//! The chat in a terminal that can do more than print lines: a transcript that scrolls, and below
//! it the answer as it comes, the line that is being typed and the status line.

mod code;
mod editor;
mod history;
mod keys;
mod line;
mod markdown;
mod menu;
mod painter;
mod status;
mod table;
mod tools;
mod transcript;

pub(super) use history::History;
pub(super) use keys::KeyAction;
pub(super) use menu::Choices;
pub(super) use painter::Size;

use super::approval::{CHOICES, Meaning, grants, with_keys};
use crate::terminal::columns;
use crate::text::Lang;
use editor::Editor;
use line::{BOLD, Color, DIM, Line, PLAIN};
use markdown::{TextLayout, render};
use menu::{Menu, ROWS_MAX};
use painter::{Block, Painter};
use serde_json::Value;
use status::Status;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::time::{Duration, Instant};
use transcript::{Kind, OpenTool, Stream};

/// A key that answers a question counts only after the question could be read: someone who is
/// typing when it appears has not answered it.
const READING_TIME: Duration = Duration::from_millis(600);
/// The screen is not painted more often than this while text streams in.
const FRAME: Duration = Duration::from_millis(33);
/// Rows of the text that is being typed.
const INPUT_ROWS_MAX: usize = 10;
/// Rows of a running tool list.
const TOOL_ROWS_MAX: usize = 5;
/// Before the line that is being typed.
const PROMPT: &str = "> ";

pub(super) struct Console<W> {
    painter: Painter<W>,
    lang: Lang,
    /// Lines for the transcript that are not on the screen yet.
    pending: Vec<Line>,
    /// What the transcript ends with.
    last: Option<Kind>,
    /// Characters taken in of each part of each answer.
    taken: HashMap<(String, u64), usize>,
    stream: Option<Stream>,
    ended: HashSet<String>,
    warned: HashSet<String>,
    complained: Option<String>,
    tools: Vec<OpenTool>,
    ask: Option<PendingAnswer>,
    editor: Editor,
    menu: Menu,
    /// The line whose menu was closed.
    without_menu: Option<String>,
    choices: Choices,
    status: Status,
    dirty: bool,
    painted_at: Option<Instant>,
}

/// What waits for the user.
#[derive(Debug)]
enum PendingAnswer {
    /// A call that needs approval.
    Approval {
        armed_at: Instant,
        /// What can be allowed beyond this call.
        scopes: Vec<String>,
    },
    /// Which of these scopes is allowed.
    Scope { scopes: Vec<String> },
    /// A question with this many options.
    Question { options: usize, armed_at: Instant },
    /// Why a call is denied; the next line is the reason.
    Reason { scopes: Vec<String> },
}

/// Whether an answer is possible, given what can be allowed beyond the call.
fn is_offered(choice: usize, scopes: &[String]) -> bool {
    CHOICES[choice].means != Meaning::AllowsMore || !scopes.is_empty()
}

impl<W: Write> Console<W> {
    pub(super) fn new(out: W, with_style: bool, size: Size, lang: Lang, history: History) -> Self {
        Self {
            painter: Painter::new(out, with_style, size),
            lang,
            pending: Vec::new(),
            last: None,
            taken: HashMap::new(),
            stream: None,
            ended: HashSet::new(),
            warned: HashSet::new(),
            complained: None,
            tools: Vec::new(),
            ask: None,
            editor: Editor::new(history),
            menu: Menu::default(),
            without_menu: None,
            choices: Choices::default(),
            status: Status::default(),
            dirty: true,
            painted_at: None,
        }
    }

    fn sheet(&self) -> TextLayout {
        TextLayout {
            width: self.width(),
            with_style: self.painter.with_style(),
        }
    }

    /// The last column stays free: some terminals break a line that reaches it.
    fn width(&self) -> usize {
        self.painter.size().columns.saturating_sub(1).max(8)
    }

    pub(super) fn set_choices(&mut self, choices: Choices) {
        self.choices = choices;
        self.refresh_menu();
    }

    /// With whom one talks, and who answers.
    pub(super) fn chat_agent(&mut self, agent: &str, model: &str) {
        self.status.agent = agent.to_owned();
        self.status.model = model.to_owned();
        self.dirty = true;
    }

    pub(super) fn resized(&mut self, size: Size) -> io::Result<()> {
        self.painter.resized(size)?;
        self.paint()
    }

    pub(super) fn clear_screen(&mut self) -> io::Result<()> {
        self.painter.clear_screen()?;
        self.paint()
    }

    /// Keeps a line for the history of this and later chats.
    pub(super) fn remember(&mut self, line: &str) {
        self.editor.history.add(line);
    }

    /// Gives a line back that could not be sent, unless another one is being typed.
    pub(super) fn restore_line(&mut self, line: &str) {
        if self.editor.is_empty() {
            self.editor.set(line);
        }
    }

    /// When the screen has to be painted without anything happening.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let now = Instant::now();
        let frame = self
            .dirty
            .then(|| self.painted_at.map_or(now, |at| at + FRAME));
        let armed = match self.ask {
            Some(
                PendingAnswer::Approval { armed_at, .. } | PendingAnswer::Question { armed_at, .. },
            ) => Some(armed_at),
            _ => None,
        };
        // Durations go on.
        let second = (self.status.is_running() || !self.tools.is_empty()).then(|| {
            self.painted_at
                .map_or(now, |at| at + Duration::from_secs(1))
        });
        let armed = armed.filter(|at| *at > now);
        [frame, armed, second].into_iter().flatten().min()
    }

    /// Shows what has changed.
    pub(super) fn paint(&mut self) -> io::Result<()> {
        let block = self.block();
        let pending = std::mem::take(&mut self.pending);
        self.dirty = false;
        self.painted_at = Some(Instant::now());
        self.painter.paint(&pending, block)
    }

    /// Leaves the terminal as a program that prints lines would leave it.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.end_stream();
        let pending = std::mem::take(&mut self.pending);
        self.painter.paint(&pending, Block::default())
    }

    fn block(&mut self) -> Block {
        let size = self.painter.size();
        let width = self.width();
        let (input, cursor_row, cursor_column) = self.input_rows(width);
        let menu = self.menu_rows(width);
        let status = self.status.line(self.lang, width);
        let mut ask = self.ask_rows(width);
        ask.truncate(size.rows.saturating_sub(input.len() + 2).max(1));
        // One row stays free, so that the block never scrolls.
        let fixed = input.len() + menu.len() + ask.len() + 1;
        let room = size.rows.saturating_sub(1).saturating_sub(fixed);
        let mut rows = self.live_rows(room);
        rows.extend(ask);
        let cursor_row = rows.len() + cursor_row;
        rows.extend(input);
        rows.extend(menu);
        rows.push(status);
        // A window of a few rows has room for the line that is typed, and little else.
        let excess = rows.len().saturating_sub(size.rows.max(1));
        let dropped = excess.min(rows.len().saturating_sub(cursor_row + 1));
        rows.truncate(rows.len() - dropped);
        Block {
            rows,
            cursor_row,
            cursor_column,
        }
    }

    /// The answer as far as it is not in the transcript, and the tools that run.
    fn live_rows(&self, room: usize) -> Vec<Line> {
        let mut rows = Vec::new();
        if let Some(stream) = &self.stream {
            let sheet = self.sheet();
            let open = stream.open_lines(sheet);
            let goes_on = stream.kind == Kind::Answer && self.last == Some(Kind::Answer);
            if !open.is_empty() && (goes_on || self.needs_gap(stream.kind)) {
                rows.push(Line::default());
            }
            rows.extend(open);
        }
        let hidden = self.tools.len().saturating_sub(TOOL_ROWS_MAX);
        for tool in &self.tools[hidden..] {
            rows.push(tool.row(self.lang).cut(self.width()));
        }
        if self.last.is_some() || !rows.is_empty() {
            rows.push(Line::default());
        }
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        rows
    }

    fn ask_rows(&self, width: usize) -> Vec<Line> {
        let now = Instant::now();
        let Some(ask) = &self.ask else {
            return Vec::new();
        };
        let row = |words: &str| Line::of(words, Color::Yellow.style()).cut(width);
        let words = match ask {
            PendingAnswer::Approval { armed_at, .. } if now < *armed_at => String::new(),
            PendingAnswer::Approval { scopes, .. } => {
                let choices = CHOICES.iter().enumerate();
                let choices = choices.filter(|(at, _)| is_offered(*at, scopes));
                // A choice that is cut off could not be chosen.
                let mut rows: Vec<String> = Vec::new();
                for (_, choice) in choices {
                    let choice = format!("[{}] {}", choice.key, choice.label(self.lang));
                    match rows.last_mut() {
                        Some(row) if columns(row) + columns(&choice) + 2 <= width => {
                            row.push_str("  ");
                            row.push_str(&choice);
                        }
                        _ => rows.push(choice),
                    }
                }
                return rows.iter().map(|words| row(words)).collect();
            }
            PendingAnswer::Question { armed_at, .. } if now < *armed_at => String::new(),
            PendingAnswer::Question { options: 0, .. } => self.lang.chat_answer_words(),
            PendingAnswer::Question { options, .. } => {
                self.lang.chat_answer_keys((*options).min(9))
            }
            PendingAnswer::Reason { .. } => self.lang.chat_reason_hint(),
            PendingAnswer::Scope { scopes } => {
                let scopes = with_keys(scopes).map(|(key, scope)| row(&format!("[{key}] {scope}")));
                let mut rows = vec![row(&self.lang.scope_question())];
                rows.extend(scopes);
                rows.push(row(&self.lang.chat_scope_hint()));
                return rows;
            }
        };
        vec![row(&words)]
    }

    /// The line that is being typed, as far as it is shown, and where the cursor is in it.
    fn input_rows(&self, width: usize) -> (Vec<Line>, usize, usize) {
        let prompt = match self.editor.search() {
            Some(search) => self.lang.chat_search(&search.wanted),
            None => PROMPT.to_owned(),
        };
        let prompt = Line::of(&prompt, Color::Cyan.style()).cut(width / 2);
        let indent = prompt.width();
        let laid = self.editor.rows(width.saturating_sub(indent));
        let most = (self.painter.size().rows / 2).clamp(1, INPUT_ROWS_MAX);
        let first = (laid.row + 1).saturating_sub(most);
        let shown = laid.rows.iter().enumerate().skip(first).take(most);
        let rows = shown.map(|(at, text)| {
            let mut row = match at {
                0 => prompt.clone(),
                _ => Line::plain(&" ".repeat(indent)),
            };
            row.push(text, PLAIN);
            row
        });
        let mut rows: Vec<Line> = rows.collect();
        if self.editor.is_empty() && self.editor.search().is_none() {
            let mut row = prompt.clone();
            row.push(&self.lang.chat_placeholder(), DIM);
            rows = vec![row.cut(width)];
        }
        (rows, laid.row - first, indent + laid.column)
    }

    fn menu_rows(&self, width: usize) -> Vec<Line> {
        let most = ROWS_MAX.min(self.painter.size().rows / 3).max(1);
        let first = self.menu.first_row(most);
        let items = &self.menu.items;
        let names = items.iter().map(|item| Line::plain(&item.name).width());
        let names = names.max().unwrap_or(0).min(width / 2);
        let shown = items.iter().enumerate().skip(first).take(most);
        let rows = shown.map(|(at, item)| {
            let is_chosen = self.menu.chosen == Some(at);
            let (mark, style) = match is_chosen {
                true => ("› ", Color::Cyan.style()),
                false => ("  ", PLAIN),
            };
            let mut row = Line::of(mark, style);
            row.append(Line::of(&item.name, style).cut(names).padded(names + 2));
            row.push(&item.hint, DIM);
            row.cut(width)
        });
        let mut rows: Vec<Line> = rows.collect();
        let hidden = items.len().saturating_sub(rows.len());
        if hidden > 0
            && let Some(last) = rows.last_mut()
        {
            last.push(&format!("  (+{hidden})"), DIM);
            *last = last.clone().cut(width);
        }
        rows
    }

    fn refresh_menu(&mut self) {
        if self.without_menu.as_deref() != Some(self.editor.text()) {
            self.without_menu = None;
        }
        let is_open = self.editor.is_at_end()
            && self.editor.search().is_none()
            && self.without_menu.is_none();
        let line = match is_open {
            true => self.editor.text(),
            false => "",
        };
        let chosen = self.menu.chosen;
        let before = std::mem::take(&mut self.menu.items);
        self.menu = Menu::of(line, &self.choices, self.lang);
        if self.menu.items == before {
            self.menu.chosen = chosen;
        }
        self.dirty = true;
    }

    /// The user has to decide about a call, which the transcript shows.
    pub(super) fn approval(&mut self, call: &Value) {
        self.end_stream();
        let tool = text(&call["toolName"]).to_owned();
        let mut head = Line::of("? ", Color::Yellow.style());
        head.push(&self.lang.chat_consent(tool), BOLD);
        self.write(Kind::Question, vec![head]);
        let mut lines = Vec::new();
        for note in super::event_text::foreign_notes(self.lang, &call["foreign"]) {
            let note = Line::of(&note, Color::Yellow.style());
            lines.extend(note.wrapped(self.width() - 2));
        }
        lines.extend(tools::whole(&call["args"], self.width() - 2));
        self.write_indented(Kind::Question, lines);
        let scopes = grants(self.lang, call);
        self.ask = Some(PendingAnswer::Approval {
            armed_at: Instant::now() + READING_TIME,
            scopes: scopes.into_iter().map(|scope| scope.text).collect(),
        });
    }

    /// A question of the model.
    pub(super) fn question(&mut self, question: &Value) -> Vec<String> {
        self.end_stream();
        let mut lines = render(
            &crate::terminal::harmless(text(&question["question"])),
            self.sheet(),
        );
        if let Some(first) = lines.first_mut() {
            let mut head = Line::of("? ", Color::Yellow.style());
            head.append(std::mem::take(first));
            *first = head;
        }
        let options = question["options"].as_array().into_iter().flatten();
        let options = options.filter_map(|option| option.as_str().map(str::to_owned));
        let options: Vec<String> = options.collect();
        for (at, option) in options.iter().enumerate() {
            let mut line = Line::of(&format!("  {}. ", at + 1), Color::Cyan.style());
            line.push(option, PLAIN);
            lines.extend(line.wrapped(self.width()));
        }
        self.write(Kind::Question, lines);
        self.ask = Some(PendingAnswer::Question {
            options: options.len(),
            armed_at: Instant::now() + READING_TIME,
        });
        options
    }

    /// Nothing waits for the user now.
    pub(super) fn close_question(&mut self) {
        self.ask = None;
        self.dirty = true;
    }

    /// The next line is the reason for a denial.
    pub(super) fn ask_reason(&mut self) {
        let scopes = self.take_scopes();
        self.ask = Some(PendingAnswer::Reason { scopes });
        self.dirty = true;
    }

    pub(super) fn asks_reason(&self) -> bool {
        matches!(self.ask, Some(PendingAnswer::Reason { .. }))
    }

    /// The next key is the scope to allow.
    pub(super) fn ask_scope(&mut self) {
        let scopes = self.take_scopes();
        self.ask = Some(PendingAnswer::Scope { scopes });
        self.dirty = true;
    }

    fn asks_scope(&self) -> bool {
        matches!(self.ask, Some(PendingAnswer::Scope { .. }))
    }

    fn back_to_approval(&mut self) {
        let scopes = self.take_scopes();
        self.ask = Some(PendingAnswer::Approval {
            armed_at: Instant::now(),
            scopes,
        });
        self.dirty = true;
    }

    fn take_scopes(&mut self) -> Vec<String> {
        match self.ask.take() {
            Some(
                PendingAnswer::Approval { scopes, .. }
                | PendingAnswer::Scope { scopes }
                | PendingAnswer::Reason { scopes },
            ) => scopes,
            _ => Vec::new(),
        }
    }

    /// The session is left for another one.
    pub(super) fn leave_session(&mut self) {
        self.end_stream();
        self.tools.clear();
        self.ask = None;
        self.taken.clear();
        self.status.reset();
        self.dirty = true;
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
