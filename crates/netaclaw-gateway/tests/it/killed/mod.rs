//! `kill -9` of the server at every durable write of a turn with tools, a steering message and a
//! queued one: what was acknowledged is there, once, and the conversation continues.

mod doomed;
mod life;

use crate::whole::{Home, Whole, credentials};
use doomed::{Doom, Side, Write};
use life::{Life, live_as_told};
use netaclaw_session::{Entry, Role, SessionId, SessionTree};
use netaclaw_testkit::fake_model::{FakeModel, Hold, Reply};
use netaclaw_testkit::socket::Client;
use netaclaw_testkit::{Database, MariaDb};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use tempfile::TempDir;

/// The kinds of writes that the turn must have been cut at, or the test tests less than it says.
const WRITES: [&str; 9] = [
    "create",
    "thinking_level_change",
    "state",
    "user",
    "in_flight",
    "assistant",
    "toolResult",
    "todo",
    "title",
];

#[test]
fn files_killed_before_every_write() {
    killed_at_every_write(Side::Before, Store::Files);
}

#[test]
fn files_killed_after_every_write() {
    killed_at_every_write(Side::After, Store::Files);
}

#[test]
fn mysql_killed_before_every_write() {
    killed_at_every_write(Side::Before, Store::Mysql);
}

#[test]
fn mysql_killed_after_every_write() {
    killed_at_every_write(Side::After, Store::Mysql);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Files,
    Mysql,
}

/// Plays both parts: started again by [`Life::start`] it is the server that is killed.
fn killed_at_every_write(side: Side, store: Store) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if runtime.block_on(live_as_told()) {
        return;
    }
    runtime.block_on(async {
        let world = World::new(store).await;
        let mut cut_at = BTreeSet::new();
        let writes = std::iter::once(Write::InFlight).chain((1..).map(Write::Number));
        for (number, write) in writes.enumerate() {
            let attempt = Attempt::new(&world, number);
            match attempt.run(Doom { write, side }).await {
                Some(name) => cut_at.insert(name),
                None => break,
            };
        }
        for write in WRITES {
            assert!(cut_at.contains(write), "never cut at {write}: {cut_at:?}");
        }
    });
}

/// What outlives every server.
struct World {
    dir: TempDir,
    model: FakeModel,
    database: Option<(MariaDb, Database)>,
}

impl World {
    async fn new(store: Store) -> Self {
        let database = (store == Store::Mysql).then(|| {
            let server = MariaDb::start().unwrap();
            let database = server.fresh_database().unwrap();
            (server, database)
        });
        let world = Self {
            dir: tempfile::tempdir().unwrap(),
            model: FakeModel::start().await,
            database,
        };
        world.home(0).prepare(&world.model.openai_url()).await;
        world
    }

    /// Files of an attempt of its own; the rest is shared.
    fn home(&self, attempt: usize) -> Home {
        let database = self.database.as_ref();
        Home {
            dir: self.dir.path().to_owned(),
            sessions: self.dir.path().join(format!("sessions-{attempt}")),
            mysql_url: database.map(|(_, database)| database.url()),
        }
    }
}

/// A client's message, and its acknowledgement if one came before the server died.
struct Message {
    content: &'static str,
    mode: &'static str,
    request_id: String,
    heard: Option<Value>,
}

impl Message {
    fn payload(&self, session: Option<&Value>) -> Value {
        let (content, mode) = (self.content, self.mode);
        let mut payload = json!({"content": content, "mode": mode, "requestId": self.request_id});
        if let Some(session) = session {
            payload["sessionId"] = session.clone();
        }
        payload
    }

    async fn send(&mut self, client: &mut Client, session: Option<&Value>) -> Option<Value> {
        let ack = client.try_call("chat", self.payload(session)).await?;
        assert_eq!(ack["ok"], true, "{ack}");
        self.heard = Some(ack.clone());
        Some(ack)
    }
}

struct Attempt<'w> {
    world: &'w World,
    home: Home,
    /// `one` starts the run, `steer` goes into it, `two` waits behind it.
    messages: [Message; 3],
}

impl<'w> Attempt<'w> {
    fn new(world: &'w World, number: usize) -> Self {
        let message = |content, mode| Message {
            content,
            mode,
            request_id: format!("{content}-{number}"),
            heard: None,
        };
        Self {
            world,
            home: world.home(number),
            messages: [
                message("one", "auto"),
                message("steer", "steer"),
                message("two", "auto"),
            ],
        }
    }

