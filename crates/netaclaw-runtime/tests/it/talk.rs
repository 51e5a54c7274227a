//! Answers: pieces, order, steering, the to-do list.

use crate::world::{World, call, ending, finish, text};
use netaclaw_models::scripted::Step;
use netaclaw_models::{Detail, ModelError, ModelEvent, StreamPart};
use netaclaw_protocol::{Message, PartKind, RunPhase, StopReason, Usage, UserContent};
use netaclaw_runtime::RunEvent;
use serde_json::json;
use std::time::Duration;

/// Events in short, with ids left out.
fn short(event: &RunEvent) -> String {
    match event {
        RunEvent::Phase { phase, .. } => format!("{phase:?}"),
        RunEvent::AnswerStarted {
            provider, model, ..
        } => format!("answer of {provider}/{model}"),
        RunEvent::PartStarted { part, kind, .. } => match kind {
            StreamPart::ToolCall { id, name } => format!("+{part} {name}#{id}"),
            kind => format!("+{part} {kind:?}"),
        },
        RunEvent::PartDelta(delta) => {
            format!("{}@{} {}", delta.part, delta.offset, delta.text)
        }
        RunEvent::PartEnded { part, kind, .. } => format!("-{part} {kind:?}"),
        RunEvent::AnswerFinished { stop_reason, .. } => format!("answered: {stop_reason:?}"),
        RunEvent::ToolStarted(started) => format!("start {}", started.tool_call_id),
        RunEvent::ToolOutput(output) => {
            format!("{}@{} {}", output.tool_call_id, output.offset, output.text)
        }
        RunEvent::ApprovalUsed(used) => format!("allowed {}", used.tool_call_id),
        RunEvent::ToolCompleted(done) => format!("done {}", done.tool_call_id),
        RunEvent::Retrying {
            attempt, after_ms, ..
        } => format!("retry {attempt} in {after_ms}"),
        RunEvent::FallingBack { from, to, .. } => format!("{from} -> {to}"),
        RunEvent::Todo(list) => format!("todo {}", list.revision),
        RunEvent::Tools { .. } => "offers tools".to_owned(),
        RunEvent::Warning(warning) => format!("warning {}", warning.kind.as_str()),
    }
}

#[track_caller]
fn check_events(world: &World, expected: &[&str]) {
    let events: Vec<String> = world.host.events.iter().map(short).collect();
    assert_eq!(events, expected);
}

#[tokio::test]
async fn a_plain_answer_is_streamed_and_stored() {
    let mut world = World::new();
    let usage = Usage {
        input: 10,
        output: 5,
        ..Usage::default()
    };
    world.answer([
        Step::Thinking("Hm.".into()),
        text("水 "),
        text("and air."),
        Step::Usage(usage),
        finish(),
    ]);
    let report = world.run().await;
    assert_eq!(ending(&report), "completed");
    assert_eq!((report.turns, report.usage.total_tokens), (1, 15));
    assert_eq!(
        world.host.transcript(),
        "user: What is in the box?\nassistant [stop]: <Hm.> | 水 and air."
    );
    check_events(
        &world,
        &[
            "offers tools",
            "WaitingForModel",
            "answer of channel/scripted",
            "Streaming",
            "+0 Thinking",
            "0@0 Hm.",
            "-0 Thinking",
            "+1 Text",
            "1@0 水 ",
            "1@2 and air.",
            "-1 Text",
            "answered: Stop",
        ],
    );
    assert_eq!(
        world.host.kept, [""; 0],
        "it was complete before it was stored"
    );
    // How long it thought is kept with the answer.
    let stored = world.host.last_message();
    let times = stored["netaclaw"]["thinkingMs"].as_array().unwrap();
    assert_eq!(times.len(), 1);
    let request = &world.script.requests()[0];
    assert!(request.system.stable.starts_with("You look into boxes."));
    assert_eq!(request.system.volatile, "Today is 2026-11-03.");
    assert!(request.tools.iter().any(|tool| tool.name == "read"));
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_a_pause_is_kept_while_the_model_pauses() {
    let mut world = World::new();
    world.answer([text("Half a "), text("sentence"), Step::Hang]);
    let cancel = world.cancel.clone();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    };
    tokio::join!(world.run(), stop);
    assert_eq!(world.host.kept, ["Half a sentence"], "all of it, and once");
}

