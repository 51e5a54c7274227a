//! Clients that come late, go away and come back end with what an undisturbed one has.

use netaclaw_protocol::{OpenMode, SessionOpen};
use netaclaw_testkit::engine::{Act, Client, Server, ann};
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
            SessionOpen {
                session_id: session.clone(),
                epoch: Some(opened.epoch.clone()),
                last_seq: Some(last_seq),
            },
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
        SessionOpen {
            session_id: session.clone(),
            epoch: Some("another".to_owned()),
            last_seq: Some(1),
        },
        other.subscriber(),
    );
    assert_eq!(open.await.unwrap().0.mode, OpenMode::Snapshot);
}

/// The output of a running tool as a client has it, from a snapshot and the events after it.
fn output(snapshot: &Value, events: &[Value]) -> String {
    let of_snapshot = snapshot["tools"][0]["output"].as_str();
    let mut text: Vec<char> = of_snapshot.unwrap_or_default().chars().collect();
    let pieces = events
        .iter()
        .filter(|event| event["type"] == "tool_result_streamed");
    for piece in pieces {
        let offset = usize::try_from(piece["data"]["offset"].as_u64().unwrap()).unwrap();
        assert!(
            offset <= text.len(),
            "a gap: {offset} after {}, so the client asks again without end",
            text.len()
        );
        let new = piece["data"]["text"].as_str().unwrap().chars();
        let known = text.len() - offset;
        text.extend(new.skip(known));
    }
    text.into_iter().collect()
}

/// What a tool says is shown up to a limit, which is the same for all who look.
#[tokio::test]
async fn more_output_than_is_kept_leaves_no_gap() {
    const KEPT: usize = 256 * 1024;
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "pour").await.session_id;
    let (watcher, opened) = server.open(&session).await;
    let poured = async |chars: usize, so_far: &str| {
        server.script.act([Act::Pour(chars), Act::Say(".")]);
        let said = |_: &Value| shown(&Value::Null, &watcher.events()) == so_far;
        watcher.wait("assistant_stream_delta", said).await;
        let (client, opened) = server.open(&session).await;
        (client, serde_json::to_value(opened.snapshot).unwrap())
    };
    let (early, early_snapshot) = poured(KEPT - 500, ".").await;
    let (late, late_snapshot) = poured(2000, "..").await;
    let back = Client::default();
    let caller = ann();
    let resumed = server.engine.open(
        &caller,
        SessionOpen {
            session_id: session.clone(),
            epoch: Some(opened.epoch.clone()),
            last_seq: Some(opened.seq),
        },
        back.subscriber(),
    );
    assert_eq!(resumed.await.unwrap().0.mode, OpenMode::Replay);
    server.script.act([Act::Pour(5000), Act::End]);
    watcher.done(1).await;

    let all = output(&Value::Null, &watcher.events());
    assert_eq!(output(&early_snapshot, &early.events()), all);
    assert_eq!(output(&late_snapshot, &late.events()), all);
    assert_eq!(output(&Value::Null, &back.events()), all);
    let kept: String = all.chars().take(KEPT).collect();
    assert!(kept.chars().all(|char| char == '三'));
    assert!(all[kept.len()..].contains("not shown live"), "it says so");
}
