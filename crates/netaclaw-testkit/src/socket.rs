//! A minimal Socket.IO client: Engine.IO 4 over a WebSocket. It reads only on request, so without
//! one it is a client that stalls.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

const NAMESPACE: &str = "/netaclaw";

pub struct Client {
    socket: WebSocketStream<TcpStream>,
    next_ack: u64,
    /// All events so far, as name and payload.
    pub events: Vec<Value>,
    /// The sessions in the events of the watched list, in order.
    pub lists: Vec<Value>,
    /// The same as it came: what each event said.
    pub list_events: Vec<Value>,
    /// How many of them were taken one by one.
    taken: usize,
    acks: Vec<(u64, Value)>,
    /// How many events had arrived before each answer.
    pub before_ack: usize,
}

/// What a frame of the server says.
enum Frame {
    Connected,
    Refused(String),
    Event(Value),
    Ack(u64, Value),
    Disconnected,
}

impl Client {
    /// Connects to the namespace; the server's words if it does not let us in.
    pub async fn connect(address: SocketAddr, auth: Value) -> Result<Self, String> {
        Self::connect_to(address, NAMESPACE, auth).await
    }

    pub async fn connect_to(
        address: SocketAddr,
        namespace: &str,
        auth: Value,
    ) -> Result<Self, String> {
        let stream = TcpStream::connect(address).await.unwrap();
        Self::over(stream, address, namespace, auth).await
    }

