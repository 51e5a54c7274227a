//! What the Messages API refuses about the messages.

use crate::fake_model::refusal::Refusal;
use crate::fake_model::signature_of;
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn check(messages: &[Value]) -> Result<(), Refusal> {
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    match messages.first().map(role).as_deref() {
        None => return Err(Refusal::bad("messages: at least one message is required")),
        Some("user") => {}
        Some(_) => {
            return Err(Refusal::bad(
                "messages: first message must use the \"user\" role",
            ));
        }
    }
    if messages.last().map(role).as_deref() != Some("user") {
        return Err(Refusal::bad(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &messages[before]);
        match (role(message).as_str(), before.map(role).as_deref()) {
            ("user", Some("user")) | ("assistant", Some("assistant")) => {
                return Err(Refusal::bad(format!(
                    "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{}\" roles in a row",
                    role(message)
                )));
            }
            ("user" | "assistant", _) => {}
            (other, _) => {
                return Err(Refusal::bad(format!(
                    "messages.{at}.role: Input should be 'user' or 'assistant', not '{other}'"
                )));
            }
        }
        blocks_of(at, message)?;
        unique_ids(at, message, &mut ids)?;
        results(at, message, before)?;
        calls_are_answered(at, message, messages.get(at + 1))?;
    }
    Ok(())
}

/// Every block of some messages.
pub(super) fn blocks(messages: &[Value]) -> impl Iterator<Item = &Value> {
    messages
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
}

pub(super) fn is_word(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.chars().all(good)
}

fn blocks_of(at: usize, message: &Value) -> Result<(), Refusal> {
    let blocks = match &message["content"] {
        Value::String(text) if !text.trim().is_empty() => return Ok(()),
        Value::Array(blocks) if !blocks.is_empty() => blocks,
        _ => {
            return Err(Refusal::bad(format!(
                "messages.{at}: all messages must have non-empty content"
            )));
        }
    };
    for (n, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{n}");
        let from_user = message["role"] == "user";
        match block["type"].as_str().unwrap_or_default() {
            "text" => text(&place, block)?,
            "image" if from_user => image(&place, block)?,
            "tool_result" if from_user => result(&place, block)?,
            "tool_use" if !from_user => call(&place, block)?,
            "thinking" if !from_user => thinking(&place, block)?,
            "redacted_thinking" if !from_user => redacted(&place, block)?,
            other => {
                return Err(Refusal::bad(format!(
                    "{place}: Input tag '{other}' found using 'type' does not match any of the expected tags"
                )));
            }
        }
    }
    let last = blocks.last().and_then(|block| block["type"].as_str());
    match last {
        Some("thinking" | "redacted_thinking") => Err(Refusal::bad(format!(
            "messages.{at}.content.{}: The final block in an assistant message cannot be `thinking`.",
            blocks.len() - 1
        ))),
        _ => Ok(()),
    }
}

fn text(place: &str, block: &Value) -> Result<(), Refusal> {
    match block["text"].as_str() {
        None => Err(Refusal::bad(format!("{place}.text.text: Field required"))),
        Some("") => Err(Refusal::bad(
            "messages: text content blocks must be non-empty",
        )),
        Some(text) if text.trim().is_empty() => Err(Refusal::bad(
            "messages: text content blocks must contain non-whitespace text",
        )),
        Some(_) => Ok(()),
    }
}

fn image(place: &str, block: &Value) -> Result<(), Refusal> {
    let source = &block["source"];
    let kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    let media = source["media_type"].as_str().unwrap_or_default();
    if source["type"] != "base64" || !kinds.contains(&media) {
        return Err(Refusal::bad(format!(
            "{place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        )));
    }
    match source["data"].as_str() {
        Some(data) if !data.is_empty() => Ok(()),
        _ => Err(Refusal::bad(format!(
            "{place}.image.source.base64.data: Field required"
        ))),
    }
}

fn call(place: &str, block: &Value) -> Result<(), Refusal> {
    if !is_word(block["id"].as_str().unwrap_or_default()) {
        return Err(Refusal::bad(format!(
            "{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        )));
    }
    let name = block["name"].as_str().unwrap_or_default();
    if !is_word(name) || name.len() > 128 {
        return Err(Refusal::bad(format!(
            "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        )));
    }
    match block["input"].is_object() {
        true => Ok(()),
        false => Err(Refusal::bad(format!(
            "{place}.tool_use.input: Input should be a valid dictionary"
        ))),
    }
}

fn result(place: &str, block: &Value) -> Result<(), Refusal> {
    for (n, part) in block["content"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let place = format!("{place}.content.{n}");
        match part["type"].as_str() {
            Some("text") => text(&place, part)?,
            Some("image") => image(&place, part)?,
            _ => {
                return Err(Refusal::bad(format!(
                    "{place}: Input should be text or image"
                )));
            }
        }
    }
    Ok(())
}

fn thinking(place: &str, block: &Value) -> Result<(), Refusal> {
    let text = block["thinking"].as_str().unwrap_or_default();
    match block["signature"].as_str() {
        None | Some("") => Err(Refusal::bad(format!(
            "{place}.thinking.signature: Field required"
        ))),
        Some(signature) if signature == signature_of(text) => Ok(()),
        Some(_) => Err(Refusal::bad(format!(
            "{place}: Invalid `signature` in `thinking` block"
        ))),
    }
}

fn redacted(place: &str, block: &Value) -> Result<(), Refusal> {
    match block["data"].as_str() {
        Some(data) if !data.is_empty() => Ok(()),
        _ => Err(Refusal::bad(format!(
            "{place}.redacted_thinking.data: Field required"
        ))),
    }
}

fn ids<'a>(message: &'a Value, kind: &str, name: &str) -> Vec<&'a str> {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == kind)
        .filter_map(|block| block[name].as_str())
        .collect()
}

fn unique_ids<'a>(
    at: usize,
    message: &'a Value,
    seen: &mut HashSet<&'a str>,
) -> Result<(), Refusal> {
    match ids(message, "tool_use", "id")
        .into_iter()
        .all(|id| seen.insert(id))
    {
        true => Ok(()),
        false => Err(Refusal::bad(format!(
            "messages.{at}: `tool_use` ids must be unique"
        ))),
    }
}

/// Results answer the message before, each once, and come before anything else.
fn results(at: usize, message: &Value, before: Option<&Value>) -> Result<(), Refusal> {
    let called = before
        .map(|before| ids(before, "tool_use", "id"))
        .unwrap_or_default();
    let mut answered = HashSet::new();
    for id in ids(message, "tool_result", "tool_use_id") {
        if !called.contains(&id) {
            return Err(Refusal::bad(format!(
                "messages.{at}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )));
        }
        if !answered.insert(id) {
            return Err(Refusal::bad(format!(
                "messages.{at}.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            )));
        }
    }
    Ok(())
}

fn calls_are_answered(at: usize, message: &Value, next: Option<&Value>) -> Result<(), Refusal> {
    let called = ids(message, "tool_use", "id");
    // Only the beginning of the next message counts as right after.
    let blocks = next.and_then(|next| next["content"].as_array());
    let answered: HashSet<&str> = blocks
        .into_iter()
        .flatten()
        .take_while(|block| block["type"] == "tool_result")
        .filter_map(|block| block["tool_use_id"].as_str())
        .collect();
    let missing: Vec<&str> = called
        .into_iter()
        .filter(|id| !answered.contains(id))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Refusal::bad(format!(
            "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            missing.join(", ")
        ))),
    }
}
