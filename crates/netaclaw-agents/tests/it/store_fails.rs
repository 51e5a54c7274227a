//! A transient failure of the store: each message is there once, questions can be answered, and no
//! state shows a run that does not run.

use crate::world::World;
use netaclaw_engine::{Caller, EngineError};
use netaclaw_protocol::{
    ApprovalDecision, ApprovalResponse, Chat, ChatMode, ClarifyResponse, QueueChange, QueueEdit,
    Retry, SessionId, SetThinkingLevel, SwitchLeaf, ThinkingLevel,
};
use netaclaw_session::SessionTreeProvider;
use netaclaw_testkit::engine::{Act, Client, Fate, Faulty, Server, Write, ann, message, within};
use netaclaw_testkit::fake_model::Reply;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

struct Fixture {
    server: Server,
    store: Arc<Faulty>,
    ann: Caller,
    session: SessionId,
    client: Client,
    _dir: TempDir,
}

/// A session with one message and its answer.
async fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let server = Server::over(Arc::clone(&store) as _);
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Say("1"), Act::End]);
    within(client.wait("run_status", |data| data["status"] == "idle")).await;
    client.clear();
    Fixture {
        server,
        store,
        ann: ann(),
        session,
        client,
        _dir: dir,
    }
}

impl Fixture {
    fn chat(&self, text: &str, mode: ChatMode) -> Chat {
        Chat {
            mode,
            request_id: Some(format!("request {text}")),
            ..message(&self.session, text)
        }
    }

    async fn send(&self, text: &str, mode: ChatMode) {
        self.server.send(self.chat(text, mode)).await.unwrap();
    }

    async fn idle(&self) {
        within(
            self.client
                .wait("run_status", |data| data["status"] == "idle"),
        )
        .await;
    }

    async fn users(&self) -> Vec<String> {
        let path = self.server.path(&self.session).await;
        let users = path.iter().filter_map(|line| line.strip_prefix("user: "));
        users.map(str::to_owned).collect()
    }

    /// The state that is stored next to the entries.
    async fn stored(&self) -> Value {
        let meta = self.store.get_session(&self.session).await.unwrap();
        meta.metadata.get("netaclaw").cloned().unwrap_or_default()
    }

    /// The queue in the last event to clients.
    fn queue(&self) -> Value {
        let told = self.client.events();
        let mut told = told.iter().rev();
        let last = told.find(|event| event["type"] == "queue_update");
        last.map_or(json!([]), |event| event["data"]["items"].clone())
    }
}

#[tokio::test]
async fn a_message_that_steers_is_taken_in_once() {
    let it = fixture().await;
    it.send("two", ChatMode::Auto).await;
    it.send("left", ChatMode::Steer).await;
    it.send("right", ChatMode::Steer).await;
    it.store.fail_once(Write::Message("user".to_owned()), 2);
    it.server.script.act([Act::Say("2"), Act::End]);
    // What could not be put in waits, and begins a run of its own.
    it.server.script.act([Act::Say("3"), Act::End]);
    let done = within(it.client.done(2)).await;
    assert_eq!(done[0]["data"]["outcome"], "error");
    it.idle().await;
    assert_eq!(it.users().await, ["one", "two", "left", "right"]);
    assert_eq!(it.queue(), json!([]));
    for text in ["left", "right"] {
        let again = it.server.send(it.chat(text, ChatMode::Steer)).await;
        assert!(again.unwrap().deduped, "{text}");
    }
}

#[tokio::test]
async fn a_message_that_could_not_be_made_safe_is_there_once() {
    let it = fixture().await;
    it.store.fail(Write::Sync, 1);
    let chat = it.chat("two", ChatMode::Auto);
    let failed = it.server.send(chat.clone()).await.unwrap_err();
    assert!(matches!(failed, EngineError::Internal(_)), "{failed}");
    let again = it.server.send(chat.clone()).await;
    assert!(again.is_err(), "it is still not safe");
    it.store.mend();
    let again = it.server.send(chat).await.unwrap();
    assert!(again.deduped && again.answer.entry_id.is_some());
    it.idle().await;
    assert_eq!(it.users().await, ["one", "two"]);
}

#[tokio::test]
async fn a_message_that_waited_is_taken_in_once() {
    let it = fixture().await;
    it.send("two", ChatMode::Auto).await;
    it.send("three", ChatMode::Queue).await;
    it.store.fail(Write::Sync, 1);
    it.server.script.act([Act::Say("2"), Act::End]);
    it.server.script.act([Act::Say("3"), Act::End]);
    within(it.client.done(2)).await;
    it.store.mend();
    it.idle().await;
    let resume = it.server.engine.execute(
        &it.ann,
        QueueEdit {
            session_id: it.session.clone(),
            change: QueueChange::Resume,
            request_id: None,
        },
    );
    assert_eq!(resume.await.unwrap().answer.queue.items, []);
    assert_eq!(it.users().await, ["one", "two", "three"]);
}

