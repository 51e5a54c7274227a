//! The OpenAI-compatible API.

use crate::agent::{Act, say};
use crate::http::{plain, request};
use crate::server::Server;
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

fn hello(stream: bool) -> Value {
    json!({
        "model": "default",
        "stream": stream,
        "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "1"},
            {"role": "user", "content": "two"},
        ],
    })
}

fn session(id: &Value) -> String {
    id.as_str()
        .unwrap()
        .strip_prefix("chatcmpl-")
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn agents_are_models() {
    let server = Server::start().await;
    let models = request(server.address, "GET", "/v1/models")
        .send()
        .await
        .json();
    assert_eq!(
        (&models["object"], &models["data"][0]["id"]),
        (&json!("list"), &json!("default"))
    );
    let one = request(server.address, "GET", "/v1/models/default")
        .send()
        .await
        .json();
    assert_eq!(one["object"], "model");
    let none = request(server.address, "GET", "/v1/models/none")
        .send()
        .await;
    assert_eq!(
        (none.status, none.json()["error"]["code"].clone()),
        (404, json!("model_not_found"))
    );
}

/// A list has no names, so its items must not be taken for fields.
#[tokio::test]
async fn a_body_of_another_form_is_refused() {
    let server = Server::start().await;
    for body in [
        json!({"input": []}),
        json!({"model": "default", "input": []}),
        json!({"model": "default", "messages": []}),
        json!({"model": "default", "messages": {}}),
        json!({"model": "default", "messages": [["user", "hello"]]}),
        json!(["default", [{"role": "user", "content": "hello"}]]),
        json!([]),
        json!("hello"),
    ] {
        let asked = request(server.address, "POST", PATH).json(body.clone());
        let refused = asked.send().await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.text);
        assert_eq!(
            refused.json()["error"]["type"],
            "invalid_request_error",
            "{body}"
        );
    }
    let sessions = request(server.address, "GET", "/admin/netaclaw/sessions");
    assert_eq!(sessions.send().await.json()["items"], json!([]));
}

#[tokio::test]
async fn an_answer_comes_whole_with_its_history_in_a_session_of_its_own() {
    let server = Server::start().await;
    server.script.act([
        say("Let me see."),
        Act::Turn,
        say("It is "),
        say("2"),
        Act::End,
    ]);
    let answer = request(server.address, "POST", PATH)
        .json(hello(false))
        .send()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let answer = answer.json();
    assert_eq!(
        answer["choices"][0]["message"]["content"],
        "Let me see.\n\nIt is 2"
    );
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["total_tokens"], 200);
    let path = server.path(&session(&answer["id"])).await;
    assert_eq!(path[..3], ["user: one", "assistant: 1", "user: two"]);
}

#[tokio::test]
async fn an_answer_comes_as_a_stream() {
    let server = Server::start().await;
    server.script.act([say("It is "), say("2"), Act::End]);
    let answer = request(server.address, "POST", PATH)
        .json(hello(true))
        .send()
        .await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/event-stream")
    );
    let data = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data: Vec<&str> = data.collect();
    assert_eq!(data.last(), Some(&"[DONE]"));
    let chunks: Vec<Value> = data[..data.len() - 1]
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, "It is 2");
    assert_eq!(
        chunks[chunks.len() - 2]["choices"][0]["finish_reason"],
        "stop"
    );
    assert_eq!(chunks[chunks.len() - 1]["usage"]["completion_tokens"], 10);
}

#[tokio::test]
async fn a_stream_that_is_cut_stops_its_run() {
    let server = Server::start().await;
    server.script.act([say("It is ")]);
    let mut answer = request(server.address, "POST", PATH)
        .json(hello(true))
        .open()
        .await;
    let line = answer.line_with("It is").await;
    let chunk: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
    let mut client = server.client().await;
    let open = client
        .call("session_open", json!({"sessionId": session(&chunk["id"])}))
        .await;
    assert_eq!(open["snapshot"]["run"]["status"], "running");
    drop(answer);
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "stopped");
}

#[tokio::test]
async fn errors_have_the_shape_that_clients_read() {
    let server = Server::start().await;
    let anonymous = plain(server.address, "POST", PATH)
        .json(hello(false))
        .send()
        .await;
    assert_eq!(
        (anonymous.status, anonymous.json()["error"]["code"].clone()),
        (401, json!("invalid_api_key"))
    );
    let mut missing = hello(false);
    missing["model"] = json!("missing");
    let missing = request(server.address, "POST", PATH)
        .json(missing)
        .send()
        .await;
    assert_eq!(
        (missing.status, missing.json()["error"]["code"].clone()),
        (404, json!("model_not_found"))
    );
    let wrong = request(server.address, "POST", PATH)
        .json(json!({"model": 7}))
        .send()
        .await;
    assert_eq!(wrong.status, 400);
    assert_eq!(wrong.json()["error"]["param"], "model");
    let empty = json!({"model": "default", "messages": []});
    let empty = request(server.address, "POST", PATH)
        .json(empty)
        .send()
        .await;
    assert_eq!(empty.json()["error"]["type"], "invalid_request_error");

    server.script.act([Act::Fail("the key is wrong")]);
    let failed = request(server.address, "POST", PATH)
        .json(hello(false))
        .send()
        .await;
    assert_eq!(failed.status, 503);
    assert_eq!(failed.json()["error"]["message"], "the key is wrong");
    server.script.act([say("a"), Act::Fail("the key is wrong")]);
    let failed = request(server.address, "POST", PATH)
        .json(hello(true))
        .send()
        .await;
    assert!(failed.text.contains("the key is wrong") && failed.text.contains("[DONE]"));
}

#[tokio::test]
async fn a_question_of_the_agent_is_the_answer() {
    let server = Server::start().await;
    server.script.act([say("Hm."), Act::Ask("Which?")]);
    let answer = request(server.address, "POST", PATH)
        .json(hello(false))
        .send()
        .await;
    let text = answer.json()["choices"][0]["message"]["content"].clone();
    assert_eq!(text, "Hm.\n\nWhich?\n- red\n- blue");
}
