//! Several processes on one database: a session has one owner, and no other process changes it.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::{Hold, Reply};
use netaclaw_testkit::socket::Client;
use netaclaw_testkit::{Database, MariaDb};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// Two servers and what they share.
struct Pair {
    a: Server,
    b: Server,
    world: World,
    // Before its server, so that it is dropped while that still runs.
    _database: Database,
    _mariadb: MariaDb,
}

impl Pair {
    async fn new() -> Self {
        let mariadb = MariaDb::start().unwrap();
        let database = mariadb.fresh_database().unwrap();
        let mut world = World::new().await;
        world.keep_sessions_in(&database.url());
        world.model.script().otherwise(Reply::text("An answer."));
        Self {
            a: world.serve().await,
            b: world.serve().await,
            world,
            _database: database,
            _mariadb: mariadb,
        }
    }

    /// A session on A whose answer has begun and waits.
    async fn answering(&self) -> (String, Client, Hold) {
        let (reply, hold) = Reply::text("alpha beta gamma delta").holding_after(3);
        self.world.model.script().push(reply);
        let (session, client) = self.a.session("question").await;
        hold.reached().await;
        (session, client, hold)
    }

    /// All messages, as the rows show them to a reader.
    async fn texts(&self, server: &Server, session: &str) -> Vec<String> {
        let path = format!("sessions/{session}/snapshot");
        let (status, body) = server.http("GET", &path, None).await;
        assert_eq!(status, 200, "{body}");
        let entries = body["entries"].as_array().unwrap().iter();
        let messages = entries.filter(|entry| entry["type"] == "message");
        messages.map(text_of).collect()
    }
}

fn text_of(entry: &Value) -> String {
    let message = &entry["message"];
    match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}

async fn say(client: &mut Client, session: &str, content: &str) -> Value {
    let chat = json!({"sessionId": session, "content": content, "requestId": content});
    client.call("chat", chat).await
}

#[track_caller]
fn assert_busy(answer: &Value) {
    assert_eq!(answer["code"], "session_busy", "{answer}");
}

/// The answer on A comes to its end, and A takes the next message.
async fn goes_on(client: &mut Client, session: &str, hold: Hold) {
    hold.release();
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed", "{done}");
    let ack = say(client, session, "and then?").await;
    assert_eq!(ack["disposition"], "started", "{ack}");
    client.wait_count("done", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_at_a_session_elsewhere_leaves_its_run_alone() {
    let pair = Pair::new().await;
    let (session, mut client, hold) = pair.answering().await;
    let mut looker = pair.b.client().await;
    let open = json!({"sessionId": session});
    assert_busy(&looker.call("session_open", open.clone()).await);
    assert_busy(&looker.call("stop", open).await);
    // Rows may be read by any process.
    assert_eq!(pair.texts(&pair.b, &session).await[0], "question");
    let shown = pair.world.workspace.run(&format!("session show {session}"));
    assert_eq!(shown.code, 0, "{}", shown.err);
    goes_on(&mut client, &session, hold).await;
    let texts = [
        "question",
        "alpha beta gamma delta",
        "and then?",
        "An answer.",
    ];
    assert_eq!(pair.texts(&pair.b, &session).await, texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_leaves_the_session_of_a_server_alone() {
    let pair = Pair::new().await;
    let (session, mut client, hold) = pair.answering().await;
    let mut chat = pair
        .world
        .workspace
        .command(&format!("chat --session {session}"));
    chat.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut chat = chat.spawn().unwrap();
    let mut input = chat.stdin.take().unwrap();
    input.write_all(b"from the terminal\n").unwrap();
    drop(input);
    let ended = chat.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success(), "{words}");
    assert!(words.contains("another process"), "{words}");
    goes_on(&mut client, &session, hold).await;
    let texts = [
        "question",
        "alpha beta gamma delta",
        "and then?",
        "An answer.",
    ];
    assert_eq!(pair.texts(&pair.b, &session).await, texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_with_the_owner_and_runs_once() {
    let pair = Pair::new().await;
    let (session, mut client, hold) = pair.answering().await;
    let mut elsewhere = pair.b.client().await;
    assert_busy(&say(&mut elsewhere, &session, "on b").await);
    let ack = say(&mut client, &session, "on a").await;
    assert_eq!(ack["disposition"], "queued", "{ack}");
    assert_busy(
        &elsewhere
            .call("session_open", json!({"sessionId": session}))
            .await,
    );
    hold.release();
    client.wait_count("done", 2).await;
    let texts = ["question", "alpha beta gamma delta", "on a", "An answer."];
    assert_eq!(pair.texts(&pair.b, &session).await, texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_one_effect_whichever_server_it_reaches() {
    let mut pair = Pair::new().await;
    let (mut first, mut second) = (pair.a.client().await, pair.b.client().await);
    // The first message of a session, sent to both at once.
    let chat = json!({"content": "hello", "requestId": "the first"});
    let (on_a, on_b) = tokio::join!(
        first.call("chat", chat.clone()),
        second.call("chat", chat.clone())
    );
    // One of them takes it; the other is busy, or answers with what is stored.
    let took = |ack: &Value| ack["ok"] == true && ack["deduped"] != true;
    let owner_is_a = took(&on_a);
    let (ack, other) = if owner_is_a {
        (&on_a, &on_b)
    } else {
        (&on_b, &on_a)
    };
    assert!(took(ack) && !took(other), "{on_a} {on_b}");
    match other["ok"] == true {
        true => assert_eq!(other["entryId"], ack["entryId"]),
        false => assert_busy(other),
    }
    let session = ack["sessionId"].as_str().unwrap().to_owned();
    // A server that notices the death takes over what is unfinished, and would be the one to ask.
    let client = if owner_is_a { &mut first } else { &mut second };
    client.wait("done", |_| true).await;
    // The owner dies; another server takes over and knows the request.
    let dead = if owner_is_a { &mut pair.a } else { &mut pair.b };
    let restarted = pair.world.serve();
    let died = std::mem::replace(dead, restarted.await);
    died.kill().await;
    let third = pair.world.serve().await;
    let mut client = third.client().await;
    let again = client.call("chat", chat).await;
    assert_eq!(
        (&again["ok"], &again["deduped"]),
        (&json!(true), &json!(true)),
        "{again}"
    );
    assert_eq!(again["sessionId"], session.as_str());
    let texts = pair.texts(&third, &session).await;
    let hellos = texts.iter().filter(|text| *text == "hello");
    assert_eq!(hellos.count(), 1, "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_given_up_at_the_end_and_taken_over_after_a_death() {
    let mut pair = Pair::new().await;
    let (session, mut client) = pair.a.session("question").await;
    client.wait_count("done", 1).await;
    let mut elsewhere = pair.b.client().await;
    let open = json!({"sessionId": session});
    assert_busy(&elsewhere.call("session_open", open.clone()).await);
    let next = pair.world.serve().await;
    let ended = std::mem::replace(&mut pair.a, next);
    ended.signal(rustix::process::Signal::TERM);
    assert!(ended.ended().await.success());
    assert_eq!(
        elsewhere.call("session_open", open.clone()).await["ok"],
        true
    );

    let next = pair.world.serve().await;
    std::mem::replace(&mut pair.b, next).kill().await;
    // The next start in this data directory knows that its predecessor is dead.
    let last = pair.world.serve().await;
    let mut client = last.client().await;
    assert_eq!(client.call("session_open", open).await["ok"], true);
}
