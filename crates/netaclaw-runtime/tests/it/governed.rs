//! Calls that may not run.

use crate::stand_in::{Clerk, Seen};
use crate::world::{Say, World, call, ending, finish, text};
use async_trait::async_trait;
use netaclaw_governance::{CurrentTools, ResolvedTools, ToolScope, Undecided};
use netaclaw_protocol::{
    ApprovalMode, AssistantMessage, ContentBlock, ForeignContent, Message, RunPhase, StopReason,
    TodoList, ToolRoute, ToolStatus, Usage,
};
use netaclaw_runtime::{PendingCalls, RunEvent, RunHost, ToolStarted};
use netaclaw_session::EntryBody;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

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
    let reason = "The tool `echo` is not available: the agent's settings disable it.";
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
async fn unknown_names_in_the_configuration_are_warnings() {
    let mut world = World::new();
    world.spec.tools.enabled = vec!["ecko".into()];
    world.answer([text("Hi."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    let RunEvent::Warning(warning) = &world.host.events[0] else {
        panic!("{:?}", world.host.events)
    };
    assert_eq!(
        warning.words.en,
        "The settings of the agent contain tools that do not exist; they are ignored: tools.enabled names `ecko`, which is not a tool; did you mean `echo`?"
    );
}

#[tokio::test]
async fn consent_is_asked_for_and_counts_for_this_call() {
    for (clerk, expected) in [
        (Clerk::Remembers, ": danger: x"),
        (Clerk::Consents, ": danger: x"),
        (
            Clerk::Mistakes,
            " [error]: The approval was given for another call, so `danger` was not run.",
        ),
        (
            Clerk::Refuses,
            " [error]: The user denied the call of `danger`: too risky",
        ),
        (
            Clerk::Panics,
            " [error]: The call was not run, because preparing it failed.",
        ),
    ] {
        let mut world = World::new();
        world.spec.approval = ApprovalMode::Risky;
        world.host.clerk = clerk;
        let (result, _) = result(&mut world, "danger", json!({"say": "x"})).await;
        assert_eq!(result, expected);
        let asked = &world.host.asked[0];
        assert_eq!(
            (asked.tool_name.as_str(), &asked.args),
            ("danger", &json!({"say": "x"}))
        );
        let waited = RunEvent::Phase {
            phase: RunPhase::WaitingForUser,
            detail: None,
        };
        let remembers = matches!(clerk, Clerk::Remembers);
        assert_eq!(world.host.events.contains(&waited), !remembers, "{clerk:?}");
    }
}

#[tokio::test]
async fn a_result_keeps_where_its_call_ran_and_why() {
    let mut world = World::new();
    let (_, started) = result(&mut world, "echo", json!({"say": "x"})).await;
    let details = world.host.result_details();
    assert_eq!(details["toolLabel"], json!(started.tool_label));
    assert_eq!(details["runtimeRoute"], "main");
    assert_eq!(started.worker_hint, Some(ToolRoute::Disabled));
    assert_eq!(details["workerRoutingHint"], "disabled");
    assert_eq!(details["policySources"], json!(started.policy_sources));
    assert_eq!(details.get("ending"), None);
}

#[tokio::test]
async fn a_result_keeps_why_its_call_did_not_run() {
    let mut world = World::new();
    world.spec.tools.disabled = vec!["echo".into()];
    let (_, started) = result(&mut world, "echo", json!({})).await;
    let details = world.host.result_details();
    assert_eq!(details["ending"], "blocked");
    assert_eq!(details["blockedReason"], json!(started.blocked_reason));

    for (clerk, ending) in [(Clerk::Refuses, "denied"), (Clerk::Mistakes, "blocked")] {
        let mut world = World::new();
        world.spec.approval = ApprovalMode::Risky;
        world.host.clerk = clerk;
        result(&mut world, "danger", json!({"say": "x"})).await;
        assert_eq!(world.host.result_details()["ending"], ending, "{clerk:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_user_is_not_the_time_of_the_tool() {
    let mut world = World::new();
    world.spec.approval = ApprovalMode::Risky;
    world.host.clerk = Clerk::Dawdles;
    let (result, _) = result(&mut world, "danger", json!({"say": "x"})).await;
    assert_eq!(result, ": danger: x");
    assert_eq!(world.host.result_details()["durationMs"], 0);
}

#[tokio::test]
async fn no_approval_is_requested_for_a_call_that_cannot_run() {
    let mut world = World::new();
    world.spec.approval = ApprovalMode::Always;
    let (result, _) = result(&mut world, "danger", json!({"say": 1})).await;
    assert!(result.contains("at `/say`"), "{result}");
    assert!(world.host.asked.is_empty());
}

#[tokio::test]
async fn a_stop_ends_the_wait_for_consent() {
    let mut world = World::new();
    world.spec.approval = ApprovalMode::Always;
    world.host.clerk = Clerk::Sleeps;
    world.answer([call("a", "danger", json!({"say": "x"})), finish()]);
    let mut seen = world.host.watch();
    let cancel = world.cancel.clone();
    let stopper = tokio::spawn(async move {
        while let Some(seen) = seen.recv().await {
            let waits = RunPhase::WaitingForUser;
            if matches!(seen, Seen::Event(RunEvent::Phase { phase, .. }) if phase == waits) {
                cancel.cancel();
            }
        }
    });
    assert!(ending(&world.run().await).starts_with("stopped"));
    stopper.abort();
    let transcript = world.host.transcript();
    assert!(
        transcript.contains("stopped before the tool started"),
        "{transcript}"
    );
    let details = world.host.result_details();
    assert_eq!(
        (&details["ending"], &details["durationMs"]),
        (&json!("undecided"), &json!(0))
    );
}

/// A sequence of tools, one for each call.
struct Changing(Mutex<Vec<Result<ResolvedTools, Undecided>>>);

impl Changing {
    fn new(mut times: Vec<Result<ResolvedTools, Undecided>>) -> Arc<Self> {
        times.reverse();
        Arc::new(Self(Mutex::new(times)))
    }
}

#[async_trait]
impl CurrentTools for Changing {
    async fn current(&self) -> Result<ResolvedTools, Undecided> {
        self.0.lock().unwrap().pop().expect("asked once too often")
    }
}

const OFF: &str =
    " [error]: The tool `danger` is not available: an administrator disabled it for all agents.";

#[tokio::test]
async fn a_tool_that_is_switched_off_during_the_answer_does_not_run() {
    let mut world = World::new();
    world.current_tools = Some(Changing::new(vec![Ok(world.tools_without(&["danger"]))]));
    let (result, started) = result(&mut world, "danger", json!({"say": "x"})).await;
    assert_eq!(result, OFF);
    assert!(started.blocked_reason.is_some());
    let offered = &world.script.requests()[0].tools;
    assert!(offered.iter().any(|tool| tool.name == "danger"));
}

#[tokio::test]
async fn a_tool_that_is_switched_off_while_a_person_is_asked_does_not_run() {
    let mut world = World::new();
    world.spec.approval = ApprovalMode::Risky;
    world.host.clerk = Clerk::Consents;
    let (on, off) = (world.tools_without(&[]), world.tools_without(&["danger"]));
    world.current_tools = Some(Changing::new(vec![Ok(on), Ok(off)]));
    let (result, _) = result(&mut world, "danger", json!({"say": "x"})).await;
    assert_eq!(result, OFF);
}

#[tokio::test]
async fn what_cannot_be_decided_does_not_run() {
    let undecided =
        " [error]: The call of `danger` was not run, because the decision about it failed.";
    let error = || vec![Err(Undecided::NotReadable("no database".into()))];
    // None at all: the source of the tools panics.
    for times in [error(), Vec::new()] {
        let mut world = World::new();
        world.current_tools = Some(Changing::new(times));
        let (result, _) = result(&mut world, "danger", json!({"say": "x"})).await;
        assert_eq!(result, undecided);
    }
}

/// The names of the tools in a request to the model.
fn offered(world: &World, request: usize) -> Vec<String> {
    let request = &world.script.requests()[request];
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn tool_changes_between_turns_are_announced_once() {
    let mut world = World::new();
    let (on, off) = (world.tools_without(&[]), world.tools_without(&["danger"]));
    // For the call and for the turn after it, twice.
    let times = [&on, &off, &off, &off].map(|tools| Ok(tools.clone()));
    world.current_tools = Some(Changing::new(times.into()));
    world
        .answer([call("a", "danger", json!({"say": "x"})), finish()])
        .answer([call("b", "danger", json!({"say": "y"})), finish()])
        .answer([text("Done."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert!(offered(&world, 0).contains(&"danger".to_owned()));
    assert!(!offered(&world, 1).contains(&"danger".to_owned()));
    let transcript = world.host.transcript();
    let notice = "Your available tools have changed. Removed: `danger` \
                  (an administrator disabled it for all agents).";
    assert_eq!(transcript.matches(notice).count(), 1, "{transcript}");
    assert!(transcript.contains(": danger: x"), "{transcript}");
    assert!(!transcript.contains(": danger: y"), "{transcript}");
    let changed: Vec<_> = world
        .host
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Tools { changed, .. } => changed.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].removed[0].tool_name, "danger");
}

#[tokio::test]
async fn changes_since_the_last_run_are_announced_at_the_start() {
    let mut world = World::new();
    let names =
        |tools: &ResolvedTools| tools.enabled().map(|tool| tool.name().to_owned()).collect();
    let all: Vec<String> = names(&world.tools_without(&[]));
    let fewer: Vec<String> = names(&world.tools_without(&["echo"]));
    for (told, note) in [
        (Some(all), None),
        (None, None),
        (Some(fewer), Some("Added: `echo`.")),
    ] {
        world = World::new();
        world.told_tools = told;
        world.answer([text("Hi."), finish()]);
        assert_eq!(ending(&world.run().await), "completed");
        let transcript = world.host.transcript();
        match note {
            Some(note) => assert!(transcript.contains(note), "{transcript}"),
            None => assert!(!transcript.contains("tools have changed"), "{transcript}"),
        }
    }
}

/// What one layer says about one tool.
#[derive(Clone, Copy, Debug)]
enum Layer {
    NoUser,
    GlobalOff,
    GlobalOn,
    AgentOff,
    AgentOnly,
    ModelWithoutTools,
    ModelWithoutVision,
    Environment,
    ParentWithout,
    NotGranted,
    Granted,
}

impl Layer {
    const ALL: [Self; 11] = [
        Self::NoUser,
        Self::GlobalOff,
        Self::GlobalOn,
        Self::AgentOff,
        Self::AgentOnly,
        Self::ModelWithoutTools,
        Self::ModelWithoutVision,
        Self::Environment,
        Self::ParentWithout,
        Self::NotGranted,
        Self::Granted,
    ];

    fn resolve(self, world: &mut World, tool: &str) -> ResolvedTools {
        let none: [String; 0] = [];
        let named = [tool.to_owned()];
        let lists = &mut world.spec.tools;
        match self {
            Self::AgentOff => lists.disabled = named.to_vec(),
            Self::AgentOnly => {
                (lists.enabled, lists.disabled) = (named.to_vec(), vec!["*".into()]);
            }
            Self::ModelWithoutTools => world.info.tools = false,
            Self::ModelWithoutVision => world.info.vision = false,
            _ => {}
        }
        let status = match self {
            Self::GlobalOff => Some(ToolStatus::Disabled),
            Self::GlobalOn => Some(ToolStatus::Enabled),
            _ => None,
        };
        let say = Say {
            global: status
                .map(|status| (tool.to_owned(), status))
                .into_iter()
                .collect(),
            environment: match self {
                Self::Environment => [(tool.to_owned(), "it is not there".to_owned())].into(),
                _ => BTreeMap::new(),
            },
        };
        let parent = match self {
            Self::ParentWithout => world.tools_without(&[tool]),
            _ => world.tools_without(&[]),
        };
        let subagent = |granted| ToolScope::Subagent {
            parent: &parent,
            granted,
        };
        world.resolve(
            &say,
            match self {
                Self::ParentWithout => subagent(None),
                Self::NotGranted => subagent(Some(&none[..])),
                Self::Granted => subagent(Some(&named[..])),
                _ => ToolScope::Main,
            },
        )
    }
}

/// Whatever a layer says: what is shown, what the model is offered and what runs agree, and what
/// is off is refused with the reason that is shown.
#[tokio::test]
async fn the_list_shown_the_list_offered_and_what_runs_are_the_same() {
    let known = World::new().tools_without(&[]);
    let known: Vec<String> = known.all().map(|tool| tool.name().to_owned()).collect();
    assert!(known.len() > 12, "{known:?}");
    for tool in &known {
        for layer in Layer::ALL {
            let mut world = World::new();
            let tools = layer.resolve(&mut world, tool);
            check_agreement(&mut world, tool, tools, layer).await;
        }
    }
}

async fn check_agreement(world: &mut World, tool: &str, tools: ResolvedTools, layer: Layer) {
    let projection = tools.projection();
    world.tools = Some(tools);
    // Arguments that no tool takes: it gets as far as the check of them, or not even there.
    let args = json!({"say": 1, "no such argument": true});
    world
        .answer([call("a", tool, args), finish()])
        .answer([text("Done."), finish()]);
    world.run().await;
    assert_eq!(offered(world, 0), projection.tool_names, "{layer:?} {tool}");
    let transcript = world.host.transcript();
    let refused = format!("toolResult#a [error]: The tool `{tool}` is not available: ");
    let off = projection
        .disabled_reasons
        .iter()
        .find(|off| off.tool_name == tool);
    match off {
        Some(off) => {
            let refused = format!("{refused}{}.", off.reason);
            assert!(
                transcript.contains(&refused),
                "{layer:?} {tool}: {transcript}"
            );
            assert!(!projection.tool_names.contains(&off.tool_name));
        }
        None => {
            assert!(
                !transcript.contains(&refused),
                "{layer:?} {tool}: {transcript}"
            );
            assert!(projection.tool_names.iter().any(|name| name == tool));
        }
    }
}

#[tokio::test]
async fn calls_that_never_began_come_before_the_model_is_asked() {
    let mut world = World::new();
    let never_began = ContentBlock::ToolCall {
        id: "a".into(),
        name: "echo".into(),
        arguments: json!({"say": "late"}),
    };
    let answer = AssistantMessage {
        content: vec![never_began.clone()],
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        usage: Usage::default(),
        stop_reason: StopReason::ToolUse,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 1,
    };
    let body = EntryBody::message(&Message::Assistant(answer));
    let entry = world.host.append(None, body).await.unwrap();
    world.pending = Some(PendingCalls {
        entry_id: entry.id().clone(),
        calls: vec![never_began],
        todo: TodoList::default(),
        foreign: ForeignContent::default(),
    });
    world.answer([text("Done."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(
        world.host.transcript(),
        "user: What is in the box?\n\
         assistant [toolUse]: echo({\"say\":\"late\"})#a\n\
         toolResult#a: echo: late\n\
         assistant [stop]: Done."
    );
    assert_eq!(world.script.requests().len(), 1);
}
