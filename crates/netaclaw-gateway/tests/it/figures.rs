//! The content of `/metrics`. Every test is a process of its own, so that it counts alone.

use crate::http::{plain, request};
use crate::server::Server;
use crate::whole::{Home, Whole};
use netaclaw_protocol::TokenScope;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use serde_json::json;
use std::net::SocketAddr;

/// The number of a series, named by how its line begins.
async fn figure(address: SocketAddr, series: &str) -> Option<f64> {
    let page = request(address, "GET", "/metrics").send().await.text;
    let line = page.lines().find(|line| line.starts_with(series))?;
    Some(line.rsplit(' ').next().unwrap().parse().unwrap())
}

async fn at_least(address: SocketAddr, series: &str, number: f64) {
    let found = figure(address, series).await;
    assert!(
        found.is_some_and(|found| found >= number),
        "{series}: {found:?}"
    );
}

#[tokio::test]
async fn queue_compactions_and_stores_are_measured() {
    let model = FakeModel::start().await;
    let dir = tempfile::tempdir().unwrap();
    let home = Home::prepared(dir.path(), &model, None).await;
    let server = Whole::start(&home).await;
    let address = server.address;
    let mut client = server.client().await;
    let (reply, hold) = Reply::text("One moment.").holding_after(1);
    model.script().push(reply);
    model.script().push(Reply::text("Done."));
    let ack = client.call("chat", json!({"content": "one"})).await;
    let session = ack["sessionId"].clone();
    hold.reached().await;
    let queued = json!({"sessionId": session, "content": "two"});
    assert_eq!(client.call("chat", queued).await["disposition"], "queued");
    assert_eq!(
        figure(address, "netaclaw_queued_messages ").await,
        Some(1.0)
    );
    assert_eq!(figure(address, "netaclaw_runs ").await, Some(1.0));
    hold.release();
    client.wait_count("done", 2).await;
    let idle = |data: &serde_json::Value| data["status"] == "idle";
    client.wait("run_status", idle).await;
    let opened = client
        .call("session_open", json!({"sessionId": session}))
        .await;
    client.settled(&opened).await;
    assert_eq!(
        figure(address, "netaclaw_queued_messages ").await,
        Some(0.0)
    );
    assert_eq!(figure(address, "netaclaw_runs ").await, Some(0.0));

    // There is too little to compact; the attempt is counted all the same.
    let compact = json!({"sessionId": session});
    assert_eq!(client.call("compact", compact).await["ok"], true);
    client.wait("compaction_error", |_| true).await;
    at_least(address, "netaclaw_compactions_total{reason=\"manual\"", 1.0).await;

    for (store, call) in [
        ("file", "append"),
        ("file", "update"),
        ("file", "load"),
        ("file", "sync"),
        ("admin", "configured"),
    ] {
        let series = format!("netaclaw_store_seconds_count{{store=\"{store}\",call=\"{call}\"}}");
        at_least(address, &series, 1.0).await;
        let quick = format!(
            "netaclaw_store_seconds_bucket{{store=\"{store}\",call=\"{call}\",le=\"0.5\"}}"
        );
        at_least(address, &quick, 1.0).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn credential_checks_are_timed() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let me = plain(server.address, "GET", "/admin/netaclaw/me").bearer(&token);
    assert_eq!(me.send().await.status, 200);
    let series = "netaclaw_store_seconds_count{store=\"admin\",call=\"check_token\"}";
    at_least(server.address, series, 1.0).await;
    server.stop().await;
}
