//! Clients that come late, go away and come back end with what an undisturbed one has.

use crate::support::{Act, Client, Server, ann};
use netaclaw_protocol::OpenMode;
use serde_json::Value;

/// The text a client shows for the answer, from a snapshot and the events after it.
fn shown(snapshot: &Value, events: &[Value]) -> String {
    let mut text: Vec<char> = snapshot["streaming"]["parts"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .chars()
        .collect();
    for event in events {
        match event["type"].as_str().unwrap() {
            "assistant_stream_delta" => {
                let offset = usize::try_from(event["data"]["offset"].as_u64().unwrap()).unwrap();
                assert!(offset <= text.len(), "a gap: {event}");
                let new: Vec<char> = event["data"]["text"].as_str().unwrap().chars().collect();
                let known = text.len() - offset;
                text.extend(new.into_iter().skip(known));
            }
            "session_entry_added" if event["data"]["entry"]["message"]["role"] == "assistant" => {
                let whole = event["data"]["entry"]["message"]["content"][0]["text"]
                    .as_str()
                    .unwrap();
                assert_eq!(
                    text.iter().collect::<String>(),
                    whole,
                    "what was streamed is what is stored"
                );
            }
            _ => {}
        }
    }
    text.into_iter().collect()
}

#[tokio::test]
async fn a_client_that_joins_at_any_moment_sees_the_whole_answer() {
    const WORDS: [&str; 8] = [
        "One 😀 ",
        "two ",
        "三 ",
        "four ",
        "five ",
        "six ",
        "seven ",
        "eight",
    ];
    for joins_after in 0..=WORDS.len() {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(dir.path());
        let session = server.chat(None, "count").await.session_id;
        let (watcher, _) = server.open(&session).await;
        for (at, word) in WORDS.iter().enumerate().take(joins_after) {
            server.script.act([Act::Say(word)]);
            let so_far = WORDS[..=at].concat();
            watcher
                .wait("assistant_stream_delta", |_| {
                    shown(&Value::Null, &watcher.events()) == so_far
                })
                .await;
        }
        let (late, opened) = server.open(&session).await;
        let snapshot = serde_json::to_value(&opened.snapshot).unwrap();
        server
            .script
            .act(WORDS[joins_after..].iter().map(|word| Act::Say(word)));
        server.script.act([Act::End]);
        late.done(1).await;
        assert_eq!(
            shown(&snapshot, &late.events()),
            WORDS.concat(),
            "joined after {joins_after}"
        );
    }
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_it_missed_and_no_more() {
    let ann = ann();
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (watcher, opened) = server.open(&session).await;
    server.script.act([Act::Say("1"), Act::End]);
    watcher.done(1).await;
    watcher
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    let reliable: Vec<Value> = watcher
        .events()
        .into_iter()
        .filter(|event| event["seq"].is_u64())
        .collect();
    for seen in 0..=reliable.len() {
        let last_seq = opened.seq + seen as u64;
        let client = Client::default();
        let open = server.engine.open(
            &ann,
            &session,
            Some(opened.epoch.clone()),
            Some(last_seq),
            client.subscriber(),
        );
        let (answer, _) = open.await.unwrap();
        let expected = if seen == reliable.len() {
            OpenMode::Live
        } else {
            OpenMode::Replay
        };
        assert_eq!(answer.mode, expected);
        assert_eq!(client.events(), reliable[seen..], "after {seen}");
    }
    let other = Client::default();
    let open = server.engine.open(
        &ann,
        &session,
        Some("another".to_owned()),
        Some(1),
        other.subscriber(),
    );
    assert_eq!(open.await.unwrap().0.mode, OpenMode::Snapshot);
}
