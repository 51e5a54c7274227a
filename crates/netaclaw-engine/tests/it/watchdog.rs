//! Runs that hang, each in its own way, next to one that does not.

use async_trait::async_trait;
use netaclaw_engine::{
    AgentRef, AgentSource, Engine, EngineError, PrepareRun, PreparedRun, Providers, Runner,
};
use netaclaw_protocol::{
    AssistantMessage, Chat, ContentBlock, Disposition, InfoSource, Message, ModelInfo,
    ProviderKind, RunOutcome, RunPhase, RunState, SessionId, SessionOpen, Stop, StopReason,
    ThinkingLevel, Usage,
};
use netaclaw_runtime::{RunEvent, RunHost, RunReport};
use netaclaw_session::{EntryBody, SessionTreeProvider};
use netaclaw_testkit::engine::{Client, Fate, Faulty, Write, ann};
use netaclaw_tools::ClarifyQuestion;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Agents by what they do.
struct Agents;

#[async_trait]
impl AgentSource for Agents {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        Ok(AgentRef {
            id: agent.unwrap_or("healthy").to_owned(),
            name: agent.unwrap_or("healthy").to_owned(),
            provider: ProviderKind::File,
            cwd: "/srv/app".to_owned(),
            think_level: ThinkingLevel::Off,
        })
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        let agent = run.session.agent_id.clone().unwrap();
        if agent == "unprepared" {
            std::future::pending::<()>().await;
        }
        Ok(PreparedRun {
            model: ModelInfo {
                name: "m".to_owned(),
                context_window: 1000,
                max_output: 100,
                vision: false,
                tools: true,
                thinking: false,
                price: None,
                chat: true,
                source: InfoSource::Channel,
            },
            threshold_percent: None,
            runner: Box::new(Acting(agent)),
        })
    }
}

struct Acting(String);

#[async_trait]
impl Runner for Acting {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport {
        let phase = RunPhase::WaitingForModel;
        host.emit(RunEvent::Phase {
            phase,
            detail: None,
        });
        match self.0.as_str() {
            // As with a stream of nothing but pings: it waits, and ends when it is stopped.
            "silent" => {
                cancel.cancelled().await;
                report(RunOutcome::Stopped)
            }
            "deaf" => std::future::pending().await,
            "asking" => {
                let question = ClarifyQuestion {
                    tool_call_id: "c".to_owned(),
                    question: "Which?".to_owned(),
                    options: Vec::new(),
                    multi: false,
                };
                let answer = host.open_question(question).await.unwrap();
                answer.await;
                say(host, "thanks").await
            }
            "slow" => {
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_secs(500)).await;
                    host.emit(RunEvent::Phase {
                        phase,
                        detail: None,
                    });
                }
                say(host, "at last").await
            }
            _ => say(host, "fine").await,
        }
    }
}

async fn say(host: &mut dyn RunHost, text: &str) -> RunReport {
    let text = text.to_owned();
    let message = Message::Assistant(AssistantMessage {
        content: vec![ContentBlock::Text { text }],
        api: "a".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 1,
    });
    let appended = host.append(None, EntryBody::message(&message)).await;
    appended.unwrap();
    report(RunOutcome::Completed)
}

fn report(outcome: RunOutcome) -> RunReport {
    RunReport {
        outcome,
        reason: None,
        trouble: None,
        usage: Usage::default(),
        turns: 1,
        tools_refused: None,
    }
}

fn engine_over(store: Arc<Faulty>) -> Engine {
    let providers = Providers {
        file: store,
        mysql: None,
    };
    Engine::new(providers, Arc::new(Agents))
}

/// Starts a session of an agent with one message.
async fn start(engine: &Engine, agent: &str) -> (SessionId, Client) {
    let made = engine.create_session(&ann(), Some(agent), None).await;
    let session = made.unwrap();
    let client = Client::default();
    let subscriber = client.subscriber();
    let opened = engine
        .open(&ann(), SessionOpen::of(&session), subscriber)
        .await;
    opened.unwrap();
    send(engine, &session).await;
    (session, client)
}

async fn send(engine: &Engine, session: &SessionId) {
    let chat = Chat {
        session_id: Some(session.clone()),
        content: "go".to_owned(),
        ..Chat::default()
    };
    let ack = engine.execute(&ann(), chat).await.unwrap();
    assert_eq!(ack.answer.disposition, Disposition::Started);
}

