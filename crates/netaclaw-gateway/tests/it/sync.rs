//! Joining late, coming back, several at once, and the end of the server.

use crate::agent::{Act, say};
use crate::server::Server;
use netaclaw_gateway::GatewaySettings;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn who_joins_during_an_answer_gets_what_was_said_and_then_the_rest() {
    let server = Server::start().await;
    let mut first = server.client().await;
    let ack = first.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].clone();
    first.call("session_open", json!({"sessionId": id})).await;
    server.script.act([say("One "), say("two ")]);
    first.wait("assistant_stream_delta", |_| true).await;

    let mut late = server.client().await;
    let open = late.call("session_open", json!({"sessionId": id})).await;
    let part = &open["snapshot"]["streaming"]["parts"][0];
    let mut text = part["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("One "), "{open}");
    server.script.act([say("three"), Act::End]);
    late.wait("done", |_| true).await;
    for event in late
        .events
        .iter()
        .filter(|event| event["type"] == "assistant_stream_delta")
    {
        let offset = usize::try_from(event["data"]["offset"].as_u64().unwrap()).unwrap();
        assert!(offset <= text.len(), "a gap at {offset}");
        text.truncate(offset);
        text.push_str(event["data"]["text"].as_str().unwrap());
    }
    assert_eq!(text, "One two three");
}

#[tokio::test]
async fn who_comes_back_gets_what_was_missed_and_nothing_twice() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].clone();
    let open = client.call("session_open", json!({"sessionId": id})).await;
    let (epoch, seq) = (open["epoch"].clone(), open["seq"].as_u64().unwrap());
    server.script.act([say("Hi"), Act::End]);
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;

    let mut back = server.client().await;
    let again = json!({"sessionId": id, "epoch": epoch, "lastSeq": seq});
    let open = back.call("session_open", again).await;
    assert_eq!(open["mode"], "replay");
    assert_eq!(back.before_ack, 0, "the answer comes first");
    back.wait("run_status", |data| data["status"] == "idle")
        .await;
    let head = open["seq"].as_u64().unwrap();
    assert_eq!(back.seqs(), (seq + 1..=head).collect::<Vec<_>>());

    let current = json!({"sessionId": id, "epoch": epoch, "lastSeq": head});
    assert_eq!(back.call("session_open", current).await["mode"], "live");
    let other = json!({"sessionId": id, "epoch": "another", "lastSeq": head});
    assert_eq!(back.call("session_open", other).await["mode"], "snapshot");
    // Opened three times by one socket, and still every event comes once.
    let before = back.events.len();
    back.call("rename", json!({"sessionId": id, "title": "New"}))
        .await;
    back.wait("session_updated", |data| data["session"]["title"] == "New")
        .await;
    back.call("ping", json!({})).await;
    let names = &back.names()[before..];
    let updates = names.iter().filter(|name| **name == "session_updated");
    assert_eq!(updates.count(), 1, "{names:?}");
}

#[tokio::test]
async fn three_clients_see_the_same() {
    let server = Server::start().await;
    let mut clients = vec![
        server.client().await,
        server.client().await,
        server.client().await,
    ];
    let mut sender = server.client().await;
    let ack = sender.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].clone();
    for client in &mut clients {
        client.call("session_open", json!({"sessionId": id})).await;
    }
    server
        .script
        .act([say("a"), say("b"), Act::Turn, say("c"), Act::End]);
    let mut seen: Vec<Vec<Value>> = Vec::new();
    for client in &mut clients {
        client
            .wait("run_status", |data| data["status"] == "idle")
            .await;
        let reliable = client.events.iter().filter(|event| event["seq"].is_u64());
        seen.push(reliable.cloned().collect());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    // One of them disconnects, and the others are not affected.
    drop(clients.pop());
    clients[0]
        .call("rename", json!({"sessionId": id, "title": "New"}))
        .await;
    for client in &mut clients {
        client
            .wait("session_updated", |data| data["session"]["title"] == "New")
            .await;
    }
}

#[tokio::test]
async fn a_run_without_clients_ends_the_same() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    drop(client);
    server.script.act([say("Hi"), Act::End]);
    let mut later = server.client().await;
    let open = later
        .call("session_open", json!({"sessionId": ack["sessionId"]}))
        .await;
    if open["snapshot"]["run"]["status"] != "idle" {
        later
            .wait("run_status", |data| data["status"] == "idle")
            .await;
    }
    let id = ack["sessionId"].as_str().unwrap();
    assert_eq!(server.path(id).await, ["user: Hello", "assistant: Hi"]);
}

#[tokio::test]
async fn at_shutdown_clients_are_notified_and_runs_can_finish() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    client
        .call("session_open", json!({"sessionId": ack["sessionId"]}))
        .await;
    server.shutdown.cancel();
    client.wait("server_draining", |_| true).await;
    let refused = client.call("chat", json!({"content": "more"})).await;
    assert_eq!(refused["code"], "unavailable", "{refused}");
    server.script.act([say("Hi"), Act::End]);
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed");
    client.until_disconnected().await;
    server.serving.await.unwrap();
}

#[tokio::test]
async fn a_run_that_does_not_finish_in_time_is_interrupted() {
    let settings = GatewaySettings {
        drain_grace: Duration::from_millis(50),
        ..GatewaySettings::default()
    };
    let server = Server::start_with(settings).await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    client
        .call("session_open", json!({"sessionId": ack["sessionId"]}))
        .await;
    server.script.act([say("half")]);
    client.wait("assistant_stream_delta", |_| true).await;
    server.shutdown.cancel();
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "interrupted");
    server.serving.await.unwrap();
}
