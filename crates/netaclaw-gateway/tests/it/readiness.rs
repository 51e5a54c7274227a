//! A load balancer needs to know when a server cannot serve.

use crate::http::{Response, plain};
use crate::server::Server;
use crate::whole::{Home, Whole};
use netaclaw_gateway::{AuthSettings, GatewayOptions, GatewaySettings};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::fake_model::FakeModel;
use serde_json::json;
use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Every answer is computed again.
fn never_cached() -> GatewaySettings {
    GatewaySettings {
        readiness_cached_for: Duration::ZERO,
        ..GatewaySettings::default()
    }
}

async fn asked(address: SocketAddr) -> Response {
    plain(address, "GET", "/readyz").send().await
}

fn assert_away(answer: &Response, part: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text);
    let body = answer.json();
    assert_eq!(body["code"], "unavailable");
    assert!(body["message"].as_str().unwrap().contains(part), "{body}");
}

#[tokio::test]
async fn without_the_admin_store_a_server_is_not_ready() {
    let server = Server::start_with(never_cached()).await;
    assert_eq!(asked(server.address).await.text, "ready");
    server.admin.close().await;
    assert_away(&asked(server.address).await, "admin store");
    let lives = plain(server.address, "GET", "/healthz").send().await;
    assert_eq!(lives.status, 200, "it lives all the same");
}

#[tokio::test]
async fn without_the_session_store_a_server_is_not_ready() {
    let mut database = MariaDb::start_private().unwrap();
    let sessions = database.fresh_database().unwrap();
    let model = FakeModel::start().await;
    let dir = tempfile::tempdir().unwrap();
    let home = Home::prepared(dir.path(), &model, Some(sessions.url())).await;
    let server = Whole::start_over(&home, home.node().await, never_cached()).await;
    assert_eq!(asked(server.address).await.text, "ready");
    database.kill().unwrap();
    let away = asked(server.address).await;
    assert_eq!(away.status, 503, "{}", away.text);
    assert_eq!(away.json()["details"]["check"], "session_store");
    // A request in the meantime gets the reason, and that a retry may succeed.
    let mut client = server.client().await;
    let refused = client.call("chat", json!({"content": "hello"})).await;
    assert_eq!(refused["code"], "unavailable", "{refused}");
    let said = refused["message"].as_str().unwrap();
    assert!(said.contains("database"), "{refused}");
    database.restart().unwrap();
    assert_eq!(asked(server.address).await.text, "ready");
    server.stop().await;
}

#[tokio::test]
async fn without_room_on_the_disk_a_server_is_not_ready() {
    let full = || Err(Error::from(ErrorKind::StorageFull));
    let server = Server::start_as(never_cached(), AuthSettings::default(), |options| {
        GatewayOptions {
            disk_probe: Some(Arc::new(full)),
            ..options
        }
    })
    .await;
    let answer = asked(server.address).await;
    assert_away(&answer, "the data directory cannot be used");
    assert_eq!(answer.json()["reason"]["fault"]["code"], "disk_full");
    assert_eq!(answer.json()["details"]["check"], "data_directory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_hangs_is_asked_once_at_a_time() {
    let (release, held) = mpsc::channel::<()>();
    let (held, asked_disk) = (Mutex::new(held), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked_disk);
    let probe = move || {
        count.fetch_add(1, Ordering::SeqCst);
        held.lock().unwrap().recv().unwrap_or_default();
        Ok(())
    };
    let server = Server::start_as(
        GatewaySettings::default(),
        AuthSettings::default(),
        |options| GatewayOptions {
            disk_probe: Some(Arc::new(probe)),
            ..options
        },
    )
    .await;
    let many = (0..20).map(|_| asked(server.address));
    for answer in futures::future::join_all(many).await {
        assert_away(&answer, "the data directory does not respond");
    }
    assert_eq!(asked_disk.load(Ordering::SeqCst), 1);
    drop(release);
    while asked(server.address).await.status != 200 {}
}
