//! Stopping: at once, wherever the run is, and well-formed.

use crate::stand_in::Seen;
use crate::world::{World, call, ending, finish, text};
use netaclaw_models::scripted::Step;
use netaclaw_models::{ModelClient, ModelRequest, ModelStream};
use netaclaw_protocol::RunPhase;
use netaclaw_runtime::{RunEvent, RunReport, run_agent};
use netaclaw_tools::ClarifyAnswer;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Runs, and stops when an event is seen. Returns the report and how long the end took.
async fn stop_at(world: &mut World, is_it: impl Fn(&RunEvent) -> bool) -> (RunReport, Duration) {
    let mut seen = world.host.watch();
    let cancel = world.cancel.clone();
    let input = world.input();
    let run = run_agent(input, &mut world.host);
    let stopper = async {
        // Questions stay open: they are neither answered nor closed.
        let mut questions = Vec::new();
        while let Some(seen) = seen.recv().await {
            match seen {
                Seen::Event(event) if is_it(&event) => {
                    cancel.cancel();
                    return (Instant::now(), questions);
                }
                Seen::Event(_) => {}
                Seen::Question(_, answer) => questions.push(answer),
            }
        }
        panic!("the event never came");
    };
    let (report, (stopped, _questions)) = tokio::join!(run, stopper);
    let took = stopped.elapsed();
    crate::legal::check_legal(&world.host);
    assert!(took <= Duration::from_secs(1), "stopping took {took:?}");
    (report, took)
}

