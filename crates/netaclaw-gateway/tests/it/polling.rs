//! Clients that cannot use WebSockets fetch their events by polls, and no faster than they poll.

use crate::agent::{Act, say};
use crate::http::plain;
use crate::server::{Server, TOKEN};
use netaclaw_gateway::{GatewaySettings, OutboxLimits};
use serde_json::{Value, json};

/// More in one poll, and python-socketio gives up.
const PACKETS_MAX: usize = 16;

const ROUNDS: usize = 60;

struct Polling<'s> {
    server: &'s Server,
    path: String,
    /// All events so far.
    events: Vec<Value>,
}

impl<'s> Polling<'s> {
    async fn connect(server: &'s Server) -> Self {
        let path = "/socket.io/?EIO=4&transport=polling";
        let hello = plain(server.address, "GET", path).send().await;
        let hello: Value = serde_json::from_str(&hello.text[1..]).unwrap();
        let path = format!("{path}&sid={}", hello["sid"].as_str().unwrap());
        let mut client = Self {
            server,
            path,
            events: Vec::new(),
        };
        let auth = json!({"token": TOKEN, "events": ["current"]});
        client.send(&format!("40/netaclaw,{auth}")).await;
        // A ping may come before the answer.
        loop {
            let packets = client.poll().await;
            if packets
                .iter()
                .any(|packet| packet.starts_with("40/netaclaw"))
            {
                return client;
            }
        }
    }

    async fn send(&self, packet: &str) {
        let sent = plain(self.server.address, "POST", &self.path).text(packet);
        assert_eq!(sent.send().await.text, "ok");
    }

    /// One poll: the packets it fetches.
    async fn poll(&mut self) -> Vec<String> {
        let fetched = plain(self.server.address, "GET", &self.path).send().await;
        assert_eq!(fetched.status, 200, "{}", fetched.text);
        let packets: Vec<String> = fetched.text.split('\x1e').map(str::to_owned).collect();
        for packet in &packets {
            if packet == "2" {
                self.send("3").await;
            }
            if let Some(event) = packet.strip_prefix("42/netaclaw,") {
                let event: Value = serde_json::from_str(event).unwrap();
                self.events.push(event[1].clone());
            }
        }
        packets
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_is_bounded_and_a_slow_client_loses_only_deltas() {
    let settings = GatewaySettings {
        outbox: OutboxLimits {
            events_max: 4096,
            bytes_max: 512 << 10,
            window_bytes: 64 << 10,
        },
        ..GatewaySettings::default()
    };
    let server = Server::start_with(settings).await;
    let mut quick = server.client().await;
    let ack = quick.call("chat", json!({"content": "Hello"})).await;
    let open = json!({"sessionId": ack["sessionId"]});
    quick.call("session_open", open.clone()).await;
    let mut polling = Polling::connect(&server).await;
    let open = json!(["session_open", open]);
    polling.send(&format!("42/netaclaw,0{open}")).await;
    while !polling
        .poll()
        .await
        .iter()
        .any(|packet| packet.starts_with("43/"))
    {}

    // It does not poll while far more is sent than may be queued for it.
    let long = "z".repeat(32 << 10);
    for round in 1..=ROUNDS {
        server.script.act([say(&long)]);
        let end = |data: &Value| {
            let text = data["text"].as_str().unwrap_or_default();
            data["offset"].as_u64().unwrap_or(0) as usize + text.len()
        };
        // One by one, or they would be one event.
        quick
            .wait("assistant_stream_delta", |data| {
                end(data) == round * long.len()
            })
            .await;
    }
    server.script.act([Act::End]);
    quick
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    let is_idle =
        |event: &Value| event["type"] == "run_status" && event["data"]["status"] == "idle";
    while !polling.events.iter().any(is_idle) {
        let packets = polling.poll().await.len();
        assert!(packets <= PACKETS_MAX, "{packets} in one poll");
    }
    let seqs = |events: &[Value]| -> Vec<u64> {
        events
            .iter()
            .filter_map(|event| event["seq"].as_u64())
            .collect()
    };
    let (polled, all) = (seqs(&polling.events), seqs(&quick.events));
    assert!(
        all.ends_with(&polled) && !polled.is_empty(),
        "{polled:?} of {all:?}"
    );
    let said = polling.events.iter();
    let said = said.filter(|event| event["type"] == "assistant_stream_delta");
    let said: usize = said
        .map(|event| event["data"]["text"].as_str().unwrap().len())
        .sum();
    assert!(
        said < ROUNDS * long.len() / 2,
        "{said} bytes of text waited"
    );
    server.stop().await;
}
