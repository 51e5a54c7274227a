//! Every way a run can end, at every moment it can.

use crate::world::{World, call, ending, finish, text};
use netaclaw_models::scripted::Step;
use netaclaw_models::{Detail, ModelError};
use netaclaw_protocol::RunOutcome;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// A run with thinking, parallel and exclusive calls, the to-do list, steering and a last word.
fn busy_world() -> World {
    let mut world = World::new();
    world.host.steering = [vec![], vec!["Go on.".into()]].into();
    world
        .answer([
            Step::Thinking("Let me see.".into()),
            text("First"),
            text(" I look."),
            call("a", "nap", json!({"ms": 50})),
            call("b", "chatty", json!({})),
            call("c", "alone", json!({})),
            call("d", "no_such_tool", json!({})),
            finish(),
        ])
        .answer([
            call("a", "todo", json!({"items": [{"text": "look"}]})),
            call("b", "crash", json!({})),
            call("c", "read", json!({"path": 1})),
            finish(),
        ])
        .answer([text("Nothing in it."), finish()]);
    world
}

#[tokio::test(start_paused = true)]
async fn stopped_after_any_event_a_run_is_well_formed() {
    let mut undisturbed = busy_world();
    assert_eq!(ending(&undisturbed.run().await), "completed");
    let events = undisturbed.host.events.len();
    assert!(events > 40, "{events}");
    for after in 0..events {
        let mut world = busy_world();
        world.host.stop_after = Some((after, world.cancel.clone()));
        let before = Instant::now();
        let report = world.run().await;
        assert_eq!(report.outcome, RunOutcome::Stopped, "after event {after}");
        assert!(
            before.elapsed() <= Duration::from_millis(1200),
            "after event {after}"
        );
        // The session continues from there: the next run is answered.
        world.cancel = tokio_util::sync::CancellationToken::new();
        world.host.stop_after = None;
        world.host.events.clear();
        world.host.steering.clear();
        for _ in 0..3 {
            world.answer([text("Hello again."), finish()]);
        }
        let input = world.input();
        netaclaw_runtime::run_agent(input, &mut world.host).await;
        crate::legal::check_legal(&world.host);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_fails_at_any_append_ends_the_run() {
    let mut undisturbed = busy_world();
    undisturbed.run().await;
    let appends = undisturbed.host.tree.entries().len() - 2;
    for left in 0..appends {
        let mut world = busy_world();
        world.host.appends_left = left;
        let report = world.run().await;
        assert_eq!(
            ending(&report),
            "error: session_unavailable",
            "after {left} appends"
        );
        assert_eq!(
            report.reason.unwrap().to_string(),
            "the session cannot be read or written right now"
        );
        assert!(
            world.host.tree.entries().len() <= left + 3,
            "nothing is written after that"
        );
    }
}

#[tokio::test]
async fn a_broken_stream_keeps_its_text() {
    let mut world = World::new();
    let broken = ModelError::StreamBroken(Detail::new(None, "connection reset"));
    world.answer([
        text("half a sent"),
        call("a", "echo", json!({})),
        Step::Fail(broken),
    ]);
    let report = world.run().await;
    assert_eq!(ending(&report), "error: stream_broken");
    assert_eq!(
        report.reason.unwrap().to_string(),
        "the stream ended early: connection reset"
    );
    assert!(
        world
            .host
            .transcript()
            .ends_with("assistant [error]: half a sent | echo({})#a")
    );
}

#[tokio::test]
async fn a_failure_before_the_first_word_is_stored_too() {
    let mut world = World::new();
    world.answer([Step::Fail(ModelError::Auth(Detail::new(Some(401), "no")))]);
    let report = world.run().await;
    assert_eq!(ending(&report), "error: auth");
    let words = report.trouble.unwrap().words;
    assert!(
        words.en.contains("API key") && words.zh.contains("密钥"),
        "{words:?}"
    );
    assert!(world.host.transcript().ends_with("assistant [error]: "));
}
