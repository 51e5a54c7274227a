//! Facts that code derives. They follow every summary, and no model can change them.

use crate::conversation::{Conversation, ConversationMessage, MessageAuthor};
use crate::render::{call_line, ends, user_text};
use netaclaw_models::tokens::estimate_text;
use netaclaw_protocol::{ContentBlock, LedgerLine, Message, TodoItem, TodoList, TodoStatus};
use netaclaw_redact::redact;
use std::collections::{BTreeSet, HashMap};

/// Where the words of the model end and those of the program begin.
const HEADING: &str = "---\n\n# Noted by the program (certain, and as of this summary)";
const GOAL_CHARS_MAX: usize = 1500;
const LATEST_CHARS_MAX: usize = 4000;
/// Of a line of the ledger.
const CALL_CHARS_MAX: usize = 160;
/// Lines that are remembered; the oldest go first.
const LEDGER_MAX: usize = 200;

/// What is known of a path up to a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The user's first words.
    pub goal: Option<String>,
    /// The user's last message, if it is compacted.
    pub latest: Option<String>,
    /// Calls with effects that have run.
    pub ledger: Vec<LedgerLine>,
    pub read_files: Vec<String>,
    pub modified_files: Vec<String>,
    pub open_todos: Vec<String>,
}

impl Facts {
    /// `looks_only` returns whether a tool, by its name, is read-only.
    pub(crate) fn gather(
        conversation: &Conversation,
        cut: usize,
        todo: &TodoList,
        looks_only: &dyn Fn(&str) -> bool,
    ) -> Self {
        let (folded, kept) = conversation.pieces.split_at(cut);
        let details = conversation.previous.as_ref().map(|p| &p.details);
        let words = |piece: &ConversationMessage| {
            (piece.voice == MessageAuthor::User).then(|| user_text(&piece.message))?
        };
        let goal = details.and_then(|details| details.goal.clone());
        let goal = goal.or_else(|| folded.iter().find_map(words));
        let latest_kept = kept.iter().any(|piece| piece.voice == MessageAuthor::User);
        let latest = match latest_kept {
            true => None,
            false => folded.iter().rev().find_map(words),
        };
        let before = details.map_or_else(Vec::new, |details| details.ledger.clone());
        let (read_files, modified_files) = files(details, folded);
        Self {
            goal: goal.map(|text| safe(&text, GOAL_CHARS_MAX)),
            latest: latest.map(|text| safe(&text, LATEST_CHARS_MAX)),
            ledger: ledger(before, folded, looks_only),
            read_files,
            modified_files,
            open_todos: todo.items.iter().filter_map(open_todo).collect(),
        }
    }

    /// The facts as they follow a summary; lists that are too long lose their oldest lines and say
    /// so.
    pub(crate) fn text(&self, tokens_max: u64) -> String {
        let mut sections = vec![HEADING.to_owned()];
        let mut section = |head: &str, body: String| {
            if !body.is_empty() {
                sections.push(format!("## {head}\n{body}"));
            }
        };
        let quote = |text: &Option<String>| text.as_deref().map_or_else(String::new, quoted_lines);
        section("First request of the user", quote(&self.goal));
        section(
            "Latest message of the user, verbatim; the work on it continues",
            quote(&self.latest),
        );
        section("Open to-dos", self.open_todos.join("\n"));
        section(
            "Completed calls with effects (never repeat them unless asked)",
            fitting(
                self.ledger.iter().map(ledger_line).collect(),
                tokens_max / 2,
            ),
        );
        for (tag, files) in [
            ("read-files", &self.read_files),
            ("modified-files", &self.modified_files),
        ] {
            if !files.is_empty() {
                let files = fitting(files.clone(), tokens_max / 4);
                sections.push(format!("<{tag}>\n{files}\n</{tag}>"));
            }
        }
        match sections.len() {
            1 => String::new(),
            _ => sections.join("\n\n"),
        }
    }
}

/// What the model wrote of a stored summary.
pub(crate) fn model_part(summary: &str) -> &str {
    let (model, _) = summary.split_once(HEADING).unwrap_or((summary, ""));
    model.trim()
}

fn safe(text: &str, chars_max: usize) -> String {
    ends(&redact(text.trim()), chars_max)
}

fn quoted_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

fn open_todo(item: &TodoItem) -> Option<String> {
    let mark = match item.status {
        TodoStatus::Pending => "[ ]",
        TodoStatus::InProgress => "[~]",
        TodoStatus::Done | TodoStatus::Cancelled => return None,
    };
    Some(format!("- {mark} {}", redact(&item.text)))
}

