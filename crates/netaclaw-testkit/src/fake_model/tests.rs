//! The fake is only worth something if it says no.

use super::{anthropic, openai, signature_of};
use serde_json::{Value, json};

/// A good request with some members replaced.
fn with(base: Value, changes: Value) -> Value {
    let mut request = base;
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(request.as_object_mut().unwrap().remove(name)),
            value => request[name] = value.clone(),
        }
    }
    request
}

fn chat(changes: Value) -> Value {
    let good = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": true,
        "tools": [{"type": "function", "function": {
            "name": "ls", "description": "", "parameters": {"type": "object"},
        }}],
    });
    with(good, changes)
}

fn message(changes: Value) -> Value {
    let good = json!({
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "stream": true,
        "tools": [{"name": "ls", "description": "", "input_schema": {"type": "object"}}],
    });
    with(good, changes)
}

#[track_caller]
fn chat_refuses(changes: Value, because: &str) {
    match openai::check(&chat(changes.clone()), None) {
        Err(refusal) => assert!(refusal.message.contains(because), "{}", refusal.message),
        Ok(()) => panic!("accepted {changes}"),
    }
}

#[track_caller]
fn message_refuses(changes: Value, because: &str) {
    match anthropic::check(&message(changes.clone()), None) {
        Err(refusal) => assert!(refusal.message.contains(because), "{}", refusal.message),
        Ok(()) => panic!("accepted {changes}"),
    }
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}})
}

#[test]
fn chat_completions_refuse_bad_requests() {
    assert_eq!(openai::check(&chat(json!({})), None), Ok(()));
    chat_refuses(
        json!({"model": null}),
        "Missing required parameter: 'model'",
    );
    chat_refuses(json!({"messages": []}), "empty array");
    chat_refuses(
        json!({"surprise": 1}),
        "Unrecognized request argument supplied: surprise",
    );
    chat_refuses(
        json!({"temperature": "hot"}),
        "Invalid type for 'temperature'",
    );
    chat_refuses(json!({"max_tokens": 0}), "Invalid type for 'max_tokens'");
    chat_refuses(
        json!({"stream": false, "stream_options": {}}),
        "only allowed when 'stream'",
    );
    chat_refuses(json!({"tools": []}), "too short");
    let tool =
        json!({"type": "function", "function": {"name": "a b", "parameters": {"type": "object"}}});
    chat_refuses(json!({"tools": [tool]}), "does not match pattern");
    let tool =
        json!({"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}});
    chat_refuses(
        json!({"tools": [tool]}),
        "schema must be a JSON Schema of 'type: \"object\"'",
    );
}

#[test]
fn chat_completions_refuse_bad_conversations() {
    let user = json!({"role": "user", "content": "hi"});
    let calls = |ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let said = json!({"role": "assistant", "content": "so"});
    let good = json!({"messages": [user, calls(&["1", "2"]), result("2"), result("1"), user]});
    assert_eq!(openai::check(&chat(good), None), Ok(()));
    for (messages, because) in [
        (
            json!([user, calls(&["1"])]),
            "did not have response messages: 1",
        ),
        (
            json!([user, calls(&["1", "2"]), result("1"), user]),
            "did not have response messages: 2",
        ),
        (
            json!([user, result("1")]),
            "must be a response to a preceeding message",
        ),
        (
            json!([user, calls(&["1"]), result("1"), result("1")]),
            "must be a response",
        ),
        (
            json!([user, calls(&["1"]), user, result("1")]),
            "did not have response messages",
        ),
        (
            json!([user, calls(&["1", "1"]), result("1")]),
            "Duplicate tool call id",
        ),
        (
            json!([user, calls(&["x".repeat(41).as_str()])]),
            "maximum length 40",
        ),
        (json!([user, user]), "roles must alternate"),
        (json!([said, user]), "roles must alternate"),
        (json!([user, said, said, user]), "roles must alternate"),
        (
            json!([user, {"role": "system", "content": "x"}]),
            "roles must alternate",
        ),
        (json!([user, said]), "must end with a user or tool message"),
        (json!([{"role": "user", "content": " "}]), "non-empty"),
        (
            json!([{"role": "user", "content": []}]),
            "that say something",
        ),
        (
            json!([{"role": "robot", "content": "x"}]),
            "Invalid value: 'robot'",
        ),
        (
            json!([user, {"role": "assistant", "content": null}, user]),
            "non-empty",
        ),
        (
            json!([user, {"role": "assistant", "content": "x", "tool_calls": []}, user]),
            "empty array",
        ),
    ] {
        chat_refuses(json!({"messages": messages}), because);
    }
    let broken =
        json!({"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{"}});
    let broken = json!({"role": "assistant", "content": null, "tool_calls": [broken]});
    chat_refuses(
        json!({"messages": [user, broken, result("1")]}),
        "arguments as JSON text",
    );
    let picture =
        json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}]);
    let shown = json!({"role": "tool", "tool_call_id": "1", "content": picture});
    chat_refuses(
        json!({"messages": [user, calls(&["1"]), shown]}),
        "Image URLs are only allowed",
    );
}