fn started(id: &'static str) -> impl Fn(&RunEvent) -> bool {
    move |event| matches!(event, RunEvent::ToolStarted(started) if started.tool_call_id == id)
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_what_arrived_is_kept() {
    let mut world = World::new();
    world.answer([text("half a sent"), Step::Hang]);
    let (report, _) = stop_at(&mut world, |e| matches!(e, RunEvent::PartDelta(_))).await;
    assert_eq!(ending(&report), "stopped");
    assert!(
        world
            .host
            .transcript()
            .ends_with("assistant [aborted]: half a sent")
    );
}

#[tokio::test(start_paused = true)]
async fn before_the_first_word_it_is_noted_that_there_was_none() {
    let mut world = World::new();
    world.answer([Step::Hang]);
    let waiting = |e: &RunEvent| {
        matches!(
            e,
            RunEvent::Phase {
                phase: RunPhase::WaitingForModel,
                ..
            }
        )
    };
    let (report, _) = stop_at(&mut world, waiting).await;
    assert_eq!(ending(&report), "stopped");
}

/// A client that ignores cancellation.
struct Deaf(Arc<dyn ModelClient>);

impl ModelClient for Deaf {
    fn stream(&self, request: Arc<ModelRequest>, _: CancellationToken) -> ModelStream {
        self.0.stream(request, CancellationToken::new())
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_listen_is_dropped() {
    let mut world = World::new();
    world.answer([text("word"), Step::Hang]);
    world.client = Arc::new(Deaf(Arc::clone(&world.client)));
    let (report, took) = stop_at(&mut world, |e| matches!(e, RunEvent::PartDelta(_))).await;
    assert_eq!(ending(&report), "stopped");
    assert!(took >= Duration::from_millis(300), "it had its time");
    assert!(
        world
            .host
            .transcript()
            .ends_with("assistant [aborted]: word")
    );
}

#[tokio::test(start_paused = true)]
async fn in_a_tool_every_call_gets_its_result() {
    let mut world = World::new();
    world.answer([
        call("a", "echo", json!({"say": "done before"})),
        call("b", "obey", json!({})),
        call("c", "alone", json!({})),
        call("d", "echo", json!({})),
        finish(),
    ]);
    let done =
        |e: &RunEvent| matches!(e, RunEvent::ToolCompleted(done) if done.tool_call_id == "a");
    let (report, _) = stop_at(&mut world, done).await;
    assert_eq!(ending(&report), "stopped");
    let transcript = world.host.transcript();
    let results: Vec<&str> = transcript.split("toolResult").skip(1).collect();
    assert_eq!(results[0], "#a: echo: done before\n");
    assert!(results[1].starts_with("#b [error]: gave up | [Cancelled: the run was stopped while"));
    for result in &results[2..] {
        assert!(
            result.contains("[Cancelled: the run was stopped before the tool started.]"),
            "{result}"
        );
    }
    assert_eq!(results.len(), 4);
    assert_eq!(
        world.script.requests().len(),
        1,
        "the model was not asked again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_differs_from_a_stop() {
    for (shuts_down, tool, answer) in [
        (false, "cancelled", json!(null)),
        (true, "interrupted", json!("interrupted")),
    ] {
        let mut world = World::new();
        world.host.shuts_down = shuts_down;
        world.answer([call("a", "obey", json!({})), finish()]);
        stop_at(&mut world, started("a")).await;
        assert_eq!(world.host.result_details()["ending"], tool);

        let mut world = World::new();
        world.host.shuts_down = shuts_down;
        world.answer([text("half a sent"), Step::Hang]);
        stop_at(&mut world, |e| matches!(e, RunEvent::PartDelta(_))).await;
        let message = world.host.last_message();
        assert_eq!(message["stopReason"], "aborted");
        assert_eq!(message["trouble"]["kind"], answer, "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_it_is_abandoned() {
    let mut world = World::new();
    world.answer([call("a", "ignore", json!({})), finish()]);
    let (report, took) = stop_at(&mut world, started("a")).await;
    assert_eq!(ending(&report), "stopped");
    assert_eq!(took, netaclaw_tools::STOP_GRACE);
    assert!(
        world
            .host
            .transcript()
            .contains("toolResult#a [error]: [Cancelled")
    );
}

#[tokio::test(start_paused = true)]
async fn in_a_question_no_answer_is_invented() {
    let mut world = World::new();
    world.answer([
        call("a", "clarify", json!({"question": "Which box?"})),
        finish(),
    ]);
    let waiting = |e: &RunEvent| {
        matches!(
            e,
            RunEvent::Phase {
                phase: RunPhase::WaitingForUser,
                ..
            }
        )
    };
    let (report, _) = stop_at(&mut world, waiting).await;
    assert_eq!(ending(&report), "stopped");
    let transcript = world.host.transcript();
    assert!(
        transcript.contains("toolResult#a [error]: The question was not answered."),
        "{transcript}"
    );
}

#[tokio::test]
async fn a_question_waits_and_its_answer_goes_to_the_model() {
    let mut world = World::new();
    world
        .answer([
            call(
                "a",
                "clarify",
                json!({"question": "Which box?", "options": ["red", "blue"]}),
            ),
            finish(),
        ])
        .answer([text("Red it is."), finish()]);
    let mut seen = world.host.watch();
    let answerer = async {
        while let Some(seen) = seen.recv().await {
            if let Seen::Question(question, answer) = seen {
                assert_eq!(
                    (question.tool_call_id.as_str(), question.options.len()),
                    ("a", 2)
                );
                return answer
                    .send(ClarifyAnswer::Answered(vec!["red".into()]))
                    .unwrap();
            }
        }
    };
    let (report, ()) = tokio::join!(world.run(), answerer);
    assert_eq!(ending(&report), "completed");
    assert!(
        world
            .host
            .transcript()
            .contains("toolResult#a: The user answered: red")
    );
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
        phases[2..5],
        [
            RunPhase::RunningTools,
            RunPhase::WaitingForUser,
            RunPhase::RunningTools
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn before_the_start_nothing_happens_at_all() {
    let mut world = World::new();
    world.cancel.cancel();
    assert_eq!(ending(&world.run().await), "stopped");
    assert_eq!(world.host.transcript(), "user: What is in the box?");
    assert!(world.script.requests().is_empty());
}
