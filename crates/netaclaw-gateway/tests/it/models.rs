//! The model of a session, chosen among those there are.

use crate::http::request;
use crate::whole::{Home, Whole};
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use serde_json::{Value, json};

#[tokio::test]
async fn what_is_not_there_cannot_be_chosen() {
    let model = FakeModel::start().await;
    model.script().otherwise(Reply::text("Hi"));
    let dir = tempfile::tempdir().unwrap();
    let home = Home::prepared(dir.path(), &model, None).await;
    let server = Whole::start(&home).await;
    let mut client = server.client().await;
    let channels = request(server.address, "GET", "/admin/netaclaw/channels");
    let channels = channels.send().await.json();
    let channels = channels["items"].as_array().unwrap().iter();
    let id = |name: &str| {
        let mut found = channels.clone().filter(|channel| channel["name"] == name);
        found.next().unwrap()["id"].clone()
    };
    let (fake, demo) = (id("fake"), id("demo"));
    let wrong = [
        (json!("nowhere"), "fake-1", "channel_missing"),
        (fake.clone(), "fake-2", "model_unlisted"),
        (fake.clone(), "", "model_unlisted"),
        (demo, "fake-1", "model_unlisted"),
    ];
    for (channel, model, reason) in &wrong {
        let choice = json!({"channelId": channel, "modelId": model});
        let chat =
            json!({"content": "Hello", "model": choice, "requestId": format!("{model}-{reason}")});
        let refused = client.call("chat", chat).await;
        assert_eq!(refused["code"], "bad_request", "{refused}");
        assert_eq!(refused["reason"]["code"], *reason, "{refused}");
        assert!(
            refused["words"]["zh"].as_str().unwrap().contains("渠道"),
            "{refused}"
        );
    }
    let sessions = request(server.address, "GET", "/admin/netaclaw/sessions");
    assert_eq!(
        sessions.send().await.json()["total"],
        0,
        "nothing is written"
    );

    let choice = json!({"channelId": fake, "modelId": "fake-1"});
    let ack = client
        .call("chat", json!({"content": "Hello", "model": choice}))
        .await;
    assert_eq!(ack["ok"], true, "{ack}");
    let session = &ack["sessionId"];
    for (channel, model, reason) in &wrong {
        let choice = json!({"sessionId": session, "channelId": channel, "modelId": model});
        let refused = client.call("set_model", choice).await;
        assert_eq!(refused["code"], "bad_request", "{refused}");
        assert_eq!(refused["reason"]["code"], *reason, "{refused}");
    }
    let opened = client
        .call("session_open", json!({"sessionId": session}))
        .await;
    client.settled(&opened).await;
    let opened = client
        .call("session_open", json!({"sessionId": session}))
        .await;
    let entries = opened["snapshot"]["entries"].as_array().unwrap().iter();
    let chosen: Vec<&Value> = entries
        .filter(|entry| entry["type"] == "model_change")
        .collect();
    assert_eq!(chosen.len(), 1, "{chosen:?}");
    server.stop().await;
}
