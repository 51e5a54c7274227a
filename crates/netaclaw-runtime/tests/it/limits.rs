//! Runs that only a limit ends.

use crate::world::{World, call, ending, finish, text};
use netaclaw_models::scripted::Step;
use netaclaw_models::{Detail, ModelError};
use netaclaw_protocol::{LocalizedErrorKind, StopReason};
use netaclaw_runtime::{Overflow, RunEvent};
use serde_json::json;

fn warnings(world: &World) -> Vec<LocalizedErrorKind> {
    let warnings = world.host.events.iter().filter_map(|event| match event {
        RunEvent::Warning(warning) => Some(warning.kind),
        _ => None,
    });
    warnings.collect()
}

#[tokio::test]
async fn the_turn_limit_ends_a_run_with_all_results() {
    let mut world = World::new();
    world.agent.limits.turns = 3;
    for n in 0..5 {
        world.answer([call("a", "echo", json!({"say": n.to_string()})), finish()]);
    }
    let report = world.run().await;
    assert_eq!(
        (ending(&report).as_str(), report.turns),
        ("error: turn_limit", 3)
    );
    assert!(world.host.transcript().ends_with("toolResult#a: echo: 2"));
}

#[tokio::test]
async fn a_looping_model_is_warned_once_and_then_stopped() {
    let mut world = World::new();
    for _ in 0..6 {
        world.answer([call("a", "echo", json!({})), finish()]);
    }
    let report = world.run().await;
    assert_eq!(
        (ending(&report).as_str(), report.turns),
        ("error: stuck", 5)
    );
    assert_eq!(warnings(&world), [LocalizedErrorKind::Repeating]);
    let transcript = world.host.transcript();
    assert_eq!(
        transcript.matches("custom_message netaclaw.notice").count(),
        1,
        "{transcript}"
    );
    let asked = serde_json::to_string(world.script.requests()[4].messages.last().unwrap()).unwrap();
    assert!(asked.contains("same tool call several times"), "{asked}");
}

#[tokio::test]
async fn failing_calls_and_empty_answers_are_circles_too() {
    let mut world = World::new();
    for _ in 0..6 {
        world.answer([call("a", "fail", json!({})), finish()]);
    }
    let report = world.run().await;
    assert_eq!(
        (ending(&report).as_str(), report.turns),
        ("error: stuck", 4)
    );

    let mut world = World::new();
    for _ in 0..6 {
        world.answer([finish()]);
    }
    let report = world.run().await;
    assert_eq!(
        (ending(&report).as_str(), report.turns),
        ("error: stuck", 3)
    );
}

#[tokio::test]
async fn one_empty_answer_is_just_asked_again() {
    let mut world = World::new();
    world
        .answer([Step::Thinking("…".into()), finish()])
        .answer([text("Here."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(warnings(&world), []);
}

#[tokio::test]
async fn a_context_too_long_ends_the_run_unless_the_host_can_help() {
    let too_long = || Step::Fail(ModelError::ContextTooLong(Detail::default()));
    let mut world = World::new();
    world.answer([too_long()]);
    assert_eq!(ending(&world.run().await), "error: context_too_long");

    let mut world = World::new();
    world.host.overflow = vec![Overflow::Retry];
    world
        .answer([too_long()])
        .answer([text("Now it fits."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");

    let mut world = World::new();
    world.host.overflow = vec![Overflow::Retry, Overflow::Retry];
    world.answer([too_long()]).answer([too_long()]);
    assert_eq!(ending(&world.run().await), "error: context_too_long");
    assert_eq!(world.host.overflow.len(), 1, "asked once");
}

#[tokio::test]
async fn a_model_without_tools_gets_none_with_one_warning() {
    let mut world = World::new();
    world.info.tools = false;
    world.answer([text("Hi."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(warnings(&world), [LocalizedErrorKind::NoToolSupport]);
    assert!(world.script.requests()[0].tools.is_empty());
    assert!(!world.script.requests()[0].system.stable.contains("# Tools"));
}

#[tokio::test]
async fn a_model_that_turns_out_to_take_no_tools_is_asked_without() {
    let refused = || Step::Fail(ModelError::NoToolSupport(Detail::default()));
    let mut world = World::new();
    world.answer([refused()]).answer([text("Hi."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(warnings(&world), [LocalizedErrorKind::NoToolSupport]);
    let requests = world.script.requests();
    assert!(!requests[0].tools.is_empty() && requests[1].tools.is_empty());
    assert!(!requests[1].system.stable.contains("# Tools"));
    let transcript = world.host.transcript();
    assert!(!transcript.contains("[error]"), "{transcript}");

    let mut world = World::new();
    world.answer([refused()]).answer([refused()]);
    assert_eq!(ending(&world.run().await), "error: no_tool_support");
}

#[tokio::test]
async fn an_answer_cut_at_the_limit_is_complete_but_said_to_be_cut() {
    let mut world = World::new();
    world.answer([text("and so on and"), Step::Finish(StopReason::Length)]);
    assert_eq!(ending(&world.run().await), "completed: length");
}