/// The next answer is a statement that the database does not answer.
fn hang_once(store: &Faulty) {
    let mut hung = false;
    store.set(move |_, write| {
        let answer = *write == Write::Message("assistant".to_owned());
        match answer && !std::mem::replace(&mut hung, true) {
            true => Fate::Hangs,
            false => Fate::Happens,
        }
    });
}

/// It ended because it stalled, reports that with evidence, and the session is free.
async fn check_released(engine: &Engine, session: &SessionId, client: &Client) -> Value {
    let done = client.done(1).await.remove(0);
    assert_eq!(done["data"]["outcome"], "error", "{done}");
    assert_eq!(done["data"]["reason"], "stalled", "{done}");
    let words = done["data"]["trouble"]["words"]["en"].as_str().unwrap();
    assert!(words.contains("10 minutes"), "{words}");
    let idle = client.wait("run_status", |data| data["status"] == "idle");
    idle.await;
    let subscriber = Client::default().subscriber();
    let opened = engine
        .open(&ann(), SessionOpen::of(session), subscriber)
        .await;
    let snapshot = opened.unwrap().0.snapshot.unwrap();
    assert_eq!(snapshot.run.status, RunState::Idle);
    let last: Value = serde_json::from_str(snapshot.entries.last().unwrap().get()).unwrap();
    assert_eq!(last["message"]["trouble"], done["data"]["trouble"]);
    done["data"]["trouble"]["words"]["en"].clone()
}

#[tokio::test(start_paused = true)]
async fn whatever_hangs_is_released_and_no_other_session_notices() {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let engine = engine_over(Arc::clone(&store));
    let begun = Instant::now();
    let (silent, silent_client) = start(&engine, "silent").await;
    let (deaf, deaf_client) = start(&engine, "deaf").await;
    let (unprepared, unprepared_client) = start(&engine, "unprepared").await;
    hang_once(&store);
    let (stuck, stuck_client) = start(&engine, "healthy").await;
    for _ in 0..3 {
        let (_, client) = start(&engine, "healthy").await;
        assert_eq!(client.done(1).await[0]["data"]["outcome"], "completed");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "stopping does not wait"
    );

    let words = check_released(&engine, &silent, &silent_client).await;
    assert!(
        words.as_str().unwrap().contains("waiting_for_model"),
        "{words}"
    );
    let words = check_released(&engine, &unprepared, &unprepared_client).await;
    assert!(words.as_str().unwrap().contains("preparing"), "{words}");
    check_released(&engine, &deaf, &deaf_client).await;
    check_released(&engine, &stuck, &stuck_client).await;
    assert!(begun.elapsed() < Duration::from_secs(700));
    send(&engine, &stuck).await;
    let done = stuck_client.done(2).await.remove(1);
    assert_eq!(done["data"]["outcome"], "completed");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_person_or_makes_progress_does_not_stall() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine_over(Faulty::new(dir.path()));
    let (asking, asking_client) = start(&engine, "asking").await;
    let (_, slow_client) = start(&engine, "slow").await;
    let done = slow_client.done(1).await.remove(0);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    let chat = Chat {
        session_id: Some(asking.clone()),
        content: "this one".to_owned(),
        ..Chat::default()
    };
    let ack = engine.execute(&ann(), chat).await.unwrap();
    assert_eq!(ack.answer.disposition, Disposition::AnsweredClarify);
    let done = asking_client.done(1).await.remove(0);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
}

/// Also a run that hangs in its store is stopped: it is dropped, and its path closed.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_also_what_does_not_listen() {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let engine = engine_over(Arc::clone(&store));
    hang_once(&store);
    let (session, client) = start(&engine, "healthy").await;
    let waits = client.wait("run_status", |data| data["phase"] == "waiting_for_model");
    waits.await;
    let begun = Instant::now();
    engine.execute(&ann(), Stop::of(&session)).await.unwrap();
    let done = client.done(1).await.remove(0);
    assert_eq!(done["data"]["outcome"], "stopped");
    assert!(begun.elapsed() < Duration::from_secs(15));
    let path = store.get_active_path(&session).await.unwrap();
    let messages = path.iter().filter_map(|entry| entry.message_json());
    let messages: Vec<Value> = messages
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    assert_eq!(messages.len(), 2, "{messages:#?}");
    assert_eq!(messages[1]["stopReason"], "aborted");
    assert_eq!(messages[1]["trouble"]["kind"], "cancelled");
}
