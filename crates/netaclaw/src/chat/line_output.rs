//! What a session does, as lines on a terminal.

use super::approval::{approval_hint, grants};
use super::event_text::{
    agent_named, compaction_note, foreign_notes, in_language, now_ms, retry_text, tool_changes,
    tool_ending, was_cut_off,
};
use crate::skill::step_line;
use crate::terminal::{Paint, harmless, one_line, shortened};
use crate::text::Lang;
use netaclaw_protocol::RuntimeProcessEvent;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Lines of a change that are shown; who wants all of it looks at the file.
const DIFF_LINES_MAX: usize = 40;
const DIFF_WIDTH: usize = 100;

/// Prints events as they come. Text that was printed once is not printed again, whatever way it
/// comes: live, in a snapshot, or as the stored entry.
pub(super) struct LineOutput<W> {
    out: W,
    /// Where everything goes that is not said to the user by the model. `None` is `out`.
    aside: Option<io::Stderr>,
    paint: Paint,
    lang: Lang,
    /// Characters printed of each part of each answer.
    printed: HashMap<(String, u64), usize>,
    /// Answers whose ending was printed.
    ended: HashSet<String>,
    /// Warnings; most runs would have the same.
    warned: HashSet<String>,
    /// What the last step of a tool said.
    last_step: Option<(Option<String>, String)>,
    /// The last warning of the current run.
    complained: Option<String>,
    /// Whether the cursor is after text.
    in_line: bool,
}

/// What the chat has to do about an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EventEffect {
    Nothing,
    /// The run is over.
    Done,
    /// The same, and it failed.
    Failed,
    QuestionAsked {
        request_id: String,
        options: Vec<String>,
    },
    /// A call waits for a person to agree.
    ApprovalRequested(Value),
    /// The call of this id is decided.
    ApprovalDecided(String),
}

impl<W: Write> LineOutput<W> {
    /// Everything in one place, in the order in which it happens.
    pub(super) fn conversation(out: W, paint: Paint, lang: Lang) -> Self {
        Self::new(out, None, paint, lang)
    }

    /// The answers alone; remarks go to the error output.
    pub(super) fn filter(out: W, paint: Paint, lang: Lang) -> Self {
        Self::new(out, Some(io::stderr()), paint, lang)
    }

    fn new(out: W, aside: Option<io::Stderr>, paint: Paint, lang: Lang) -> Self {
        Self {
            out,
            aside,
            paint,
            lang,
            printed: HashMap::new(),
            ended: HashSet::new(),
            warned: HashSet::new(),
            last_step: None,
            complained: None,
            in_line: false,
        }
    }

    /// A line that was asked for.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// A line about the progress.
    pub(super) fn progress_line(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint.dim(&harmless(text)).into_owned();
        self.note(&text)
    }

    /// A line about what went wrong.
    pub(super) fn complaint(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint.bad(&harmless(text)).into_owned();
        self.note(&text)
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        match &mut self.aside {
            None => self.line(text),
            Some(_) => {
                self.end_line()?;
                self.out.flush()?;
                // If the error output is closed, there is nowhere to report it.
                writeln!(io::stderr(), "{text}").unwrap_or_default();
                Ok(())
            }
        }
    }

    pub(super) fn prompt(&mut self) -> io::Result<()> {
        self.end_line()?;
        write!(self.out, "{} ", self.paint.accent(">"))?;
        self.in_line = true;
        self.out.flush()
    }

    /// The terminal has shown what the user typed, line break included.
    pub(super) fn line_was_typed(&mut self) {
        self.in_line = false;
    }

    /// Ends a prompt line that will get no input.
    pub(super) fn leave_prompt(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.out.flush()
    }

    /// Prints the part of a streaming answer from before the chat joined.
    pub(super) fn snapshot(&mut self, snapshot: &Value) -> io::Result<()> {
        for warning in snapshot["warnings"].as_array().into_iter().flatten() {
            let words = self.words(warning, &Value::Null);
            if !words.is_empty() {
                self.warn(words)?;
            }
        }
        let streaming = &snapshot["streaming"];
        let entry = text(&streaming["entryId"]).to_owned();
        for part in streaming["parts"].as_array().into_iter().flatten() {
            self.print_part(
                &entry,
                part["part"].as_u64().unwrap_or(0),
                text(&part["kind"]),
                0,
                text(&part["text"]),
            )?;
        }
        Ok(())
    }

