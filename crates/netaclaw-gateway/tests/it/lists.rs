//! Lists of sessions: what is on them, and how they stay true without being read again.

use crate::agent::{Act, say};
use crate::http::{plain, request};
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::time::Instant;

const SESSIONS: &str = "/admin/netaclaw/sessions";

/// Waits for the list to be told something about a session that fits.
async fn told(client: &mut Client, session: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let of_session = |item: &Value| item["sessionId"] == session && fits(item);
    client.listed(of_session).await
}

async fn listed(server: &Server, query: &str) -> Vec<Value> {
    let path = format!("{SESSIONS}{query}");
    let page = request(server.address, "GET", &path).send().await.json();
    let items = page["items"].as_array().unwrap();
    assert_eq!(page["total"], items.len());
    items.clone()
}

#[tokio::test]
async fn a_list_follows_a_session_that_nobody_has_open() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    client.call("session_close", json!({"sessionId": id})).await;
    let running = told(&mut client, &id, |item| item["running"] == true).await;
    assert_eq!(running["status"], "active");
    assert!(running.get("cwd").is_none() && running.get("metadata").is_none());
    assert_eq!(listed(&server, "").await[0]["running"], true);

    server.script.act([say("Hi"), Act::End]);
    let done = told(&mut client, &id, |item| item["unread"] == true).await;
    assert_eq!(done["running"], false);
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let item = &listed(&server, "?q=HELL&status=active").await[0];
    assert_eq!(
        (&item["unread"], &item["messageCount"]),
        (&json!(true), &json!(2))
    );

    client.call("session_open", json!({"sessionId": id})).await;
    told(&mut client, &id, |item| {
        item["unread"] == false && item["title"] == "Hello"
    })
    .await;
    let after = &listed(&server, "").await[0];
    assert_eq!(after["unread"], false);
    assert_eq!(after["updatedAt"], item["updatedAt"], "reading is no news");
}

#[tokio::test]
async fn changes_by_rest_reach_open_pages_and_lists() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server.script.act([say("Hi"), Act::End]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let path = format!("{SESSIONS}/{id}");
    let change = async |body: Value| {
        let answer = request(server.address, "PATCH", &path).json(body).send();
        answer.await.json()
    };
    // Nobody has it open, and the list hears of it all the same.
    assert_eq!(change(json!({"title": "One"})).await["title"], "One");
    told(&mut client, &id, |item| item["title"] == "One").await;

    client.call("session_open", json!({"sessionId": id})).await;
    change(json!({"title": "Two", "status": "archived"})).await;
    let seen = |data: &Value| data["session"]["status"] == "archived";
    let event = client.wait("session_updated", seen).await;
    assert_eq!(event["data"]["session"]["title"], "Two");
    told(&mut client, &id, |item| item["status"] == "archived").await;
    assert_eq!(listed(&server, "?status=active").await.len(), 0);
    assert_eq!(listed(&server, "?status=archived").await.len(), 1);
    let wrong = change(json!({"titel": "x"})).await;
    assert_eq!(wrong["code"], "bad_request");
}

#[tokio::test]
async fn quick_changes_of_a_session_are_merged_for_the_list() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    server.script.act([say("Hi"), Act::End]);
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let begun = Instant::now();
    let path = format!("{SESSIONS}/{id}");
    for number in 1..=20 {
        let title = json!({"title": format!("Name {number}")});
        let renamed = request(server.address, "PATCH", &path).json(title).send();
        assert_eq!(renamed.await.status, 200);
    }
    told(&mut client, &id, |item| item["title"] == "Name 20").await;
    let quarters = begun.elapsed().as_millis() / 250;
    let titles = client.lists.iter().map(|item| item["title"].as_str());
    let renames = titles.filter(|title| title.is_some_and(|title| title.starts_with("Name ")));
    let events = renames.count() as u128;
    assert!(
        events <= quarters + 2,
        "{events} events in {quarters} quarters of a second"
    );
}

