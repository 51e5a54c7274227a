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
    let Decision::Allow(approved) = decide(&tools, call("read", json!({"path": "a"})), &[]) else {
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
        decide(&tools, call("look", json!({})), &[]),
        "The tool `look` is not available: the agent's configuration switches it off.",
    );
    check_denied(
        decide(&tools, call("Read", json!({})), &[]),
        "There is no tool `Read`. Did you mean `read`? Available tools: read, clarify.",
    );
    let none = World::new(|w| w.model.tools = false).resolve();
    check_denied(
        decide(&none, call("xyz", json!({})), &[]),
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
    let Decision::Allow(approved) = decide(&world.resolve(), call("read", args), &[]) else {
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
            let asked = matches!(decide(&tools, call(tool, json!({})), &[]), Decision::Ask(_));
            assert_eq!(asked, asks, "{mode:?} {tool}");
        }
    }
}

fn asked() -> AskedCall {
    let tools = World::new(|w| w.agent.approval = ApprovalMode::Always).resolve();
    match decide(&tools, call("read", json!({"path": "a"})), &[]) {
        Decision::Ask(asked) => asked,
        other => panic!("{other:?}"),
    }
}

#[test]
fn consent_opens_exactly_the_call_it_was_given_to() {
    let approval = |hash, consent| Approval { hash, consent };
    let own = asked().request().hash.clone();
    assert!(matches!(
        asked().answer(&approval(own.clone(), Consent::Given)),
        Decision::Allow(_)
    ));
    let other = CallHash::of("read", &json!({"path": "b"}));
    check_denied(
        asked().answer(&approval(other, Consent::Given)),
        "The consent was given to another call, so `read` was not run.",
    );
    let reason = Some("not that file".into());
    check_denied(
        asked().answer(&approval(own, Consent::Refused { reason })),
        "The user refused to let `read` run: not that file",
    );
}

struct Says(Result<Verdict, InspectError>);

impl Inspector for Says {
    fn inspect(&self, _: &ResolvedTool, _: &ProposedCall) -> Result<Verdict, InspectError> {
        self.0.clone()
    }
}

struct Panics;

impl Inspector for Panics {
    fn inspect(&self, _: &ResolvedTool, _: &ProposedCall) -> Result<Verdict, InspectError> {
        panic!("an inspector with a mistake")
    }
}

#[test]
fn what_cannot_be_decided_is_denied() {
    let tools = World::default().resolve();
    let undecided = "Whether `read` may run could not be decided, so it was not run.";
    let pass: Arc<dyn Inspector> = Arc::new(Says(Ok(Verdict::Pass)));
    let fails: Arc<dyn Inspector> = Arc::new(Says(Err(InspectError("no database".into()))));
    for broken in [fails, Arc::new(Panics)] {
        let decision = decide(&tools, call("read", json!({})), &[pass.clone(), broken]);
        check_denied(decision, undecided);
    }
}

#[test]
fn the_strictest_inspector_wins() {
    let tools = World::default().resolve();
    let says = |verdict| -> Arc<dyn Inspector> { Arc::new(Says(Ok(verdict))) };
    let ask = says(Verdict::Ask {
        reason: "a large file".into(),
    });
    let deny = says(Verdict::Deny {
        reason: "switched off just now".into(),
    });
    let Decision::Ask(asked) = decide(
        &tools,
        call("read", json!({})),
        &[says(Verdict::Pass), ask.clone()],
    ) else {
        panic!("not asked")
    };
    assert_eq!(asked.request().reason, "a large file");
    check_denied(
        decide(&tools, call("read", json!({})), &[ask, deny]),
        "switched off just now",
    );
}
