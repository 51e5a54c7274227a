//! What every run must leave behind, however it ended.

use crate::stand_in::RecordingHost;
use netaclaw_models::ApiFamily;
use netaclaw_models::payload::{Target, Turn, read_context, turns};
use netaclaw_protocol::{ContentBlock, Message, StopReason};
use netaclaw_runtime::RunEvent;

/// Checks the chain itself, what every API would receive of it, and the events.
pub(crate) fn check_legal(host: &RecordingHost) {
    let context = host.tree.context().unwrap();
    let json: Vec<_> = context
        .messages
        .iter()
        .map(|message| message.json())
        .collect();
    let payload = read_context(json.iter().map(|json| json.as_ref()));
    assert_eq!(payload.unreadable, 0);
    check_chain(&payload.messages, host.appends_left == 0);
    for api in [ApiFamily::OpenaiChat, ApiFamily::AnthropicMessages] {
        check_payload(&payload.messages, api);
    }
    check_events(&host.events, host.appends_left == 0);
}

/// Results follow right after their answer, one for each call, in the order of the calls. If the
/// session itself failed, the last ones may be missing.
fn check_chain(messages: &[Message], session_failed: bool) {
    let mut due: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResult(result) => {
                assert!(!due.is_empty(), "a result without a call: {result:?}");
                assert_eq!(due.remove(0), result.tool_call_id);
            }
            _ => assert_eq!(due, Vec::<&str>::new(), "calls without results"),
        }
        if let Message::Assistant(answer) = message {
            let dead = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
            let calls = answer.content.iter().filter_map(|block| match block {
                ContentBlock::ToolCall { id, .. } if !dead => Some(id.as_str()),
                _ => None,
            });
            due = calls.collect();
        }
    }
    assert!(
        due.is_empty() || session_failed,
        "calls without results: {due:?}"
    );
}

fn check_payload(messages: &[Message], api: ApiFamily) {
    let target = Target {
        api,
        provider: "channel",
        model: "scripted",
        vision: true,
        tools: true,
    };
    let turns = turns(messages, &target);
    assert!(matches!(turns.first(), Some(Turn::User(_))), "{turns:?}");
    for pair in turns.windows(2) {
        let two_users = matches!(pair, [Turn::User(_), Turn::User(_)]);
        assert!(!two_users, "{pair:?}");
    }
}

/// What began has ended, once.
fn check_events(events: &[RunEvent], session_failed: bool) {
    let (mut open_answers, mut open_calls) = (0, 0);
    for event in events {
        match event {
            RunEvent::AnswerStarted { .. } => open_answers += 1,
            RunEvent::AnswerFinished { .. } => open_answers -= 1,
            RunEvent::ToolStarted(_) => open_calls += 1,
            RunEvent::ToolCompleted(_) => open_calls -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&open_answers) && open_calls >= 0);
    }
    assert!(session_failed || (open_answers, open_calls) == (0, 0));
}