    /// A client for which the kernel buffers next to nothing.
    pub async fn connect_narrow(address: SocketAddr, auth: Value) -> Result<Self, String> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let stream = socket.connect(address).await.unwrap();
        Self::over(stream, address, NAMESPACE, auth).await
    }

    async fn over(
        stream: TcpStream,
        address: SocketAddr,
        namespace: &str,
        auth: Value,
    ) -> Result<Self, String> {
        let url = format!("ws://{address}/socket.io/?EIO=4&transport=websocket");
        let opened = client_async(url, stream).await;
        let (socket, _) = opened.map_err(|error| error.to_string())?;
        let mut client = Self {
            socket,
            next_ack: 0,
            events: Vec::new(),
            lists: Vec::new(),
            list_events: Vec::new(),
            taken: 0,
            acks: Vec::new(),
            before_ack: 0,
        };
        client.send(format!("40{namespace},{auth}")).await;
        match client.frame().await {
            Some(Frame::Connected) => Ok(client),
            Some(Frame::Refused(message)) => Err(message),
            _ => Err("the connection ended".to_owned()),
        }
    }

    /// Sends a command and waits for its answer.
    pub async fn call(&mut self, name: &str, payload: Value) -> Value {
        let id = self.start(name, payload).await;
        self.answer(id).await
    }

    /// The same of a server that may die; `None` if it did before it answered.
    pub async fn try_call(&mut self, name: &str, payload: Value) -> Option<Value> {
        let id = self.start(name, payload).await;
        self.try_answer(id).await
    }

    /// Sends a command without waiting.
    pub async fn start(&mut self, name: &str, payload: Value) -> u64 {
        let id = self.next_ack;
        self.next_ack += 1;
        let event = json!([name, payload]);
        self.send(format!("42{NAMESPACE},{id}{event}")).await;
        id
    }

    /// Sends a command without an acknowledgement.
    pub async fn tell(&mut self, name: &str, payload: Value) {
        let event = json!([name, payload]);
        self.send(format!("42{NAMESPACE},{event}")).await;
    }

    pub async fn answer(&mut self, id: u64) -> Value {
        let answer = self.try_answer(id).await;
        answer.expect("the socket ended before the answer")
    }

    async fn try_answer(&mut self, id: u64) -> Option<Value> {
        loop {
            if let Some(at) = self.acks.iter().position(|(known, _)| *known == id) {
                return Some(self.acks.swap_remove(at).1);
            }
            self.read().await?;
        }
    }

    /// Waits until an event has arrived that fits, now or before.
    pub async fn wait(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let found = self.try_wait(name, fits).await;
        found.expect("the socket ended before the event")
    }

    /// The same of a server that may die.
    pub async fn try_wait(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let mut seen = 0;
        loop {
            let fresh = &self.events[seen..];
            let found = fresh
                .iter()
                .find(|event| event["type"] == name && fits(&event["data"]));
            if let Some(event) = found {
                return Some(event.clone());
            }
            seen = self.events.len();
            self.read().await?;
        }
    }

    /// Waits until an event of any name has arrived that fits, now or before.
    pub async fn wait_any(&mut self, fits: impl Fn(&str, &Value) -> bool) -> Value {
        let mut seen = 0;
        loop {
            let mut fresh = self.events[seen..].iter();
            let found = fresh.find(|event| fits(event["type"].as_str().unwrap(), &event["data"]));
            if let Some(event) = found {
                return event.clone();
            }
            seen = self.events.len();
            self.read()
                .await
                .expect("the socket ended before the event");
        }
    }

    /// Waits until the list has received a matching event, now or before.
    pub async fn listed(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(item) = self.lists.iter().find(|item| fits(item)) {
                return item.clone();
            }
            self.read().await.expect("the socket ended before the list");
        }
    }

    /// Waits until the list has received the removal of a session.
    pub async fn unlisted(&mut self, session: &str) {
        let told = |event: &Value| {
            let removed = event["removed"].as_array().unwrap();
            removed.iter().any(|id| id == session)
        };
        while !self.list_events.iter().any(told) {
            let read = self.read().await;
            read.expect("the socket ended before the list");
        }
    }

    /// The first page of a list and all events about it since, by session.
    pub fn list_after(&self, page: &Value) -> BTreeMap<String, Value> {
        let id = |item: &Value| item["sessionId"].as_str().unwrap().to_owned();
        let items = page["items"].as_array().unwrap();
        let mut list: BTreeMap<_, _> = items.iter().map(|item| (id(item), item.clone())).collect();
        for event in &self.list_events {
            for item in event["sessions"].as_array().unwrap() {
                list.insert(id(item), item.clone());
            }
            for gone in event["removed"].as_array().unwrap() {
                list.remove(gone.as_str().unwrap());
            }
        }
        list
    }

    /// Waits until this many events of a type have arrived.
    pub async fn wait_count(&mut self, name: &str, count: usize) {
        let counted = self.try_wait_count(name, count).await;
        counted.expect("the socket ended before the events");
    }

    /// The same of a server that may die.
    pub async fn try_wait_count(&mut self, name: &str, count: usize) -> Option<()> {
        let have = |client: &Self| {
            let names = client.events.iter().map(|event| &event["type"]);
            names.filter(|known| *known == name).count()
        };
        while have(self) < count {
            self.read().await?;
        }
        Some(())
    }

    /// The next event that was not taken yet.
    pub async fn next_event(&mut self) -> Value {
        while !self.has_more() {
            let read = self.read().await;
            read.expect("the socket ended before the next event");
        }
        self.taken += 1;
        self.events[self.taken - 1].clone()
    }

    /// Whether an event has been read that was not taken yet.
    pub fn has_more(&self) -> bool {
        self.taken < self.events.len()
    }

    /// Waits until nothing runs and nothing waits, after an answer to `session_open` with its
    /// snapshot and the events since. Those before it describe an older state.
    pub async fn settled(&mut self, opened: &Value) {
        let (snapshot, shown) = (&opened["snapshot"], opened["seq"].as_u64());
        loop {
            let newer = |event: &Value| event["seq"].as_u64() > shown;
            let last = |name: &str| {
                let mut latest = self.events.iter().rev();
                latest.find(|event| event["type"] == name && newer(event))
            };
            let run = last("run_status").map_or(&snapshot["run"], |event| &event["data"]);
            let queue = last("queue_update").map_or(&snapshot["queue"], |event| &event["data"]);
            if run["status"] == "idle" && queue["items"] == json!([]) {
                return;
            }
            let read = self.read().await;
            read.expect("the socket ended before the session was at rest");
        }
    }

    /// Reads until the server ends the connection to the namespace.
    pub async fn until_disconnected(&mut self) {
        while self.read().await.is_some() {}
    }

    /// The types of all events so far.
    pub fn names(&self) -> Vec<&str> {
        let names = self.events.iter().map(|event| event["type"].as_str());
        names.map(Option::unwrap).collect()
    }

    pub fn seqs(&self) -> Vec<u64> {
        let seqs = self.events.iter().filter_map(|event| event["seq"].as_u64());
        seqs.collect()
    }

    /// The text that the deltas of an event type make, where they follow each other.
    pub fn text(&self, name: &str) -> String {
        let mut text = String::new();
        for event in self.events.iter().filter(|event| event["type"] == name) {
            let offset = usize::try_from(event["data"]["offset"].as_u64().unwrap()).unwrap();
            let have = text.chars().count();
            assert!(offset <= have, "a gap at {have}: {event}");
            let more = event["data"]["text"].as_str().unwrap();
            text.extend(more.chars().skip(have - offset));
        }
        text
    }

    async fn read(&mut self) -> Option<()> {
        match self.frame().await? {
            Frame::Event(event) if event["type"] == "session_list_changed" => {
                let sessions = event["data"]["sessions"].as_array().unwrap();
                self.lists.extend(sessions.iter().cloned());
                self.list_events.push(event["data"].clone());
            }
            Frame::Event(event) => self.events.push(event),
            Frame::Ack(id, body) => {
                self.before_ack = self.events.len();
                self.acks.push((id, body));
            }
            Frame::Disconnected => return None,
            Frame::Connected | Frame::Refused(_) => {}
        }
        Some(())
    }

    async fn frame(&mut self) -> Option<Frame> {
        loop {
            let message = self.socket.next().await?.ok()?;
            let Message::Text(text) = message else {
                continue;
            };
            match text.as_str() {
                "2" => self.send("3".to_owned()).await,
                text if text.starts_with('4') => return Some(parse(&text[1..])),
                _ => {}
            }
        }
    }

    async fn send(&mut self, text: String) {
        // A connection that the server has closed shows when it is read.
        drop(self.socket.send(Message::text(text)).await);
    }
}

fn parse(text: &str) -> Frame {
    let (kind, rest) = text.split_at(1);
    let rest = match rest.starts_with('/') {
        true => rest.split_once(',').map_or("", |(_, rest)| rest),
        false => rest,
    };
    let body = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    match kind {
        "0" => Frame::Connected,
        "1" => Frame::Disconnected,
        "2" => {
            let event = body(rest);
            assert_eq!(event[0], event[1]["type"], "the payload repeats the name");
            Frame::Event(event[1].clone())
        }
        "3" => {
            let at = rest.find('[').unwrap();
            Frame::Ack(rest[..at].parse().unwrap(), body(&rest[at..])[0].clone())
        }
        "4" => Frame::Refused(body(rest)["message"].as_str().unwrap().to_owned()),
        other => panic!("an unexpected packet {other}"),
    }
}
