//! What a session does, as lines on a terminal.

use crate::terminal::{Paint, harmless, one_line};
use crate::text::Lang;
use netaclaw_protocol::Severity;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Write};

/// Prints events as they come. Text that was printed once is not printed again, whatever way it
/// comes: live, in a snapshot, or as the stored entry.
pub(crate) struct Screen<W> {
    out: W,
    paint: Paint,
    lang: Lang,
    /// Characters printed of each part of each answer.
    printed: HashMap<(String, u64), usize>,
    /// Whether the cursor stands behind text.
    in_line: bool,
    /// The last complaint of the run under way.
    complained: Option<String>,
}

/// What the chat has to do about an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    /// The run is over, and nothing waits.
    Done,
    Asked {
        request_id: String,
        options: Vec<String>,
    },
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, paint: Paint, lang: Lang) -> Self {
        Self {
            out,
            paint,
            lang,
            printed: HashMap::new(),
            in_line: false,
            complained: None,
        }
    }

    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    pub(crate) fn prompt(&mut self) -> io::Result<()> {
        self.end_line()?;
        write!(self.out, "{} ", self.paint.accent(">"))?;
        self.out.flush()
    }

    /// Prints what an answer under way has said before we came.
    pub(crate) fn snapshot(&mut self, snapshot: &Value) -> io::Result<()> {
        let streaming = &snapshot["streaming"];
        let entry = text(&streaming["entryId"]).to_owned();
        for part in streaming["parts"].as_array().into_iter().flatten() {
            self.say(
                &entry,
                part["part"].as_u64().unwrap_or(0),
                text(&part["kind"]),
                0,
                text(&part["text"]),
            )?;
        }
        Ok(())
    }

    pub(crate) fn event(&mut self, event: &Value) -> io::Result<Heard> {
        let data = &event["data"];
        match text(&event["type"]) {
            "assistant_stream_delta" | "thinking_delta" => {
                let offset = data["offset"].as_u64().unwrap_or(0) as usize;
                let part = data["part"].as_u64().unwrap_or(0);
                self.say(
                    text(&data["entryId"]),
                    part,
                    text(&data["kind"]),
                    offset,
                    text(&data["text"]),
                )?;
            }
            "session_entry_added" => self.entry(&data["entry"])?,
            "tool_call_started" => {
                let args = one_line(&data["args"].to_string(), 60);
                let call = format!("⚙ {} {args}", text(&data["toolName"]));
                let call = self.paint.dim(&harmless(&call)).into_owned();
                self.line(&call)?;
            }
            "tool_call_completed" => self.tool_done(data)?,
            "error" => {
                let words = self.words(&data["trouble"], &data["message"]);
                let severity = match data["severity"] == "warning" {
                    true => Severity::Warning,
                    false => Severity::Error,
                };
                self.complain(words, severity)?;
            }
            "run_status" if data["phase"] == "retrying" => {
                let detail = self
                    .paint
                    .warning(&harmless(text(&data["detail"])))
                    .into_owned();
                self.line(&detail)?;
            }
            "clarify_request" => return self.question(data),
            "done" => return self.done(data),
            _ => {}
        }
        Ok(Heard::Nothing)
    }

    fn say(
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

    /// An answer that was stored: what was not streamed to us is printed now.
    fn entry(&mut self, entry: &Value) -> io::Result<()> {
        let message = &entry["message"];
        if message["role"] != "assistant" {
            return Ok(());
        }
        let id = text(&entry["id"]).to_owned();
        for (part, block) in message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            if block["type"] == "text" {
                self.say(&id, part as u64, "text", 0, text(&block["text"]))?;
            }
        }
        // A stop is told by the end of the run.
        let stopped = message["stopReason"] == "aborted" && message["trouble"].is_null();
        if message["errorMessage"].is_string() && !stopped {
            let words = self.words(&message["trouble"], &message["errorMessage"]);
            self.complain(words, Severity::Error)?;
        }
        self.end_line()
    }

    /// What went wrong, in the language of the person if it was told in it.
    fn words(&self, trouble: &Value, otherwise: &Value) -> String {
        let language = match self.lang {
            Lang::En => "en",
            Lang::Zh => "zh",
        };
        let words = trouble["words"][language].as_str();
        words.unwrap_or_else(|| text(otherwise)).to_owned()
    }

    /// A failed answer and the end of its run say the same; once is enough.
    fn complain(&mut self, words: String, severity: Severity) -> io::Result<()> {
        if self.complained.as_ref() == Some(&words) {
            return Ok(());
        }
        let shown = harmless(&words);
        let line = match severity {
            Severity::Warning => self.paint.warning(&shown).into_owned(),
            Severity::Error => self.paint.bad(&shown).into_owned(),
        };
        self.complained = Some(words);
        self.line(&line)
    }

    fn tool_done(&mut self, data: &Value) -> io::Result<()> {
        let first = data["content"][0]["text"].as_str().unwrap_or_default();
        let line = format!("  {}", one_line(&harmless(first), 76));
        let line = match data["isError"] == true {
            true => self.paint.bad(&line).into_owned(),
            false => self.paint.dim(&line).into_owned(),
        };
        self.line(&line)
    }

    fn question(&mut self, data: &Value) -> io::Result<Heard> {
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
        let hint = self.paint.dim(&self.lang.chat_answer_hint()).into_owned();
        self.line(&hint)?;
        Ok(Heard::Asked {
            request_id: text(&data["requestId"]).to_owned(),
            options,
        })
    }

    fn done(&mut self, data: &Value) -> io::Result<Heard> {
        self.complained = None;
        self.end_line()?;
        let word = match text(&data["outcome"]) {
            "stopped" => Some(self.lang.chat_stopped()),
            "interrupted" => Some(self.lang.chat_interrupted()),
            _ => None,
        };
        if let Some(word) = word {
            let word = self.paint.warning(&word).into_owned();
            self.line(&word)?;
        }
        Ok(Heard::Done)
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
        let mut screen = Screen::new(&mut out, Paint::for_stdout(true), Lang::En);
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
        assert_eq!(screen.event(&done).unwrap(), Heard::Done);
        assert_eq!(String::from_utf8(out).unwrap(), "你好 world!\n");
    }

    #[test]
    fn a_failure_is_told_once_and_in_the_persons_language() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, Paint::for_stdout(true), Lang::Zh);
        let trouble = json!({"kind": "auth", "words": {"zh": "密钥不对", "en": "wrong key"}});
        let entry = json!({"id": "e", "message": {"role": "assistant", "content": [],
            "stopReason": "error", "errorMessage": "wrong key", "trouble": trouble}});
        let added = json!({"type": "session_entry_added", "data": {"entry": entry}});
        let error = json!({"type": "error", "data": {"message": "wrong key", "trouble": trouble}});
        screen.event(&added).unwrap();
        screen.event(&error).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "密钥不对\n");
    }

    #[test]
    fn a_terminal_obeys_nothing_that_a_model_says() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, Paint::for_stdout(true), Lang::En);
        screen.event(&delta(0, "a\u{1b}]0;owned\u{7}b")).unwrap();
        assert!(!out.contains(&0x1b));
    }
}
