use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

const NOW: &str = "2026-11-16T10:00:00.000Z";

fn operation() -> Operation {
    let redactor = Redactor::new(&[PathBuf::from("/home/ann/work")]);
    Operation::of_call("call-1", redactor)
}

fn update(message: &str) -> ProcessUpdate {
    ProcessUpdate {
        message: message.to_owned(),
        ..ProcessUpdate::default()
    }
}

#[test]
fn percent_is_given_or_counted_or_absent() {
    let of = |given, current, total| percent(&given, current, total);
    assert_eq!(of(None, Some(1), Some(3)), Some(33.0));
    assert_eq!(of(None, Some(7), Some(3)), Some(100.0));
    assert_eq!(of(Some(12.5), Some(1), Some(2)), Some(12.5));
    assert_eq!(of(Some(-4.0), None, None), Some(0.0));
    assert_eq!(of(Some(400.0), None, None), Some(100.0));
    assert_eq!(of(Some(f64::NAN), None, None), None);
    assert_eq!(of(None, Some(0), Some(0)), None);
    assert_eq!(of(None, Some(3), None), None);
}

#[test]
fn a_bar_does_not_go_back_within_a_stage() {
    let mut operation = operation();
    let mut at = |stage: &str, percent| {
        let step = ProcessUpdate {
            stage: Some(stage.to_owned()),
            percent: Some(percent),
            ..update("x")
        };
        operation.step(step, NOW).unwrap().percent
    };
    assert_eq!(at("hash", 50.0), Some(50.0));
    assert_eq!(at("hash", 30.0), Some(50.0));
    assert_eq!(at("compare", 10.0), Some(10.0));
}

#[test]
fn there_is_one_end_and_nothing_after_it() {
    let mut operation = operation();
    let said = ProcessUpdate {
        status: ProcessStatus::Completed,
        ..update("all done, says the work")
    };
    assert_eq!(
        operation.step(said.clone(), NOW).unwrap().status,
        ProcessStatus::Running
    );
    let staged = ProcessUpdate {
        stage: Some("hash".to_owned()),
        ..said
    };
    assert_eq!(
        operation.step(staged, NOW).unwrap().status,
        ProcessStatus::Completed
    );
    let end = || ProcessEnd::new(EndStatus::Failed, CallEnd::TimedOut);
    let event = operation.end(end(), NOW).unwrap();
    assert_eq!(event.words.unwrap().zh, "超时，已结束。");
    assert_eq!(event.reason, Some(Box::new(CallEnd::TimedOut)));
    assert_eq!(
        (event.status, event.level, event.sequence),
        (ProcessStatus::Failed, ProcessLevel::Error, 3)
    );
    assert_eq!(operation.end(end(), NOW), None);
    assert_eq!(operation.step(update("late"), NOW), None);
    assert_eq!(operation.timeline(None, 0).process_event_count, 3);
}

#[test]
fn of_many_the_first_and_the_last_are_kept_and_all_are_counted() {
    let mut operation = operation();
    for number in 1..=5_000 {
        let event = operation.step(update(&number.to_string()), NOW).unwrap();
        assert_eq!(event.sequence, number);
    }
    let kept = operation.timeline(None, 0);
    let numbers: Vec<u64> = kept
        .process_events
        .iter()
        .map(|event| event.sequence)
        .collect();
    let expected: Vec<u64> = (1..=10).chain(4_961..=5_000).collect();
    assert_eq!(numbers, expected);
    assert_eq!(kept.process_event_count, 5_000);
    assert_eq!(kept.latest_process_event.unwrap().message, "5000");
}

#[test]
fn the_latest_step_is_the_last_that_says_something_about_the_work() {
    let latest = |end: ProcessEnd| {
        let mut operation = operation();
        operation.step(update("counted 3 files"), NOW).unwrap();
        operation.end(end, NOW).unwrap();
        let timeline = operation.timeline(None, 0);
        assert_eq!(timeline.process_events.len(), 2);
        timeline.latest_process_event.unwrap().message
    };
    let done = ProcessEnd::new(EndStatus::Completed, CallEnd::Done);
    assert_eq!(latest(done), "counted 3 files");
    let failed = ProcessEnd::reported(EndStatus::Failed, "It was killed.");
    assert_eq!(latest(failed), "It was killed.");
}

#[test]
fn payloads_are_harmless_scalars() {
    let long = "水".repeat(600);
    let payload: Map<String, Value> = serde_json::from_value(json!({
        "API_Key": "sk-1234", "accessToken": 5, "count": 3, "ok": true, "none": null,
        "list": [1], "nested": {"password": "x"}, "text": long,
        "note": "password=hunter2 stays secret"
    }))
    .unwrap();
    let step = ProcessUpdate {
        payload,
        ..update("x")
    };
    let payload = operation().step(step, NOW).unwrap().payload.unwrap();
    let expected = json!({
        "API_Key": "[redacted]", "accessToken": "[redacted]", "count": 3, "ok": true, "none": null,
        "list": "[object]", "nested": "[object]", "text": format!("{}…", "水".repeat(500)),
        "note": "password=[redacted] stays secret"
    });
    assert_eq!(Value::Object(payload), expected);
}

#[test]
fn texts_lose_their_secrets_and_their_roots() {
    let redactor = Redactor::new(&[PathBuf::from("/home/ann/work")])
        .with_secrets(["hunter2hunter2".to_owned()]);
    for (text, expected) in [
        ("api_key=abc123 next", "api_key=[redacted] next"),
        (
            "{\"api-key\": \"abc 123\", \"a\": 1}",
            "{\"api-key\": [redacted], \"a\": 1}",
        ),
        (
            "Authorization: Bearer abc.def-123",
            "Authorization: [redacted]",
        ),
        ("sent Bearer abcdefgh1234", "sent Bearer [redacted]"),
        ("key sk-abcdefghijklmnop1234 used", "key [redacted] used"),
        (
            "mysql://root:s3cret@db/app",
            "mysql://root:[redacted]@db/app",
        ),
        ("密码：correct-horse-battery", "密码：[redacted]"),
        ("it is hunter2hunter2!", "it is [redacted]!"),
        ("DB_PASSWORD='a b' x", "DB_PASSWORD=[redacted] x"),
        ("5 tokens used", "5 tokens used"),
        ("read /home/ann/work/src/a.rs:3", "read src/a.rs:3"),
        ("in /home/ann/work", "in ."),
        ("in /home/ann/worker/x", "in …/x"),
        ("open \"/etc/ssl/private/key.pem\"", "open \"…/key.pem\""),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("a/b and 1/2", "a/b and 1/2"),
    ] {
        assert_eq!(redactor.text(text), expected, "{text}");
        assert_eq!(redactor.text(expected), expected, "twice is as once");
    }
}

proptest! {
    #[test]
    fn a_secret_value_never_passes(before in ".{0,40}", after in ".{0,40}") {
        let secret = "S3cr3tMarkerValue";
        let redactor = Redactor::default().with_secrets([secret.to_owned()]);
        let text = redactor.text(&format!("{before}{secret}{after}"));
        prop_assert!(!text.contains(secret));
    }

    #[test]
    fn any_text_can_be_a_step(message in any::<String>(), detail in any::<String>()) {
        let step = ProcessUpdate { detail: Some(detail), ..update(&message) };
        let event = operation().step(step, NOW).unwrap();
        prop_assert!(!event.message.is_empty());
        prop_assert!(event.message.chars().count() <= MESSAGE_CHARS_MAX + 1);
    }
}
