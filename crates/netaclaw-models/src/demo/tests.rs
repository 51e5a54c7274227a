use super::*;
use crate::client::complete;
use crate::request::{SystemPrompt, ToolDefinition};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, ThinkingLevel, ToolResultMessage, UserContent,
    UserMessage,
};
use serde_json::{Value, json};

fn user(text: &str) -> Message {
    Message::User(UserMessage {
        content: UserContent::Text(text.into()),
        timestamp: 0,
    })
}

fn tool(name: &str, properties: Value, required: Value) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: "".into(),
        schema: json!({"type": "object", "properties": properties, "required": required}).into(),
    }
}

fn tools() -> Vec<ToolDefinition> {
    let text = json!({"type": "string"});
    vec![
        tool("ls", json!({"path": text}), json!([])),
        tool("read", json!({"path": text}), json!(["path"])),
        tool(
            "find",
            json!({"pattern": text, "path": text}),
            json!(["pattern"]),
        ),
        tool(
            "write",
            json!({"path": text, "content": text}),
            json!(["path", "content"]),
        ),
        tool(
            "edit",
            json!({"path": text, "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"old_text": text, "new_text": text, "replace_all": {"type": "boolean"}},
                "required": ["old_text", "new_text"],
            }}}),
            json!(["path", "edits"]),
        ),
        tool(
            "todo",
            json!({"items": {"type": "array", "items": {
                "type": "object",
                "properties": {"text": text, "status": {"enum": ["pending", "done"]}},
                "required": ["text", "status"],
            }}}),
            json!(["items"]),
        ),
        tool(
            "clarify",
            json!({"question": text, "options": {"type": "array", "items": text}}),
            json!(["question"]),
        ),
    ]
}

async fn ask(request: ModelRequest) -> AssistantMessage {
    let client = DemoClient::new("demo").with_pause(Duration::ZERO);
    complete(client.stream(Arc::new(request), CancellationToken::new()))
        .await
        .unwrap()
}

fn calls(message: &AssistantMessage) -> Vec<(&str, &Value)> {
    let calls = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall {
            name, arguments, ..
        } => Some((name.as_str(), arguments)),
        _ => None,
    });
    calls.collect()
}

fn text(message: &AssistantMessage) -> &str {
    message
        .content
        .iter()
        .find_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .unwrap()
}

#[track_caller]
fn check(words: &str, expected: &[(&str, Value)]) {
    let request = ModelRequest {
        messages: vec![user(words)],
        tools: tools(),
        ..ModelRequest::default()
    };
    let plan = plan(&request);
    let calls: Vec<(&str, Value)> = plan
        .calls
        .iter()
        .map(|call| (call.name.as_str(), call.arguments.clone()))
        .collect();
    assert_eq!(calls, expected, "{words}");
}

#[test]
fn plain_words_call_tools() {
    check("Please list files", &[("ls", json!({"path": "."}))]);
    check("请列出文件", &[("ls", json!({"path": "."}))]);
    check(
        "read README.md, please.",
        &[("read", json!({"path": "README.md"}))],
    );
    check(
        "请读取 src/main.rs。",
        &[("read", json!({"path": "src/main.rs"}))],
    );
    check(
        "list files and read a/b.txt",
        &[
            ("ls", json!({"path": "."})),
            ("read", json!({"path": "a/b.txt"})),
        ],
    );
    check(
        "todo: buy milk, call Anna",
        &[(
            "todo",
            json!({"items": [
                {"text": "buy milk", "status": "pending"},
                {"text": "call Anna", "status": "pending"},
            ]}),
        )],
    );
    check(
        "Ask me which colour: red, green",
        &[(
            "clarify",
            json!({"question": "Ask me which colour?", "options": ["red", "green"]}),
        )],
    );
    check("find files *.rs", &[("find", json!({"pattern": "*.rs"}))]);
    check(
        "write `hello` to notes.txt",
        &[("write", json!({"path": "notes.txt", "content": "hello\n"}))],
    );
    let edits = json!([{"old_text": "你好", "new_text": "再见"}]);
    check(
        "把 `你好` 替换为 `再见`，文件 notes.txt",
        &[("edit", json!({"path": "notes.txt", "edits": &edits}))],
    );
    // As the introduction writes them.
    check(
        "write \"hello\" to notes.txt",
        &[("write", json!({"path": "notes.txt", "content": "hello\n"}))],
    );
    check(
        "把 \"你好\" 替换为 \"再见\"，文件 notes.txt",
        &[("edit", json!({"path": "notes.txt", "edits": edits}))],
    );
    check("I read a lot of books", &[]);
    check("run `ls`", &[]);
}