#[tokio::test]
async fn a_run_that_could_not_begin_leaves_no_mark() {
    let it = fixture().await;
    for (name, what) in [
        ("a", Write::State),
        ("b", Write::Message("user".to_owned())),
    ] {
        it.store.fail_once(what, 1);
        let failed = it.server.send(it.chat("two", ChatMode::Auto)).await;
        assert!(failed.is_err());
        // The next thing that is stored takes what is in memory along.
        let request = Some(name.to_owned());
        let level = ThinkingLevel::Low;
        let set = it.server.engine.execute(
            &it.ann,
            SetThinkingLevel {
                session_id: it.session.clone(),
                level,
                request_id: request,
            },
        );
        set.await.unwrap();
        assert_eq!(it.stored().await["run"], Value::Null);
    }
    it.server.script.act([Act::Say("2"), Act::End]);
    it.send("two", ChatMode::Auto).await;
    within(it.client.done(1)).await;
    assert_eq!(it.users().await, ["one", "two"]);
}

/// The end of a chain that no run writes along would draw what comes next to itself.
#[tokio::test]
async fn an_answer_that_could_not_be_tried_again_leaves_the_session_where_it_is() {
    let it = fixture().await;
    let tree = it.store.load_tree(&it.session).await.unwrap();
    let (asked, answered) = (tree.entries()[0].id(), tree.leaf().cloned());
    it.store.fail(Write::State, 1);
    let engine = &it.server.engine;
    let retried = engine.execute(
        &it.ann,
        Retry {
            session_id: it.session.clone(),
            entry_id: asked.clone(),
            request_id: None,
        },
    );
    assert!(retried.await.is_err());
    it.store.mend();
    let back = engine.execute(
        &it.ann,
        SwitchLeaf {
            session_id: it.session.clone(),
            leaf_entry_id: answered.clone(),
            follow: false,
            summarize: false,
            request_id: None,
        },
    );
    back.await.unwrap();
    let level = ThinkingLevel::Low;
    let set = engine.execute(
        &it.ann,
        SetThinkingLevel {
            session_id: it.session.clone(),
            level,
            request_id: None,
        },
    );
    set.await.unwrap();
    let tree = it.store.load_tree(&it.session).await.unwrap();
    let last = tree.entries().last().unwrap();
    assert_eq!(last.parent_id(), answered.as_ref());
}

#[tokio::test]
async fn an_answer_that_could_not_be_stored_can_be_given_again() {
    let it = fixture().await;
    it.server.script.act([Act::Ask("Which colour?")]);
    it.send("two", ChatMode::Auto).await;
    let asked = within(it.client.wait("clarify_request", |_| true)).await;
    let answer = ClarifyResponse {
        session_id: it.session.clone(),
        request_id: asked["data"]["requestId"].as_str().unwrap().to_owned(),
        answer: json!("red"),
    };
    it.store.fail_once(Write::State, 1);
    let engine = &it.server.engine;
    let failed = engine.execute(&it.ann, answer.clone()).await;
    assert!(matches!(failed, Err(EngineError::Internal(_))));
    // Nor is it stored although its sender received an error.
    it.send("three", ChatMode::Queue).await;
    assert_eq!(it.stored().await["questions"][0]["answer"], Value::Null);
    engine.execute(&it.ann, answer).await.unwrap();
    it.server.script.act([Act::Say("2"), Act::End]);
    within(it.client.done(1)).await;
    let path = it.server.path(&it.session).await;
    assert!(
        path.contains(&"toolResult: The user answered: red".to_owned()),
        "{path:?}"
    );
}

#[tokio::test]
async fn a_decision_that_could_not_be_stored_is_none() {
    let it = fixture().await;
    it.server.script.act([Act::NeedConsent("bash")]);
    it.send("two", ChatMode::Auto).await;
    let asked = within(it.client.wait("approval_request", |_| true)).await;
    let decide = |decision| ApprovalResponse {
        session_id: it.session.clone(),
        approval_id: asked["data"]["approvalId"].as_str().unwrap().to_owned(),
        decision,
        remember: true,
        grant: None,
        reason: None,
    };
    it.store.fail_once(Write::State, 1);
    let engine = &it.server.engine;
    let failed = engine.execute(&it.ann, decide(ApprovalDecision::Allow));
    assert!(failed.await.is_err());
    it.send("three", ChatMode::Queue).await;
    let stored = it.stored().await;
    assert_eq!(stored["approvals"][0]["outcome"], Value::Null);
    assert_eq!(stored["standing"], Value::Null);
    let decided = engine.execute(&it.ann, decide(ApprovalDecision::Deny));
    decided.await.unwrap();
    it.server.script.act([Act::Say("2"), Act::End]);
    within(it.client.done(1)).await;
}

