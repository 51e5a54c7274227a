//! What chat completions refuse, with the errors of the real servers.
//!
//! Where OpenAI itself is generous and its copies are not (the order of roles, arguments that are
//! not JSON, empty messages), the stricter rule is enforced: a request that passes here passes
//! everywhere.

use super::render::prompt_tokens;
use crate::fake_model::refusal::Refusal;
use serde_json::Value;
use std::collections::HashSet;

/// Looks at the body of a request.
pub fn check(request: &Value, window: Option<u64>) -> Result<(), Refusal> {
    if !request.is_object() {
        return Err(Refusal::bad(
            "We could not parse the JSON body of your request.",
        ));
    }
    members(request)?;
    tools(request)?;
    messages(&request["messages"])?;
    fits(request, window)
}

/// A member's name, how its value is tested, and what it should be.
type Member = (&'static str, fn(&Value) -> bool, &'static str);

const MEMBERS: &[Member] = &[
    ("model", Value::is_string, "a string"),
    ("messages", Value::is_array, "an array"),
    ("stream", Value::is_boolean, "a boolean"),
    ("stream_options", Value::is_object, "an object"),
    ("tools", Value::is_array, "an array"),
    (
        "temperature",
        |v| v.as_f64().is_some_and(|t| (0.0..=2.0).contains(&t)),
        "a number from 0 to 2",
    ),
    (
        "max_tokens",
        |v| v.as_u64().is_some_and(|n| n > 0),
        "a positive integer",
    ),
    (
        "max_completion_tokens",
        |v| v.as_u64().is_some_and(|n| n > 0),
        "a positive integer",
    ),
    ("reasoning_effort", is_effort, "an effort"),
    // Members that only some suppliers support.
    (
        "thinking",
        |v| v["type"].is_string(),
        "an object with a type",
    ),
    ("enable_thinking", Value::is_boolean, "a boolean"),
    (
        "thinking_budget",
        |v| v.as_u64().is_some_and(|n| n > 0),
        "a positive integer",
    ),
    ("reasoning_split", Value::is_boolean, "a boolean"),
];

fn is_effort(value: &Value) -> bool {
    let names = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    value.as_str().is_some_and(|name| names.contains(&name))
}

fn members(request: &Value) -> Result<(), Refusal> {
    for (name, value) in request.as_object().into_iter().flatten() {
        let Some((_, is_good, kind)) = MEMBERS.iter().find(|(known, ..)| known == name) else {
            return Err(Refusal::bad(format!(
                "Unrecognized request argument supplied: {name}"
            )));
        };
        if !is_good(value) {
            return Err(Refusal::bad(format!(
                "Invalid type for '{name}': expected {kind}, but got {value} instead."
            ))
            .with_code("invalid_type"));
        }
    }
    for name in ["model", "messages"] {
        if request.get(name).is_none() {
            return Err(Refusal::bad(format!(
                "Missing required parameter: '{name}'."
            )));
        }
    }
    if request.get("stream_options").is_some() && request["stream"] != true {
        return Err(Refusal::bad(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        ));
    }
    Ok(())
}

fn tools(request: &Value) -> Result<(), Refusal> {
    let Some(tools) = request["tools"].as_array() else {
        return Ok(());
    };
    if tools.is_empty() {
        return Err(Refusal::bad("[] is too short - 'tools'"));
    }
    for (at, tool) in tools.iter().enumerate() {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        if tool["type"] != "function" || !is_name(name) {
            return Err(Refusal::bad(format!(
                "Invalid 'tools[{at}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )));
        }
        if function["parameters"]["type"] != "object" {
            return Err(Refusal::bad(format!(
                "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', got 'type: {}'.",
                function["parameters"]["type"]
            ))
            .with_code("invalid_function_parameters"));
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(is_word)
}

fn messages(messages: &Value) -> Result<(), Refusal> {
    let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        return Err(Refusal::bad("Invalid 'messages': empty array.").with_code("empty_array"));
    }
    let mut before = "";
    // The calls of the last answer that have no result yet.
    let mut open: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            answered(&open)?;
        }
        match role {
            "system" | "developer" if at == 0 => text_only(at, message)?,
            "user" if before != "user" => user(at, message)?,
            "assistant" if before != "assistant" && !matches!(before, "" | "system") => {
                open = answer(at, message)?;
            }
            "tool" => result(at, message, &mut open)?,
            "system" | "developer" | "user" | "assistant" => {
                return Err(Refusal::bad(
                    "Conversation roles must alternate user/assistant/user/assistant/... and begin with the user, after an optional system message.",
                ));
            }
            _ => {
                return Err(Refusal::bad(format!(
                    "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'."
                ))
                .with_code("invalid_value"));
            }
        }
        before = match role {
            "developer" => "system",
            // After results, either side may continue a conversation.
            "tool" => "tool",
            role => role,
        };
    }
    answered(&open)?;
    match before {
        "user" | "tool" => Ok(()),
        _ => Err(Refusal::bad(
            "The conversation must end with a user or tool message.",
        )),
    }
}

fn answered(open: &HashSet<&str>) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<&str> = open.iter().copied().collect();
    ids.sort_unstable();
    Err(Refusal::bad(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        ids.join(", ")
    )))
}

