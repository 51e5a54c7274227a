//! Clients that choose the ids of their sessions, send messages and listen, and never send
//! `session_open`.

use crate::agent::{Act, say};
use crate::http::request;
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};

async fn chat(client: &mut Client, payload: Value) -> Value {
    let ack = client.call("chat", payload).await;
    assert_eq!(ack["ok"], true, "{ack}");
    ack
}

/// Waits for the end of so many runs.
async fn ended(client: &mut Client, runs: usize) {
    client.wait_count("done", runs).await;
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
}

fn is_v7(id: &Value) -> bool {
    let id = uuid::Uuid::parse_str(id.as_str().unwrap()).unwrap();
    id.get_version_num() == 7
}

#[tokio::test]
async fn a_message_begins_the_session_that_it_names() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server
        .script
        .act([say("Hi"), Act::End, say("Yes"), Act::End]);
    let ack = chat(
        &mut client,
        json!({"sessionId": "my-own.session", "content": "Hello"}),
    )
    .await;
    assert_eq!(ack["sessionId"], "my-own.session");
    assert_eq!(ack["disposition"], "started");
    ended(&mut client, 1).await;
    chat(
        &mut client,
        json!({"sessionId": "my-own.session", "content": "Still there?"}),
    )
    .await;
    ended(&mut client, 2).await;
    assert_eq!(
        server.path("my-own.session").await,
        [
            "user: Hello",
            "assistant: Hi",
            "user: Still there?",
            "assistant: Yes"
        ]
    );
    let names = client.names();
    let tokens = names.iter().filter(|name| **name == "token");
    assert_eq!(tokens.count(), 2, "each text arrives once");

    let (_, token) = server.user("ann", TokenScope::Full).await;
    let mut other = server.client_with(json!({ "token": token })).await;
    let taken = json!({"sessionId": "my-own.session", "content": "Mine?"});
    let refused = other.call("chat", taken).await;
    assert_eq!(refused["code"], "not_found", "{refused}");
    assert_eq!(refused["reason"]["code"], "no_session");

    let wrong = json!({"sessionId": "../../etc/passwd", "content": "Hello"});
    let refused = client.call("chat", wrong).await;
    assert_eq!(refused["code"], "bad_request", "{refused}");
    assert_eq!(refused["reason"]["code"], "not_a_session_id");
    let stale = json!({"sessionId": "another", "content": "Hello", "leafEntryId": "a1b2c3d4"});
    assert_eq!(client.call("chat", stale).await["code"], "stale_parent");
    let none = json!({"sessionId": "another"});
    assert_eq!(client.call("session_open", none).await["code"], "not_found");

    let path = "/admin/netaclaw/sessions/my-own.session";
    let deleted = request(server.address, "DELETE", path).send().await;
    assert_eq!(deleted.status, 204);
    let again = json!({"sessionId": "my-own.session", "content": "Hello"});
    assert_eq!(client.call("chat", again).await["code"], "not_found");
    server.stop().await;
}

#[tokio::test]
async fn an_empty_id_is_none() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for (at, session) in [json!(""), Value::Null].into_iter().enumerate() {
        server.script.act([say("Hi"), Act::End]);
        let payload = json!({
            "sessionId": session, "content": "Hello", "agentName": "", "agentId": "",
            "leafEntryId": "",
        });
        let ack = chat(&mut client, payload).await;
        assert!(is_v7(&ack["sessionId"]), "{ack}");
        client.wait_count("done", at + 1).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn ids_are_ordered_by_time_also_where_a_request_makes_the_session() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut ids = Vec::new();
    for request in ["r1", "r2"] {
        server.script.act([say("Hi"), Act::End]);
        let message = json!({"content": "Hello", "requestId": request});
        let ack = chat(&mut client, message.clone()).await;
        ended(&mut client, ids.len() + 1).await;
        let again = chat(&mut client, message).await;
        assert_eq!(again["deduped"], true, "{again}");
        assert_eq!(again["sessionId"], ack["sessionId"]);
        assert!(is_v7(&ack["sessionId"]), "{ack}");
        ids.push(ack["sessionId"].as_str().unwrap().to_owned());
        let fork = json!({
            "sessionId": ack["sessionId"], "entryId": ack["entryId"], "requestId": "f1",
        });
        let made = client.call("fork", fork.clone()).await;
        assert!(is_v7(&made["sessionId"]), "{made}");
        assert_eq!(
            client.call("fork", fork).await["sessionId"],
            made["sessionId"]
        );
    }
    assert!(ids.is_sorted(), "{ids:?}");
    server.stop().await;
}

