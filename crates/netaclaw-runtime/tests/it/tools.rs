//! Calls that fail, each in its own way.

use crate::world::{World, call, ending, finish, text};
use netaclaw_models::scripted::Step;
use netaclaw_protocol::StopReason;
use serde_json::json;

/// Runs one answer with calls and one that ends the run; returns the results.
async fn results(world: &mut World, steps: impl IntoIterator<Item = Step>) -> Vec<String> {
    world.answer(steps).answer([text("Done."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    let transcript = world.host.transcript();
    let results = transcript.split("\ntoolResult").skip(1);
    results
        .map(|result| result.replace("\nassistant [stop]: Done.", ""))
        .collect()
}

#[tokio::test]
async fn a_panic_ends_its_call_only() {
    let mut world = World::new();
    let calls = [
        call("a", "crash", json!({})),
        call("b", "echo", json!({"say": "hi"})),
        finish(),
    ];
    assert_eq!(
        results(&mut world, calls).await,
        [
            "#a [error]: The tool failed because of an internal error.",
            "#b: echo: hi"
        ]
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_can_be_repaired() {
    let mut world = World::new();
    std::fs::write(world.workspace.path().join("box.txt"), "a cat\n").unwrap();
    world
        .answer([call("a", "read", json!({"path": 7})), finish()])
        .answer([call("b", "read", json!({"path": "box.txt"})), finish()])
        .answer([text("A cat."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    let transcript = world.host.transcript();
    assert!(
        transcript.contains("#a [error]: The arguments do not match the schema of the tool:\n- at `/path`: 7 is not of type \"string\""),
        "{transcript}"
    );
    assert!(
        transcript.contains("toolResult#b:      1\ta cat"),
        "{transcript}"
    );
}

#[tokio::test]
async fn broken_json_is_quoted_to_the_model() {
    let mut world = World::new();
    let calls = [
        Step::CallStart {
            id: "a".into(),
            name: "echo".into(),
        },
        Step::CallFragment {
            id: "a".into(),
            fragment: "{\"say\": \"hi".into(),
        },
        Step::Finish(StopReason::ToolUse),
    ];
    let results = results(&mut world, calls).await;
    assert!(
        results[0].contains("not valid JSON: EOF while parsing a string"),
        "{results:?}"
    );
    assert!(
        results[0].contains("They start with `{\"say\": \"hi`"),
        "{results:?}"
    );
}

#[tokio::test]
async fn the_last_call_of_a_cut_answer_does_not_run() {
    let mut world = World::new();
    let calls = [
        call("a", "echo", json!({"say": "whole"})),
        call("b", "echo", json!({})),
        Step::Finish(StopReason::Length),
    ];
    let results = results(&mut world, calls).await;
    assert_eq!(results[0], "#a: echo: whole");
    assert!(
        results[1].starts_with("#b [error]: The answer was truncated"),
        "{results:?}"
    );
}

#[tokio::test]
async fn ids_that_a_model_uses_twice_do_no_harm() {
    let mut world = World::new();
    let calls = [
        call("x", "echo", json!({"say": "1"})),
        call("x", "echo", json!({"say": "2"})),
        finish(),
    ];
    assert_eq!(
        results(&mut world, calls).await,
        ["#x: echo: 1", "#x: echo: 2"]
    );
}
