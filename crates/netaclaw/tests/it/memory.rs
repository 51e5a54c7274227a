//! What a busy moment takes in memory is given back after it.

use crate::served::{Server, World};
use futures::future::join_all;
use serde_json::json;
use std::time::{Duration, Instant};

const USERS: usize = 24;
/// Every password takes 19 MiB while it is hashed, two of them at a time.
const KEPT_MAX_KB: u64 = 60 << 10;
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
    let done = Instant::now();
    loop {
        let kept = server.memory_kb().saturating_sub(before);
        if kept < KEPT_MAX_KB {
            break;
        }
        assert!(done.elapsed() < NEVER, "{kept} kB are kept");
        server.http("GET", "/healthz", None).await;
    }
    server.kill().await;
}
