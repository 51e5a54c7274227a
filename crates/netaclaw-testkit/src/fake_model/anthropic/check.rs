//! What the Messages API refuses about a request as a whole, in the words of the real one.

use super::content;
use super::render::prompt_tokens;
use crate::fake_model::refusal::Refusal;
use serde_json::Value;
use std::collections::HashSet;

/// Looks at the body of a request.
pub fn check(request: &Value, window: Option<u64>) -> Result<(), Refusal> {
    if !request.is_object() {
        return Err(Refusal::bad("The request body is not valid JSON"));
    }
    members(request)?;
    system(&request["system"])?;
    tools(&request["tools"])?;
    thinking(request)?;
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    content::check(messages)?;
    tools_are_defined(request, messages)?;
    thinking_goes_on(request, messages)?;
    cache_marks(request)?;
    fits(request, window)
}

/// A member's name, how its value is tested, and what the server says otherwise.
type Member = (&'static str, fn(&Value) -> bool, &'static str);

const MEMBERS: &[Member] = &[
    ("model", Value::is_string, "Input should be a valid string"),
    ("messages", Value::is_array, "Input should be a valid list"),
    (
        "max_tokens",
        |v| v.as_u64().is_some_and(|n| n > 0),
        "Input should be greater than or equal to 1",
    ),
    (
        "stream",
        Value::is_boolean,
        "Input should be a valid boolean",
    ),
    (
        "system",
        |v| v.is_array() || v.is_string(),
        "Input should be a valid list",
    ),
    ("tools", Value::is_array, "Input should be a valid list"),
    (
        "thinking",
        Value::is_object,
        "Input should be a valid dictionary",
    ),
    (
        "output_config",
        |v| v["effort"].is_string(),
        "Input should be a valid dictionary",
    ),
    (
        "temperature",
        |v| v.as_f64().is_some_and(|t| (0.0..=1.0).contains(&t)),
        "range: 0..1",
    ),
];

fn members(request: &Value) -> Result<(), Refusal> {
    for (name, value) in request.as_object().into_iter().flatten() {
        let Some((_, is_good, message)) = MEMBERS.iter().find(|(known, ..)| known == name) else {
            return Err(Refusal::bad(format!(
                "{name}: Extra inputs are not permitted"
            )));
        };
        if !is_good(value) {
            return Err(Refusal::bad(format!("{name}: {message}")));
        }
    }
    for name in ["model", "max_tokens", "messages"] {
        if request.get(name).is_none() {
            return Err(Refusal::bad(format!("{name}: Field required")));
        }
    }
    Ok(())
}

fn system(system: &Value) -> Result<(), Refusal> {
    for (at, block) in system.as_array().into_iter().flatten().enumerate() {
        if block["text"]
            .as_str()
            .is_none_or(|text| text.trim().is_empty())
        {
            return Err(Refusal::bad(format!(
                "system.{at}: text content blocks must be non-empty"
            )));
        }
    }
    Ok(())
}

fn tools(tools: &Value) -> Result<(), Refusal> {
    let mut names = HashSet::new();
    for (at, tool) in tools.as_array().into_iter().flatten().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !content::is_word(name) || name.len() > 128 {
            return Err(Refusal::bad(format!(
                "tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        if !names.insert(name) {
            return Err(Refusal::bad("tools: Tool names must be unique."));
        }
        if tool["input_schema"]["type"] != "object" {
            return Err(Refusal::bad(format!(
                "tools.{at}.custom.input_schema.type: Input should be 'object'"
            )));
        }
    }
    Ok(())
}

fn thinking(request: &Value) -> Result<(), Refusal> {
    let thinking = &request["thinking"];
    let max = request["max_tokens"].as_u64().unwrap_or_default();
    match thinking["type"].as_str() {
        None | Some("adaptive" | "disabled") => Ok(()),
        Some("enabled") => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            if budget < 1024 {
                return Err(Refusal::bad(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
                ));
            }
            if max <= budget {
                return Err(Refusal::bad(
                    "`max_tokens` must be greater than `thinking.budget_tokens`.",
                ));
            }
            match request["temperature"].as_f64() {
                Some(temperature) if temperature != 1.0 => Err(Refusal::bad(
                    "`temperature` may only be set to 1 when thinking is enabled.",
                )),
                _ => Ok(()),
            }
        }
        Some(other) => Err(Refusal::bad(format!(
            "thinking: Input tag '{other}' found using 'type' does not match any of the expected tags"
        ))),
    }
}

fn tools_are_defined(request: &Value, messages: &[Value]) -> Result<(), Refusal> {
    let defined = request["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty());
    let used = content::blocks(messages)
        .any(|block| matches!(block["type"].as_str(), Some("tool_use" | "tool_result")));
    match used && !defined {
        true => Err(Refusal::bad(
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        )),
        false => Ok(()),
    }
}

/// With a budget, the answer that made the last calls has to begin with its thinking.
fn thinking_goes_on(request: &Value, messages: &[Value]) -> Result<(), Refusal> {
    let at = messages.iter().rposition(|m| m["role"] == "assistant");
    let (Some(at), Some("enabled")) = (at, request["thinking"]["type"].as_str()) else {
        return Ok(());
    };
    let kinds: Vec<&str> = content::blocks(&messages[at..=at])
        .filter_map(|block| block["type"].as_str())
        .collect();
    let begins = matches!(kinds.first(), Some(&("thinking" | "redacted_thinking")));
    match kinds.contains(&"tool_use") && !begins {
        true => Err(Refusal::bad(format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
            kinds.first().unwrap_or(&"nothing")
        ))),
        false => Ok(()),
    }
}

fn cache_marks(request: &Value) -> Result<(), Refusal> {
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let lists = ["system", "tools"]
        .iter()
        .filter_map(|name| request[*name].as_array())
        .flatten();
    let marked: Vec<&Value> = lists
        .chain(content::blocks(messages))
        .filter(|block| block.get("cache_control").is_some())
        .collect();
    if marked.len() > 4 {
        return Err(Refusal::bad(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            marked.len()
        )));
    }
    let thinking = |block: &&Value| {
        block["type"]
            .as_str()
            .is_some_and(|t| t.contains("thinking"))
    };
    match marked.iter().any(thinking) {
        true => Err(Refusal::bad(
            "cache_control cannot be set for thinking blocks",
        )),
        false => Ok(()),
    }
}

fn fits(request: &Value, window: Option<u64>) -> Result<(), Refusal> {
    let Some(window) = window else {
        return Ok(());
    };
    match prompt_tokens(request) {
        tokens if tokens > window => Err(Refusal::bad(format!(
            "prompt is too long: {tokens} tokens > {window} maximum"
        ))),
        _ => Ok(()),
    }
}