#[tokio::test]
async fn who_writes_to_a_session_follows_it() {
    let server = Server::start().await;
    let mut first = server.client().await;
    server.script.act([say("Hi"), Act::End]);
    let ack = chat(&mut first, json!({"content": "Hello"})).await;
    ended(&mut first, 1).await;
    let session = ack["sessionId"].clone();

    let mut second = server.client().await;
    server.script.act([say("Yes"), Act::End]);
    let ack = chat(
        &mut second,
        json!({"sessionId": session, "content": "And me?"}),
    )
    .await;
    assert!(ack["feed"]["epoch"].is_string(), "{ack}");
    assert_eq!(second.before_ack, 0, "no event comes before the answer");
    ended(&mut second, 1).await;
    assert_eq!(second.text("token"), "Yes");
    let seqs = second.seqs();
    let from = ack["feed"]["seq"].as_u64().unwrap();
    let expected: Vec<u64> = (from + 1..).take(seqs.len()).collect();
    assert_eq!(seqs, expected);

    let mut third = server.client().await;
    let level = json!({"sessionId": session, "level": "high"});
    assert_eq!(third.call("set_thinking_level", level).await["ok"], true);
    third
        .wait("session_entry_added", |data| {
            data["entry"]["thinkingLevel"] == "high"
        })
        .await;

    // What is refused leaves no subscription behind.
    let mut fourth = server.client().await;
    let refused = json!({"sessionId": session, "content": "a", "agentName": "missing"});
    assert_eq!(fourth.call("chat", refused).await["code"], "not_found");
    server.script.act([say("Bye"), Act::End]);
    chat(&mut second, json!({"sessionId": session, "content": "Bye"})).await;
    ended(&mut second, 2).await;
    assert_eq!(fourth.call("ping", json!({})).await["ok"], true);
    assert_eq!(fourth.names(), ["pong"]);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_is_named_by_number_or_text_and_can_be_switched() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server.script.act([say("1"), Act::End, say("2"), Act::End]);
    let ack = chat(&mut client, json!({"content": "Hello", "agentId": 7})).await;
    let session = ack["sessionId"].clone();
    ended(&mut client, 1).await;
    let info = |agent: &'static str| move |data: &Value| data["session"]["agentId"] == agent;
    client.wait("session_updated", info("7")).await;

    let other = json!({"sessionId": session, "content": "Who?", "agentName": "second"});
    chat(&mut client, other).await;
    client.wait("session_updated", info("second")).await;
    let switch = client
        .wait("session_entry_added", |data| {
            data["entry"]["customType"] == "netaclaw.agent"
        })
        .await;
    assert_eq!(
        switch["data"]["entry"]["data"],
        json!({"agentId": "second", "agentName": "second", "previousAgentId": "7"})
    );
    let message = client
        .wait("session_entry_added", |data| {
            data["entry"]["message"]["content"] == "Who?"
        })
        .await;
    assert_eq!(
        message["data"]["entry"]["parentId"],
        switch["data"]["entry"]["id"]
    );
    ended(&mut client, 2).await;

    let missing = json!({"sessionId": session, "content": "Who?", "agentId": "missing"});
    let refused = client.call("chat", missing).await;
    assert_eq!(refused["code"], "not_found", "{refused}");
    assert_eq!(refused["reason"]["kind"], "agent");
    let session = session.as_str().unwrap();
    assert_eq!(
        server.path(session).await,
        ["user: Hello", "assistant: 1", "user: Who?", "assistant: 2"]
    );
    server.stop().await;
}

#[tokio::test]
async fn compact_as_a_message_is_a_command() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server.script.act([say("Hi"), Act::End]);
    let ack = chat(&mut client, json!({"content": "Hello"})).await;
    let session = ack["sessionId"].as_str().unwrap().to_owned();
    ended(&mut client, 1).await;
    let wish = json!({"sessionId": session, "content": "/Compact the boats", "requestId": "c1"});
    for deduped in [Value::Null, json!(true)] {
        let ack = chat(&mut client, wish.clone()).await;
        assert_eq!(ack["disposition"], "compacting", "{ack}");
        assert_eq!(ack["compaction"], "started", "{ack}");
        assert_eq!(ack["deduped"], deduped, "{ack}");
        assert_eq!(ack.get("entryId"), None);
    }
    client.wait("compaction_start", |_| true).await;
    client.wait("compaction_error", |_| true).await;
    server.script.act([say("A slash"), Act::End]);
    let escaped = json!({"sessionId": session, "content": "//compact"});
    chat(&mut client, escaped).await;
    ended(&mut client, 2).await;
    assert_eq!(
        server.path(&session).await,
        [
            "user: Hello",
            "assistant: Hi",
            "user: /compact",
            "assistant: A slash"
        ]
    );
    let nothing = client.call("chat", json!({"content": " /COMPACT "})).await;
    assert_eq!(nothing["code"], "bad_request", "{nothing}");
    assert_eq!(nothing["words"]["zh"], "没有可压缩的历史消息");
    server.stop().await;
}

#[tokio::test]
async fn a_message_that_begins_a_branch_tells_of_the_new_path() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server.script.act([say("1"), Act::End, say("2"), Act::End]);
    let ack = chat(&mut client, json!({"content": "Hello"})).await;
    ended(&mut client, 1).await;
    assert!(!client.names().contains(&"session_leaf_changed"));
    let first = ack["entryId"].clone();
    let other = json!({
        "sessionId": ack["sessionId"], "content": "Another way", "leafEntryId": first,
    });
    let branch = chat(&mut client, other).await;
    let changed = client.wait("session_leaf_changed", |_| true).await;
    assert_eq!(changed["data"]["leafEntryId"], branch["entryId"]);
    let path = changed["data"]["activePath"].as_array().unwrap();
    assert_eq!(path[path.len() - 2..], [first, branch["entryId"].clone()]);
    ended(&mut client, 2).await;
    server.stop().await;
}
