//! What agents remember, over REST: one's own and nobody else's.

use crate::http::plain;
use crate::server::Server;
use netaclaw_protocol::TokenScope;
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
