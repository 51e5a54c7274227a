//! A client that does not read affects only itself.

use crate::agent::{Act, say};
use crate::server::{Server, TOKEN};
use netaclaw_gateway::{GatewaySettings, OutboxLimits};
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Little room for what waits, so that a test need not send much.
async fn narrow_server(events_max: usize) -> Server {
    let outbox = OutboxLimits {
        events_max,
        bytes_max: 512 << 10,
        window_bytes: 64 << 10,
    };
    let settings = GatewaySettings {
        outbox,
        ..GatewaySettings::default()
    };
    Server::start_with(settings).await
}

/// One client that will not read, and one that does, on the same running session.
async fn watching(server: &Server) -> (Client, Client) {
    let auth = json!({"token": TOKEN, "events": ["current"]});
    let slow = Client::connect_narrow(server.address, auth.clone()).await;
    let (mut slow, mut quick) = (slow.unwrap(), server.client_with(auth).await);
    let mut sender = server.client().await;
    let ack = sender.call("chat", json!({"content": "Hello"})).await;
    let open = json!({"sessionId": ack["sessionId"]});
    slow.call("session_open", open.clone()).await;
    quick.call("session_open", open).await;
    (slow, quick)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stands_still_is_dropped_and_the_others_see_all() {
    let server = narrow_server(4096).await;
    let (mut slow, mut quick) = watching(&server).await;
    // More than the kernel buffers: 40 answers, each an entry of 256 KiB.
    let long = "x".repeat(256 << 10);
    for round in 1..=40 {
        server.script.act([say(&long), Act::Turn]);
        quick.wait_count("assistant_stream_end", round).await;
    }
    server.script.act([Act::End]);
    quick
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    let seqs = quick.seqs();
    assert!(
        seqs.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{seqs:?}"
    );

    slow.until_disconnected().await;
    let last = slow.events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["data"]["code"]),
        (&json!("error"), &json!("unavailable"))
    );
    let metrics = crate::http::request(server.address, "GET", "/metrics");
    let metrics = metrics.send().await.text;
    assert!(
        metrics.contains("netaclaw_slow_clients_total 1"),
        "{metrics}"
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_falls_behind_loses_deltas_and_nothing_else() {
    let server = narrow_server(4096).await;
    let (mut slow, mut quick) = watching(&server).await;
    let long = "y".repeat(64 << 10);
    server.script.act(std::iter::repeat_n(say(&long), 160));
    server.script.act([Act::End]);
    quick
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    slow.wait("run_status", |data| data["status"] == "idle")
        .await;
    let reliable = |client: &Client| -> Vec<Value> {
        let reliable = client.events.iter().filter(|event| event["seq"].is_u64());
        reliable.cloned().collect()
    };
    assert!(
        reliable(&slow) == reliable(&quick),
        "every reliable event reaches both"
    );
    let deltas = |client: &Client| -> usize {
        let names = client.names();
        names
            .iter()
            .filter(|name| **name == "assistant_stream_delta")
            .count()
    };
    assert!(deltas(&slow) < 160, "{}", deltas(&slow));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_lost_text_opens_the_session_again_and_has_it_all() {
    let server = narrow_server(4096).await;
    let (mut slow, mut quick) = watching(&server).await;
    let long = "y".repeat(64 << 10);
    let name = "assistant_stream_delta";
    for round in 1..=160 {
        server.script.act([say(&long)]);
        // One after the other, or the feed would make one delta of them all.
        let end = |data: &Value| data["offset"].as_u64().unwrap() + text_of(data).len() as u64;
        quick
            .wait(name, |data| end(data) == round * (64 << 10))
            .await;
    }
    // With this answer it has read all that waited, so that deltas are taken for it again.
    slow.call("ping", json!({})).await;
    server.script.act([say("!")]);
    slow.wait(name, |data| text_of(data).ends_with('!')).await;
    let mut deltas = slow.events.iter().filter(|event| event["type"] == name);
    let mut shown = 0;
    let lost = deltas.any(|delta| {
        let offset = delta["data"]["offset"].as_u64().unwrap();
        let gap = offset > shown;
        shown = offset + text_of(&delta["data"]).len() as u64;
        gap
    });
    assert!(lost, "there was no pressure");

    let last = slow.events.last().unwrap();
    let open = json!({
        "sessionId": last["sessionId"],
        "epoch": last["epoch"],
        "lastSeq": slow.seqs().last(),
    });
    let opened = slow.call("session_open", open).await;
    assert_eq!(opened["mode"], "live", "{opened}");
    let whole = slow
        .wait(name, |data| {
            data["offset"] == 0 && text_of(data).ends_with('!')
        })
        .await;
    server.script.act([Act::End]);
    let added = slow
        .wait("session_entry_added", |data| {
            data["entry"]["message"]["role"] == "assistant"
        })
        .await;
    let stored = &added["data"]["entry"]["message"]["content"][0]["text"];
    assert!(whole["data"]["text"] == *stored, "it shows what is stored");
    server.stop().await;
}

fn text_of(delta: &Value) -> &str {
    delta["text"].as_str().unwrap()
}

/// A client that reads nothing and has little to receive would keep its connection, were it not for
/// the kernel.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_whose_reader_stands_still_ends() {
    let settings = GatewaySettings {
        stalled_after: Duration::from_secs(1),
        ..GatewaySettings::default()
    };
    let server = Server::start_with(settings).await;
    let (mut slow, mut quick) = watching(&server).await;
    // More than the kernel buffers, and less than may be queued.
    let long = "x".repeat(256 << 10);
    for round in 1..=40 {
        server.script.act([say(&long), Act::Turn]);
        quick.wait_count("assistant_stream_end", round).await;
    }
    // The one that reads stays.
    let gone = async {
        loop {
            let metrics = crate::http::request(server.address, "GET", "/metrics");
            let metrics = metrics.send().await.text;
            assert!(
                !metrics.contains("netaclaw_slow_clients_total"),
                "{metrics}"
            );
            if metrics.contains("netaclaw_connections 1\n") {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone)
        .await
        .expect("the connection is given up");
    slow.until_disconnected().await;
    server.script.act([Act::End]);
    quick
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    server.stop().await;
}

/// How long a run takes from its first piece until its reader has received its end.
async fn run_time(server: &Server, quick: &mut Client) -> Duration {
    let long = "z".repeat(64 << 10);
    let begun = Instant::now();
    server.script.act(std::iter::repeat_n(say(&long), 80));
    server.script.act([Act::End]);
    quick
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    begun.elapsed()
}

/// A machine with other load cannot measure five percent. A run that waited for a reader would
/// never end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_does_not_slow_a_run() {
    let server = narrow_server(4096).await;
    let auth = json!({"token": TOKEN, "events": ["current"]});
    let (mut alone, mut beside) = (Duration::MAX, Duration::MAX);
    for _ in 0..2 {
        let mut quick = server.client_with(auth.clone()).await;
        quick.call("chat", json!({"content": "Hello"})).await;
        alone = alone.min(run_time(&server, &mut quick).await);
        let (_slow, mut quick) = watching(&server).await;
        beside = beside.min(run_time(&server, &mut quick).await);
    }
    let most = alone.mul_f64(1.5) + Duration::from_millis(100);
    assert!(
        beside < most,
        "{beside:?} beside a slow one, {alone:?} alone"
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_nonsense_and_reads_no_answer_is_dropped() {
    let server = narrow_server(4096).await;
    let auth = json!({"token": TOKEN, "events": ["current"]});
    let mut client = Client::connect_narrow(server.address, auth).await.unwrap();
    // Far more answers than may be queued and than the kernel buffers; each repeats the name.
    let name = "dance".repeat(12);
    for _ in 0..40_000 {
        client.start(&name, json!({})).await;
    }
    // It reads nothing before the server has had enough of it.
    let given_up = async {
        loop {
            let metrics = crate::http::request(server.address, "GET", "/metrics");
            let metrics = metrics.send().await.text;
            if metrics.contains("netaclaw_slow_clients_total 1") {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(40), given_up)
        .await
        .expect("the socket is given up");
    client.until_disconnected().await;
    server.stop().await;
}
