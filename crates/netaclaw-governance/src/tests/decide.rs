use super::*;
use netaclaw_protocol::{ApprovalMode, ToolOverride};
use serde_json::Value;

fn call(tool: &str, args: Value) -> ProposedCall {
    ProposedCall {
        tool_call_id: "c1".into(),
        tool_name: tool.into(),
        args,
    }
}

fn decision(tools: &ResolvedTools, call: ProposedCall) -> Decision {
    decide(tools, Ok(tools), &ForeignContent::default(), call)
}

#[track_caller]
fn check_denied(decision: Decision, reason: &str) {
    match decision {
        Decision::Deny { reason: actual } => assert_eq!(actual, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tool_that_is_on_may_run() {
    let tools = World::default().resolve();
    let Decision::Allow(approved) = decision(&tools, call("read", json!({"path": "a"}))) else {
        panic!("denied")
    };
    assert_eq!(
        (
            approved.tool_call_id(),
            approved.tool_name(),
            approved.args()
        ),
        ("c1", "read", &json!({"path": "a"}))
    );
}

#[test]
fn hidden_and_unknown_tools_are_refused_with_the_reason() {
    let tools = World::new(|w| w.agent.tools.disabled = names(&["look", "memory_*"])).resolve();
    check_denied(
        decision(&tools, call("look", json!({}))),
        "The tool `look` is not available: the agent's settings disable it.",
    );
    check_denied(
        decision(&tools, call("Read", json!({}))),
        "There is no tool `Read`. Did you mean `read`? Available tools: read, clarify.",
    );
    let none = World::new(|w| w.model.tools = false).resolve();
    check_denied(
        decision(&none, call("xyz", json!({}))),
        "There is no tool `xyz`. No tools are available.",
    );
}

#[test]
fn pinned_arguments_stand_whatever_the_model_says() {
    let world = World::new(|w| {
        let arguments = json!({"path": "safe"}).as_object().unwrap().clone();
        let change = ToolOverride {
            arguments,
            ..ToolOverride::default()
        };
        w.agent.tool_overrides.insert("read".into(), change);
    });
    let args = json!({"path": "/etc/shadow", "deep": true});
    let Decision::Allow(approved) = decision(&world.resolve(), call("read", args)) else {
        panic!("denied")
    };
    assert_eq!(approved.args(), &json!({"path": "safe", "deep": true}));
}

#[test]
fn the_mode_says_which_risks_need_consent() {
    for (mode, read, bash) in [
        (ApprovalMode::Never, false, false),
        (ApprovalMode::Risky, false, true),
        (ApprovalMode::Always, true, true),
    ] {
        let tools = World::new(|w| {
            w.agent.approval = mode;
            w.agent.tools.enabled = names(&["bash"]);
        })
        .resolve();
        for (tool, asks) in [("read", read), ("bash", bash)] {
            let asked = matches!(decision(&tools, call(tool, json!({}))), Decision::Ask(_));
            assert_eq!(asked, asks, "{mode:?} {tool}");
        }
    }
}

fn asked() -> PendingCall {
    let tools = World::new(|w| w.agent.approval = ApprovalMode::Always).resolve();
    match decision(&tools, call("read", json!({"path": "a"}))) {
        Decision::Ask(asked) => asked,
        other => panic!("{other:?}"),
    }
}

#[test]
fn consent_opens_exactly_the_call_it_was_given_to() {
    let tools = World::default().resolve();
    let answer = |hash, consent| asked().answer(&Approval { hash, consent }, Ok(&tools));
    let own = asked().request().hash.clone();
    assert!(matches!(
        answer(own.clone(), Consent::Given),
        Decision::Allow(_)
    ));
    let other = CallHash::of("read", &json!({"path": "b"}));
    check_denied(
        answer(other, Consent::Given),
        "The approval was given for another call, so `read` was not run.",
    );
    let reason = Some("not that file".into());
    check_denied(
        answer(own, Consent::Refused { reason }),
        "The user denied the call of `read`: not that file",
    );
}

const UNDECIDED: &str = "The call of `read` was not run, because the decision about it failed.";
const OFF: &str = "The tool `read` is not available: an administrator disabled it for all agents.";

fn switched_off() -> ResolvedTools {
    let off = |w: &mut World| {
        w.global.insert("read".into(), ToolStatus::Disabled);
    };
    World::new(off).resolve()
}

/// Between the answer of the model and the call, or while a user decides.
#[test]
fn what_was_switched_off_meanwhile_does_not_run() {
    let offered = World::default().resolve();
    let args = || call("read", json!({"path": "a"}));
    check_denied(
        decide(
            &offered,
            Ok(&switched_off()),
            &ForeignContent::default(),
            args(),
        ),
        OFF,
    );
    let consent = Approval {
        hash: asked().request().hash.clone(),
        consent: Consent::Given,
    };
    check_denied(asked().answer(&consent, Ok(&switched_off())), OFF);
    // And the reverse: what the model was not offered stays unavailable for this answer.
    check_denied(
        decide(
            &switched_off(),
            Ok(&offered),
            &ForeignContent::default(),
            args(),
        ),
        OFF,
    );
}

#[test]
fn what_was_pinned_meanwhile_needs_another_call() {
    let arguments = json!({"path": "safe"}).as_object().unwrap().clone();
    let pinned = World::new(|w| {
        let change = ToolOverride {
            arguments,
            ..ToolOverride::default()
        };
        w.agent.tool_overrides.insert("read".into(), change);
    });
    let consent = Approval {
        hash: asked().request().hash.clone(),
        consent: Consent::Given,
    };
    check_denied(
        asked().answer(&consent, Ok(&pinned.resolve())),
        "The settings of `read` changed while the call waited for approval, so it was not run. Make the call again.",
    );
}

#[test]
fn what_cannot_be_decided_is_denied() {
    let tools = World::default().resolve();
    let error = Undecided::NotReadable("no database".into());
    let args = call("read", json!({"path": "a"}));
    check_denied(
        decide(&tools, Err(&error), &ForeignContent::default(), args),
        UNDECIDED,
    );
    let consent = Approval {
        hash: asked().request().hash.clone(),
        consent: Consent::Given,
    };
    check_denied(asked().answer(&consent, Err(&error)), UNDECIDED);
}
