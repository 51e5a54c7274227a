//! The shapes in which servers send the same thing.

use crate::harness::{channel, client};
use futures::StreamExt;
use netaclaw_models::{
    ModelEvent, ModelRequest, PromptCache, SystemPrompt, ToolDefinition, Transport, client_for,
    complete,
};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, Supplier, ThinkingLevel, UserContent, UserMessage,
};
use netaclaw_testkit::fake_model::{CallShape, Chunking, FakeModel, Fault, Reply};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

fn request() -> ModelRequest {
    ModelRequest {
        model: "fake-model".into(),
        messages: vec![Message::User(UserMessage {
            content: UserContent::Text("hello".into()),
            timestamp: 1,
        })],
        ..ModelRequest::default()
    }
}

fn tools() -> Vec<ToolDefinition> {
    vec![ToolDefinition {
        name: "read".into(),
        description: "".into(),
        schema: json!({"type": "object"}).into(),
    }]
}

async fn answer(server: &FakeModel, supplier: Supplier, request: ModelRequest) -> AssistantMessage {
    let stream = client(server, supplier).stream(Arc::new(request), CancellationToken::new());
    complete(stream).await.unwrap()
}

#[tokio::test]
async fn calls_are_understood_in_every_shape() {
    for shape in [
        CallShape::Documented,
        CallShape::Interleaved,
        CallShape::WithoutIndex,
        CallShape::SameIndex,
        CallShape::NameLast,
    ] {
        for chunking in [Chunking::Events, Chunking::Hostile(7), Chunking::Hostile(1)] {
            let server = FakeModel::start().await;
            server.script().push(
                Reply::text("Looking.")
                    .and_tool_call("a", "read", r#"{"path": "第一个文件.txt", "n": 1}"#)
                    .and_tool_call("b", "read", r#"{"path": "second.txt", "n": 22}"#)
                    .and_tool_call("c", "ls", "{}")
                    .with_call_shape(shape)
                    .with_chunking(chunking),
            );
            let message = answer(&server, Supplier::Compatible, request()).await;
            let calls: Vec<(&str, &str, &Value)> = message
                .content
                .iter()
                .filter_map(|block| match block {
                    ContentBlock::ToolCall {
                        id,
                        name,
                        arguments,
                    } => Some((id.as_str(), name.as_str(), arguments)),
                    _ => None,
                })
                .collect();
            assert_eq!(
                calls,
                [
                    ("a", "read", &json!({"path": "第一个文件.txt", "n": 1})),
                    ("b", "read", &json!({"path": "second.txt", "n": 22})),
                    ("c", "ls", &json!({})),
                ],
                "{shape:?} {chunking:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let chat = json!({
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Looking.", "reasoning_content": "Hm.",
            "tool_calls": [{"id": "a", "type": "function", "function": {
                "name": "read", "arguments": "{\"path\":\"x\"}",
            }}],
        }}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6},
    });
    let message = json!({
        "type": "message", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        ],
        "usage": {"input_tokens": 5, "output_tokens": 6},
    });
    for (supplier, body) in [(Supplier::Compatible, chat), (Supplier::Anthropic, message)] {
        let server = FakeModel::start().await;
        server.script().push(Reply::failing(Fault::Body {
            status: 200,
            content_type: "application/json",
            body: body.to_string(),
        }));
        let message = answer(&server, supplier, request()).await;
        let [
            ContentBlock::Thinking { thinking, .. },
            ContentBlock::Text { text },
            ContentBlock::ToolCall { id, arguments, .. },
        ] = message.content.as_slice()
        else {
            panic!("{message:?}")
        };
        assert_eq!(
            (thinking.as_str(), text.as_str(), id.as_str()),
            ("Hm.", "Looking.", "a")
        );
        assert_eq!(*arguments, json!({"path": "x"}));
        assert_eq!((message.usage.input, message.usage.output), (5, 6));
    }
}

