//! The pure functions on hand-made and random sessions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod context;
mod fork;
mod log;
mod migrate;
mod path;
mod places;
mod properties;
mod tree;

use netaclaw_session::{EntryId, SessionLog, SessionTree};
use serde_json::{Value, json};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv"}"#;

/// A session from lines in a short form: `id parent kind text`, with `.` for no parent, or an
/// entry as JSON.
fn session(lines: &[&str]) -> SessionTree {
    let body: Vec<String> = lines.iter().map(|line| entry_line(line)).collect();
    SessionTree::new(read(&[HEADER, &body.join("\n")].join("\n")))
}

fn read(text: &str) -> SessionLog {
    SessionLog::parse(text.as_bytes().to_vec()).expect("a session")
}

fn entry_line(line: &str) -> String {
    if line.starts_with('{') {
        return line.to_owned();
    }
    let mut words = line.splitn(4, ' ');
    let [id, parent, kind] = std::array::from_fn(|_| words.next().expect("id, parent and kind"));
    let text = words.next().unwrap_or_default();
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut entry = match kind {
        "user" | "system" => json!({"type": "message", "message": {"role": kind, "content": text}}),
        "assistant" => json!({"type": "message", "message": {
            "role": "assistant", "content": [{"type": "text", "text": text}], "provider": "p", "model": "m",
        }}),
        "label" if rest.is_empty() => json!({"type": "label", "targetId": first}),
        "label" => json!({"type": "label", "targetId": first, "label": rest}),
        "name" => json!({"type": "session_info", "name": text}),
        "level" => json!({"type": "thinking_level_change", "thinkingLevel": text}),
        "model" => json!({"type": "model_change", "provider": first, "modelId": rest}),
        "compaction" => {
            json!({"type": "compaction", "firstKeptEntryId": first, "summary": rest, "tokensBefore": 1})
        }
        "summary" => json!({"type": "branch_summary", "fromId": "x", "summary": text}),
        "hint" => {
            json!({"type": "custom_message", "customType": "c", "content": text, "display": false})
        }
        "omit" => json!({"type": "context_edit", "targetId": first, "replacement": null}),
        "edit" => {
            json!({"type": "context_edit", "targetId": first, "replacement": {"content": rest}})
        }
        "leaf" => json!({"type": "custom", "customType": "netaclaw.leaf"}),
        other => json!({"type": other}),
    };
    entry["id"] = Value::from(id);
    entry["parentId"] = match parent {
        "." => Value::Null,
        parent => Value::from(parent),
    };
    entry["timestamp"] = Value::from("2026-01-01T00:00:01.000Z");
    entry.to_string()
}

fn ids<'a>(ids: impl IntoIterator<Item = &'a EntryId>) -> String {
    let ids: Vec<&str> = ids.into_iter().map(EntryId::as_str).collect();
    ids.join(" ")
}
