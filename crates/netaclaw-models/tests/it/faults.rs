//! Everything that goes wrong between a request and its answer.

use crate::harness::{client, client_with};
use futures::StreamExt;
use netaclaw_models::{
    ModelClient, ModelError, ModelEvent, ModelRequest, RetryClient, RetryPolicy, TimeoutStage,
    Timeouts,
};
use netaclaw_protocol::{
    AssistantMessage, ContentBlock, Message, Supplier, UserContent, UserMessage,
};
use netaclaw_testkit::fake_model::{FakeModel, Fault, Limits, Reply};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const BOTH: [Supplier; 2] = [Supplier::Compatible, Supplier::Anthropic];

fn request(text: &str) -> Arc<ModelRequest> {
    Arc::new(ModelRequest {
        model: "fake-model".into(),
        messages: vec![Message::User(UserMessage {
            content: UserContent::Text(text.into()),
            timestamp: 1,
        })],
        ..ModelRequest::default()
    })
}

async fn events(client: &dyn ModelClient) -> Vec<ModelEvent> {
    client
        .stream(request("hello"), CancellationToken::new())
        .collect()
        .await
}

async fn failure(client: &dyn ModelClient) -> (ModelError, AssistantMessage) {
    let events = events(client).await;
    match events.last() {
        Some(ModelEvent::Failed { error, partial }) => (error.clone(), partial.clone()),
        other => panic!("{other:?}"),
    }
}