#[tokio::test]
async fn thinking_goes_back_in_the_field_it_came_in() {
    for (supplier, field) in [
        (Supplier::Compatible, "reasoning_content"),
        (Supplier::Ollama, "reasoning"),
        (Supplier::Deepseek, "reasoning_content"),
    ] {
        let server = FakeModel::start().await;
        server.script().push(Reply {
            reasoning_field: Some(field.into()),
            ..Reply::default()
                .and_thinking("Hm, let me see.")
                .and_tool_call("a", "read", "{}")
        });
        let mut next = ModelRequest {
            tools: tools(),
            thinking: ThinkingLevel::Medium,
            ..request()
        };
        let message = answer(&server, supplier, next.clone()).await;
        next.messages.push(Message::Assistant(message));
        answer(&server, supplier, next).await;
        let sent = server.script().last_request().body;
        assert_eq!(sent["messages"][1][field], "Hm, let me see.", "{sent:#}");
    }
}

#[tokio::test]
async fn deepseek_gets_its_reasoning_even_when_there_was_none() {
    let server = FakeModel::start().await;
    server.script().push(Reply::tool_call("a", "read", "{}"));
    let mut next = ModelRequest {
        tools: tools(),
        thinking: ThinkingLevel::High,
        ..request()
    };
    let message = answer(&server, Supplier::Deepseek, next.clone()).await;
    next.messages.push(Message::Assistant(message));
    answer(&server, Supplier::Deepseek, next).await;
    let sent = server.script().last_request().body;
    assert_eq!(sent["messages"][1]["reasoning_content"], "");
}

/// What a request says about thinking, limits and temperature.
async fn sent(supplier: Supplier, model: &str, thinking: ThinkingLevel, with_tools: bool) -> Value {
    let server = FakeModel::start().await;
    let mut channel = channel(&server, supplier);
    channel.models.clear();
    let client = client_for(Arc::new(channel), Arc::new(Transport::default()));
    let request = ModelRequest {
        model: model.into(),
        thinking,
        temperature: Some(0.3),
        max_output_tokens: Some(3000),
        tools: if with_tools { tools() } else { Vec::new() },
        ..request()
    };
    let stream = client.stream(Arc::new(request), CancellationToken::new());
    complete(stream).await.unwrap();
    let mut body = server.script().last_request().body;
    for name in ["messages", "model", "stream", "stream_options", "tools"] {
        body.as_object_mut().unwrap().remove(name);
    }
    body
}

#[tokio::test]
async fn levels_of_thinking_are_said_as_each_supplier_wants() {
    use Supplier::{
        Anthropic, Azure, Compatible, Deepseek, Minimax, Ollama, Openai, Tongyi, Zhipu,
    };
    use ThinkingLevel::{High, Low, Minimal, Off, Xhigh};
    for (supplier, model, level, with_tools, expected) in [
        (
            Openai,
            "gpt-4o",
            High,
            true,
            json!({"max_completion_tokens": 3000, "temperature": 0.3}),
        ),
        (
            Openai,
            "gpt-5",
            Off,
            true,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "minimal"}),
        ),
        (
            Openai,
            "gpt-5",
            Xhigh,
            true,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "high"}),
        ),
        (
            Azure,
            "gpt-5.2",
            Off,
            true,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "none", "temperature": 0.3}),
        ),
        (
            Azure,
            "gpt-5.2",
            Xhigh,
            true,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "xhigh"}),
        ),
        (
            Openai,
            "gpt-5.6-sol",
            High,
            true,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "none", "temperature": 0.3}),
        ),
        (
            Openai,
            "gpt-5.6-sol",
            High,
            false,
            json!({"max_completion_tokens": 3000, "reasoning_effort": "high"}),
        ),
        (
            Deepseek,
            "deepseek-v4-pro",
            Off,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "disabled"}, "temperature": 0.3}),
        ),
        (
            Deepseek,
            "deepseek-v4-pro",
            Xhigh,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ),
        (
            Zhipu,
            "glm-5.3",
            Low,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "enabled"}}),
        ),
        (
            Tongyi,
            "qwen-plus",
            Minimal,
            true,
            json!({"max_tokens": 3000, "enable_thinking": true, "thinking_budget": 1024}),
        ),
        (
            Tongyi,
            "qwen-plus",
            Off,
            true,
            json!({"max_tokens": 3000, "enable_thinking": false, "temperature": 0.3}),
        ),
        (
            Minimax,
            "MiniMax-M3",
            High,
            true,
            json!({"max_completion_tokens": 3000, "thinking": {"type": "adaptive"}, "reasoning_split": true}),
        ),
        (
            Ollama,
            "gpt-oss:20b",
            High,
            true,
            json!({"max_tokens": 3000, "reasoning_effort": "high"}),
        ),
        (
            Compatible,
            "mystery",
            High,
            true,
            json!({"max_tokens": 3000, "temperature": 0.3}),
        ),
        (
            Anthropic,
            "claude-haiku-4-5",
            Off,
            true,
            json!({"max_tokens": 3000, "temperature": 0.3}),
        ),
        (
            Anthropic,
            "claude-haiku-4-5",
            Low,
            true,
            json!({"max_tokens": 7096, "thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ),
        (
            Anthropic,
            "claude-sonnet-5",
            Off,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "disabled"}}),
        ),
        (
            Anthropic,
            "claude-sonnet-5",
            Xhigh,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "xhigh"}}),
        ),
        (
            Anthropic,
            "claude-opus-5-5",
            Off,
            true,
            json!({"max_tokens": 3000, "thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "low"}}),
        ),
        (
            Anthropic,
            "mystery",
            High,
            true,
            json!({"max_tokens": 3000, "temperature": 0.3}),
        ),
    ] {
        let body = sent(supplier, model, level, with_tools).await;
        assert_eq!(body, expected, "{supplier:?} {model} {level:?}");
    }
}

