//! What it costs that many sockets belong to one user: 500 sockets of one user, a message each,
//! against 500 sockets of 500 users. Run with `--one-user`; prints a table, asserts nothing. The
//! goal is a ratio of 1.2 at most, without and with every socket watching its session list.

use crate::client::{Client, Events};
use crate::process::Server;
use anyhow::Context;
use futures::future::try_join_all;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use std::path::Path;
use std::time::Duration;

const SOCKETS: usize = 500;
/// The user of all sockets has more runs and messages at once than users usually may.
const CONFIG: &str = "[limits]\nruns_per_user = 0\nmessages_per_minute = 0\n";

pub(crate) async fn run(binary: &Path, dir: &Path, model: &FakeModel) -> anyhow::Result<()> {
    println!(
        "{:<24}{:>14}{:>14}{:>8}",
        "CPU of 500 messages", "500 users", "one user", "ratio"
    );
    for (name, watching) in [("no socket watches", false), ("every socket watches", true)] {
        let mut cost = Vec::new();
        for users in [SOCKETS, 1] {
            let dir = dir.join(format!("{users}-{watching}"));
            cost.push(messages(binary, &dir, model, users, watching).await?);
        }
        let ratio = cost[1].as_secs_f64() / cost[0].as_secs_f64();
        println!("{name:<24}{:>14.0?}{:>14.0?}{ratio:>8.2}", cost[0], cost[1]);
    }
    Ok(())
}

/// The CPU time of the server from the first message to the last event.
async fn messages(
    binary: &Path,
    dir: &Path,
    model: &FakeModel,
    users: usize,
    watching: bool,
) -> anyhow::Result<Duration> {
    model.script().otherwise(Reply::text("Hello."));
    let data = dir.join("data");
    std::fs::create_dir_all(&data)?;
    std::fs::write(data.join("config.toml"), CONFIG)?;
    let mut server = Server::netaclaw(binary, dir, model).await?;
    server.admit_users(users).await?;
    let server = &server;
    let mut clients = try_join_all((0..SOCKETS).map(|at| async move {
        let mut client = Client::connect(server.address, server.token(at), Events::Current).await?;
        client.begin().await?;
        anyhow::Ok(client)
    }))
    .await?;
    if watching {
        for client in &mut clients {
            client.watch_sessions().await?;
        }
    }
    let before = server.cpu_time()?;
    let chats = clients.into_iter().map(|mut client| {
        tokio::spawn(async move {
            client.chat("Hello again.").await?;
            anyhow::Ok(client)
        })
    });
    let mut listening = Vec::new();
    for chat in chats.collect::<Vec<_>>() {
        listening.push(chat.await.context("a chat panicked")??);
    }
    if watching {
        // What the lists say about the last messages comes after the messages.
        let listed = listening.iter_mut().map(|client| client.until_listed(4));
        try_join_all(listed).await?;
    }
    Ok(server.cpu_time()? - before)
}
