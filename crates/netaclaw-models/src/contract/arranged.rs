//! What holds for a client when the other end does this or that.

use super::subject::{
    answer, asking, done, events, failure, play, said, stream, text, until_content, user,
};
use super::{ContractHarness, Ending, Scene, ScenePart};
use crate::client::{ModelEvent, StreamPart};
use crate::error::ModelError;
use netaclaw_protocol::{ContentBlock, StopReason, Usage};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(super) async fn nothing_is_requested_before_the_stream_is_polled(
    harness: &dyn ContractHarness,
) {
    harness.arrange(Scene::with_text([text("for the second")]));
    let request = asking(harness, vec![user("first")]);
    // Never polled, so it must not use up the answer.
    drop(stream(harness, request, &CancellationToken::new()));
    let request = asking(harness, vec![user("second")]);
    assert_eq!(
        said(&done(events(harness, request).await)),
        "for the second"
    );
}

pub(super) async fn every_character_arrives_whole(harness: &dyn ContractHarness) {
    for words in [
        "plain",
        "héllo wörld, ça va?",
        "今天早上港口很安静，渔民们抬头望着天空。",
        "🦀🏳️‍🌈👩‍👩‍👧‍👦 e\u{301} \u{200b}\u{feff} \u{2028}\u{2029}",
        "\"quotes\" \\backslash\\ \ttab\r\nline\n\n: not a comment\ndata: not an event",
    ] {
        let message = answer(harness, Scene::with_text([text(words)])).await;
        assert_eq!(said(&message), words);
    }
}

pub(super) async fn thinking_arrives_apart_from_text(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([
        ScenePart::Thinking("Let me think about 这个.".into()),
        text("Done thinking."),
    ]);
    let events = play(harness, scene).await;
    let kinds: Vec<StreamPart> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::PartStart { part, .. } => Some(part.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [StreamPart::Thinking, StreamPart::Text]);
    let message = done(events);
    let ContentBlock::Thinking {
        thinking,
        thinking_signature,
        redacted: false,
    } = &message.content[0]
    else {
        panic!("{message:?}")
    };
    assert_eq!(thinking, "Let me think about 这个.");
    // Whatever it is, without it the thinking could not go back.
    assert!(thinking_signature.as_ref().is_some_and(|s| !s.is_empty()));
    assert_eq!(said(&message), "Done thinking.");
}

fn call(id: &str, name: &str, arguments: Value) -> ScenePart {
    ScenePart::Call {
        id: id.into(),
        name: name.into(),
        arguments,
    }
}

pub(super) async fn calls_in_fragments_arrive_whole(harness: &dyn ContractHarness) {
    let arguments = json!({"path": "docs/说明.md", "lines": [1, 200], "nested": {"deep": "a \"quoted\" value"}});
    let scene = Scene::with_text([
        text("Let me look."),
        call("call_1", "read", arguments.clone()),
    ]);
    let events = play(harness, scene).await;
    let fragments: String = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::PartDelta { index: 1, delta } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        serde_json::from_str::<Value>(&fragments).unwrap(),
        arguments
    );
    let message = done(events);
    assert_eq!(
        message.content[1],
        ContentBlock::ToolCall {
            id: "call_1".into(),
            name: "read".into(),
            arguments,
        }
    );
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

pub(super) async fn many_calls_keep_their_order_and_arguments(harness: &dyn ContractHarness) {
    let calls: Vec<ScenePart> = (0..7)
        .map(|n| {
            call(
                &format!("call_{n}"),
                "read",
                json!({"path": format!("{n}.txt")}),
            )
        })
        .collect();
    let message = answer(harness, Scene::with_text(calls)).await;
    let got: Vec<(String, Value)> = message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall { id, arguments, .. } => Some((id.clone(), arguments.clone())),
            _ => None,
        })
        .collect();
    let expected: Vec<(String, Value)> = (0..7)
        .map(|n| (format!("call_{n}"), json!({"path": format!("{n}.txt")})))
        .collect();
    assert_eq!(got, expected);
}

