//! What messages that wait may cost: bytes on disk and in events, over a real socket.

use crate::whole::{Home, Whole};
use netaclaw_testkit::fake_model::{FakeModel, Hold, Reply};
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::path::Path;

const LARGE: usize = 900_000;

struct Busy {
    server: Whole,
    home: Home,
    client: Client,
    session: Value,
    hold: Hold,
    _dir: tempfile::TempDir,
}

/// A session whose run waits for the model.
async fn busy() -> Busy {
    let (dir, model) = (tempfile::tempdir().unwrap(), FakeModel::start().await);
    let home = Home::prepared(dir.path(), &model, None).await;
    let server = Whole::start(&home).await;
    let (reply, hold) = Reply::text("a long answer").holding_after(1);
    model.script().push(reply);
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "begin"})).await;
    let session = ack["sessionId"].clone();
    client
        .call("session_open", json!({"sessionId": session}))
        .await;
    hold.reached().await;
    Busy {
        server,
        home,
        client,
        session,
        hold,
        _dir: dir,
    }
}

impl Busy {
    async fn send(&mut self, content: &str) -> Value {
        let chat = json!({"sessionId": self.session, "content": content, "mode": "queue"});
        self.client.call("chat", chat).await
    }

    fn stored_bytes(&self) -> u64 {
        bytes_in(&self.home.sessions)
    }

    /// The length of each `queue_update` so far, as it came over the wire.
    fn updates(&self) -> Vec<usize> {
        let events = self.client.events.iter();
        let updates = events.filter(|event| event["type"] == "queue_update");
        updates.map(|event| event.to_string().len()).collect()
    }
}

/// All session files, without what streams, which is journalled beside them.
fn bytes_in(dir: &Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            bytes += bytes_in(&path);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            bytes += about.len();
        }
    }
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_large_messages_cost_no_more_than_the_limit() {
    let mut busy = busy().await;
    let before = busy.stored_bytes();
    let large = "x".repeat(LARGE);
    let mut refused = 0;
    for _ in 0..50 {
        let ack = busy.send(&large).await;
        if ack["ok"] == true {
            continue;
        }
        refused += 1;
        assert_eq!(ack["code"], "too_large", "{ack}");
        let words = [&ack["words"]["en"], &ack["words"]["zh"]];
        for words in words {
            let words = words.as_str().unwrap();
            assert!(
                words.contains("879 kB") && words.contains("1024 kB"),
                "{words}"
            );
        }
    }
    assert_eq!(refused, 49, "one fits beside nothing else");
    assert_eq!(busy.send("a short one").await["ok"], true);
    let stop = json!({"sessionId": busy.session});
    busy.client.call("stop", stop).await;
    let held = busy
        .client
        .wait("queue_update", |data| data["held"] == true)
        .await;
    assert!(
        held.to_string().len() < 2_000,
        "what is known is not told again"
    );
    assert_eq!(
        held["data"]["items"][0]["preview"].as_str().unwrap().len(),
        80
    );
    let written = busy.stored_bytes() - before;
    assert!(
        written < LARGE as u64 + 20_000,
        "{written} bytes were written"
    );
    let events: usize = busy.updates().iter().sum();
    assert!(events < LARGE + 20_000, "{events} bytes were sent");
    busy.hold.release();

    // The next server has all of it, and sends it whole to clients that join.
    busy.server.stop().await;
    let server = Whole::start(&busy.home).await;
    let mut client = server.client().await;
    let open = json!({"sessionId": busy.session});
    let opened = client.call("session_open", open).await;
    let items = &opened["snapshot"]["queue"]["items"];
    assert_eq!(items[0]["content"], large);
    assert_eq!(items[1]["content"], "a short one");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cost_of_a_message_does_not_grow_with_what_waits() {
    let mut busy = busy().await;
    let text = "y".repeat(10_000);
    let mut costs = Vec::new();
    for _ in 0..50 {
        let before = busy.stored_bytes();
        assert_eq!(busy.send(&text).await["ok"], true);
        costs.push(busy.stored_bytes() - before);
    }
    // Places have one digit more from the tenth message on.
    let (first, last) = (costs[1], costs[49]);
    assert!(
        last <= first + 4,
        "{first} bytes, and then {last}: {costs:?}"
    );
    assert!(last < 11_000, "{costs:?}");
    busy.client.wait_count("queue_update", 50).await;
    let updates = busy.updates();
    let (first, last) = (updates[1], updates[49]);
    assert!(last - first < 49 * 400, "{first} bytes, and then {last}");
    let full = busy.send(&text).await;
    assert_eq!(full["code"], "rate_limited", "{full}");
    busy.hold.release();
    busy.server.stop().await;
}
