//! A Socket.IO client that costs next to nothing: Engine.IO 4 over a WebSocket, and no more of an
//! event is read than its name.

use anyhow::{Context, bail};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// The beginning of the answer to the only command in flight.
const ANSWER: &str = "43/netaclaw,1";

/// Which events a client asks for when it connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Events {
    /// As the web app does.
    Current,
    /// As a client does that asks for nothing in particular: every piece of text comes twice.
    All,
}

pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
    /// The session that is chatted in; the relay has none.
    session: Option<String>,
    /// What the session list that the client watches said last about the session.
    listed: Value,
}

/// One chat as its client saw it.
pub(crate) struct Heard {
    pub(crate) first_token: Duration,
    pub(crate) whole: Duration,
}

impl Client {
    pub(crate) async fn connect(
        address: SocketAddr,
        token: &str,
        events: Events,
    ) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let url = format!("ws://{address}/socket.io/?EIO=4&transport=websocket");
        // An event that is too large is a finding, not the end of the measurement.
        let unlimited = WebSocketConfig::default()
            .max_frame_size(None)
            .max_message_size(None);
        let (socket, _) = client_async_with_config(url, stream, Some(unlimited)).await?;
        let mut client = Self {
            socket,
            session: None,
            listed: Value::Null,
        };
        let auth = match events {
            Events::Current => json!({"token": token, "events": ["current"]}),
            Events::All => json!({"token": token}),
        };
        client.send(format!("40/netaclaw,{auth}")).await?;
        loop {
            let frame = client.next().await?;
            if frame.starts_with("40/netaclaw") {
                return Ok(client);
            }
            if frame.starts_with("44") {
                bail!("refused: {frame}");
            }
        }
    }

    /// Begins a session with a first message, as a page does before its user continues. The client
    /// that begins a session receives its events.
    pub(crate) async fn begin(&mut self) -> anyhow::Result<()> {
        self.send_event("chat", json!({"content": "Hello."}))
            .await?;
        loop {
            let frame = self.next().await?;
            if let Some(answer) = frame.strip_prefix(ANSWER) {
                let answer = accepted(answer)?;
                self.session = answer["sessionId"].as_str().map(str::to_owned);
            }
            if name(&frame) == Some("done") {
                return Ok(());
            }
        }
    }

    /// Subscribes to the session list.
    pub(crate) async fn watch_sessions(&mut self) -> anyhow::Result<()> {
        self.send_event("sessions_watch", json!({})).await?;
        loop {
            let frame = self.next().await?;
            if let Some(answer) = frame.strip_prefix(ANSWER) {
                accepted(answer)?;
                return Ok(());
            }
        }
    }

    /// Listens until the watched list says that the session has so many messages and no run.
    pub(crate) async fn until_listed(&mut self, messages: u64) -> anyhow::Result<()> {
        while self.listed["messageCount"] != messages || self.listed["running"] != false {
            self.next().await?;
        }
        Ok(())
    }

    /// Sends a message and listens until the end of the run.
    pub(crate) async fn chat(&mut self, content: &str) -> anyhow::Result<Heard> {
        let begun = Instant::now();
        self.say(content).await?;
        let first_token = self.until("assistant_stream_delta").await? - begun;
        let whole = self.until("done").await? - begun;
        Ok(Heard { first_token, whole })
    }

    /// Stops the run. How long its end took.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.send_event("stop", json!({"sessionId": self.session}))
            .await?;
        Ok(self.until("done").await? - begun)
    }

    pub(crate) async fn say(&mut self, content: &str) -> anyhow::Result<()> {
        let message = json!({"sessionId": self.session, "content": content});
        self.send_event("chat", message).await
    }

    /// Sends a message and gives the answer to it: "accepted", or the code of the refusal.
    pub(crate) async fn try_say(&mut self, content: &str) -> anyhow::Result<String> {
        self.say(content).await?;
        loop {
            let frame = self.next().await?;
            let Some(answer) = frame.strip_prefix(ANSWER) else {
                continue;
            };
            let [body]: [Value; 1] = serde_json::from_str(answer)?;
            return Ok(match body["ok"] == true {
                true => "accepted".to_owned(),
                false => body["error"]["code"]
                    .as_str()
                    .unwrap_or("refused")
                    .to_owned(),
            });
        }
    }

    /// Ends what runs, if anything does.
    pub(crate) async fn end(&mut self) -> anyhow::Result<()> {
        self.send_event("stop", json!({"sessionId": self.session}))
            .await?;
        let (mut is_stopping, mut is_done) = (false, false);
        while !(is_stopping && is_done) {
            let frame = self.next().await?;
            if let Some(answer) = frame.strip_prefix(ANSWER) {
                let [body]: [Value; 1] = serde_json::from_str(answer)?;
                is_stopping = body["status"] == "stopping";
                if !is_stopping {
                    return Ok(());
                }
            }
            is_done |= name(&frame) == Some("done");
        }
        Ok(())
    }

    /// Listens until an event comes, and says when that was.
    pub(crate) async fn until(&mut self, event: &str) -> anyhow::Result<Instant> {
        loop {
            let frame = self.next().await?;
            if let Some(answer) = frame.strip_prefix(ANSWER) {
                accepted(answer)?;
            }
            match name(&frame) {
                Some(known) if known == event => return Ok(Instant::now()),
                Some("done") => bail!("the run ended before {event}"),
                Some("error") => bail!("the run failed: {frame}"),
                _ => {}
            }
        }
    }

    async fn next(&mut self) -> anyhow::Result<Utf8Bytes> {
        loop {
            let message = self.socket.next().await.context("the server hung up")??;
            let Message::Text(text) = message else {
                continue;
            };
            if text.as_str() == "2" {
                self.send("3".to_owned()).await?;
                continue;
            }
            if name(&text) == Some("session_list_changed") {
                self.note_listed(&text)?;
            }
            return Ok(text);
        }
    }

    fn note_listed(&mut self, frame: &str) -> anyhow::Result<()> {
        let of_session = self.session.as_deref().filter(|id| frame.contains(id));
        if let (Some(id), Some(event)) = (of_session, frame.strip_prefix("42/netaclaw,")) {
            let [_, event]: [Value; 2] = serde_json::from_str(event)?;
            let sessions = event["data"]["sessions"].as_array();
            let mut sessions = sessions.into_iter().flatten();
            let item = sessions.find(|item| item["sessionId"] == id);
            self.listed = item.cloned().unwrap_or_default();
        }
        Ok(())
    }

    async fn send_event(&mut self, event: &str, data: Value) -> anyhow::Result<()> {
        self.send(format!("42/netaclaw,1{}", json!([event, data])))
            .await
    }

    async fn send(&mut self, text: String) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(text)).await?)
    }
}

/// The body of an answer that says yes.
fn accepted(answer: &str) -> anyhow::Result<Value> {
    let [body]: [Value; 1] = serde_json::from_str(answer)?;
    anyhow::ensure!(body["ok"] == true, "refused: {body}");
    Ok(body)
}

/// The name in `42/netaclaw,["name",…]`.
fn name(frame: &str) -> Option<&str> {
    let rest = frame.strip_prefix("42/netaclaw,[\"")?;
    rest.split_once('"').map(|(name, _)| name)
}