/// The database stored an entry of a run, and the connection broke before it said so: the session has
/// the entry once and takes the next message.
#[tokio::test]
async fn what_was_stored_without_an_answer_is_there_once() {
    for role in ["assistant", "toolResult"] {
        let dir = tempfile::tempdir().unwrap();
        let store = Faulty::new(dir.path());
        let world = World::over(&store).await;
        let (session, client) = world.session().await;
        world.script().push(Reply::tool_call("c1", "ls", "{}"));
        let mut lost = false;
        store.set(move |_, write| {
            let this = *write == Write::Message(role.to_owned());
            match this && !std::mem::replace(&mut lost, true) {
                true => Fate::HappensUnseen,
                false => Fate::Happens,
            }
        });
        world.chat(&session, "one").await;
        within(client.done(1)).await;
        world.chat(&session, "two").await;
        let done = within(client.done(2)).await.remove(1);
        assert_eq!(done["data"]["outcome"], "completed", "{role}: {done}");
        assert_eq!(world.script().last_request().refused, None, "{role}");
        let tree = store.load_tree(&session).await.unwrap();
        let ids: Vec<_> = tree.entries().iter().map(|entry| entry.id()).collect();
        let different: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(ids.len(), different.len(), "{role}");
        let path = world.path(&session).await;
        let asked = path.iter().filter(|line| line.starts_with("user: "));
        assert_eq!(asked.count(), 2, "{role}: {path:#?}");
    }
}

/// What happens to the store of one session is its own affair.
#[tokio::test]
async fn no_other_session_notices() {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let world = World::over(&store).await;
    let (broken, broken_client) = world.session().await;
    let (healthy, healthy_client) = world.session().await;
    world.script().push(Reply::tool_call("c1", "slow", "{}"));
    world.chat(&broken, "one").await;
    within(broken_client.wait("tool_call_started", |_| true)).await;
    let gone = broken.clone();
    store.set(move |session, _| match *session == gone {
        true => Fate::Fails,
        false => Fate::Happens,
    });
    let refused = world.send(message(&broken, "two")).await;
    assert!(matches!(refused, Err(EngineError::Internal(_))));
    world.chat(&healthy, "one").await;
    let done = within(healthy_client.done(1)).await.remove(0);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    world.gate.add_permits(1);
    let done = within(broken_client.done(1)).await.remove(0);
    assert_eq!(done["data"]["outcome"], "error", "{done}");
    world.chat(&healthy, "two").await;
    let done = within(healthy_client.done(2)).await.remove(1);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    store.mend();
    world.chat(&broken, "two").await;
    let done = within(broken_client.done(2)).await.remove(1);
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
}

/// A process that others may take over begins nothing: no tool and no model call. What waits for
/// that ends with its run.
#[tokio::test]
async fn a_suspended_process_starts_no_tool_and_asks_no_model() {
    let dir = tempfile::tempdir().unwrap();
    let store = Faulty::new(dir.path());
    let world = World::over(&store).await;
    let (session, client) = world.session().await;
    world.script().push(Reply::tool_call("c1", "slow", "{}"));
    let suspend_at_answer = |store: &Arc<Faulty>| {
        let node = Arc::downgrade(store);
        store.set(move |_, write| {
            let node = node.upgrade();
            match (write, node) {
                (Write::Message(role), Some(node)) if role == "assistant" => node.suspend(),
                _ => {}
            }
            Fate::Happens
        });
    };
    suspend_at_answer(&store);
    world.chat(&session, "one").await;
    within(store.waits(1)).await;
    let started = |event: &Value| event["type"] == "tool_call_started";
    assert!(!client.events().iter().any(started));
    store.resume();
    within(client.wait("tool_call_started", |_| true)).await;
    // Also between the end of the tool and the next model call.
    store.suspend();
    world.gate.add_permits(1);
    within(store.waits(2)).await;
    assert_eq!(world.requests().len(), 1);
    within(world.engine.shut_down(Duration::ZERO)).await;
    assert_eq!(world.requests().len(), 1);
}