#[tokio::test(start_paused = true)]
async fn results_keep_the_order_of_the_calls_and_show_when_they_come() {
    let mut world = World::new();
    world
        .answer([
            call("a", "nap", json!({"ms": 300, "say": "slow"})),
            call("b", "nap", json!({"ms": 100, "say": "quick"})),
            finish(),
        ])
        .answer([text("Done."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(
        world.host.transcript(),
        "user: What is in the box?\n\
         assistant [toolUse]: nap({\"ms\":300,\"say\":\"slow\"})#a | nap({\"ms\":100,\"say\":\"quick\"})#b\n\
         toolResult#a: nap: slow\n\
         toolResult#b: nap: quick\n\
         assistant [stop]: Done."
    );
    let events: Vec<String> = world.host.events.iter().map(short).collect();
    let tools: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .skip_while(|e| !e.starts_with("start"))
        .take(4)
        .collect();
    assert_eq!(tools, ["start a", "start b", "done b", "done a"]);
    let durations: Vec<u64> = world
        .host
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolCompleted(done) => Some(done.duration_ms),
            _ => None,
        })
        .collect();
    assert_eq!(durations, [100, 300]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_works_alone_waits_and_lets_wait() {
    let mut world = World::new();
    world
        .answer([
            call("a", "nap", json!({"ms": 100})),
            call("b", "alone", json!({})),
            call("c", "echo", json!({})),
            finish(),
        ])
        .answer([text("Done."), finish()]);
    world.run().await;
    let tools: Vec<String> = world
        .host
        .events
        .iter()
        .map(short)
        .filter(|e| e.starts_with("start") || e.starts_with("done"))
        .collect();
    assert_eq!(
        tools,
        [
            "start a", "done a", "start b", "done b", "start c", "done c"
        ]
    );
}

#[tokio::test]
async fn live_output_comes_before_the_result() {
    let mut world = World::new();
    world
        .answer([call("a", "chatty", json!({"say": "x"})), finish()])
        .answer([text("Done."), finish()]);
    world.run().await;
    let events: Vec<String> = world.host.events.iter().map(short).collect();
    let at = events.iter().position(|event| event == "start a").unwrap();
    assert_eq!(
        events[at..at + 4],
        ["start a", "a@0 één ", "a@4 two", "done a"]
    );
}

#[tokio::test]
async fn steering_goes_in_after_the_tools_and_after_the_last_word() {
    let mut world = World::new();
    world.host.steering = [
        vec!["Hurry.".into(), "Please.".into()],
        vec!["One more thing.".into()],
    ]
    .into();
    world
        .answer([call("a", "echo", json!({})), finish()])
        .answer([text("Nothing."), finish()])
        .answer([text("Still nothing."), finish()]);
    assert_eq!(ending(&world.run().await), "completed");
    assert_eq!(
        world.host.transcript(),
        "user: What is in the box?\n\
         assistant [toolUse]: echo({})#a\n\
         toolResult#a: echo: \n\
         user: Hurry.\n\
         user: Please.\n\
         assistant [stop]: Nothing.\n\
         user: One more thing.\n\
         assistant [stop]: Still nothing."
    );
    let last = &world.script.requests()[2].messages;
    let Some(Message::User(user)) = last.last() else {
        panic!("{last:?}")
    };
    assert_eq!(user.content, UserContent::Text("One more thing.".into()));
}

#[tokio::test]
async fn the_todo_list_is_stored_shown_and_said_again() {
    let mut world = World::new();
    let items = json!({"items": [{"text": "open it", "status": "in_progress"}, {"text": "look", "status": "done"}]});
    world
        .answer([call("a", "todo", items), finish()])
        .answer([text("Done."), finish()]);
    world.run().await;
    let transcript = world.host.transcript();
    assert!(
        transcript.contains("custom todo: null{\"items\":[{"),
        "{transcript}"
    );
    assert!(
        transcript.contains("toolResult#a: [>] 1: open it\n[x] 2: look"),
        "{transcript}"
    );
    assert_eq!(
        world.script.requests()[1].system.volatile,
        "Today is 2026-11-03.\n\n# Open items of the to-do list\n[>] 1: open it"
    );
    assert_eq!(
        world.script.requests()[0].system.stable,
        world.script.requests()[1].system.stable
    );
    assert!(
        world
            .host
            .events
            .iter()
            .any(|event| short(event) == "todo 1")
    );
}

#[tokio::test]
async fn retries_and_fallbacks_are_reported() {
    let mut world = World::new();
    let reason = || ModelError::Overloaded {
        retry_after: None,
        detail: Detail::default(),
    };
    world.answer([
        Step::Raw(Box::new(ModelEvent::Retrying {
            attempt: 1,
            after_ms: 2000,
            reason: reason(),
        })),
        Step::Raw(Box::new(ModelEvent::FallingBack {
            from: "a".into(),
            to: "b".into(),
            reason: reason(),
        })),
        text("Late."),
        finish(),
    ]);
    assert_eq!(ending(&world.run().await), "completed");
    let events: Vec<String> = world.host.events.iter().map(short).collect();
    assert_eq!(
        events[2..5],
        ["retry 1 in 2000", "a -> b", "answer of channel/scripted"]
    );
}

#[tokio::test]
async fn fragments_of_arguments_are_passed_on() {
    let mut world = World::new();
    let fragment = |fragment: &str| Step::CallFragment {
        id: "a".into(),
        fragment: fragment.into(),
    };
    world
        .answer([
            Step::CallStart {
                id: "a".into(),
                name: "echo".into(),
            },
            fragment("{\"say\":"),
            fragment("\"hi\"}"),
            Step::Finish(StopReason::ToolUse),
        ])
        .answer([text("Done."), finish()]);
    world.run().await;
    let deltas: Vec<(PartKind, u64, &str)> = world
        .host
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::PartDelta(delta) => Some((delta.kind, delta.offset, delta.text.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        deltas[..2],
        [
            (PartKind::ToolCall, 0, "{\"say\":"),
            (PartKind::ToolCall, 7, "\"hi\"}")
        ]
    );
    assert!(world.host.transcript().contains("toolResult#a: echo: hi"));
    let phases: Vec<RunPhase> = world
        .host
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Phase { phase, .. } => Some(*phase),
            _ => None,
        })
        .collect();
    assert_eq!(
        phases,
        [
            RunPhase::WaitingForModel,
            RunPhase::Streaming,
            RunPhase::RunningTools,
            RunPhase::WaitingForModel,
            RunPhase::Streaming,
        ]
    );
}