#[tokio::test]
async fn deleting_ends_the_run_and_restoring_brings_all_back() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    client.call("session_open", json!({"sessionId": id})).await;
    server.script.act([say("half")]);
    client.wait("assistant_stream_delta", |_| true).await;
    let waiting = json!({"sessionId": id, "content": "next"});
    assert_eq!(client.call("chat", waiting).await["disposition"], "queued");

    let path = format!("{SESSIONS}/{id}");
    let deleted = request(server.address, "DELETE", &path).send().await;
    assert_eq!(deleted.status, 204, "{}", deleted.text);
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "stopped");
    told(&mut client, &id, |item| item["status"] == "deleted").await;
    assert_eq!(listed(&server, "").await.len(), 0);
    let refused = json!({"sessionId": id, "content": "more"});
    assert_eq!(client.call("chat", refused).await["ok"], false);

    let back = request(server.address, "PATCH", &path).json(json!({"status": "active"}));
    let back = back.send().await.json();
    assert_eq!(
        (&back["status"], &back["queued"]),
        (&json!("active"), &json!(1))
    );
    assert_eq!(server.path(&id).await, ["user: Hello", "assistant: half"]);
}

#[tokio::test]
async fn a_list_shows_ones_own_and_administrators_more() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let mut ann = server.client_with(json!({ "token": token })).await;
    let mut admin = server.client().await;
    let hers = ann.call("chat", json!({"content": "hers"})).await;
    let his = admin.call("chat", json!({"content": "his"})).await;
    let his_id = his["sessionId"].as_str().unwrap();
    told(&mut admin, his_id, |_| true).await;
    let heard = |id: &Value| admin.lists.iter().any(|item| item["sessionId"] == *id);
    assert!(!heard(&hers["sessionId"]), "not on this list");
    assert_eq!(listed(&server, "").await.len(), 1);
    assert_eq!(listed(&server, "?userId=*").await.len(), 2);
    let own = plain(server.address, "GET", "/admin/netaclaw/sessions?userId=*").bearer(&token);
    let own = own.send().await.json();
    assert_eq!(
        (&own["total"], &own["items"][0]["sessionId"]),
        (&json!(1), &hers["sessionId"])
    );
    server.script.act([Act::End, Act::End]);
}

#[tokio::test]
async fn each_fork_is_left_and_found_again() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut sent = 0;
    let mut say_to = async |client: &mut Client, session: Value, parent: Value, text: &str| {
        server.script.act([say(&format!("re {text}")), Act::End]);
        let mut chat = json!({"content": text});
        for (name, value) in [("sessionId", session), ("leafEntryId", parent)] {
            if !value.is_null() {
                chat[name] = value;
            }
        }
        let ack = client.call("chat", chat).await;
        if sent == 0 {
            let open = json!({"sessionId": ack["sessionId"]});
            let opened = client.call("session_open", open).await;
            sent = usize::from(opened["snapshot"]["run"]["status"] == "running");
        } else {
            sent += 1;
        }
        client.wait_count("done", sent).await;
        ack
    };
    let first = say_to(&mut client, Value::Null, Value::Null, "one").await;
    let id = first["sessionId"].clone();
    let base = format!("{SESSIONS}/{}", id.as_str().unwrap());
    let leaf = async || {
        let path = format!("{base}/tree");
        request(server.address, "GET", &path).send().await.json()["leafEntryId"].clone()
    };
    let root_answer = leaf().await;
    let a = say_to(&mut client, id.clone(), Value::Null, "a").await["entryId"].clone();
    let a_end = leaf().await;
    let b = say_to(&mut client, id.clone(), root_answer, "b").await["entryId"].clone();
    let b_end = leaf().await;

    let switch = async |client: &mut Client, to: &Value| {
        let switch = json!({"sessionId": id, "leafEntryId": to, "follow": true});
        assert_eq!(
            client.call("switch_leaf", switch).await,
            json!({"ok": true, "status": "moved"})
        );
        leaf().await
    };
    assert_eq!(switch(&mut client, &a).await, a_end);
    assert_eq!(
        switch(&mut client, &first["entryId"]).await,
        a_end,
        "where it was left"
    );
    assert_eq!(switch(&mut client, &b).await, b_end);
    assert_eq!(switch(&mut client, &first["entryId"]).await, b_end);
}
