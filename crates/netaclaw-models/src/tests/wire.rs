//! Pair safety on real requests: whatever a session holds, a strict server accepts the bytes for
//! every API. Otherwise one bad entry would make a session unusable for good.

use crate::catalogue::{self, ApiFamily};
use crate::channel::Channel;
use crate::payload::read_context;
use crate::request::{ModelRequest, SystemPrompt, ToolDefinition};
use crate::{anthropic, openai};
use netaclaw_protocol::{ChannelModel, Supplier, ThinkingLevel};
use netaclaw_testkit::fake_model::{self, signature_of};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Few ids, so that they repeat, and some that no API likes.
fn id() -> impl Strategy<Value = String> {
    let long = "x".repeat(70);
    select(vec![
        "1".to_owned(),
        "2".to_owned(),
        "call_3".to_owned(),
        String::new(),
        "functions.read:0".to_owned(),
        "电话 4".to_owned(),
        format!("{long}a"),
        format!("{long}b"),
    ])
}

fn words() -> impl Strategy<Value = String> {
    select(vec![
        "",
        " \n\t",
        "hello",
        "你好",
        "a \"quoted\" word\n",
        "\u{0}\u{7f}",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = Value> {
    words().prop_map(|text| json!({"type": "text", "text": text}))
}

fn image() -> impl Strategy<Value = Value> {
    select(vec!["", "QUJD"])
        .prop_map(|data| json!({"type": "image", "data": data, "mimeType": "image/png"}))
}

fn call() -> impl Strategy<Value = Value> {
    let name = select(vec!["ls", "", "no such/tool", "read"]);
    let arguments = select(vec![
        json!({}),
        json!({"path": "a"}),
        Value::Null,
        json!("{\"path\":"),
        json!([1]),
    ]);
    (id(), name, arguments).prop_map(|(id, name, arguments)| {
        json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
    })
}

/// Thinking as it really occurs: signed by its model, or unsigned.
fn thinking() -> impl Strategy<Value = Value> {
    let signed = words().prop_map(|text| {
        json!({"type": "thinking", "thinking": text, "thinkingSignature": signature_of(&text)})
    });
    let unsigned = words().prop_map(|text| json!({"type": "thinking", "thinking": text}));
    let redacted = Just(json!({
        "type": "thinking", "thinking": "", "thinkingSignature": "opaque", "redacted": true,
    }));
    prop_oneof![signed, unsigned, redacted]
}

fn answer() -> impl Strategy<Value = Value> {
    let block = prop_oneof![3 => text(), 3 => call(), 2 => thinking(), 1 => image()];
    let stop = select(vec!["stop", "toolUse", "length", "error", "aborted"]);
    let by = select(vec![
        ("anthropic-messages", "here", "m"),
        ("openai-completions", "here", "m"),
        ("anthropic-messages", "here", "other"),
    ]);
    (prop::collection::vec(block, 0..5), stop, by).prop_map(
        |(content, stop, (api, provider, model))| {
            json!({
                "role": "assistant", "content": content, "stopReason": stop,
                "api": api, "provider": provider, "model": model, "timestamp": 1,
            })
        },
    )
}

fn result() -> impl Strategy<Value = Value> {
    let content = prop::collection::vec(prop_oneof![3 => text(), 1 => image()], 0..3);
    (id(), content, any::<bool>()).prop_map(|(id, content, is_error)| {
        json!({
            "role": "toolResult", "toolCallId": id, "toolName": "ls",
            "content": content, "isError": is_error, "timestamp": 1,
        })
    })
}

fn other() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"role": "user", "content": "plain"}),
        json!({"role": "user", "content": ""}),
        json!({"role": "user", "content": null}),
        json!({"role": "user", "content": [
            {"type": "text", "text": "see"},
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        ]}),
        json!({"role": "custom", "customType": "x", "content": [{"type": "text", "text": "note"}]}),
        json!({"role": "bashExecution", "command": "ls", "output": "", "exitCode": 1}),
        json!({"role": "compactionSummary", "summary": "before"}),
        json!({"role": "branchSummary", "summary": "elsewhere"}),
        json!({"role": "system", "content": "be kind"}),
        json!({"role": "future"}),
    ])
}

