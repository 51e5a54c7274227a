//! The limits of one user, which do not affect others.

use crate::agent::{Act, say};
use crate::http::{plain, request};
use crate::server::Server;
use netaclaw_engine::UserLimits;
use netaclaw_protocol::TokenScope;
use serde_json::{Value, json};

fn limited(runs_max: usize, messages_per_minute: u32) -> UserLimits {
    UserLimits {
        runs_max,
        messages_per_minute,
    }
}

fn bearer(token: &str) -> Value {
    json!({"token": token, "events": ["current"]})
}

#[tokio::test]
async fn runs_of_one_user_are_limited_and_others_go_through() {
    const RUNS_MAX: usize = 20;
    let server = Server::start_limited(limited(RUNS_MAX, 0)).await;
    let (_, ann) = server.user("ann", TokenScope::Chat).await;
    let (_, ben) = server.user("ben", TokenScope::Chat).await;
    let mut client = server.client_with(bearer(&ann)).await;
    let (mut started, mut refused) = (Vec::new(), 0);
    for number in 0..1_500 {
        let chat = json!({"content": "hello", "requestId": format!("r{number}")});
        let ack = client.call("chat", chat).await;
        match ack["ok"] == true {
            true => started.push((number, ack["sessionId"].as_str().unwrap().to_owned())),
            false => {
                assert_eq!(ack["code"], "rate_limited", "{ack}");
                let words = &ack["words"];
                assert!(words["en"].as_str().unwrap().contains("stop one"), "{ack}");
                assert!(words["zh"].as_str().unwrap().contains("上限"), "{ack}");
                refused += 1;
            }
        }
    }
    assert_eq!((started.len(), refused), (RUNS_MAX, 1_500 - RUNS_MAX));
    // What was refused left no session behind.
    let list = plain(server.address, "GET", "/admin/netaclaw/sessions").bearer(&ann);
    let list = list.send().await.json();
    assert_eq!(list["total"], RUNS_MAX, "{list}");
    // An accepted message gets the same answer, and a running session accepts more.
    let (number, session) = &started[0];
    let again = json!({"content": "hello", "requestId": format!("r{number}")});
    assert_eq!(client.call("chat", again).await["deduped"], true);
    let more = json!({"content": "more", "sessionId": session, "mode": "queue"});
    let queued = client.call("chat", more).await;
    assert_eq!(queued["disposition"], "queued", "{queued}");
    // The same over the OpenAI API, which says when to try again.
    let body = json!({"model": "default", "messages": [{"role": "user", "content": "hello"}]});
    let openai = plain(server.address, "POST", "/v1/chat/completions").bearer(&ann);
    let openai = openai.json(body).send().await;
    assert_eq!(openai.status, 429, "{}", openai.text);
    assert_eq!(openai.json()["error"]["code"], "rate_limit_exceeded");
    assert_eq!(openai.header("retry-after"), "5");
    // Another user has all of their own.
    let mut other = server.client_with(bearer(&ben)).await;
    let ack = other.call("chat", json!({"content": "hello"})).await;
    assert_eq!(ack["disposition"], "started", "{ack}");
    // A run that ends frees its slot. The one with a queued message continues with that.
    for (_, session) in &started[1..] {
        client.call("stop", json!({ "sessionId": session })).await;
    }
    client.wait_count("done", RUNS_MAX - 1).await;
    let ack = client.call("chat", json!({"content": "again"})).await;
    assert_eq!(ack["disposition"], "started", "{ack}");
}

#[tokio::test]
async fn a_place_is_kept_for_what_waits_and_given_back_after_it() {
    let server = Server::start_limited(limited(1, 0)).await;
    let mut client = server.client().await;
    let first = client.call("chat", json!({"content": "one"})).await;
    let session = first["sessionId"].clone();
    let queued = json!({"content": "two", "sessionId": session, "mode": "queue"});
    assert_eq!(client.call("chat", queued).await["ok"], true);
    server.script.act([say("1"), Act::End]);
    client.wait_count("done", 1).await;
    // The acknowledged message runs, and nothing came between.
    let other = client.call("chat", json!({"content": "other"})).await;
    assert_eq!(other["code"], "rate_limited", "{other}");
    server.script.act([say("2"), Act::End]);
    client.wait_count("done", 2).await;
    let other = client.call("chat", json!({"content": "other"})).await;
    assert_eq!(other["ok"], true, "{other}");
}

#[tokio::test]
async fn messages_and_sessions_are_limited_by_the_minute() {
    let server = Server::start_limited(limited(0, 5)).await;
    let (_, ann) = server.user("ann", TokenScope::Chat).await;
    let mut client = server.client_with(bearer(&ann)).await;
    let first = client.call("chat", json!({"content": "1"})).await;
    for number in 2..=5 {
        let chat = json!({"content": number.to_string(), "sessionId": first["sessionId"]});
        assert_eq!(client.call("chat", chat).await["ok"], true);
    }
    for chat in [
        json!({"content": "6", "sessionId": first["sessionId"]}),
        json!({"content": "6"}),
    ] {
        let refused = client.call("chat", chat).await;
        assert_eq!(refused["code"], "rate_limited", "{refused}");
        let reason = &refused["reason"];
        assert_eq!(reason["code"], "messages_of_user", "{refused}");
        assert_eq!(reason["perMinute"], 5, "{refused}");
    }
    // Another user is not concerned.
    let mut admin = server.client().await;
    let chat = admin.call("chat", json!({"content": "1"})).await;
    assert_eq!(chat["ok"], true, "{chat}");
}

#[tokio::test]
async fn titles_labels_and_request_ids_have_a_length() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let first = client.call("chat", json!({"content": "1"})).await;
    let (session, entry) = (&first["sessionId"], &first["entryId"]);
    let long = |chars: usize| "题".repeat(chars);
    for (command, payload) in [
        ("rename", json!({"sessionId": session, "title": long(201)})),
        (
            "label",
            json!({"sessionId": session, "entryId": entry, "label": long(101)}),
        ),
        ("chat", json!({"content": "2", "requestId": long(129)})),
        (
            "rename",
            json!({"sessionId": session, "title": "x", "requestId": long(129)}),
        ),
        ("stop", json!({"requestId": long(129)})),
    ] {
        let refused = client.call(command, payload).await;
        assert_eq!(refused["code"], "too_large", "{command}: {refused}");
        assert_eq!(refused["reason"]["code"], "text_too_long", "{refused}");
    }
    for (command, payload) in [
        ("rename", json!({"sessionId": session, "title": long(200)})),
        (
            "label",
            json!({"sessionId": session, "entryId": entry, "label": long(100), "requestId": long(128)}),
        ),
    ] {
        let done = client.call(command, payload).await;
        assert_eq!(done["ok"], true, "{command}: {done}");
    }
    let path = format!("/admin/netaclaw/sessions/{}", session.as_str().unwrap());
    let title = request(server.address, "PATCH", &path).json(json!({"title": long(201)}));
    let refused = title.send().await;
    assert_eq!(refused.status, 413, "{}", refused.text);
}