fn text_only(at: usize, message: &Value) -> Result<(), Refusal> {
    match message["content"].as_str() {
        Some(text) if !text.trim().is_empty() => Ok(()),
        _ => Err(Refusal::bad(format!(
            "Invalid value for 'messages[{at}].content': expected a non-empty string."
        ))),
    }
}

fn user(at: usize, message: &Value) -> Result<(), Refusal> {
    let Some(parts) = message["content"].as_array() else {
        return text_only(at, message);
    };
    let good = |part: &Value| match part["type"].as_str() {
        Some("text") => part["text"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty()),
        Some("image_url") => part["image_url"]["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("data:image/") && url.contains(";base64,")),
        _ => false,
    };
    match parts.is_empty() || !parts.iter().all(good) {
        true => Err(Refusal::bad(format!(
            "Invalid 'messages[{at}].content': expected text and image_url parts that say something."
        ))),
        false => Ok(()),
    }
}

fn answer(at: usize, message: &Value) -> Result<HashSet<&str>, Refusal> {
    let calls = match &message["tool_calls"] {
        Value::Null => &[][..],
        Value::Array(calls) if !calls.is_empty() => calls,
        _ => {
            return Err(Refusal::bad(format!(
                "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
            )));
        }
    };
    for field in ["reasoning_content", "reasoning"] {
        if !matches!(message[field], Value::Null | Value::String(_)) {
            return Err(Refusal::bad(format!(
                "Invalid type for 'messages[{at}].{field}'."
            )));
        }
    }
    if calls.is_empty() || !message["content"].is_null() {
        text_only(at, message)?;
    }
    let mut ids = HashSet::new();
    for (n, call) in calls.iter().enumerate() {
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() || id.len() > 40 {
            return Err(Refusal::bad(format!(
                "Invalid 'messages[{at}].tool_calls[{n}].id': string too long. Expected a string with maximum length 40, but got a string with length {} instead.",
                id.len()
            )));
        }
        if !ids.insert(id) {
            return Err(Refusal::bad(format!("Duplicate tool call id '{id}'.")));
        }
        let function = &call["function"];
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object());
        if call["type"] != "function"
            || !is_name(function["name"].as_str().unwrap_or_default())
            || !is_object
        {
            return Err(Refusal::bad(format!(
                "Invalid 'messages[{at}].tool_calls[{n}].function': expected a name and arguments as JSON text."
            )));
        }
    }
    Ok(ids)
}

fn result<'a>(at: usize, message: &'a Value, open: &mut HashSet<&'a str>) -> Result<(), Refusal> {
    let id = message["tool_call_id"].as_str().unwrap_or_default();
    if !open.remove(id) {
        return Err(Refusal::bad(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        ));
    }
    if message["content"].is_array() {
        return Err(Refusal::bad(format!(
            "Invalid 'messages[{at}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL."
        )));
    }
    text_only(at, message)
}

fn fits(request: &Value, window: Option<u64>) -> Result<(), Refusal> {
    let Some(window) = window else {
        return Ok(());
    };
    match prompt_tokens(request) {
        tokens if tokens > window => Err(Refusal::bad(format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
        ))
        .with_code("context_length_exceeded")),
        _ => Ok(()),
    }
}
