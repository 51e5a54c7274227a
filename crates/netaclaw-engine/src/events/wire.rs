//! Entries as they go to clients: as they are stored, with the tool calls of answers summarized, and
//! without the bytes of large images, which are fetched one by one when they are looked at.

use crate::events::executions::{Results, answer_above};
use netaclaw_protocol::{EntryId, ToolExecution};
use netaclaw_session::{Entry, SessionTree};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Base64 that an image may have in place. Icons come along, photographs do not.
const IMAGE_CHARS_MAX: usize = 8 << 10;

/// The entry for a client. An image that is left out has empty `data`, its size in `bytes`, and its
/// number among the images of the entry in `image`.
fn wire_entry(entry: &Entry) -> Box<RawValue> {
    let text = entry.json();
    let slim = (text.len() > IMAGE_CHARS_MAX && text.contains("\"image\""))
        .then(|| without_images(text))
        .flatten();
    let text = slim.unwrap_or_else(|| text.to_owned());
    RawValue::from_string(text).expect("an entry is JSON")
}

/// Entries of a tree for a client: answers have their tool calls in `metadata.toolExecutions`.
pub fn wire_entries(tree: &SessionTree, entries: &[&Entry]) -> Vec<Box<RawValue>> {
    let Some(first) = entries.first() else {
        return Vec::new();
    };
    // Results come after their answers, so that what is older than the first entry is not read.
    let log = tree.entries();
    let from = log.iter().rposition(|entry| entry.id() == first.id());
    let log = log.get(from.unwrap_or(0)..).unwrap_or_default();
    let results = Results::read(log.iter(), |id| tree.get(id));
    let entries = entries.iter();
    entries.map(|entry| projected(entry, &results)).collect()
}

/// The same for all entries of a session, in the order they were appended.
pub fn wire_log(entries: &[Entry]) -> Vec<Box<RawValue>> {
    let by_id: HashMap<&EntryId, &Entry> =
        entries.iter().map(|entry| (entry.id(), entry)).collect();
    let results = Results::read(entries.iter(), |id| by_id.get(id).copied());
    let entries = entries.iter();
    entries.map(|entry| projected(entry, &results)).collect()
}

/// The answer to which an entry is a result, as it is shown with it.
pub(crate) fn answer_of(tree: &SessionTree, result: &Entry) -> Option<Box<RawValue>> {
    let answer = answer_above(tree.get(result.id())?, |id| tree.get(id))?;
    wire_entries(tree, &[answer]).pop()
}

/// An entry that has no results yet.
pub(crate) fn wire_new(entry: &Entry) -> Box<RawValue> {
    projected(entry, &Results::default())
}

fn projected(entry: &Entry, results: &Results<'_>) -> Box<RawValue> {
    let wired = wire_entry(entry);
    match results.executions(entry) {
        none if none.is_empty() => wired,
        executions => with_executions(&wired, &executions),
    }
}

fn with_executions(entry: &RawValue, executions: &[ToolExecution]) -> Box<RawValue> {
    let Ok(Value::Object(mut entry)) = serde_json::from_str(entry.get()) else {
        return entry.to_owned();
    };
    let metadata = entry.entry("metadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("toolExecutions".to_owned(), json!(executions));
    }
    let text = Value::Object(entry).to_string();
    RawValue::from_string(text).expect("it was made of JSON")
}

/// An image of an entry: its type and its Base64.
pub fn entry_image(entry: &Entry, number: usize) -> Option<(String, String)> {
    let mut value: Value = serde_json::from_str(entry.json()).ok()?;
    let image = images(&mut value).nth(number)?;
    let text = |field: &str| image[field].as_str().map(str::to_owned);
    Some((text("mimeType")?, text("data")?))
}

fn without_images(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let mut changed = false;
    for (number, image) in images(&mut value).enumerate() {
        let chars = image["data"].as_str().map_or(0, str::len);
        if chars > IMAGE_CHARS_MAX {
            image["bytes"] = Value::from(chars / 4 * 3);
            image["image"] = Value::from(number);
            image["data"] = Value::from("");
            changed = true;
        }
    }
    changed.then(|| value.to_string())
}

/// The image blocks of a message, or of a custom message.
fn images(entry: &mut Value) -> impl Iterator<Item = &mut Value> {
    let holder = match entry.get("message").is_some() {
        true => &mut entry["message"]["content"],
        false => &mut entry["content"],
    };
    let blocks = holder.as_array_mut().map(|blocks| blocks.iter_mut());
    blocks
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "image")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(content: &Value) -> Entry {
        let message = json!({"role": "user", "content": content});
        let line = json!({"type": "message", "id": "a", "parentId": null, "timestamp": "T", "message": message});
        Entry::parse(line.to_string()).unwrap()
    }

    #[test]
    fn large_images_stay_behind_and_are_fetched_by_number() {
        let large = "A".repeat(IMAGE_CHARS_MAX + 4);
        let image = |data: &str| json!({"type": "image", "mimeType": "image/png", "data": data});
        let text = json!({"type": "text", "text": "an \"image\""});
        let entry = entry(&json!([text, image("small"), image(&large)]));
        let wire: Value = serde_json::from_str(wire_entry(&entry).get()).unwrap();
        let content = &wire["message"]["content"];
        assert_eq!(content[1]["data"], "small");
        assert_eq!(
            (&content[2]["data"], &content[2]["image"]),
            (&json!(""), &json!(1))
        );
        assert_eq!(
            entry_image(&entry, 1),
            Some(("image/png".to_owned(), large))
        );
        assert_eq!(entry_image(&entry, 2), None);
    }

    #[test]
    fn everything_else_is_sent_as_it_is_stored() {
        let entry = entry(&json!("x".repeat(2 * IMAGE_CHARS_MAX)));
        assert_eq!(wire_entry(&entry).get(), entry.json());
    }
}
