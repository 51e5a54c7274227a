//! A stop ends everything that runs and leaves a session that any model accepts.

use crate::world::{APIS, Setting, World};
use async_trait::async_trait;
use netaclaw_engine::{
    AgentRef, AgentSource, Engine, EngineError, PrepareRun, PreparedRun, Providers,
};
use netaclaw_models::RetryPolicy;
use netaclaw_protocol::{
    Chat, Disposition, ProviderKind, RunState, SessionId, SessionOpen, Stop, Supplier,
    ThinkingLevel,
};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use netaclaw_testkit::engine::{Client, ann, within};
use netaclaw_testkit::fake_model::{Fault, Reply};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Stops the run and shows that the session is whole: every call has its result, the snapshot is
/// at rest, and the next message is answered by the strict server.
async fn stop_and_go_on(world: &World, session: &SessionId, client: &Client) {
    let state = within(world.engine.execute(&ann(), Stop::of(session)))
        .await
        .unwrap();
    assert_eq!(state.answer.status, RunState::Stopping);
    let done = within(client.done(1)).await.remove(0);
    assert_eq!(done["data"]["outcome"], "stopped", "{done}");
    let (_, opened) = world.open(session).await;
    let snapshot = opened.snapshot.unwrap();
    assert_eq!(snapshot.run.status, RunState::Idle);
    assert!(snapshot.streaming.is_none() && snapshot.tools.is_empty());
    assert!(snapshot.questions.is_empty());
    check_paired(world, session).await;
    assert_eq!(
        within(world.engine.execute(&ann(), Stop::of(session)))
            .await
            .unwrap()
            .answer
            .status,
        RunState::Idle
    );

    let asked = world.requests().len();
    let ack = world.chat(session, "go on").await;
    assert_eq!(ack.disposition, Disposition::Started);
    let done = within(client.done(2)).await;
    assert_eq!(done.len(), 2, "one end for each run");
    assert_eq!(done[1]["data"]["outcome"], "completed", "{done:?}");
    let requests = world.requests();
    assert_eq!(
        requests.len(),
        asked + 1,
        "nothing of the stopped run was asked again"
    );
    assert_eq!(requests[asked].refused, None);
}

async fn check_paired(world: &World, session: &SessionId) {
    let provider = &world.engine.providers().file;
    let path = provider.get_active_path(session).await.unwrap();
    let messages = path.iter().filter_map(|entry| entry.message_json());
    let messages: Vec<Value> = messages
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for message in &messages {
        let blocks = message["content"].as_array().into_iter().flatten();
        // The calls of an incomplete answer were never made.
        if message["stopReason"] == "toolUse" {
            calls.extend(blocks.filter_map(|block| block["id"].as_str()));
        }
        results.extend(message["toolCallId"].as_str());
    }
    assert_eq!(calls, results, "{messages:?}");
}

#[tokio::test]
async fn a_model_that_hangs_is_stopped() {
    for supplier in APIS {
        for fault in [
            Fault::HangBeforeHead,
            Fault::HangAfter(0),
            Fault::HangAfter(4),
        ] {
            let world = World::start(supplier).await;
            world.script().push(Reply::failing(fault.clone()));
            let (session, client) = world.session().await;
            world.chat(&session, "one").await;
            match fault {
                Fault::HangAfter(4) => {
                    drop(within(client.wait("assistant_stream_delta", |_| true)).await)
                }
                _ => within(world.script().asked(1)).await,
            }
            stop_and_go_on(&world, &session, &client).await;
            within(world.script().aborted(1)).await;
        }
    }
}

#[tokio::test]
async fn a_half_streamed_call_is_stopped() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let (reply, hold) = Reply::text("I look.")
            .and_tool_call("c1", "ls", r#"{"path":"a long name of a directory"}"#)
            .holding_after(5);
        world.script().push(reply);
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(hold.reached()).await;
        stop_and_go_on(&world, &session, &client).await;
        let types: Vec<Value> = client
            .events()
            .iter()
            .map(|event| event["type"].clone())
            .collect();
        assert!(
            !types.contains(&"tool_call_started".into()),
            "nothing began"
        );
    }
}