fn conversation() -> impl Strategy<Value = Vec<Value>> {
    let message = prop_oneof![4 => answer(), 4 => result(), 3 => other()];
    prop::collection::vec(message, 0..14)
}

fn tools() -> Vec<ToolDefinition> {
    vec![ToolDefinition {
        name: "ls".into(),
        description: "Lists files.".into(),
        schema: json!({"type": "object"}).into(),
    }]
}

/// The body a client would send.
fn body(supplier: Supplier, request: &ModelRequest, vision: bool) -> Value {
    let mut channel = Channel::new("here", supplier);
    channel.models.push(ChannelModel {
        name: "m".into(),
        context_window: Some(200_000),
        max_output: Some(16_000),
        vision: Some(vision),
        thinking: Some(true),
        ..ChannelModel::default()
    });
    let model = catalogue::resolve(&channel, "m");
    let bytes = match catalogue::supplier(supplier).api {
        ApiFamily::AnthropicMessages => anthropic::encode::body(request, &channel, &model),
        _ => openai::encode::body(request, &channel, &model),
    };
    serde_json::from_slice(&bytes).unwrap()
}

const SUPPLIERS: [Supplier; 9] = [
    Supplier::Anthropic,
    Supplier::Openai,
    Supplier::Azure,
    Supplier::Deepseek,
    Supplier::Zhipu,
    Supplier::Tongyi,
    Supplier::Minimax,
    Supplier::Ollama,
    Supplier::Compatible,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_strict_server_accepts_every_conversation(
        conversation in conversation(),
        supplier in select(SUPPLIERS.to_vec()),
        level in select(ThinkingLevel::ALL.to_vec()),
        (with_tools, vision, temperature) in any::<(bool, bool, bool)>(),
        max_output_tokens in select(vec![None, Some(1), Some(1500), Some(100_000)]),
    ) {
        let texts: Vec<String> = conversation.iter().map(Value::to_string).collect();
        let payload = read_context(texts.iter().map(String::as_str));
        prop_assert_eq!(payload.unreadable, 0);
        let request = ModelRequest {
            model: "m".into(),
            system: SystemPrompt { stable: "S".into(), volatile: " ".into() },
            messages: payload.messages,
            tools: if with_tools { tools() } else { Vec::new() },
            thinking: level,
            temperature: temperature.then_some(0.3),
            max_output_tokens,
            ..ModelRequest::default()
        };
        let body = body(supplier, &request, vision);
        let verdict = match supplier {
            Supplier::Anthropic => fake_model::anthropic::check(&body, None),
            _ => fake_model::openai::check(&body, None),
        };
        prop_assert!(verdict.is_ok(), "{:?}\n{:#}", verdict, body);
    }

    /// Prompt caches live on this: a longer conversation begins with the same bytes.
    #[test]
    fn a_conversation_that_grows_keeps_its_beginning(conversation in conversation()) {
        let texts: Vec<String> = conversation.iter().map(Value::to_string).collect();
        let mut messages = read_context(texts.iter().map(String::as_str)).messages;
        let question = r#"{"role":"user","content":"next","timestamp":1}"#;
        let reply = r#"{"role":"assistant","content":[{"type":"text","text":"so"}],"stopReason":"stop","timestamp":1}"#;
        messages.extend(read_context([question]).messages);
        let request = |messages| ModelRequest {
            model: "m".into(),
            messages,
            tools: tools(),
            ..ModelRequest::default()
        };
        let before = body(Supplier::Openai, &request(messages.clone()), true);
        messages.extend(read_context([reply, question]).messages);
        let after = body(Supplier::Openai, &request(messages), true);
        let (before, after) = (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
        prop_assert_eq!(&after[..before.len()], &before[..]);
    }
}
