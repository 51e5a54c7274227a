//! MCP servers by REST. No program can be started here, so every server is down.

use crate::http::{plain, request};
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use serde_json::{Value, json};

const SERVERS: &str = "/admin/netaclaw/mcp-servers";

fn files(more: Value) -> Value {
    let mut body = json!({
        "name": "files",
        "transport": {"type": "stdio", "command": "npx", "args": ["-y", "a server"]},
        "roots": ["/srv"],
    });
    let fields = body.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn secrets_go_in_and_never_come_out() {
    let server = Server::start().await;
    let call = |method, path| request(server.address, method, path);
    let secrets = json!({"secrets": {"API_KEY": "marker-4711", "OTHER": "marker-4712"}});
    let made = call("POST", SERVERS).json(files(secrets)).send().await;
    assert_eq!(
        (made.status, made.header("etag")),
        (201, "\"1\""),
        "{}",
        made.text
    );
    assert_eq!(made.json()["secretNames"], json!(["API_KEY", "OTHER"]));
    let one = format!("{SERVERS}/{}", made.json()["id"].as_str().unwrap());
    // Kept by name, and gone if not named.
    let kept = json!({"secrets": {"API_KEY": null}, "timeoutMs": 5000});
    let kept = call("PUT", &one).header("if-match", "1").json(files(kept));
    let kept = kept.send().await;
    assert_eq!(kept.status, 200, "{}", kept.text);
    assert_eq!(kept.json()["secretNames"], json!(["API_KEY"]));
    let listed = call("GET", SERVERS).send().await;
    let found = call("GET", &one).send().await;
    assert_eq!(listed.json()["items"][0], found.json());
    assert_eq!(found.json()["timeoutMs"], 5000);
    let test = format!("{one}/test");
    let tested = call("POST", &test).send().await;
    let fault = tested.json()["fault"]["code"].clone();
    assert_eq!((tested.status, fault), (200, json!("not_started")));
    let again = json!({"id": made.json()["id"], "secrets": {"API_KEY": null}});
    let unsaved = format!("{SERVERS}/test");
    let tried = call("POST", &unsaved).json(files(again)).send().await;
    assert_eq!(
        (tried.status, tried.json()["ok"].clone()),
        (200, json!(false))
    );
    let audit = call("GET", "/admin/netaclaw/audit?size=9").send().await;
    for answer in [made, kept, listed, found, tested, tried, audit] {
        assert!(!answer.text.contains("marker"), "{}", answer.text);
    }
}

#[tokio::test]
async fn only_administrators_change_servers_and_conflicts_are_refused() {
    let server = Server::start().await;
    let call = |method, path| request(server.address, method, path);
    let made = call("POST", SERVERS).json(files(json!({}))).send().await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let one = format!("{SERVERS}/{id}");
    let put = |rev: &'static str| call("PUT", &one).header("if-match", rev);
    assert_eq!(
        put("1")
            .json(files(json!({"timeoutMs": 100})))
            .send()
            .await
            .status,
        200
    );
    let late = put("1").json(files(json!({}))).send().await;
    assert_eq!(
        (late.status, late.json()["details"]["currentRev"].clone()),
        (412, json!(2))
    );

    let wrong = |more, field: &str| {
        let (sent, field) = (call("POST", SERVERS).json(files(more)), field.to_owned());
        async move {
            let refused = sent.send().await;
            let named = refused.json()["details"]["field"].clone();
            assert_eq!(
                (refused.status, named),
                (400, json!(field)),
                "{}",
                refused.text
            );
        }
    };
    wrong(json!({"name": "b", "roots": ["relative"]}), "roots").await;
    wrong(
        json!({"name": "b", "secrets": {"LD_PRELOAD": "x"}}),
        "secrets",
    )
    .await;
    wrong(json!({"name": "b", "secrets": {"A": null}}), "secrets.A").await;

    let (_, token) = server.user("ann", TokenScope::Full).await;
    for (method, path) in [("GET", SERVERS), ("POST", SERVERS), ("DELETE", &one)] {
        let call = plain(server.address, method, path).bearer(&token);
        let refused = call.json(files(json!({}))).send().await;
        assert_eq!(refused.status, 403, "{method}: {}", refused.text);
    }
    assert_eq!(
        call("DELETE", &one)
            .header("if-match", "2")
            .send()
            .await
            .status,
        204
    );
    assert_eq!(call("GET", &one).send().await.status, 404);
}