#[tokio::test]
async fn a_wait_for_a_retry_is_stopped() {
    for supplier in APIS {
        let world = World::with(Setting {
            retry: RetryPolicy {
                attempts: 5,
                first_wait: Duration::from_secs(3600),
                longest_wait: Duration::from_secs(3600),
                ..RetryPolicy::default()
            },
            ..Setting::of(supplier)
        })
        .await;
        world.script().push(Reply::status(503));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("run_status", |data| data["phase"] == "retrying")).await;
        stop_and_go_on(&world, &session, &client).await;
    }
}

#[tokio::test]
async fn tools_are_stopped_also_those_that_do_not_listen() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let calls = Reply::tool_call("c1", "slow", "{}")
            .and_tool_call("c2", "deaf", "{}")
            .and_tool_call("c3", "ls", "{}")
            .and_tool_call("c4", "broken", "{}");
        world.script().push(calls);
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("tool_call_started", |data| data["toolName"] == "deaf")).await;
        stop_and_go_on(&world, &session, &client).await;
        let path = world.path(&session).await;
        let results = path.iter().filter(|line| line.starts_with("toolResult: "));
        assert_eq!(results.count(), 4, "{path:?}");
    }
}

#[tokio::test]
async fn an_open_question_is_stopped() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let question = r#"{"question":"Which?"}"#;
        world
            .script()
            .push(Reply::tool_call("c1", "clarify", question));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("clarify_request", |_| true)).await;
        stop_and_go_on(&world, &session, &client).await;
    }
}

#[tokio::test]
async fn a_stop_right_behind_the_acknowledgement_counts() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        world
            .script()
            .otherwise(Reply::failing(Fault::HangBeforeHead));
        for _ in 0..10 {
            let (session, client) = world.session().await;
            world.chat(&session, "one").await;
            within(world.engine.execute(&ann(), Stop::of(&session)))
                .await
                .unwrap();
            let done = within(client.done(1)).await.remove(0);
            assert_eq!(done["data"]["outcome"], "stopped");
        }
        world.script().otherwise(Reply::text("fine"));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        let done = within(client.done(1)).await.remove(0);
        assert_eq!(done["data"]["outcome"], "completed");
    }
}

/// An agent source that never answers.
struct Nowhere;

#[async_trait]
impl AgentSource for Nowhere {
    async fn find(&self, _agent: Option<&str>) -> Result<AgentRef, EngineError> {
        Ok(AgentRef {
            id: "default".to_owned(),
            name: "default".to_owned(),
            provider: ProviderKind::File,
            cwd: "/srv/app".to_owned(),
            think_level: ThinkingLevel::Off,
        })
    }

    async fn prepare(&self, _run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_run_that_is_still_being_made_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let file = Arc::new(FileProvider::new(FileSettings {
        dir: dir.path().to_owned(),
        fsync: Fsync::Off,
    }));
    let engine = Engine::new(Providers { file, mysql: None }, Arc::new(Nowhere));
    let chat = Chat {
        content: "one".to_owned(),
        ..Chat::default()
    };
    let session = engine
        .execute(&ann(), chat)
        .await
        .unwrap()
        .answer
        .session_id;
    let client = Client::default();
    let subscriber = client.subscriber();
    engine
        .open(&ann(), SessionOpen::of(&session), subscriber)
        .await
        .unwrap();
    assert_eq!(
        engine
            .execute(&ann(), Stop::of(&session))
            .await
            .unwrap()
            .answer
            .status,
        RunState::Stopping
    );
    let done = within(client.done(1)).await.remove(0);
    assert_eq!(done["data"]["outcome"], "stopped");
}

#[tokio::test]
async fn a_stop_without_clients_is_the_same() {
    let world = World::start(Supplier::Openai).await;
    world.script().push(Reply::failing(Fault::HangBeforeHead));
    let session = world.bare_session().await;
    world.chat(&session, "one").await;
    within(world.script().asked(1)).await;
    within(world.engine.execute(&ann(), Stop::of(&session)))
        .await
        .unwrap();
    within(world.script().aborted(1)).await;
    let (client, _) = world.open(&session).await;
    within(world.engine.execute(&ann(), Stop::of(&session)))
        .await
        .unwrap();
    let ack = world.chat(&session, "two").await;
    let runs = if ack.disposition == Disposition::Started {
        1
    } else {
        2
    };
    within(client.done(runs)).await;
    let path = world.path(&session).await;
    assert_eq!(
        path.last().unwrap(),
        "assistant: Hello from the fake model."
    );
}