#[test]
fn messages_refuse_bad_requests() {
    assert_eq!(anthropic::check(&message(json!({})), None), Ok(()));
    message_refuses(json!({"max_tokens": null}), "max_tokens: Field required");
    message_refuses(
        json!({"surprise": 1}),
        "surprise: Extra inputs are not permitted",
    );
    message_refuses(json!({"temperature": 1.5}), "temperature: range: 0..1");
    message_refuses(
        json!({"system": [{"type": "text", "text": ""}]}),
        "must be non-empty",
    );
    let tool = json!({"name": "ls", "input_schema": {"type": "object"}});
    message_refuses(json!({"tools": [tool, tool]}), "must be unique");
    message_refuses(
        json!({"tools": [{"name": "l s", "input_schema": {"type": "object"}}]}),
        "match pattern",
    );
    message_refuses(
        json!({"tools": [{"name": "ls", "input_schema": {}}]}),
        "should be 'object'",
    );
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    message_refuses(
        json!({"thinking": budget(100)}),
        "greater than or equal to 1024",
    );
    message_refuses(
        json!({"thinking": budget(5000)}),
        "must be greater than `thinking.budget_tokens`",
    );
    message_refuses(
        json!({"thinking": budget(2000), "temperature": 0.5}),
        "only be set to 1",
    );
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    message_refuses(
        json!({"system": [marked, marked, marked, marked, marked]}),
        "A maximum of 4 blocks",
    );
}

#[test]
fn messages_refuse_bad_conversations() {
    let says = |role: &str, blocks: Value| json!({"role": role, "content": blocks});
    let text = |text: &str| json!({"type": "text", "text": text});
    let user = says("user", json!([text("hi")]));
    let uses = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}});
    let result =
        |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [text("x")]});
    let answer = |blocks: Value| says("assistant", blocks);
    let good = json!([
        user,
        answer(json!([
            {"type": "thinking", "thinking": "hm", "signature": signature_of("hm")},
            text("a"),
            uses("1"),
            uses("2"),
        ])),
        says("user", json!([result("2"), result("1"), text("and")])),
    ]);
    let changes = json!({"messages": good, "thinking": {"type": "enabled", "budget_tokens": 1024}});
    assert_eq!(anthropic::check(&message(changes), None), Ok(()));
    for (messages, because) in [
        (json!([]), "at least one message"),
        (
            json!([answer(json!([text("a")])), user]),
            "first message must use",
        ),
        (json!([user, user]), "roles must alternate"),
        (
            json!([user, answer(json!([text("a")]))]),
            "must end with a user message",
        ),
        (json!([says("user", json!([]))]), "non-empty content"),
        (
            json!([says("user", json!([text("")]))]),
            "must be non-empty",
        ),
        (json!([says("user", json!([text(" ")]))]), "non-whitespace"),
        (
            json!([says("system", json!([text("x")]))]),
            "first message must use",
        ),
        (
            json!([user, answer(json!([uses("1")])), user]),
            "without `tool_result` blocks immediately after: 1",
        ),
        (
            json!([
                user,
                answer(json!([uses("1")])),
                says("user", json!([text("x"), result("1")]))
            ]),
            "without `tool_result`",
        ),
        (
            json!([says("user", json!([result("1")]))]),
            "unexpected `tool_use_id`",
        ),
        (
            json!([
                user,
                answer(json!([uses("1")])),
                says("user", json!([result("1"), result("1")]))
            ]),
            "single result",
        ),
        (
            json!([
                user,
                answer(json!([uses("a b")])),
                says("user", json!([result("a b")]))
            ]),
            "match pattern",
        ),
        (
            json!([
                user,
                answer(json!([uses("1"), uses("1")])),
                says("user", json!([result("1")]))
            ]),
            "ids must be unique",
        ),
        (
            json!([
                user,
                answer(json!([{"type": "tool_use", "id": "1", "name": "ls", "input": "x"}])),
                user
            ]),
            "valid dictionary",
        ),
        (
            json!([
                user,
                answer(json!([{"type": "thinking", "thinking": "hm"}, text("a")])),
                user
            ]),
            "signature: Field required",
        ),
        (
            json!([
                user,
                answer(
                    json!([{"type": "thinking", "thinking": "hm", "signature": "x"}, text("a")])
                ),
                user
            ]),
            "Invalid `signature`",
        ),
        (
            json!([
                user,
                answer(json!([text("a"), {"type": "redacted_thinking", "data": "x"}])),
                user
            ]),
            "final block",
        ),
    ] {
        message_refuses(json!({"messages": messages}), because);
    }
    let loop_ = json!([
        user,
        answer(json!([uses("1")])),
        says("user", json!([result("1")]))
    ]);
    message_refuses(
        json!({"messages": loop_, "thinking": {"type": "enabled", "budget_tokens": 1024}}),
        "Expected `thinking`",
    );
    message_refuses(
        json!({"messages": loop_, "tools": null}),
        "must define tools",
    );
}

#[test]
fn a_window_can_be_full() {
    let long = "word ".repeat(1000);
    let refusal = openai::check(
        &chat(json!({"messages": [{"role": "user", "content": long}]})),
        Some(100),
    );
    assert_eq!(refusal.unwrap_err().code, Some("context_length_exceeded"));
    let messages = json!([{"role": "user", "content": long}]);
    let refusal = anthropic::check(&message(json!({"messages": messages})), Some(100));
    assert!(
        refusal
            .unwrap_err()
            .message
            .starts_with("prompt is too long")
    );
}
