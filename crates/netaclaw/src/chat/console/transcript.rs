//! What happens in a session, as lines of the transcript.

use super::super::event_text::{
    agent_named, compaction_note, in_language, tool_changes, tool_ending, was_cut_off,
};
use super::super::line_output::EventEffect;
use super::line::{BOLD, Color, DIM, Line, PLAIN};
use super::markdown::{TextLayout, render, settled};
use super::tools::{duration, gist, made, seconds};
use super::{Console, text};
use crate::skill::step_line;
use crate::terminal::{harmless, one_line};
use crate::text::Lang;
use netaclaw_protocol::RuntimeProcessEvent;
use serde_json::Value;
use std::io::Write;
use std::time::Instant;

/// Lines of a user's message that are repeated in the transcript.
const MESSAGE_LINES_MAX: usize = 12;
/// Lines of an error of a tool.
const FAULT_LINES_MAX: usize = 5;

/// The tool that asks the user a question.
const ASKS: &str = "clarify";

/// What a piece of the transcript is. An empty line stands between two kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Answer,
    Thinking,
    Tool,
    Question,
    Note,
}

/// A part of an answer that is being written.
pub(super) struct Stream {
    entry: String,
    part: u64,
    pub(super) kind: Kind,
    text: String,
    /// How much of the text is in the transcript.
    settled: usize,
}

/// A call that runs.
pub(super) struct OpenTool {
    id: String,
    name: String,
    gist: String,
    step: String,
    /// Since when it runs; `None` while it waits for approval.
    since: Option<Instant>,
}

impl Stream {
    /// The lines that are not in the transcript yet.
    pub(super) fn open_lines(&self, sheet: TextLayout) -> Vec<Line> {
        lines_of(self.kind, &self.text[self.settled..], sheet)
    }

    /// The text that is final.
    fn settle(&mut self) -> Option<String> {
        let open = &self.text[self.settled..];
        let length = match self.kind {
            Kind::Thinking => open.rfind('\n').map_or(0, |at| at + 1),
            _ => settled(open),
        };
        let done = open[..length].to_owned();
        self.settled += length;
        (!done.trim().is_empty()).then_some(done)
    }
}

fn lines_of(kind: Kind, text: &str, sheet: TextLayout) -> Vec<Line> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match kind {
        Kind::Thinking => {
            let lines = text
                .trim_end()
                .lines()
                .flat_map(|line| Line::of(line, DIM).wrapped(sheet.width.saturating_sub(2)));
            lines
                .map(|line| {
                    let mut row = Line::of("┊ ", DIM);
                    row.append(line);
                    row
                })
                .collect()
        }
        _ => render(text, sheet),
    }
}

impl OpenTool {
    pub(super) fn row(&self, lang: Lang) -> Line {
        let mut row = Line::of("● ", Color::Yellow.style());
        row.push(&self.name, BOLD);
        if !self.gist.is_empty() {
            row.push(" ", PLAIN);
            row.push(&one_line(&self.gist, 60), PLAIN);
        }
        match self.since.map(|since| since.elapsed().as_secs()) {
            None => row.push(&format!(" · {}", lang.chat_tool_waits()), DIM),
            Some(0) => {}
            Some(ran) => row.push(&format!(" · {}", seconds(ran)), DIM),
        }
        if !self.step.is_empty() {
            row.push(&format!(" · {}", self.step), DIM);
        }
        row
    }
}

impl<W: Write> Console<W> {
    pub(super) fn needs_gap(&self, kind: Kind) -> bool {
        self.last
            .is_some_and(|last| last != kind || matches!(kind, Kind::User))
    }

    /// Appends lines to the transcript.
    pub(super) fn write(&mut self, kind: Kind, lines: Vec<Line>) {
        if self.needs_gap(kind) {
            self.pending.push(Line::default());
        }
        self.last = Some(kind);
        self.pending.extend(lines);
        self.dirty = true;
    }

    pub(super) fn write_indented(&mut self, kind: Kind, lines: Vec<Line>) {
        let indented = lines.into_iter().map(|line| {
            let mut row = Line::plain("  ");
            row.append(line);
            row
        });
        self.write(kind, indented.collect());
    }

    /// Lines of this program's own words, which may be long.
    pub(in crate::chat) fn line(&mut self, words: &str) {
        self.note(words, PLAIN);
    }

    pub(in crate::chat) fn progress_line(&mut self, words: &str) {
        self.note(words, DIM);
    }