    pub(super) fn event(&mut self, event: &Value) -> io::Result<EventEffect> {
        let data = &event["data"];
        match text(&event["type"]) {
            "assistant_stream_delta" | "thinking_delta" => {
                let offset = data["offset"].as_u64().unwrap_or(0) as usize;
                let part = data["part"].as_u64().unwrap_or(0);
                self.print_part(
                    text(&data["entryId"]),
                    part,
                    text(&data["kind"]),
                    offset,
                    text(&data["text"]),
                )?;
            }
            "session_entry_added" if data["entry"]["message"]["role"] == "assistant" => {
                let entry = &data["entry"];
                self.answer(text(&entry["id"]), &entry["message"])?;
            }
            "session_entry_added" if agent_named(&data["entry"]).is_some() => {
                let agent = agent_named(&data["entry"]).unwrap_or_default();
                self.progress_line(&self.lang.chat_agent(one_line(agent, 64)))?;
            }
            "tool_call_started" => {
                let args = one_line(&data["args"].to_string(), 60);
                self.progress_line(&format!("⚙ {} {args}", text(&data["toolName"])))?;
            }
            "tool_process_event" => self.step(data)?,
            "tool_call_completed" => self.tool_done(data)?,
            "error" => {
                let words = self.words(&data["trouble"], &data["message"]);
                match data["severity"] == "warning" {
                    true => self.warn(words)?,
                    false => self.complain(words)?,
                }
            }
            "run_status" if data["phase"] == "retrying" => {
                if let Some(words) = retry_text(self.lang, data, now_ms()) {
                    self.progress_line(&words)?;
                }
            }
            "tools_changed" => self.tools_changed(data)?,
            "compaction_done" | "compaction_error" => self.compacted(event)?,
            "clarify_request" => {
                return Ok(EventEffect::QuestionAsked {
                    request_id: text(&data["requestId"]).to_owned(),
                    options: self.question(data)?,
                });
            }
            "approval_request" => return Ok(EventEffect::ApprovalRequested(data.clone())),
            "approval_decided" => {
                return Ok(EventEffect::ApprovalDecided(
                    text(&data["approvalId"]).to_owned(),
                ));
            }
            "done" => return self.done(data),
            _ => {}
        }
        Ok(EventEffect::Nothing)
    }

    fn print_part(
        &mut self,
        entry: &str,
        part: u64,
        kind: &str,
        offset: usize,
        new: &str,
    ) -> io::Result<()> {
        if kind == "toolCall" {
            return Ok(());
        }
        let known = self.printed.entry((entry.to_owned(), part)).or_insert(0);
        let begins = *known == 0;
        let fresh: String = new.chars().skip(known.saturating_sub(offset)).collect();
        *known = (*known).max(offset + new.chars().count());
        if fresh.is_empty() {
            return Ok(());
        }
        if begins && self.in_line {
            self.end_line()?;
        }
        let fresh = harmless(&fresh).into_owned();
        match kind {
            "thinking" if self.aside.is_some() => return Ok(()),
            "thinking" => {
                if begins {
                    let mark = format!("({}) ", self.lang.chat_thinking());
                    write!(self.out, "{}", self.paint.dim(&mark))?;
                }
                write!(self.out, "{}", self.paint.dim(&fresh))?;
            }
            _ => write!(self.out, "{fresh}")?,
        }
        self.in_line = !fresh.ends_with('\n');
        self.out.flush()
    }

