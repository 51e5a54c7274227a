//! What a strict server must accept, whatever the conversation was.

use super::subject::{asking, done, events, text, user};
use super::{ContractHarness, Scene, ScenePart};
use crate::request::{ModelRequest, SystemPrompt, ToolDefinition};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, StopReason, ThinkingLevel, ToolResultMessage, Usage,
    UserContent, UserMessage,
};
use serde_json::json;

/// Asks, and insists that the server had nothing to complain about.
async fn accepted(harness: &dyn ContractHarness, request: ModelRequest) -> AssistantMessage {
    harness.arrange(Scene::with_text([text("Accepted.")]));
    let events = events(harness, request).await;
    assert_eq!(harness.refusal(), None, "{}", harness.last_request());
    done(events)
}

fn tools() -> Vec<ToolDefinition> {
    ["ls", "read"]
        .into_iter()
        .map(|name| ToolDefinition {
            name: name.into(),
            description: format!("The tool {name}.").into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        })
        .collect()
}

fn answer(stop_reason: StopReason, content: Vec<ContentBlock>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: "some".into(),
        provider: "some".into(),
        model: "some".into(),
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 1,
    })
}

fn says(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}

fn calls(id: &str) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments: json!({}),
    }
}

fn result(id: &str, content: Vec<ContentBlock>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "ls".into(),
        content,
        details: Some(json!({"secret": "for people only"})),
        is_error: false,
        timestamp: 1,
    })
}

fn picture() -> ContentBlock {
    ContentBlock::Image {
        data: "iVBORw0KGgo=".into(),
        mime_type: "image/png".into(),
    }
}

pub(super) async fn a_plain_conversation_is_accepted(harness: &dyn ContractHarness) {
    let request = ModelRequest {
        tools: tools(),
        temperature: Some(0.3),
        max_output_tokens: Some(2000),
        ..asking(
            harness,
            vec![
                user("Hello"),
                answer(StopReason::ToolUse, vec![says("One moment."), calls("1")]),
                result("1", vec![says("src")]),
                answer(StopReason::Stop, vec![says("There is a folder.")]),
                user("Thanks"),
            ],
        )
    };
    accepted(harness, request).await;
    assert!(!harness.last_request().contains("for people only"));
}

pub(super) async fn orphans_never_reach_the_server(harness: &dyn ContractHarness) {
    let conversations = [
        // A result whose call was compacted away.
        vec![result("gone", vec![says("x")]), user("a")],
        // A call that was never answered, at the end and in the middle.
        vec![user("a"), answer(StopReason::ToolUse, vec![calls("1")])],
        vec![
            user("a"),
            answer(StopReason::ToolUse, vec![calls("1"), calls("2")]),
            result("2", vec![says("two")]),
            user("b"),
            answer(StopReason::Stop, vec![says("c")]),
            user("d"),
        ],
        // Twice the same result, and one that is late.
        vec![
            user("a"),
            answer(StopReason::ToolUse, vec![calls("1")]),
            result("1", vec![]),
            result("1", vec![says("again")]),
            answer(StopReason::ToolUse, vec![calls("weird id/ö:2")]),
            user("b"),
            result("weird id/ö:2", vec![says("late")]),
        ],
        vec![],
    ];
    for messages in conversations {
        let request = ModelRequest {
            tools: tools(),
            ..asking(harness, messages.clone())
        };
        accepted(harness, request).await;
        // The same once the tools have been taken away.
        accepted(harness, asking(harness, messages)).await;
    }
}

pub(super) async fn stopped_answers_never_reach_the_server(harness: &dyn ContractHarness) {
    for reason in [StopReason::Aborted, StopReason::Error] {
        let request = ModelRequest {
            tools: tools(),
            ..asking(
                harness,
                vec![
                    user("a"),
                    answer(reason, vec![says("MARKER half"), calls("1")]),
                    result("1", vec![says("MARKER result")]),
                    user("b"),
                ],
            )
        };
        accepted(harness, request).await;
        assert!(!harness.last_request().contains("MARKER"));
    }
}

pub(super) async fn pictures_are_accepted_in_messages_and_results(harness: &dyn ContractHarness) {
    let shown = Message::User(UserMessage {
        content: UserContent::Blocks(vec![says("Look at this."), picture()]),
        timestamp: 1,
    });
    let request = ModelRequest {
        tools: tools(),
        ..asking(
            harness,
            vec![
                shown,
                answer(StopReason::ToolUse, vec![calls("1"), calls("2")]),
                result("1", vec![picture()]),
                result("2", vec![says("text"), picture()]),
                answer(StopReason::ToolUse, vec![calls("3")]),
                result("3", vec![says("nothing to see")]),
                user("And now?"),
            ],
        )
    };
    accepted(harness, request).await;
    let sent = harness.last_request().matches("iVBORw0KGgo=").count();
    assert_eq!(sent, 3);
}

pub(super) async fn thinking_goes_back_as_it_came(harness: &dyn ContractHarness) {
    harness.arrange(Scene::with_text([
        ScenePart::Thinking("A thought of its own.".into()),
        ScenePart::Call {
            id: "call_1".into(),
            name: "ls".into(),
            arguments: json!({}),
        },
    ]));
    let mut request = ModelRequest {
        tools: tools(),
        thinking: ThinkingLevel::High,
        ..asking(harness, vec![user("Think, then look.")])
    };
    let thought = done(events(harness, request.clone()).await);
    request.messages.push(Message::Assistant(thought));
    request.messages.push(result("call_1", vec![says("src")]));
    accepted(harness, request.clone()).await;
    assert!(harness.last_request().contains("A thought of its own."));

    // Another model cannot prove it, and must not be shown it as its own.
    if let Message::Assistant(answer) = &mut request.messages[1] {
        answer.model = "another-model".into();
    }
    accepted(harness, request).await;
    assert!(!harness.last_request().contains("A thought of its own."));
}

pub(super) async fn instructions_and_tools_arrive(harness: &dyn ContractHarness) {
    let request = ModelRequest {
        system: SystemPrompt {
            stable: "STABLE instructions.".into(),
            volatile: "VOLATILE date.".into(),
        },
        tools: tools(),
        ..asking(harness, vec![user("a")])
    };
    accepted(harness, request).await;
    let sent = harness.last_request();
    let stable = sent.find("STABLE instructions.").unwrap();
    let volatile = sent.find("VOLATILE date.").unwrap();
    assert!(stable < volatile);
    assert!(sent.contains("The tool read."));
}
