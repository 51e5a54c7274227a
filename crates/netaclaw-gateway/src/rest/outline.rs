//! A session as a tree with a few words at every entry.

use netaclaw_protocol::{SessionTreeView, TreeEntry};
use netaclaw_session::{Entry, EntryKind, NavigationTree, Role, SessionTree};
use serde::Deserialize;
use serde_json::Value;

const PREVIEW_CHARS_MAX: usize = 120;

pub(super) fn outline(tree: &SessionTree) -> SessionTreeView {
    let places = NavigationTree::new(tree);
    let entries = places.iter().map(|(entry, above)| {
        let label = tree.labels().get(entry.id());
        let words = words(entry);
        TreeEntry {
            id: entry.id().clone(),
            parent_id: above.cloned(),
            kind: entry.type_name().into_owned(),
            role: words.role,
            timestamp: entry.timestamp().into_owned(),
            preview: words.preview.and_then(|text| shortened(&text)),
            label: label.map(|label| label.text.clone()),
            tool_names: words.tool_names,
            is_error: words.is_error,
        }
    });
    SessionTreeView {
        leaf_entry_id: tree.leaf().cloned(),
        entries: entries.collect(),
        skipped_lines: tree.skipped_lines(),
    }
}

#[derive(Default)]
struct TextOf {
    role: Option<String>,
    preview: Option<String>,
    tool_names: Vec<String>,
    is_error: bool,
}

/// What is read of a message; the rest, such as images, is skipped over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: Option<String>,
    content: Option<Content>,
    tool_name: Option<String>,
    #[serde(default)]
    is_error: bool,
    stop_reason: Option<String>,
    error_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    name: Option<String>,
}

fn words(entry: &Entry) -> TextOf {
    let field = |name| entry.text_field(name).map(std::borrow::Cow::into_owned);
    let preview = match entry.kind() {
        EntryKind::Message => return message_words(entry),
        EntryKind::Compaction | EntryKind::BranchSummary => field("summary"),
        EntryKind::ThinkingLevelChange => field("thinkingLevel"),
        EntryKind::ModelChange => field("modelId"),
        EntryKind::CustomMessage => custom_text(entry),
        _ => field("customType"),
    };
    TextOf {
        preview,
        ..TextOf::default()
    }
}

fn message_words(entry: &Entry) -> TextOf {
    let message = entry.message_json();
    let Some(message) = message.and_then(|json| serde_json::from_str::<Message>(json).ok()) else {
        return TextOf::default();
    };
    let (text, calls) = match message.content {
        Some(Content::Text(text)) => (Some(text), Vec::new()),
        Some(Content::Blocks(blocks)) => read_blocks(blocks),
        Some(Content::Other(_)) | None => (None, Vec::new()),
    };
    let tool_names = match entry.role() {
        Role::ToolResult => message.tool_name.into_iter().collect(),
        _ => calls,
    };
    TextOf {
        role: message.role,
        preview: text.or(message.error_message),
        tool_names,
        is_error: message.is_error || message.stop_reason.as_deref() == Some("error"),
    }
}

/// The first text and the names of the called tools.
fn read_blocks(blocks: Vec<Block>) -> (Option<String>, Vec<String>) {
    let mut text = None;
    let mut calls = Vec::new();
    for block in blocks {
        match block.kind.as_str() {
            "toolCall" => calls.extend(block.name),
            "text" if text.is_none() => text = block.text.filter(|text| !text.trim().is_empty()),
            _ => {}
        }
    }
    (text, calls)
}

fn custom_text(entry: &Entry) -> Option<String> {
    let content: Value = serde_json::from_str(entry.field("content")?).ok()?;
    match content {
        Value::String(text) => Some(text),
        Value::Array(blocks) => blocks
            .iter()
            .find_map(|block| block["text"].as_str())
            .map(str::to_owned),
        _ => None,
    }
}

/// One line of a few words; none if there are none.
fn shortened(text: &str) -> Option<String> {
    let mut line = String::new();
    let mut left = PREVIEW_CHARS_MAX;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            left = left.saturating_sub(1);
        }
        for character in word.chars() {
            if left == 0 {
                line.push('…');
                return Some(line);
            }
            line.push(character);
            left -= 1;
        }
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::SessionLog;

    fn tree(lines: &[&str]) -> SessionTree {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/"}"#;
        let text = format!("{header}\n{}\n", lines.join("\n"));
        SessionTree::new(SessionLog::parse(text.into_bytes()).unwrap())
    }

    #[test]
    fn every_entry_has_words_to_know_it_by() {
        let tree = tree(&[
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"T","message":{"role":"user","content":" Hello\n  there "}}"#,
            r#"{"type":"message","id":"b","parentId":"a","timestamp":"T","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Look"},{"type":"toolCall","id":"1","name":"read","arguments":{}}]}}"#,
            r#"{"type":"label","id":"l","parentId":"b","timestamp":"T","targetId":"a","label":"start"}"#,
            r#"{"type":"message","id":"c","parentId":"l","timestamp":"T","message":{"role":"toolResult","toolCallId":"1","toolName":"read","isError":true,"content":[{"type":"text","text":"no such file"}]}}"#,
            r#"{"type":"model_change","id":"d","parentId":"c","timestamp":"T","provider":"p","modelId":"m"}"#,
            r#"{"type":"message","id":"e","parentId":"d","timestamp":"T","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}}"#,
        ]);
        let view = serde_json::to_value(outline(&tree)).unwrap();
        let expected = serde_json::json!({
            "leafEntryId": "e",
            "skippedLines": 0,
            "entries": [
                {"id": "a", "type": "message", "role": "user", "timestamp": "T", "preview": "Hello there", "label": "start"},
                {"id": "b", "parentId": "a", "type": "message", "role": "assistant", "timestamp": "T", "preview": "Look", "toolNames": ["read"]},
                {"id": "c", "parentId": "b", "type": "message", "role": "toolResult", "timestamp": "T", "preview": "no such file", "toolNames": ["read"], "isError": true},
                {"id": "d", "parentId": "c", "type": "model_change", "timestamp": "T", "preview": "m"},
                {"id": "e", "parentId": "d", "type": "message", "role": "assistant", "timestamp": "T", "preview": "overloaded", "isError": true},
            ],
        });
        assert_eq!(view, expected);
    }

    #[test]
    fn previews_are_short() {
        let long = shortened(&"长".repeat(500)).unwrap();
        assert_eq!(long.chars().count(), PREVIEW_CHARS_MAX + 1);
        assert_eq!(shortened(" \n "), None);
    }
}