fn text(message: &AssistantMessage) -> String {
    let texts = message.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Plays a fault to both clients.
async fn check(fault: Fault, expected: &str, kept: &str) {
    for supplier in BOTH {
        let server = FakeModel::start().await;
        server
            .script()
            .push(Reply::text("One two three four.").with_fault(fault.clone()));
        let (error, partial) = failure(&*client(&server, supplier)).await;
        assert_eq!(error.code(), expected, "{supplier:?} {fault:?} {error}");
        assert_eq!(text(&partial), kept, "{supplier:?} {fault:?}");
    }
}

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

#[tokio::test]
async fn refusals_are_distinguished() {
    check(status(429), "rate_limited", "").await;
    check(status(500), "overloaded", "").await;
    check(status(503), "overloaded", "").await;
    check(status(529), "overloaded", "").await;
    let body = |status, content_type, body: &str| Fault::Body {
        status,
        content_type,
        body: body.into(),
    };
    let page = "<html><head><title>Welcome</title></head></html>";
    check(body(404, "text/html", page), "wrong_address", "").await;
    check(body(302, "text/html", page), "wrong_address", "").await;
    check(body(502, "text/html", page), "overloaded", "").await;
    check(
        body(200, "application/json", r#"{"error":"no"}"#),
        "stream_broken",
        "",
    )
    .await;
    check(body(200, "application/json", "nonsense"), "protocol", "").await;
    // A page instead of a stream holds no event, so it is an answer that ended early.
    check(body(200, "text/html", page), "stream_broken", "").await;
}

#[tokio::test]
async fn streams_that_break_keep_their_text() {
    check(Fault::CutBeforeEnd, "stream_broken", "One two three four.").await;
    check(Fault::EndAfter(0), "stream_broken", "").await;
    check(Fault::GarbageAfter(1), "protocol", "").await;
    check(Fault::ErrorAfter(1), "overloaded", "").await;
    check(Fault::Empty, "empty_answer", "").await;
    for (supplier, events) in [(Supplier::Compatible, 3), (Supplier::Anthropic, 4)] {
        for (fault, expected) in [
            (Fault::CutAfter(events), "stream_broken"),
            (Fault::EndAfter(events), "stream_broken"),
            (Fault::GarbageAfter(events), "protocol"),
            (Fault::ErrorAfter(events), "overloaded"),
        ] {
            let server = FakeModel::start().await;
            server
                .script()
                .push(Reply::text("One two three four.").with_fault(fault.clone()));
            let (error, partial) = failure(&*client(&server, supplier)).await;
            assert_eq!(error.code(), expected, "{supplier:?} {fault:?} {error}");
            assert_eq!(text(&partial), "One two ", "{supplier:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn every_kind_of_silence_has_its_limit() {
    let short = Duration::from_millis(120);
    let long = Duration::from_secs(60);
    for (fault, timeouts, expected) in [
        (
            Fault::HangBeforeHead,
            Timeouts {
                first_byte: short,
                connect: long,
                idle: long,
            },
            TimeoutStage::FirstByte,
        ),
        (
            Fault::HangAfter(0),
            Timeouts {
                first_byte: short,
                connect: long,
                idle: long,
            },
            TimeoutStage::FirstByte,
        ),
        (
            Fault::HangBeforeEnd,
            Timeouts {
                first_byte: long,
                connect: long,
                idle: short,
            },
            TimeoutStage::Idle,
        ),
    ] {
        for supplier in BOTH {
            let server = FakeModel::start().await;
            server
                .script()
                .push(Reply::text("One two.").with_fault(fault.clone()));
            let client = client_with(&server, supplier, timeouts);
            let (error, partial) = failure(&*client).await;
            let ModelError::Timeout { stage, after } = error else {
                panic!("{error:?}")
            };
            assert_eq!((stage, after), (expected, short));
            let kept = if expected == TimeoutStage::Idle {
                "One two."
            } else {
                ""
            };
            assert_eq!(text(&partial), kept);
            // On a busy machine the client may give up before the server was asked at all.
            if !server.script().requests().is_empty() {
                server.script().aborted(1).await;
            }
        }
    }
}

#[tokio::test]
async fn a_slow_first_byte_within_the_limit_is_no_failure() {
    let server = FakeModel::start().await;
    let slow = Fault::SlowFirstByte(Duration::from_millis(30));
    server.script().push(Reply::text("late").with_fault(slow));
    let events = events(&*client(&server, Supplier::Compatible)).await;
    assert!(matches!(events.last(), Some(ModelEvent::Done(_))));
}

#[tokio::test]
async fn a_context_beyond_the_window_is_recognised_from_the_real_words() {
    for supplier in BOTH {
        let server = FakeModel::start().await;
        server.script().set_limits(Limits {
            strict: true,
            window: Some(100),
        });
        let client = client(&server, supplier);
        let long = request(&"word ".repeat(500));
        let events: Vec<ModelEvent> = client
            .stream(long, CancellationToken::new())
            .collect()
            .await;
        assert!(
            matches!(
                events.as_slice(),
                [ModelEvent::Failed {
                    error: ModelError::ContextTooLong(_),
                    ..
                }]
            ),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn an_unknown_model_is_recognised() {
    for supplier in BOTH {
        let server = FakeModel::start().await;
        server.script().set_models(["another"]);
        let (error, _) = failure(&*client(&server, supplier)).await;
        assert!(matches!(error, ModelError::UnknownModel(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_retry_succeeds_on_the_real_wire() {
    for supplier in BOTH {
        let server = FakeModel::start().await;
        server.script().push(Reply::failing(Fault::Status {
            status: 429,
            retry_after: Some("0.01".into()),
        }));
        server.script().push(Reply::failing(Fault::CutAfter(1)));
        server.script().push(Reply::text("third time lucky"));
        let policy = RetryPolicy {
            first_wait: Duration::from_millis(5),
            ..RetryPolicy::default()
        };
        let client = RetryClient::new(client(&server, supplier), policy);
        let events = events(&client).await;
        let reasons: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Retrying { reason, .. } => Some(reason.code()),
                _ => None,
            })
            .collect();
        assert_eq!(reasons, ["rate_limited", "stream_broken"]);
        assert!(
            matches!(events.last(), Some(ModelEvent::Done(_))),
            "{events:?}"
        );
        assert_eq!(server.script().requests().len(), 3);
    }
}

#[tokio::test]
async fn a_test_can_look_between_two_events() {
    let server = FakeModel::start().await;
    let (reply, hold) = Reply::text("One two three.").holding_after(2);
    server.script().push(reply);
    let client = client(&server, Supplier::Compatible);
    let mut stream = client.stream(request("hello"), CancellationToken::new());
    assert!(matches!(
        stream.next().await,
        Some(ModelEvent::AnswerStart(_))
    ));
    hold.reached().await;
    hold.release();
    let rest: Vec<ModelEvent> = stream.collect().await;
    assert!(matches!(rest.last(), Some(ModelEvent::Done(_))));
}

/// What a model can make a server hold is bounded, however it sends its answer.
#[tokio::test]
async fn an_answer_that_is_too_large_ends_with_what_fits() {
    const MB: usize = 1 << 20;
    let event = |bytes: usize| {
        let text = "x".repeat(bytes);
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let whole = format!(r#"{{"text":"{}"}}"#, "x".repeat(17 * MB));
    let cases = [
        ("text/event-stream", event(MB).repeat(9), 8 * MB),
        ("text/event-stream", event(9 * MB), 0),
        ("text/event-stream", event(20 * MB), 0),
        ("application/json", whole, 0),
    ];
    for (content_type, body, kept) in cases {
        let fault = Fault::Body {
            status: 200,
            content_type,
            body,
        };
        let server = FakeModel::start().await;
        server.script().push(Reply::text("x").with_fault(fault));
        let (error, partial) = failure(&*client(&server, Supplier::Compatible)).await;
        assert_eq!(error.code(), "answer_too_large", "{error}");
        assert_eq!(text(&partial).len(), kept);
        assert!(!error.is_retryable() && !error.is_channels_fault());
        let trouble = error.trouble("c", "m");
        for words in [trouble.words.en, trouble.words.zh] {
            assert!(words.contains("8 MB"), "{words}");
        }
    }
}