    /// Runs a server until it is killed, and the next one over what it left. Gives the name of the
    /// write it was killed at, and nothing if it came to the end of the script instead.
    async fn run(mut self, doom: Doom) -> Option<String> {
        let hold = self.tell_model();
        let mut life = Life::start(&self.home, doom).await;
        let ended = match life.address().await {
            Some(address) => {
                let client = Client::connect(address, credentials()).await;
                self.play(&mut client.unwrap(), &mut life, &hold).await
            }
            None => None,
        };
        let name = life.end().await;
        if ended.is_some() {
            return None;
        }
        let context = format!("killed at {doom}, {name}");
        self.world.model.script().clear();
        self.check_at_rest(&context).await;
        self.check_next_life(&context).await;
        Some(name)
    }

    /// An answer with thinking and text that is held, and then calls two tools; what follows is
    /// text.
    fn tell_model(&self) -> Hold {
        let todo = r#"{"items": [{"text": "look around", "status": "in_progress"}]}"#;
        let (reply, hold) = Reply::default()
            .and_thinking("The user wants to know what is here. ")
            .and_text("Let me look around first. ")
            .and_tool_call("call-ls", "ls", r#"{"path": "."}"#)
            .and_tool_call("call-todo", "todo", todo)
            .holding_after(12);
        let script = self.world.model.script();
        script.clear();
        script.push(reply);
        script.push(Reply::text("There are notes."));
        script.push(Reply::text("That was two."));
        hold
    }

    /// The script of the client. `None` when the server died under it.
    async fn play(&mut self, client: &mut Client, life: &mut Life, hold: &Hold) -> Option<()> {
        let [one, steer, two] = &mut self.messages;
        let session = one.send(client, None).await?["sessionId"].clone();
        let open = json!({"sessionId": session});
        client.try_call("session_open", open).await?;
        life.wrote("in_flight").await?;
        two.send(client, Some(&session)).await?;
        steer.send(client, Some(&session)).await?;
        hold.release();
        for count in 1..=2 {
            client.try_wait_count("done", count).await?;
        }
        let all = |data: &Value| data["items"] == json!([]);
        client.try_wait("queue_update", all).await?;
        Some(())
    }

    /// Right after the death, before the session is opened for writing: what was acknowledged is in
    /// the log or in the queue, exactly once.
    async fn check_at_rest(&self, context: &str) {
        let Some(session) = self.session() else {
            return;
        };
        let provider = self.home.provider().await;
        let tree = provider.load_tree(&session).await.unwrap();
        let meta = provider.get_session(&session).await.unwrap();
        assert_eq!(tree.skipped_lines(), 0, "{context}");
        let logged: Vec<Value> = tree.entries().iter().filter_map(user_message).collect();
        let items: Vec<&Value> = logged
            .iter()
            .map(|user| &user["netaclaw"]["itemId"])
            .collect();
        let queue = meta.metadata.get("netaclaw").map(|state| &state["queue"]);
        let queue = queue
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let waiting = queue
            .values()
            .filter(|item| !items.contains(&&item["itemId"]));
        let waiting: Vec<&Value> = waiting.map(|item| &item["content"]).collect();
        for message in &self.messages {
            let in_log = logged.iter().map(|user| &user["content"]);
            let found = in_log.chain(waiting.iter().copied());
            let count = found.filter(|text| **text == message.content).count();
            let least = usize::from(message.heard.is_some());
            assert!(
                (least..=1).contains(&count),
                "{context}: {} is there {count} times; heard {:?}; log {logged:?}; queue {queue:?}",
                message.content,
                message.heard,
            );
        }
    }

    /// The next server closes what was left, takes every message once however often it is sent,
    /// and the model accepts the whole of it.
    async fn check_next_life(&mut self, context: &str) {
        let asked_before = self.world.model.script().requests().len();
        let mut server = Whole::start(&self.home).await;
        (&mut server.sweep).await.unwrap().unwrap();
        self.check_swept(&server, context).await;
        let mut client = server.client().await;
        let mut session = None;
        // As a client that received no acknowledgements.
        for message in &mut self.messages {
            let heard = message.heard.clone();
            let payload = message.payload(session.as_ref());
            let again = client.call("chat", payload).await;
            assert_eq!(again["ok"], true, "{context}: {again}");
            if let Some(heard) = heard {
                assert_eq!(again["deduped"], true, "{context}: {again} after {heard}");
                for same in ["sessionId", "disposition"] {
                    assert_eq!(again[same], heard[same], "{context}: {again} after {heard}");
                }
            }
            session = Some(again["sessionId"].clone());
        }
        let open = json!({"sessionId": session});
        let opened = client.call("session_open", open).await;
        let interrupted = check_calls(&opened["snapshot"], context);
        let lost_a_result = context.contains("Before") && context.contains("toolResult");
        assert!(interrupted || !lost_a_result, "{context}");
        client.settled(&opened).await;
        let next = json!({"sessionId": session, "content": "three"});
        let ack = client.call("chat", next).await;
        assert_eq!(ack["disposition"], "started", "{context}: {ack}");
        let done = client
            .wait("done", |done| done["runId"] == ack["runId"])
            .await;
        assert_eq!(done["data"]["outcome"], "completed", "{context}: {done}");
        client.settled(&opened).await;

        let id = SessionId::new(session.unwrap().as_str().unwrap());
        let tree = server.sessions.load_tree(&id).await.unwrap();
        let meta = server.sessions.get_session(&id).await.unwrap();
        assert_eq!(meta.metadata.get("netaclaw"), None, "{context}");
        check_tree(&tree, context);
        for request in &self.world.model.script().requests()[asked_before..] {
            assert_eq!(request.refused, None, "{context}: {:#}", request.body);
        }
        server.stop().await;
    }

    /// No client has opened the session, and yet its run is closed.
    async fn check_swept(&self, server: &Whole, context: &str) {
        let Some((session, heard)) = self.session().zip(self.messages[0].heard.as_ref()) else {
            return;
        };
        let meta = server.sessions.get_session(&session).await.unwrap();
        let state = meta.metadata.get("netaclaw");
        let run = state.map(|state| &state["run"]["runId"]);
        assert_ne!(run, Some(&heard["runId"]), "{context}: {state:?}");
    }

    fn session(&self) -> Option<SessionId> {
        let heard = self.messages[0].heard.as_ref()?;
        Some(SessionId::new(heard["sessionId"].as_str().unwrap()))
    }
}

/// Every call that began shows how it ran, with or without a result of its own. Returns whether one
/// was interrupted.
fn check_calls(snapshot: &Value, context: &str) -> bool {
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let executions = entries.filter_map(|entry| entry["metadata"]["toolExecutions"].as_array());
    let mut interrupted = false;
    for call in executions.flatten() {
        if call["status"] == "not_started" {
            continue;
        }
        interrupted |= call["status"] == "interrupted";
        let label = match call["name"].as_str() {
            Some("ls") => "List directory",
            _ => "To-do list",
        };
        assert_eq!(call["label"], label, "{context}: {call}");
        for field in ["runtimeRoute", "workerRoutingHint"] {
            assert!(call[field].is_string(), "{context}: {field} of {call}");
        }
        let sources = call["policySources"].as_array();
        assert!(
            sources.is_some_and(|all| !all.is_empty()),
            "{context}: {call}"
        );
    }
    interrupted
}

/// One chain from the root to the leaf, every message once, every call answered once and at once.
fn check_tree(tree: &SessionTree, context: &str) {
    let path = tree.active_path().unwrap();
    let shown: Vec<&str> = tree.entries().iter().map(|entry| entry.json()).collect();
    let context = format!("{context}: {shown:#?}");
    assert_eq!(tree.skipped_lines(), 0, "{context}");
    let chained = tree.entries().iter().filter(|e| e.kind().moves_leaf());
    assert_eq!(chained.count(), path.len(), "a branch: {context}");
    let users: Vec<Value> = tree.entries().iter().filter_map(user_message).collect();
    for text in ["one", "steer", "two", "three"] {
        let count = users.iter().filter(|user| user["content"] == text).count();
        assert_eq!(count, 1, "{text} is there {count} times: {context}");
    }
    let messages = path.iter().filter(|entry| entry.message_json().is_some());
    let messages: Vec<&&Entry> = messages.collect();
    let mut open: HashMap<String, usize> = HashMap::new();
    for (at, entry) in messages.iter().enumerate() {
        let message: Value = serde_json::from_str(entry.message_json().unwrap()).unwrap();
        let before = at.checked_sub(1).map(|before| messages[before].role());
        match entry.role() {
            Role::ToolResult => {
                let call = message["toolCallId"].as_str().unwrap();
                assert!(
                    open.remove(call).is_some(),
                    "{call} was not open: {context}"
                );
            }
            Role::User => {
                assert!(open.is_empty(), "{open:?} have no result: {context}");
                let steered = message["content"] == "steer";
                // After tools there is an answer, or one that says that none came.
                let unended = matches!(before, Some(Role::User | Role::ToolResult));
                assert!(!unended || steered, "a turn without an ending: {context}");
            }
            Role::Assistant => {
                assert!(open.is_empty(), "{open:?} have no result: {context}");
                assert_ne!(before, Some(Role::Assistant), "two in a row: {context}");
                let blocks = message["content"].as_array().unwrap().iter();
                let calls = blocks.filter(|block| block["type"] == "toolCall");
                for call in calls {
                    open.insert(call["id"].as_str().unwrap().to_owned(), at);
                }
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?} have no result: {context}");
}

fn user_message(entry: &Entry) -> Option<Value> {
    let message = entry
        .message_json()
        .filter(|_| entry.role() == Role::User)?;
    Some(serde_json::from_str(message).unwrap())
}
