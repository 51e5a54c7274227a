//! `kill -9` of a writing process at random points.

use super::{Files, answer, new_session, texts, user};
use netaclaw_session::{SessionId, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

const DIR: &str = "NETACLAW_CRASH_TEST_DIR";
const SESSION: &str = "NETACLAW_CRASH_TEST_SESSION";
const ROUNDS: usize = 200;

/// This test plays both parts: started again with a directory in its environment it is the
/// process that writes until it is killed.
#[test]
fn every_acknowledged_append_survives_kill_9() {
    let runtime = runtime();
    if let Ok(dir) = std::env::var(DIR) {
        runtime.block_on(write_until_killed(dir.into()));
        return;
    }
    let files = Files::new();
    let session = runtime.block_on(async {
        let provider = files.open();
        new_session(&provider).await
    });
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        let mut writer = start_writer(&files, &session);
        let mut acks = BufReader::new(writer.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        // A different number each round, so that the kill falls into every part of a write.
        let wanted = 1 + (round * 7919) % 23;
        let seen: Vec<String> = acks.by_ref().filter_map(ack).take(wanted).collect();
        writer.kill().unwrap();
        writer.wait().unwrap();
        acknowledged.extend(seen);
        // What was acknowledged between our last look and the kill counts as well.
        acknowledged.extend(acks.filter_map(ack));
        runtime.block_on(check(&files, &session, &acknowledged));
    }
    assert!(acknowledged.len() >= ROUNDS);
}

/// Plays both parts, like the test above.
#[test]
fn a_second_process_learns_the_writer_and_can_continue_after_it() {
    let runtime = runtime();
    if let Ok(dir) = std::env::var(DIR) {
        runtime.block_on(write_until_killed(dir.into()));
        return;
    }
    let files = Files::new();
    let session = runtime.block_on(async { new_session(&files.open()).await });
    let mut writer = start_writer(&files, &session);
    // The writer would die of a pipe without a reader.
    let mut acks = BufReader::new(writer.stdout.take().unwrap()).lines();
    let first = acks.by_ref().map_while(Result::ok).find_map(ack);
    assert!(first.is_some(), "the writer writes");
    runtime.block_on(async {
        let provider = files.open();
        let refused = provider
            .append_entry(&session, user("mine"))
            .await
            .unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(session.as_str()), "{text}");
        assert!(text.contains(&format!("process {}", writer.id())), "{text}");
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mine = provider.append_entry(&session, user("mine")).await.unwrap();
        let tree = provider.load_tree(&session).await.unwrap();
        assert_eq!(tree.leaf(), Some(mine.id()));
        assert_eq!(tree.active_path().unwrap().len(), tree.entries().len());
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Every acknowledged entry is there, once, in order. Entries that were written and not yet
/// acknowledged may be between them.
async fn check(files: &Files, session: &SessionId, acknowledged: &[String]) {
    let tree = files.open().load_tree(session).await.unwrap();
    let path = tree.active_path().unwrap();
    assert_eq!(
        path.len(),
        tree.entries().len(),
        "one chain, nothing beside it"
    );
    let written: Vec<String> = tree
        .entries()
        .iter()
        .map(|entry| entry.id().to_string())
        .collect();
    let mut at = written.iter();
    for id in acknowledged {
        assert!(
            at.any(|written| written == id),
            "{id} is missing or out of order"
        );
    }
}

fn ack(line: String) -> Option<String> {
    // The test harness may have printed something in front on the same line.
    line.split_once("ack ").map(|(_, id)| id.to_owned())
}

fn start_writer(files: &Files, session: &SessionId) -> Child {
    let name = std::thread::current().name().unwrap().to_owned();
    #[expect(clippy::disallowed_methods, reason = "the process to be killed")]
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(DIR, files.dir.path())
        .env(SESSION, session.as_str())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn write_until_killed(dir: std::path::PathBuf) {
    let session = &SessionId::new(std::env::var(SESSION).unwrap());
    let provider = FileProvider::new(FileSettings {
        dir,
        fsync: Fsync::Turn,
    });
    for at in 0.. {
        let new = if at % 2 == 0 {
            user("question")
        } else {
            answer("an answer of some length")
        };
        let entry = provider.append_entry(session, new).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {}", entry.id()).unwrap();
        out.flush().unwrap();
    }
}

#[tokio::test]
async fn what_was_streamed_is_closed_as_aborted_by_the_next_writer() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    let question = provider
        .append_entry(&session, user("question"))
        .await
        .unwrap();
    let path = super::file_of(&provider, &session).await;
    drop(provider);
    // As a killed process leaves it.
    let journal = format!(
        r#"{{"type":"message","id":"beefbeef","parentId":"{}","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"assistant","content":[{{"type":"text","text":"half an ans"}}],"stopReason":"stop"}}}}"#,
        question.id()
    );
    std::fs::write(format!("{}.inflight", path.display()), journal).unwrap();
    let provider = files.open();
    assert!(provider.in_flight_entry(&session).await.unwrap().is_some());
    assert_eq!(
        provider.list_entries(&session).await.unwrap().len(),
        1,
        "a look closes nothing"
    );
    provider
        .append_entry(&session, user("again"))
        .await
        .unwrap();
    let entries = provider.list_entries(&session).await.unwrap();
    assert_eq!(texts(&entries), ["question", "half an ans", "again"]);
    assert!(entries[1].json().contains(r#""stopReason":"aborted""#));
    assert_eq!(provider.in_flight_entry(&session).await.unwrap(), None);
}

#[tokio::test]
async fn a_damaged_journal_does_not_stop_a_session() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider.append_entry(&session, user("one")).await.unwrap();
    let path = super::file_of(&provider, &session).await;
    drop(provider);
    std::fs::write(format!("{}.inflight", path.display()), "{\"type\":\"mess").unwrap();
    let provider = files.open();
    provider.append_entry(&session, user("two")).await.unwrap();
    assert_eq!(
        texts(&provider.list_entries(&session).await.unwrap()),
        ["one", "two"]
    );
}