#[tokio::test]
async fn anthropic_caches_tools_instructions_and_the_last_messages() {
    let server = FakeModel::start().await;
    let user = |text: &str| request_with(text).messages.remove(0);
    let said = answer(&server, Supplier::Anthropic, request()).await;
    let mut long = ModelRequest {
        system: SystemPrompt {
            stable: "stable".into(),
            volatile: "volatile".into(),
        },
        tools: tools(),
        messages: vec![
            user("one"),
            Message::Assistant(said.clone()),
            user("two"),
            Message::Assistant(said),
            user("three"),
        ],
        ..request()
    };
    answer(&server, Supplier::Anthropic, long.clone()).await;
    let body = server.script().last_request().body;
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["tools"][0]["cache_control"], mark);
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["system"][1]["cache_control"], Value::Null);
    assert_eq!(
        body["messages"][0]["content"][0]["cache_control"],
        Value::Null
    );
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][4]["content"][0]["cache_control"], mark);

    long.cache = PromptCache::Off;
    answer(&server, Supplier::Anthropic, long).await;
    let body = server.script().last_request().body;
    assert!(!body.to_string().contains("cache_control"));
}

fn request_with(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User(UserMessage {
            content: UserContent::Text(text.into()),
            timestamp: 1,
        })],
        ..request()
    }
}

/// A server that was quicker than its reader, and put every token into a chunk of its own.
async fn hasty_server(tokens: usize) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut answer = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    let mut say = |choice: Value| {
        let event = format!("data: {}\n\n", json!({ "choices": [choice] }));
        answer.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
    };
    for _ in 0..tokens {
        say(json!({"index": 0, "delta": {"content": "word "}}));
    }
    say(json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
    answer.push_str("0\r\n\r\n");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"}") {
            stream.read_buf(&mut asked).await.unwrap();
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    address
}

#[tokio::test]
async fn events_that_arrive_together_all_leave() {
    let address = hasty_server(40).await;
    let mut channel = channel(&FakeModel::start().await, Supplier::Compatible);
    channel.base_url = Some(format!("http://{address}/v1"));
    let client = client_for(Arc::new(channel), Arc::new(Transport::default()));
    let stream = client.stream(Arc::new(request()), CancellationToken::new());
    let events: Vec<ModelEvent> = stream.collect().await;
    let pieces: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::PartDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(pieces.concat(), "word ".repeat(40));
}