fn ledger_line(line: &LedgerLine) -> String {
    let failed = if line.failed { " — failed" } else { "" };
    let times = match line.times {
        0 | 1 => String::new(),
        times => format!(" — {times} times"),
    };
    format!("- {}{failed}{times}", line.call)
}

/// As many of the last lines as fit.
fn fitting(lines: Vec<String>, tokens_max: u64) -> String {
    let mut left = tokens_max;
    let kept = lines
        .iter()
        .rev()
        .take_while(|line| {
            let cost = estimate_text(line) + 1;
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        })
        .count();
    let missing = lines.len() - kept;
    let note = (missing > 0).then(|| format!("- ({missing} earlier ones are not listed)"));
    let lines = lines.into_iter().skip(missing);
    note.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// The ledger so far with the calls that are compacted now, each at the position where it last ran.
/// The newest are read first, and no further back than there is room.
fn ledger(
    before: Vec<LedgerLine>,
    folded: &[ConversationMessage],
    looks_only: &dyn Fn(&str) -> bool,
) -> Vec<LedgerLine> {
    let mut newest: Vec<LedgerLine> = Vec::new();
    let mut places: HashMap<(String, bool), usize> = HashMap::new();
    let mut add = |line: LedgerLine| {
        let key = (line.call.clone(), line.failed);
        match places.get(&key) {
            Some(at) => newest[*at].times += line.times,
            None if newest.len() < LEDGER_MAX => {
                places.insert(key, newest.len());
                newest.push(line);
            }
            None => return false,
        }
        true
    };
    for (name, arguments, failed) in calls(folded, looks_only).into_iter().rev() {
        let call = safe(&call_line(name, arguments), CALL_CHARS_MAX);
        let line = LedgerLine {
            call: call.replace(['\n', '\r'], " "),
            failed,
            times: 1,
        };
        if !add(line) {
            break;
        }
    }
    for line in before.into_iter().rev() {
        add(line);
    }
    newest.reverse();
    newest
}

/// Calls with effects that have run, in order, and whether they failed.
fn calls<'c>(
    folded: &'c [ConversationMessage],
    looks_only: &dyn Fn(&str) -> bool,
) -> Vec<(&'c str, &'c serde_json::Value, bool)> {
    let mut asked: HashMap<&str, (&str, &serde_json::Value)> = HashMap::new();
    let mut calls = Vec::new();
    for piece in folded {
        match &piece.message {
            Message::Assistant(answer) => {
                for block in &answer.content {
                    if let ContentBlock::ToolCall {
                        id,
                        name,
                        arguments,
                    } = block
                    {
                        asked.insert(id, (name, arguments));
                    }
                }
            }
            Message::ToolResult(result) => {
                let known = asked.remove(result.tool_call_id.as_str());
                if let Some((name, arguments)) = known.filter(|(name, _)| !looks_only(name)) {
                    calls.push((name, arguments, result.is_error));
                }
            }
            Message::User(_) => {}
        }
    }
    calls
}

/// Files by the names of Pi's tools, as Pi lists them: what was changed is not listed as read.
fn files(
    details: Option<&netaclaw_protocol::CompactionDetails>,
    folded: &[ConversationMessage],
) -> (Vec<String>, Vec<String>) {
    let known = |files: fn(&netaclaw_protocol::CompactionDetails) -> &Vec<String>| {
        details.map_or_else(BTreeSet::new, |details| {
            files(details).iter().cloned().collect()
        })
    };
    let mut read: BTreeSet<String> = known(|details| &details.read_files);
    let mut modified: BTreeSet<String> = known(|details| &details.modified_files);
    for piece in folded {
        let Message::Assistant(answer) = &piece.message else {
            continue;
        };
        for block in &answer.content {
            let ContentBlock::ToolCall {
                name, arguments, ..
            } = block
            else {
                continue;
            };
            let Some(path) = arguments["path"].as_str() else {
                continue;
            };
            match name.as_str() {
                "read" => drop(read.insert(path.to_owned())),
                "write" | "edit" => drop(modified.insert(path.to_owned())),
                _ => {}
            }
        }
    }
    let by_utf16 = |files: BTreeSet<String>| {
        let mut files: Vec<String> = files.into_iter().collect();
        files.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        files
    };
    let read = read.difference(&modified).cloned().collect();
    (by_utf16(read), by_utf16(modified))
}
