//! Who balances load must know when a server cannot serve.

use crate::http::{Response, plain};
use crate::server::Server;
use crate::whole::{Home, Whole};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::fake_model::FakeModel;
use std::net::SocketAddr;

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
    let server = Server::start().await;
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
    let server = Whole::start(&home).await;
    assert_eq!(asked(server.address).await.text, "ready");
    database.kill().unwrap();
    assert_away(&asked(server.address).await, "session store");
    database.restart().unwrap();
    assert_eq!(asked(server.address).await.text, "ready");
    server.stop().await;
}