    pub(in crate::chat) fn complaint(&mut self, words: &str) {
        self.note(words, Color::Red.style());
    }

    fn note(&mut self, words: &str, style: super::line::Style) {
        self.end_stream();
        let width = self.width();
        let lines = words.split('\n');
        let lines = lines.flat_map(|line| Line::of(line, style).wrapped(width));
        self.write(Kind::Note, lines.collect());
    }

    /// Lines that are laid out already; what does not fit is cut.
    pub(in crate::chat) fn drawing(&mut self, drawn: &str) {
        self.end_stream();
        let width = self.width();
        let lines = drawn.lines().map(|line| Line::plain(line).cut(width));
        self.write(Kind::Note, lines.collect());
    }

    /// What the user has said.
    pub(in crate::chat) fn said(&mut self, words: &str) {
        self.end_stream();
        let words = harmless(words);
        let all: Vec<&str> = words.trim_end().split('\n').collect();
        let shown = match all.len() > MESSAGE_LINES_MAX + 1 {
            true => &all[..MESSAGE_LINES_MAX],
            false => &all[..],
        };
        let width = self.width();
        let mut lines = Vec::new();
        for (at, line) in shown.iter().enumerate() {
            for (row, piece) in Line::of(line, BOLD)
                .wrapped(width - 2)
                .into_iter()
                .enumerate()
            {
                let mark = if at == 0 && row == 0 { "> " } else { "  " };
                let mut whole = Line::of(mark, Color::Cyan.style());
                whole.append(piece);
                lines.push(whole);
            }
        }
        let more = all.len() - shown.len();
        if more > 0 {
            lines.push(Line::of(
                &format!("  {}", self.lang.chat_more_lines(more)),
                DIM,
            ));
        }
        self.write(Kind::User, lines);
    }

    /// The part of a session from before the chat joined.
    pub(in crate::chat) fn snapshot(&mut self, snapshot: &Value) {
        self.status.snapshot(snapshot);
        for warning in snapshot["warnings"].as_array().into_iter().flatten() {
            let words = in_language(self.lang, warning, &Value::Null);
            if !words.is_empty() {
                self.warn(words);
            }
        }
        for tool in snapshot["tools"].as_array().into_iter().flatten() {
            self.tool_started(tool);
        }
        for call in snapshot["approvals"].as_array().into_iter().flatten() {
            self.tool_waits(call, true);
        }
        let streaming = &snapshot["streaming"];
        let entry = text(&streaming["entryId"]).to_owned();
        for part in streaming["parts"].as_array().into_iter().flatten() {
            let number = part["part"].as_u64().unwrap_or(0);
            self.take(&entry, number, text(&part["kind"]), 0, text(&part["text"]));
        }
    }

    /// Where a session had got to: the last message of the user and what followed.
    pub(in crate::chat) fn last_exchange(&mut self, snapshot: &Value) {
        let entries = snapshot["entries"].as_array();
        let entries = entries.map_or(&[][..], Vec::as_slice);
        let is_user = |entry: &Value| entry["message"]["role"] == "user";
        let from = entries.iter().rposition(is_user).unwrap_or(entries.len());
        for entry in &entries[from..] {
            self.entry(entry);
            self.recorded_tools(entry);
            // What runs reports it by an event.
            if was_cut_off(&entry["message"]) {
                self.progress_line(&self.lang.chat_stopped());
            }
        }
    }

    /// The calls of a stored answer, as they ended. Those that have not ended are shown as such.
    fn recorded_tools(&mut self, entry: &Value) {
        let calls = entry["message"]["content"].as_array().into_iter().flatten();
        let calls: Vec<&Value> = calls.filter(|block| block["type"] == "toolCall").collect();
        let ended = entry["metadata"]["toolExecutions"].as_array();
        for execution in ended.into_iter().flatten() {
            let call = calls
                .iter()
                .find(|call| call["id"] == execution["toolCallId"]);
            let about = call
                .map(|call| gist(&call["arguments"]))
                .unwrap_or_default();
            if execution["status"] != "pending" {
                self.write_tool(&about, &execution["name"], execution);
            }
        }
    }