    /// Where a conversation had got to: the last message of the user and what followed.
    pub(super) fn last_exchange(&mut self, snapshot: &Value) -> io::Result<()> {
        let entries = snapshot["entries"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let is_user = |entry: &Value| entry["message"]["role"] == "user";
        let from = entries.iter().rposition(is_user).unwrap_or(entries.len());
        for entry in &entries[from..] {
            let message = &entry["message"];
            match text(&message["role"]) {
                "user" => {
                    let said = match &message["content"] {
                        Value::String(said) => said.as_str(),
                        parts => text(&parts[0]["text"]),
                    };
                    self.progress_line(&format!("> {}", one_line(said, 200)))?;
                }
                "assistant" => {
                    self.answer(text(&entry["id"]), message)?;
                    if was_cut_off(message) {
                        self.progress_line(&self.lang.chat_stopped())?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A stored answer: what was not streamed to us, and how it ended.
    fn answer(&mut self, id: &str, message: &Value) -> io::Result<()> {
        let content = message["content"].as_array();
        for (part, block) in content.into_iter().flatten().enumerate() {
            if block["type"] == "text" {
                self.print_part(id, part as u64, "text", 0, text(&block["text"]))?;
            }
        }
        // The same entry may come in a snapshot and as an event.
        if !self.ended.insert(id.to_owned()) {
            return Ok(());
        }
        // A stop is reported by the end of the run.
        if was_cut_off(message) {
            return self.end_line();
        }
        if message["errorMessage"].is_string() {
            let words = self.words(&message["trouble"], &message["errorMessage"]);
            self.complain(words)?;
        }
        let usage = &message["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let input = count("input") + count("cacheRead") + count("cacheWrite");
        let (output, total) = (count("output"), count("totalTokens"));
        // Remarks for people; a program asks the session.
        if total > 0 && self.aside.is_none() {
            self.progress_line(&self.lang.usage(total, input, output))?;
        }
        self.end_line()
    }

    fn words(&self, trouble: &Value, otherwise: &Value) -> String {
        in_language(self.lang, trouble, otherwise)
    }

    /// A failed answer and the end of its run say the same; once is enough.
    fn complain(&mut self, words: String) -> io::Result<()> {
        if self.complained.as_ref() != Some(&words) {
            self.complaint(&words)?;
            self.complained = Some(words);
        }
        Ok(())
    }

    fn warn(&mut self, words: String) -> io::Result<()> {
        let line = self.paint.warning(&harmless(&words)).into_owned();
        match self.warned.insert(words) {
            true => self.note(&line),
            false => Ok(()),
        }
    }

    /// A step of long work, unless it says what the one before said.
    fn step(&mut self, data: &Value) -> io::Result<()> {
        let Ok(event) = serde_json::from_value::<RuntimeProcessEvent>(data.clone()) else {
            return Ok(());
        };
        let said = (event.stage.clone(), event.message.clone());
        if self.last_step.replace(said.clone()) == Some(said) {
            return Ok(());
        }
        let line = format!("  {}", one_line(&harmless(&step_line(&event)), 76));
        self.progress_line(&line)
    }

    fn tool_done(&mut self, data: &Value) -> io::Result<()> {
        let first = data["content"][0]["text"].as_str().unwrap_or_default();
        // What else ends a call than its result is for the model.
        let ending = match text(&data["status"]) {
            "blocked" => None,
            status => tool_ending(self.lang, status),
        };
        let line = match ending {
            Some(ending) => format!("  {ending}"),
            None => format!("  {}", one_line(&harmless(first), 76)),
        };
        match data["isError"] == true {
            true => self.complaint(&line),
            false => self.progress_line(&line),
        }?;
        match data["details"]["diff"].as_str() {
            Some(diff) => self.diff(diff),
            None => Ok(()),
        }
    }

    /// What changed in a file, as far as a person reads on.
    fn diff(&mut self, diff: &str) -> io::Result<()> {
        let mut lines = diff.lines();
        for line in lines.by_ref().take(DIFF_LINES_MAX) {
            let plain = harmless(line).replace('\t', "    ");
            let shown = format!("  {}", shortened(&plain, DIFF_WIDTH));
            let shown = match line.as_bytes().first() {
                Some(b'+') => self.paint.good(&shown).into_owned(),
                Some(b'-') => self.paint.bad(&shown).into_owned(),
                _ => self.paint.dim(&shown).into_owned(),
            };
            self.note(&shown)?;
        }
        match lines.count() {
            0 => Ok(()),
            more => self.progress_line(&format!("  {}", self.lang.chat_more_lines(more))),
        }
    }

    fn compacted(&mut self, event: &Value) -> io::Result<()> {
        match compaction_note(self.lang, event) {
            Some((true, words)) => self.progress_line(&words),
            Some((false, words)) => self.complaint(&words),
            None => Ok(()),
        }
    }

    fn tools_changed(&mut self, data: &Value) -> io::Result<()> {
        let changes = tool_changes(data);
        self.progress_line(&self.lang.chat_tools_changed(changes))
    }

    /// A question of the model, with its options.
    pub(super) fn question(&mut self, data: &Value) -> io::Result<Vec<String>> {
        let question = self
            .paint
            .bold(&harmless(text(&data["question"])))
            .into_owned();
        self.line(&question)?;
        let options: Vec<String> = data["options"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|option| option.as_str().map(str::to_owned))
            .collect();
        for (at, option) in options.iter().enumerate() {
            self.line(&format!("  {}. {}", at + 1, harmless(option)))?;
        }
        self.progress_line(&self.lang.chat_answer_hint())?;
        Ok(options)
    }

    /// A call that waits for a person: what would run, in full, and how to decide.
    pub(super) fn approval(&mut self, data: &Value) -> io::Result<()> {
        let tool = text(&data["toolName"]);
        let asks = self.lang.chat_consent(harmless(tool));
        let asks = self.paint.bold(&asks).into_owned();
        self.line(&asks)?;
        for note in foreign_notes(self.lang, &data["foreign"]) {
            self.line(&format!("  {note}"))?;
        }
        let args = data["args"].as_object();
        for (name, value) in args.into_iter().flatten() {
            let value = match value {
                Value::String(words) => words.clone(),
                other => other.to_string(),
            };
            let mut lines = value.lines();
            let first = harmless(lines.next().unwrap_or_default()).into_owned();
            self.line(&format!("  {}: {first}", harmless(name)))?;
            for line in lines {
                self.line(&format!("    {}", harmless(line)))?;
            }
        }
        let grants = grants(self.lang, data);
        for (at, grant) in grants.iter().enumerate() {
            self.line(&format!("  {}: {}", at + 1, harmless(&grant.text)))?;
        }
        self.progress_line(&approval_hint(self.lang, grants.len()))
    }

    fn done(&mut self, data: &Value) -> io::Result<EventEffect> {
        self.complained = None;
        self.end_line()?;
        let word = match text(&data["outcome"]) {
            "stopped" => Some(self.lang.chat_stopped()),
            "interrupted" => Some(self.lang.chat_interrupted()),
            _ => None,
        };
        if let Some(word) = word {
            self.progress_line(&word)?;
        }
        Ok(match text(&data["outcome"]) {
            "error" => EventEffect::Failed,
            _ => EventEffect::Done,
        })
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.in_line) {
            writeln!(self.out)?;
        }
        Ok(())
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn delta(offset: u64, text: &str) -> Value {
        json!({"type": "assistant_stream_delta", "data": {"entryId": "e", "part": 0, "kind": "text",
            "offset": offset, "text": text}})
    }

    #[test]
    fn text_is_printed_once_whatever_way_it_comes() {
        let mut out = Vec::new();
        let mut screen = LineOutput::conversation(&mut out, Paint::for_stdout(true), Lang::En);
        screen
            .snapshot(&json!({"streaming": {"entryId": "e",
                "parts": [{"part": 0, "kind": "text", "text": "你好 "}]}}))
            .unwrap();
        for event in [delta(0, "你好 w"), delta(4, "orld"), delta(3, "world")] {
            screen.event(&event).unwrap();
        }
        let entry = json!({"id": "e", "message": {"role": "assistant",
            "content": [{"type": "text", "text": "你好 world!"}]}});
        screen
            .event(&json!({"type": "session_entry_added", "data": {"entry": entry}}))
            .unwrap();
        let done = json!({"type": "done", "data": {"outcome": "completed"}});
        assert_eq!(screen.event(&done).unwrap(), EventEffect::Done);
        assert_eq!(String::from_utf8(out).unwrap(), "你好 world!\n");
    }

    #[test]
    fn a_change_is_shown_line_by_line() {
        let mut out = Vec::new();
        let mut screen = LineOutput::conversation(&mut out, Paint::for_stdout(true), Lang::En);
        let mut diff = "@@ -1,2 +1,41 @@\n same\n-\told\u{1b}[31m\n".to_owned();
        diff.push_str(&"+new\n".repeat(40));
        let completed = json!({"type": "tool_call_completed", "data": {"isError": false,
            "content": [{"type": "text", "text": "Edited `a`."}], "details": {"diff": diff}}});
        screen.event(&completed).unwrap();
        let text = String::from_utf8(out).unwrap();
        let start = "  Edited `a`.\n  @@ -1,2 +1,41 @@\n   same\n  -    old\u{fffd}[31m\n  +new\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("  +new\n  … 3 more lines\n"), "{text}");
    }

    #[test]
    fn a_failure_is_reported_once_in_the_users_language() {
        let mut out = Vec::new();
        let mut screen = LineOutput::conversation(&mut out, Paint::for_stdout(true), Lang::Zh);
        let trouble = json!({"kind": "auth", "words": {"zh": "密钥不对", "en": "wrong key"}});
        let entry = json!({"id": "e", "message": {"role": "assistant", "content": [],
            "stopReason": "error", "errorMessage": "wrong key", "trouble": trouble}});
        let added = json!({"type": "session_entry_added", "data": {"entry": entry}});
        let error = json!({"type": "error", "data": {"message": "wrong key", "trouble": trouble}});
        screen.event(&added).unwrap();
        screen.event(&error).unwrap();
        let warning =
            json!({"type": "error", "data": {"message": "no tools", "severity": "warning"}});
        screen.event(&warning).unwrap();
        screen.event(&warning).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "密钥不对\nno tools\n");
    }

    #[test]
    fn a_terminal_obeys_nothing_that_a_model_says() {
        let mut out = Vec::new();
        let mut screen = LineOutput::conversation(&mut out, Paint::for_stdout(true), Lang::En);
        screen.event(&delta(0, "a\u{1b}]0;owned\u{7}b")).unwrap();
        assert!(!out.contains(&0x1b));
    }
}
