//! Calls that may not run.

use crate::world::{World, call, ending, finish, text};
use async_trait::async_trait;
use netaclaw_governance::{Approval, ApprovalRequest, Approver, Consent};
use netaclaw_protocol::{ApprovalMode, ToolRoute};
use netaclaw_runtime::{RunEvent, ToolStarted};
use serde_json::{Value, json};
use std::sync::Arc;

async fn result(world: &mut World, tool: &str, args: Value) -> (String, ToolStarted) {
    world
        .answer([call("a", tool, args), finish()])
        .answer([text("Done."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    let transcript = world.host.transcript();
    let result = transcript.split("toolResult#a").nth(1).unwrap();
    let started = world.host.events.iter().find_map(|event| match event {
        RunEvent::ToolStarted(started) => Some(started.clone()),
        _ => None,
    });
    (
        result.replace("\nassistant [stop]: Done.", ""),
        started.unwrap(),
    )
}

#[tokio::test]
async fn a_hidden_tool_is_refused_with_the_reason() {
    let mut world = World::new();
    world.spec.tools.disabled = vec!["echo".into()];
    let (result, started) = result(&mut world, "echo", json!({})).await;
    let reason = "The tool `echo` is not available: the agent's configuration switches it off.";
    assert_eq!(result, format!(" [error]: {reason}"));
    assert_eq!(started.route, ToolRoute::Disabled);
    assert_eq!(started.blocked_reason.as_deref(), Some(reason));
    assert_eq!(
        started.policy_sources,
        ["catalogue:on_by_default", "agent:off"]
    );
    let offered = &world.script.requests()[0].tools;
    assert!(offered.iter().all(|tool| tool.name != "echo"));
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_a_guess() {
    let mut world = World::new();
    let (result, started) = result(&mut world, "Echo", json!({})).await;
    assert!(
        result.starts_with(" [error]: There is no tool `Echo`. Did you mean `echo`?"),
        "{result}"
    );
    assert_eq!(started.route, ToolRoute::Disabled);
}

#[tokio::test]
async fn unknown_names_in_the_configuration_are_told_and_the_run_goes_on() {
    let mut world = World::new();
    world.spec.tools.enabled = vec!["ecko".into()];
    world.answer([text("Hi."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    let RunEvent::Warning(warning) = &world.host.events[0] else {
        panic!("{:?}", world.host.events)
    };
    assert_eq!(
        warning.words.en,
        "The agent's settings name tools that do not exist: tools.enabled names `ecko`, which is no \
         tool; did you mean `echo`?"
    );
}

/// Consents to everything, or to something else, or fails.
enum Clerk {
    Consents,
    Mistakes,
    Refuses,
    Panics,
}

#[async_trait]
impl Approver for Clerk {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let mut approval = Approval {
            hash: request.hash.clone(),
            consent: Consent::Given,
        };
        match self {
            Self::Consents => {}
            Self::Mistakes => {
                approval.hash = netaclaw_governance::CallHash::of("other", &json!({}))
            }
            Self::Refuses => {
                approval.consent = Consent::Refused {
                    reason: Some("too risky".into()),
                }
            }
            Self::Panics => panic!("a mistake of the clerk"),
        }
        approval
    }
}

#[tokio::test]
async fn consent_is_asked_for_and_counts_for_this_call() {
    for (clerk, expected) in [
        (
            None,
            " [error]: The tool `danger` needs the consent of the user, and this version cannot ask for it yet, so it was not run.",
        ),
        (Some(Clerk::Consents), ": danger: x"),
        (
            Some(Clerk::Mistakes),
            " [error]: The consent was given to another call, so `danger` was not run.",
        ),
        (
            Some(Clerk::Refuses),
            " [error]: The user refused to let `danger` run: too risky",
        ),
        (
            Some(Clerk::Panics),
            " [error]: The call could not be prepared, so it was not run.",
        ),
    ] {
        let mut world = World::new();
        world.spec.approval = ApprovalMode::Risky;
        world.approver = clerk.map(|clerk| Arc::new(clerk) as Arc<dyn Approver>);
        let (result, _) = result(&mut world, "danger", json!({"say": "x"})).await;
        assert_eq!(result, expected);
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_cannot_run() {
    let mut world = World::new();
    world.spec.approval = ApprovalMode::Always;
    world.approver = Some(Arc::new(Clerk::Panics));
    let (result, _) = result(&mut world, "danger", json!({"say": 1})).await;
    assert!(result.contains("at `/say`"), "{result}");
}