    pub(in crate::chat) fn event(&mut self, event: &Value) -> EventEffect {
        self.status.event(event);
        self.dirty = true;
        let data = &event["data"];
        match text(&event["type"]) {
            "assistant_stream_delta" | "thinking_delta" => {
                let offset = data["offset"].as_u64().unwrap_or(0);
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                let part = data["part"].as_u64().unwrap_or(0);
                let (entry, kind) = (text(&data["entryId"]), text(&data["kind"]));
                self.take(entry, part, kind, offset, text(&data["text"]));
            }
            "session_entry_added" => self.entry(&data["entry"]),
            "tool_call_started" => self.tool_started(data),
            "tool_process_event" => self.tool_step(data),
            "tool_call_completed" => self.tool_done(data),
            "error" => {
                let words = in_language(self.lang, &data["trouble"], &data["message"]);
                match data["severity"] == "warning" {
                    true => self.warn(words),
                    false => self.complain(words),
                }
            }
            "tools_changed" => {
                let changes = tool_changes(data);
                self.progress_line(&self.lang.chat_tools_changed(changes));
            }
            "compaction_done" | "compaction_error" => {
                if let Some((is_good, words)) = compaction_note(self.lang, event) {
                    match is_good {
                        true => self.progress_line(&words),
                        false => self.complaint(&words),
                    }
                }
            }
            "clarify_request" => {
                let options = self.question(data);
                let request_id = text(&data["requestId"]).to_owned();
                return EventEffect::QuestionAsked {
                    request_id,
                    options,
                };
            }
            "approval_request" => {
                self.tool_waits(data, true);
                return EventEffect::ApprovalRequested(data.clone());
            }
            "approval_decided" => {
                self.tool_waits(data, false);
                return EventEffect::ApprovalDecided(text(&data["approvalId"]).to_owned());
            }
            "done" => return self.done(data),
            _ => {}
        }
        EventEffect::Nothing
    }

    fn done(&mut self, data: &Value) -> EventEffect {
        self.end_stream();
        self.complained = None;
        self.tools.clear();
        self.close_question();
        match text(&data["outcome"]) {
            "stopped" => self.progress_line(&self.lang.chat_stopped()),
            "interrupted" => self.progress_line(&self.lang.chat_interrupted()),
            "error" => return EventEffect::Failed,
            _ => {}
        }
        EventEffect::Done
    }

    fn entry(&mut self, entry: &Value) {
        let message = &entry["message"];
        match text(&message["role"]) {
            // The same entry may come in a snapshot and as an event.
            "user" if self.ended.insert(text(&entry["id"]).to_owned()) => {
                let said = match &message["content"] {
                    Value::String(said) => said.as_str(),
                    parts => text(&parts[0]["text"]),
                };
                self.said(said);
            }
            "assistant" => self.answer(text(&entry["id"]), message),
            _ => {
                if let Some(agent) = agent_named(entry) {
                    self.progress_line(&self.lang.chat_agent(one_line(agent, 64)));
                }
            }
        }
    }

    /// A stored answer: what was not streamed to us, and how it ended.
    fn answer(&mut self, id: &str, message: &Value) {
        let content = message["content"].as_array();
        for (part, block) in content.into_iter().flatten().enumerate() {
            if block["type"] == "text" {
                self.take(id, part as u64, "text", 0, text(&block["text"]));
            }
        }
        self.end_stream();
        if !self.ended.insert(id.to_owned()) {
            return;
        }
        // A stop is reported by the end of the run.
        if !was_cut_off(message) && message["errorMessage"].is_string() {
            let words = in_language(self.lang, &message["trouble"], &message["errorMessage"]);
            self.complain(words);
        }
    }

    /// Takes in text of an answer. What was taken in once is not taken in again, whatever way it
    /// comes: live, in a snapshot, or as the stored entry.
    fn take(&mut self, entry: &str, part: u64, kind: &str, offset: usize, new: &str) {
        if kind == "toolCall" {
            return;
        }
        let taken = self.taken.entry((entry.to_owned(), part)).or_insert(0);
        let fresh: String = new.chars().skip(taken.saturating_sub(offset)).collect();
        *taken = (*taken).max(offset + new.chars().count());
        if fresh.is_empty() {
            return;
        }
        let is_same = |stream: &Stream| stream.entry == entry && stream.part == part;
        if !self.stream.as_ref().is_some_and(is_same) {
            self.end_stream();
            self.stream = Some(Stream {
                entry: entry.to_owned(),
                part,
                kind: match kind {
                    "thinking" => Kind::Thinking,
                    _ => Kind::Answer,
                },
                text: String::new(),
                settled: 0,
            });
        }
        let Some(stream) = &mut self.stream else {
            return;
        };
        stream.text.push_str(&harmless(&fresh));
        let kind = stream.kind;
        if fresh.contains('\n')
            && let Some(done) = stream.settle()
        {
            self.blocks(kind, &done);
        }
    }

