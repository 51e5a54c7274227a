//! The real server, killed while a summary is being written: nothing is lost, nothing has moved,
//! and what waited is answered in its order.

use crate::served::{Server, World};
use netaclaw_testkit::fake_model::{Hold, Reply};
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};

/// What every request for a summary ends with, and no other.
const SUMMARY: &str = "<task> Write the summary now. </task>";
const TURNS: usize = 8;

fn words(first: &str) -> String {
    format!(
        "{first} {}",
        "The harbour was quiet that morning. ".repeat(33)
    )
}

/// A conversation that is worth a summary.
async fn talked(world: &World, server: &Server) -> (String, Client) {
    let answer = Reply::text(words("An answer."));
    world.model.script().otherwise(answer);
    let (id, mut client) = server.session(&words("Question 0.")).await;
    client.wait_count("done", 1).await;
    for n in 1..TURNS {
        say(&mut client, &id, &words(&format!("Question {n}."))).await;
        client.wait_count("done", n + 1).await;
    }
    (id, client)
}

async fn say(client: &mut Client, id: &str, content: &str) -> Value {
    let chat = json!({"sessionId": id, "content": content});
    client.call("chat", chat).await
}

/// The model begins its summary and does not continue.
fn hold_summary(world: &World) -> Hold {
    let (reply, hold) = Reply::text(words("## Goal")).holding_after(1);
    world.model.script().when(SUMMARY, reply);
    hold
}

async fn queue_up(client: &mut Client, id: &str) {
    for text in ["one", "two", "three"] {
        let ack = say(client, id, text).await;
        assert_eq!(ack["disposition"], "queued", "{ack}");
    }
}

/// The next server, when it has nothing more to do.
async fn restarted(world: &World, id: &str) -> (Server, Value) {
    let server = world.serve().await;
    let mut client = server.client().await;
    let open = json!({"sessionId": id});
    let opened = client.call("session_open", open.clone()).await;
    client.settled(&opened).await;
    let mut client = server.client().await;
    let opened = client.call("session_open", open).await;
    (server, opened["snapshot"].clone())
}

/// The entries on the active path in short.
fn path(snapshot: &Value) -> Vec<String> {
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let short = |entry: &Value| {
        let message = &entry["message"];
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
        };
        let kind = message["role"].as_str().or(entry["type"].as_str());
        let first: String = text.chars().take(12).collect();
        format!("{}: {}", kind.unwrap(), first.trim())
    };
    entries
        .filter(|entry| entry["type"] != "model_change" && entry["type"] != "thinking_level_change")
        .map(short)
        .collect()
}

fn talk() -> Vec<String> {
    let turn = |n| {
        [
            format!("user: Question {n}."),
            "assistant: An answer. T".to_owned(),
        ]
    };
    (0..TURNS).flat_map(turn).collect()
}

fn answered() -> Vec<String> {
    let turn = |text| {
        [
            format!("user: {text}"),
            "assistant: An answer. T".to_owned(),
        ]
    };
    ["one", "two", "three"].into_iter().flat_map(turn).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn during_a_compaction() {
    let world = World::new().await;
    let server = world.serve().await;
    let (id, mut client) = talked(&world, &server).await;
    let hold = hold_summary(&world);
    let ack = client.call("compact", json!({"sessionId": id})).await;
    assert_eq!(ack["status"], "started");
    hold.reached().await;
    queue_up(&mut client, &id).await;
    server.kill().await;
    hold.release();

    let (server, snapshot) = restarted(&world, &id).await;
    assert_eq!(path(&snapshot), [talk(), answered()].concat());
    let failed = &snapshot["compactionFailed"];
    assert_eq!(failed["fault"], "interrupted", "{failed}");
    assert_eq!(failed["reason"], "manual");
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_branch_is_left() {
    let world = World::new().await;
    let server = world.serve().await;
    let (id, mut client) = talked(&world, &server).await;
    let opened = client.call("session_open", json!({"sessionId": id})).await;
    let early = opened["snapshot"]["activePath"][3].clone();
    let hold = hold_summary(&world);
    let leave = json!({"sessionId": id, "leafEntryId": early, "summarize": true});
    assert_eq!(
        client.call("switch_leaf", leave).await,
        json!({"ok": true, "status": "summarizing"}),
        "the command does not wait for the model"
    );
    hold.reached().await;
    queue_up(&mut client, &id).await;
    server.kill().await;
    hold.release();

    let (server, snapshot) = restarted(&world, &id).await;
    assert_eq!(
        path(&snapshot),
        [talk(), answered()].concat(),
        "nothing has moved"
    );
    let failed = &snapshot["compactionFailed"];
    assert_eq!(failed["fault"], "interrupted", "{failed}");
    assert_eq!(failed["reason"], "branch");
    server.kill().await;
}
