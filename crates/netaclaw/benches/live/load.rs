//! What the servers are made to do.

use crate::client::{Client, Events};
use crate::process::Server;
use anyhow::{Context, ensure};
use futures::future::try_join_all;
use netaclaw_testkit::fake_model::{FakeModel, Fault, Reply};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Load {
    /// Chats that overlap.
    pub(crate) chats: usize,
    pub(crate) tokens: usize,
    /// Tokens in a second that the model gives to each chat.
    pub(crate) pace: u32,
    /// Idle connections.
    pub(crate) idle: usize,
    /// Sessions that stay live.
    pub(crate) sessions: usize,
    /// Turns with tools, and stops, one after the other.
    pub(crate) turns: usize,
}

/// Whose multiples fall evenly between whole numbers.
const GOLDEN: f64 = 0.618_033_988_749_895;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At the pace of models; the chats begin one after the other.
    Model,
    /// As fast as the fake can, all chats at once.
    FlatOut,
}

/// Many chats at once.
pub(crate) struct Chats {
    pub(crate) first_token: Vec<Duration>,
    pub(crate) cpu_per_token: Duration,
    pub(crate) tokens_per_second: f64,
}

impl Load {
    /// The beginnings are spread over half the time that a chat takes, so that most overlap, and
    /// out of step with the tokens: in step, all chats would send in the same moment, and be silent
    /// in between.
    fn stagger(&self, pace: Pace, at: usize) -> Duration {
        match pace {
            Pace::Model => {
                let token = Duration::from_secs(1) / self.pace;
                let chat = token.mul_f64(self.tokens as f64);
                let share = at as f64 / self.chats as f64;
                chat.mul_f64(share / 2.0) + token.mul_f64((at as f64 * GOLDEN).fract())
            }
            Pace::FlatOut => Duration::ZERO,
        }
    }

    fn reply(&self, pace: Pace) -> Reply {
        let reply = Reply::tokens(self.tokens);
        match pace {
            Pace::Model => reply.with_pace(f64::from(self.pace)),
            Pace::FlatOut => reply,
        }
    }
}

pub(crate) async fn chats(
    server: &Server,
    model: &FakeModel,
    load: &Load,
    pace: Pace,
    events: Events,
) -> anyhow::Result<Chats> {
    let clients = begun(server, model, load.chats, events).await?;
    model.script().otherwise(load.reply(pace));
    let cpu_before = server.cpu_time()?;
    let started = Instant::now();
    let running = clients.into_iter().enumerate().map(|(at, mut client)| {
        let wait = load.stagger(pace, at);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            client.chat("Count for me, please.").await
        })
    });
    let mut heard = Vec::new();
    for chat in running.collect::<Vec<_>>() {
        heard.push(chat.await??);
    }
    let elapsed = started.elapsed();
    let tokens = load.chats * load.tokens;
    let cpu = server.cpu_time()? - cpu_before;
    Ok(Chats {
        first_token: heard.iter().map(|chat| chat.first_token).collect(),
        cpu_per_token: cpu / u32::try_from(tokens).context("too many tokens")?,
        tokens_per_second: tokens as f64 / elapsed.as_secs_f64(),
    })
}

/// Clients that have exchanged a few words already, each in a session of its own.
async fn begun(
    server: &Server,
    model: &FakeModel,
    count: usize,
    events: Events,
) -> anyhow::Result<Vec<Client>> {
    model.script().otherwise(Reply::text("Hello."));
    try_join_all((0..count).map(|at| async move {
        let mut client = Client::connect(server.address, server.token(at), events).await?;
        client.begin().await?;
        anyhow::Ok(client)
    }))
    .await
}

/// The first tokens of the same chats for a client that calls the model directly.
pub(crate) async fn direct(
    model: &FakeModel,
    load: &Load,
    asked: &Value,
) -> anyhow::Result<Vec<Duration>> {
    model.script().otherwise(load.reply(Pace::Model));
    let address = model.address();
    let body: Arc<str> = asked.to_string().into();
    let running = (0..load.chats).map(|at| {
        let (wait, body) = (load.stagger(Pace::Model, at), Arc::clone(&body));
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            ask(address, &body).await
        })
    });
    let mut first = Vec::new();
    for chat in running.collect::<Vec<_>>() {
        first.push(chat.await??);
    }
    Ok(first)
}

/// The least overhead between a client and the model: one request on an open connection.
async fn ask(address: SocketAddr, body: &str) -> anyhow::Result<Duration> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let started = Instant::now();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer none\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await?;
    let mut first = None;
    let mut seen = Vec::new();
    while stream.read_buf(&mut seen).await? > 0 {
        if first.is_none() && seen.windows(6).any(|bytes| bytes == b"\"word ") {
            first = Some(started.elapsed());
        }
        if first.is_some() {
            seen.clear();
        }
    }
    first.context("the model said nothing")
}

/// How long a turn with three tool calls takes, from the message to the end of the run. Each in a
/// session of its own: the relay remembers nothing, and would win by forgetting.
pub(crate) async fn turns_with_tools(
    server: &Server,
    model: &FakeModel,
    turns: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut measured = Vec::new();
    for mut client in begun(server, model, turns, Events::Current).await? {
        let mut calls = Reply::default();
        for id in ["call_a", "call_b", "call_c"] {
            calls = calls.and_tool_call(id, "ls", r#"{"path":"."}"#);
        }
        model.script().push(calls);
        model.script().push(Reply::text("Three times the same."));
        measured.push(client.chat("Look three times.").await?.whole);
    }
    let last = model.script().last_request();
    let messages = last.body["messages"].as_array().map_or(0, Vec::len);
    ensure!(messages >= 5, "the tools did not run: {}", last.body);
    Ok(measured)
}

/// From the stop to the end of the run: half in the middle of an answer, half with a model that
/// says nothing at all.
pub(crate) async fn stops(
    server: &Server,
    model: &FakeModel,
    count: usize,
) -> anyhow::Result<Vec<Duration>> {
    let clients = begun(server, model, count, Events::Current).await?;
    let mut asked = model.script().requests().len();
    let mut measured = Vec::new();
    for (at, mut client) in clients.into_iter().enumerate() {
        let fault = match at % 2 {
            0 => Fault::HangBeforeEnd,
            _ => Fault::HangBeforeHead,
        };
        let speaks = fault == Fault::HangBeforeEnd;
        model.script().push(Reply::failing(fault));
        client.say("Never mind.").await?;
        asked += 1;
        model.script().asked(asked).await;
        if speaks {
            client.until("assistant_stream_delta").await?;
        }
        measured.push(client.stop().await?);
    }
    Ok(measured)
}

/// How large the server is with so many sessions that have just been used.
pub(crate) async fn live_sessions(
    server: &Server,
    model: &FakeModel,
    load: &Load,
) -> anyhow::Result<u64> {
    let clients = begun(server, model, load.sessions, Events::Current).await?;
    model.script().otherwise(load.reply(Pace::FlatOut));
    let mut kept = Vec::new();
    for mut client in clients {
        client.chat("Count for me, please.").await?;
        kept.push(client);
    }
    server.resident_bytes()
}

/// What one connection that does nothing costs the server in memory.
pub(crate) async fn idle_connections(server: &Server, count: usize) -> anyhow::Result<u64> {
    let before = server.resident_bytes()?;
    let mut clients = Vec::new();
    for at in 0..count {
        let client = Client::connect(server.address, server.token(at), Events::Current);
        clients.push(client.await?);
    }
    let after = server.resident_bytes()?;
    drop(clients);
    Ok(after.saturating_sub(before) / count as u64)
}