#[tokio::test]
async fn it_says_what_it_is() {
    let english = ask(ModelRequest {
        messages: vec![user("Who are you?")],
        ..ModelRequest::default()
    })
    .await;
    assert!(text(&english).contains("demo model"), "{english:?}");
    let chinese = ask(ModelRequest {
        messages: vec![user("你是谁?")],
        tools: tools(),
        ..ModelRequest::default()
    })
    .await;
    assert!(text(&chinese).contains("演示模型"), "{chinese:?}");
    assert!(text(&chinese).contains("列出文件"));
    assert!(chinese.usage.input > 0 && chinese.usage.output > 0);
}

#[tokio::test]
async fn it_thinks_calls_and_tells_of_the_result() {
    let mut request = ModelRequest {
        messages: vec![user("list files")],
        tools: tools(),
        thinking: ThinkingLevel::Low,
        ..ModelRequest::default()
    };
    let answer = ask(request.clone()).await;
    assert!(matches!(answer.content[0], ContentBlock::Thinking { .. }));
    assert_eq!(calls(&answer), [("ls", &json!({"path": "."}))]);
    assert_eq!(answer.stop_reason, StopReason::ToolUse);

    request.messages.push(Message::Assistant(answer));
    request
        .messages
        .push(Message::ToolResult(ToolResultMessage {
            tool_call_id: "demo_1".into(),
            tool_name: "ls".into(),
            content: vec![ContentBlock::Text {
                text: "Cargo.toml\nsrc".into(),
            }],
            details: None,
            is_error: false,
            timestamp: 0,
        }));
    let answer = ask(request).await;
    assert_eq!(
        text(&answer),
        "The tool `ls` gave 2 lines, which begin: Cargo.toml src"
    );
}

#[tokio::test]
async fn it_condenses_and_gives_titles_when_the_program_asks() {
    let summary = ask(ModelRequest {
        system: SystemPrompt::stable("Summarise the conversation."),
        messages: vec![user("[User]: Build a boat\n\n[Assistant]: With pleasure.")],
        ..ModelRequest::default()
    })
    .await;
    assert!(text(&summary).starts_with("## Goal\nBuild a boat"));
    let title = ask(ModelRequest {
        system: SystemPrompt::stable("Give the chat a short title."),
        messages: vec![user("How do I build a wooden boat in my garden?")],
        ..ModelRequest::default()
    })
    .await;
    assert_eq!(text(&title), "How do I build a wooden…");
    let quoted = "<user>\n你好\n</user>\n<assistant>\n你好！\n</assistant>";
    let title = ask(ModelRequest {
        system: SystemPrompt::stable("You write titles for conversations."),
        messages: vec![user(quoted)],
        ..ModelRequest::default()
    })
    .await;
    assert_eq!(text(&title), "你好");
}

#[tokio::test]
async fn a_limit_cuts_the_answer() {
    let answer = ask(ModelRequest {
        messages: vec![user("Hello")],
        max_output_tokens: Some(10),
        ..ModelRequest::default()
    })
    .await;
    assert_eq!(answer.stop_reason, StopReason::Length);
    assert!(answer.usage.output <= 10);
}

#[tokio::test(start_paused = true)]
async fn it_pauses_between_pieces() {
    let client = DemoClient::new("demo");
    let request = ModelRequest {
        messages: vec![user("Hello")],
        ..ModelRequest::default()
    };
    let start = tokio::time::Instant::now();
    complete(client.stream(Arc::new(request), CancellationToken::new()))
        .await
        .unwrap();
    assert!(start.elapsed() > 10 * PAUSE);
}