    /// Blocks of an answer, with an empty line between them.
    fn blocks(&mut self, kind: Kind, text: &str) {
        let lines = lines_of(kind, text, self.sheet());
        if lines.is_empty() {
            return;
        }
        if kind == Kind::Answer && self.last == Some(Kind::Answer) {
            self.pending.push(Line::default());
        }
        self.write(kind, lines);
    }

    /// What is open of a streaming answer goes to the transcript.
    pub(super) fn end_stream(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.blocks(stream.kind, &stream.text[stream.settled..]);
            self.dirty = true;
        }
    }

    /// A failed answer and the end of its run say the same; once is enough.
    fn complain(&mut self, words: String) {
        if self.complained.as_ref() != Some(&words) {
            self.complaint(&words);
            self.complained = Some(words);
        }
    }

    fn warn(&mut self, words: String) {
        if self.warned.insert(words.clone()) {
            self.note(&words, Color::Yellow.style());
        }
    }

    fn tool_started(&mut self, data: &Value) {
        self.end_stream();
        let id = text(&data["toolCallId"]);
        // A question says more than the call that asks it.
        let asks = data["toolName"] == ASKS;
        if asks || self.tools.iter().any(|tool| tool.id == id) {
            return;
        }
        self.tools.push(OpenTool {
            id: id.to_owned(),
            name: text(&data["toolName"]).to_owned(),
            gist: gist(&data["args"]),
            step: String::new(),
            since: Some(Instant::now()),
        });
    }

    /// The clock of a call stands still while it waits for approval.
    pub(super) fn tool_waits(&mut self, call: &Value, waits: bool) {
        let id = text(&call["toolCallId"]);
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.id == id) {
            tool.since = (!waits).then(Instant::now);
        }
    }

    fn tool_step(&mut self, data: &Value) {
        let Ok(event) = serde_json::from_value::<RuntimeProcessEvent>(data.clone()) else {
            return;
        };
        let id = text(&data["toolCallId"]);
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.id == id) {
            tool.step = one_line(&step_line(&event), 60);
        }
    }

    /// The line of a call that has ended: how, and how long it ran.
    fn write_tool(&mut self, about: &str, name: &Value, ended: &Value) {
        let status = text(&ended["status"]);
        let (mark, style) = match status {
            "completed" => ("✓ ", Color::Green.style()),
            "failed" | "blocked" | "timed_out" | "interrupted" => ("✗ ", Color::Red.style()),
            _ => ("– ", Color::Yellow.style()),
        };
        let mut row = Line::of(mark, style);
        row.push(text(name), BOLD);
        if !about.is_empty() {
            row.push(" ", PLAIN);
            row.push(about, PLAIN);
        }
        let mut end = Line::default();
        if let Some(ending) = tool_ending(self.lang, status) {
            end.push(&format!(" · {ending}"), style);
        }
        let ran = !matches!(status, "blocked" | "denied" | "undecided" | "not_started");
        if let Some(took) = ended["durationMs"].as_u64().filter(|_| ran) {
            end.push(&format!(" · {}", duration(took)), DIM);
        }
        let mut row = row.cut(self.width().saturating_sub(end.width()));
        row.append(end);
        self.write(Kind::Tool, vec![row]);
    }

    fn tool_done(&mut self, data: &Value) {
        self.end_stream();
        let id = text(&data["toolCallId"]);
        let at = self.tools.iter().position(|tool| tool.id == id);
        let about = at.map(|at| self.tools.remove(at).gist).unwrap_or_default();
        let is_error = data["isError"] == true;
        if data["toolName"] == ASKS && !is_error {
            return;
        }
        self.write_tool(&about, &data["toolName"], data);
        // The line of a call names every other ending; the text is for the model.
        if data["status"] == "failed" || data["status"] == "blocked" {
            let style = Color::Red.style();
            let fault = data["content"][0]["text"].as_str().unwrap_or_default();
            let fault = fault.trim().lines().take(FAULT_LINES_MAX);
            let width = self.width() - 2;
            let lines = fault.map(|line| Line::of(line, style).cut(width));
            self.write_indented(Kind::Tool, lines.collect());
        }
        if let Some(diff) = data["details"]["diff"].as_str() {
            let (mut lines, more) = made(diff, self.width());
            if more > 0 {
                let more = self.lang.chat_more_lines(more);
                lines.push(Line::of(&format!("  {more}"), DIM));
            }
            self.write(Kind::Tool, lines);
        }
    }
}
