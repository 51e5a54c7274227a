//! What a busy moment takes in memory is given back after it.

use crate::served::{Server, World};
use futures::future::join_all;
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;
use std::time::{Duration, Instant};

const USERS: usize = 24;
/// Every password takes 19 MiB while it is hashed, two of them at a time.
const KEPT_MAX_KB: u64 = 60 << 10;
/// Answers that come at the same time, and how long they are.
const CHATS: usize = 8;
const LONG_CHARS: usize = 4 << 20;
/// Far more than it takes to give memory back.
const NEVER: Duration = Duration::from_secs(20);

async fn add(server: &Server, number: usize) {
    let user = json!({
        "name": format!("user{number}"), "label": "", "role": "user", "status": "enabled",
        "password": "a good password",
    });
    let (status, body) = server.http("POST", "users", Some(user)).await;
    assert_eq!(status, 201, "{body}");
}

#[tokio::test]
async fn what_passwords_took_while_they_were_hashed_is_given_back() {
    let world = World::new().await;
    let server = world.serve().await;
    // Code that a first request brings in stays.
    add(&server, 0).await;
    let before = server.memory_kb();
    for group in 0..USERS / 8 {
        join_all((1..=8).map(|number| add(&server, 8 * group + number))).await;
    }
    is_given_back(&server, before).await;
    server.kill().await;
}

/// As many kB as [`KEPT_MAX_KB`] allows, and no more.
async fn is_given_back(server: &Server, before: u64) {
    let done = Instant::now();
    loop {
        let kept = server.memory_kb().saturating_sub(before);
        if kept < KEPT_MAX_KB {
            break;
        }
        assert!(done.elapsed() < NEVER, "{kept} kB are kept");
        server.http("GET", "/healthz", None).await;
    }
}

#[tokio::test]
async fn what_long_answers_took_while_they_came_is_given_back() {
    let world = World::new().await;
    let server = world.serve().await;
    chat(&world, &server, "hello").await;
    let before = server.memory_kb();
    let long = "A long answer. ".repeat(LONG_CHARS / 15);
    join_all((0..CHATS).map(|_| chat(&world, &server, &long))).await;
    let taken = server.peak_memory_kb().saturating_sub(before);
    assert!(taken > 2 * KEPT_MAX_KB, "only {taken} kB were taken");
    is_given_back(&server, before).await;
    server.kill().await;
}

/// A session with this answer, which is deleted when it is complete.
async fn chat(world: &World, server: &Server, answer: &str) {
    world.model.script().push(Reply::text(answer));
    let (id, mut client) = server.session("say it").await;
    client.wait("done", |_| true).await;
    drop(client);
    let (status, body) = server.http("DELETE", &format!("sessions/{id}"), None).await;
    assert_eq!(status, 204, "{body}");
}
