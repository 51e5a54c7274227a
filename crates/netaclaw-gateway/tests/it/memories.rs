//! Agents' memories, over REST: each user sees only their own.

use crate::http::plain;
use crate::server::Server;
use netaclaw_admin::{MemoryProposal, MemoryStore};
use netaclaw_protocol::{MemorySpec, SessionId, TokenScope};
use serde_json::{Value, json};

const PATH: &str = "/admin/netaclaw/memories";

#[tokio::test]
async fn facts_are_made_found_changed_and_deleted_by_their_user() {
    let server = Server::start().await;
    let (_, ann) = server.user("ann", TokenScope::Full).await;
    let (_, bob) = server.user("bob", TokenScope::Full).await;
    let call = |method, path, token| plain(server.address, method, path).bearer(token);
    let texts = |listing: Value| -> Vec<String> {
        let items = listing["items"].as_array().unwrap();
        let texts = items
            .iter()
            .map(|item| item["text"].as_str().unwrap().to_owned());
        texts.collect()
    };
    let mut made = Vec::new();
    for text in ["用户住在上海", "Prefers tabs", "Has a cat"] {
        let answer = call("POST", PATH, &ann)
            .json(json!({ "text": text }))
            .send()
            .await;
        assert_eq!(
            (answer.status, answer.header("etag")),
            (201, "\"1\""),
            "{}",
            answer.text
        );
        made.push(answer.json());
    }
    assert_eq!(
        (&made[0]["author"], &made[0]["agentId"]),
        (&json!("user"), &Value::Null)
    );
    let all = call("GET", PATH, &ann).send().await.json();
    assert_eq!(texts(all), ["Has a cat", "Prefers tabs", "用户住在上海"]);
    // 上海天气
    let found = format!("{PATH}?query=%E4%B8%8A%E6%B5%B7%E5%A4%A9%E6%B0%94");
    let found = call("GET", &found, &ann).send().await.json();
    assert_eq!(texts(found), ["用户住在上海"]);

    let own = format!("{PATH}/{}", made[1]["id"].as_str().unwrap());
    let change = json!({"text": "Prefers spaces"});
    let changed = call("PUT", &own, &ann)
        .header("if-match", "\"1\"")
        .json(change.clone());
    assert_eq!(changed.send().await.json()["rev"], 2);
    let late = call("PUT", &own, &ann)
        .header("if-match", "\"1\"")
        .json(json!({"text": "x"}));
    assert_eq!(late.send().await.status, 412);
    let wrong = call("POST", PATH, &ann)
        .json(json!({"text": " "}))
        .send()
        .await;
    assert_eq!(
        (wrong.status, wrong.json()["details"]["field"].clone()),
        (400, json!("text"))
    );

    assert!(texts(call("GET", PATH, &bob).send().await.json()).is_empty());
    assert_eq!(
        call("PUT", &own, &bob).json(change).send().await.status,
        404
    );
    assert_eq!(call("DELETE", &own, &bob).send().await.status, 404);
    assert_eq!(call("DELETE", &own, &ann).send().await.status, 204);
    assert_eq!(call("DELETE", &own, &ann).send().await.status, 404);
    assert_eq!(plain(server.address, "GET", PATH).send().await.status, 401);
    let (_, reader) = server.user("eve", TokenScope::Read).await;
    let refused = call("POST", PATH, &reader)
        .json(json!({"text": "x"}))
        .send()
        .await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn a_pending_fact_is_shown_as_such_and_confirmed_or_discarded_by_its_user() {
    let server = Server::start().await;
    let (user, ann) = server.user("ann", TokenScope::Full).await;
    let (_, bob) = server.user("bob", TokenScope::Full).await;
    let call = |method, path, token| plain(server.address, method, path).bearer(token);
    let known = call("POST", PATH, &ann).json(json!({"text": "Has a cat"}));
    let known = known.send().await.json();
    assert_eq!(known["status"], "confirmed");
    let mut paths = Vec::new();
    for text in ["Trusts evil.example", "Has two cats"] {
        let proposal = MemoryProposal {
            spec: MemorySpec {
                agent_id: None,
                text: text.to_owned(),
            },
            session_id: SessionId::new("s1"),
            replaces: Some(netaclaw_protocol::MemoryId::new(
                known["id"].as_str().unwrap(),
            )),
        };
        let made = server.admin.propose_memory(&user.id, proposal).await;
        paths.push(format!("{PATH}/{}", made.unwrap().id));
    }
    let states = |listing: Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let items = listing["items"].as_array().unwrap().iter();
        items
            .map(|i| (text(&i["text"]), text(&i["status"])))
            .collect()
    };
    let pair = |text: &str, status: &str| (text.to_owned(), status.to_owned());
    let all = call("GET", PATH, &ann).send().await.json();
    assert_eq!(
        (&all["items"][0]["sessionId"], &all["items"][0]["replaces"]),
        (&json!("s1"), &known["id"])
    );
    assert_eq!(
        states(all),
        [
            pair("Has two cats", "pending"),
            pair("Trusts evil.example", "pending"),
            pair("Has a cat", "confirmed")
        ]
    );
    let confirm = format!("{}/confirm", paths[1]);
    assert_eq!(call("POST", &confirm, &bob).send().await.status, 404);
    let late = call("POST", &confirm, &ann).header("if-match", "\"9\"");
    assert_eq!(late.send().await.status, 412);
    let confirmed = call("POST", &confirm, &ann).header("if-match", "\"1\"");
    let confirmed = confirmed.send().await;
    assert_eq!(
        (confirmed.status, confirmed.header("etag")),
        (200, "\"2\""),
        "{}",
        confirmed.text
    );
    assert_eq!(confirmed.json()["status"], "confirmed");
    assert_eq!(call("DELETE", &paths[0], &ann).send().await.status, 204);
    let all = call("GET", PATH, &ann).send().await.json();
    assert_eq!(states(all), [pair("Has two cats", "confirmed")]);
    let (_, reader) = server.user("eve", TokenScope::Read).await;
    assert_eq!(call("POST", &confirm, &reader).send().await.status, 403);
}
