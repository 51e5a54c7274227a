//! Why a run ended is in the log: a later reader sees the same as clients that were connected.

use crate::world::World;
use netaclaw_engine::Engine;
use netaclaw_protocol::{SessionId, SessionOpen, Supplier};
use netaclaw_session::{InFlightEntry, SessionTreeProvider, raw_json};
use netaclaw_testkit::engine::{Act, Client, Fate, Faulty, Server, Write, ann, within};
use netaclaw_testkit::fake_model::Reply;
use serde_json::{Value, json};

/// The messages that a client gets who opens the session now.
async fn opened(engine: &Engine, session: &SessionId) -> Vec<Value> {
    let subscriber = Client::default().subscriber();
    let caller = ann();
    let opening = engine.open(&caller, SessionOpen::of(session), subscriber);
    let (opened, _) = within(opening).await.unwrap();
    let entries = opened.snapshot.unwrap().entries;
    let entries = entries
        .iter()
        .map(|json| serde_json::from_str::<Value>(json.get()).unwrap());
    let messages = entries.map(|entry| entry["message"].clone());
    messages.filter(|message| !message.is_null()).collect()
}

/// The last answer says the same as the events to connected clients.
fn check_told(messages: &[Value], client: &Client) {
    let events = client.events();
    let mut told = events.iter().rev();
    let told = told.find(|event| event["type"] == "done").unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "assistant", "{messages:#?}");
    assert_eq!(last["stopReason"], "error", "{messages:#?}");
    assert_eq!(last["trouble"], told["data"]["trouble"]);
    let said = messages
        .iter()
        .filter(|message| message["trouble"] == last["trouble"]);
    assert_eq!(said.count(), 1, "{messages:#?}");
}

#[tokio::test]
async fn a_model_in_circles() {
    let world = World::start(Supplier::Openai).await;
    let (session, client) = world.session().await;
    world.script().otherwise(Reply::tool_call("c", "ls", "{}"));
    world.chat(&session, "one").await;
    let done = within(client.done(1)).await.remove(0);
    assert_eq!(done["data"]["reason"], "stuck", "{done}");
    let messages = opened(&world.engine, &session).await;
    check_told(&messages, &client);
    assert_eq!(messages.last().unwrap()["model"], "fake-model");
    // Also in the next process, and the conversation continues.
    world
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    let next = world.engine_over(world.sessions_dir());
    assert_eq!(opened(&next, &session).await, messages);
}

#[tokio::test]
async fn a_run_that_panics() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Panic]);
    within(client.done(1)).await;
    let messages = opened(&server.engine, &session).await;
    check_told(&messages, &client);
    assert_eq!(messages.len(), 2);
}

#[tokio::test]
async fn a_run_that_panics_while_it_speaks() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Say("Once")]);
    let started = within(client.wait("assistant_stream_start", |_| true)).await;
    let id = started["data"]["entryId"].as_str().unwrap();
    let parent = started["data"]["parentId"].as_str().unwrap();
    let usage = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let so_far = json!({"role": "assistant", "content": [{"type": "text", "text": "Once"}],
        "api": "a", "provider": "p", "model": "m", "usage": usage, "stopReason": "stop",
        "timestamp": 5});
    let partial = InFlightEntry {
        id: id.into(),
        parent_id: Some(parent.into()),
        message: raw_json(&so_far),
    };
    let provider = &server.engine.providers().file;
    let kept = provider.update_in_flight_entry(&session, partial).await;
    kept.unwrap();
    server.script.act([Act::Panic]);
    within(client.done(1)).await;
    let messages = opened(&server.engine, &session).await;
    check_told(&messages, &client);
    assert_eq!(messages[1]["content"][0]["text"], "Once");
    assert_eq!(messages.len(), 2, "{messages:#?}");
}

/// The store goes away in the middle of a run and comes back.
#[tokio::test]
async fn a_session_that_could_not_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let world = World::over(&store).await;
    let (session, client) = world.session().await;
    let calls = Reply::tool_call("c1", "ls", "{}").and_tool_call("c2", "ls", "{}");
    world.script().push(calls);
    let mut down = false;
    store.set(move |_, write| {
        down |= *write == Write::Message("toolResult".to_owned());
        match down {
            true => Fate::Fails,
            false => Fate::Happens,
        }
    });
    world.chat(&session, "one").await;
    let done = within(client.done(1)).await.remove(0);
    assert_eq!(done["data"]["reason"], "session_unavailable", "{done}");
    store.mend();
    let messages = opened(&world.engine, &session).await;
    check_told(&messages, &client);
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    let expected = ["user", "assistant", "toolResult", "toolResult", "assistant"];
    assert_eq!(roles, expected, "{messages:#?}");
    let meta = store.get_session(&session).await.unwrap();
    let state = meta.metadata.get("netaclaw").cloned().unwrap_or_default();
    assert_eq!(state["run"], Value::Null);

    world.chat(&session, "two").await;
    let done = within(client.done(2)).await.remove(1);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    assert_eq!(world.script().last_request().refused, None);
}