pub(super) async fn broken_arguments_are_handed_on_as_text(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([ScenePart::BrokenCall {
        id: "call_1".into(),
        name: "read".into(),
        arguments: "{\"path\": ".into(),
    }]);
    let message = answer(harness, scene).await;
    let ContentBlock::ToolCall { arguments, .. } = &message.content[0] else {
        panic!("{message:?}")
    };
    assert_eq!(*arguments, json!("{\"path\": "));
}

pub(super) async fn usage_with_cache_is_taken_over(harness: &dyn ContractHarness) {
    let scene = Scene {
        usage: Some(Usage {
            input: 11,
            output: 22,
            cache_read: 33,
            cache_write: 44,
            ..Usage::default()
        }),
        ..Scene::with_text([text("counted")])
    };
    let usage = answer(harness, scene).await.usage;
    let counts = (
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    );
    assert_eq!(counts, (11, 22, 33, 44));
    assert_eq!(usage.total_tokens, 110);
}

pub(super) async fn an_answer_cut_by_length_is_an_answer(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([text("as far as it w")]).ending(Ending::With(StopReason::Length));
    let message = answer(harness, scene).await;
    assert_eq!(message.stop_reason, StopReason::Length);
    assert_eq!(said(&message), "as far as it w");
}

pub(super) async fn nothing_at_all_is_a_failure(harness: &dyn ContractHarness) {
    let (error, partial) = failure(harness, Scene::default()).await;
    assert_eq!(error, ModelError::EmptyAnswer);
    assert_eq!(partial.content, []);
}

pub(super) async fn a_context_that_is_too_long_is_recognised(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([text("never said")]).ending(Ending::TooLong);
    let (error, _) = failure(harness, scene).await;
    assert!(matches!(error, ModelError::ContextTooLong(_)), "{error:?}");
    assert!(!error.is_retryable());
}

pub(super) async fn a_rate_limit_tells_how_long_to_wait(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([text("never said")]).ending(Ending::RateLimited(7));
    let (error, _) = failure(harness, scene).await;
    assert!(matches!(error, ModelError::RateLimited { .. }), "{error:?}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

pub(super) async fn a_broken_stream_keeps_its_text(harness: &dyn ContractHarness) {
    let scene = Scene::with_text([text("This much had arrived. ")]).ending(Ending::Broken);
    let events = play(harness, scene).await;
    let started = events
        .iter()
        .filter(|event| matches!(event, ModelEvent::PartStart { .. }))
        .count();
    let ended = events
        .iter()
        .filter(|event| matches!(event, ModelEvent::PartEnd { .. }))
        .count();
    assert_eq!((started, ended), (1, 1));
    let (error, partial) = super::subject::failed(events);
    assert!(matches!(error, ModelError::StreamBroken(_)), "{error:?}");
    assert_eq!(partial.stop_reason, StopReason::Error);
    assert_eq!(said(&partial), "This much had arrived. ");
    assert!(partial.error_message.is_some());
}

pub(super) async fn a_stop_reaches_the_other_end(harness: &dyn ContractHarness) {
    harness.arrange(Scene::with_text([text("And so on ")]).ending(Ending::Hanging));
    let cancel = CancellationToken::new();
    let request = asking(harness, vec![user("Go on.")]);
    let mut stream = stream(harness, request, &cancel);
    until_content(&mut stream).await;
    cancel.cancel();
    // The stream is not dropped: the token alone has to do it.
    let last = futures::StreamExt::collect::<Vec<_>>(&mut stream).await;
    assert!(last.last().is_some_and(ModelEvent::is_last));
    harness.hung_up().await;
    drop(stream);
}

pub(super) async fn dropping_reaches_the_other_end(harness: &dyn ContractHarness) {
    harness.arrange(Scene::with_text([text("And so on ")]).ending(Ending::Hanging));
    let request = asking(harness, vec![user("Go on.")]);
    let mut stream = stream(harness, request, &CancellationToken::new());
    until_content(&mut stream).await;
    drop(stream);
    harness.hung_up().await;
}
