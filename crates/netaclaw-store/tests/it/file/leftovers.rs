//! What killed processes leave next to sessions.

use super::{Files, file_of, names_in, new_session, texts, user};
use netaclaw_session::{InFlightEntry, SessionTreeProvider};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Longer ago than any live process keeps a temporary file.
fn make_old(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(60 * 60);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

#[tokio::test]
async fn locks_journals_and_temporary_files_of_dead_processes_are_removed() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider.append_entry(&session, user("one")).await.unwrap();
    let path = file_of(&provider, &session).await;
    let dir = path.parent().unwrap();
    provider.release(&session).await.unwrap();
    let before = names_in(dir);
    for left in [".lock", ".inflight", ".tmp"] {
        std::fs::write(format!("{}{left}", path.display()), "left").unwrap();
    }
    for left in ["gone.jsonl.lock", "gone.jsonl.inflight", "gone.jsonl.1.tmp"] {
        std::fs::write(dir.join(left), "").unwrap();
        make_old(&dir.join(left));
    }
    make_old(Path::new(&format!("{}.tmp", path.display())));
    std::fs::write(dir.join("new.jsonl.2.tmp"), "").unwrap();
    files.open().remove_leftovers().await.unwrap();
    let expected = [&before[..], &["new.jsonl.2.tmp".to_owned()]].concat();
    assert_eq!(names_in(dir), expected, "a new temporary file is in use");
}

#[tokio::test]
async fn what_a_live_process_uses_stays() {
    let files = Files::new();
    let (writer, sweeper) = (files.open(), files.open());
    let session = new_session(&writer).await;
    let asked = writer.append_entry(&session, user("one")).await.unwrap();
    let text = r#"{"role":"assistant","content":[{"type":"text","text":"half"}]}"#;
    let half = InFlightEntry {
        id: "half".into(),
        parent_id: Some(asked.id().clone()),
        message: serde_json::value::RawValue::from_string(text.to_owned()).unwrap(),
    };
    writer.update_in_flight_entry(&session, half).await.unwrap();
    let path = file_of(&writer, &session).await;
    let before = names_in(path.parent().unwrap());
    assert_eq!(before.len(), 3, "the session, its lock and its journal");
    sweeper.remove_leftovers().await.unwrap();
    assert_eq!(names_in(path.parent().unwrap()), before);
    writer.append_entry(&session, user("two")).await.unwrap();
}

/// A sweep holds a lock for a moment to test whether it is in use. A process that opens the session
/// in that moment must not be refused, and must not write without a lock that others see.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sweep_refuses_no_writer_and_admits_no_second_one() {
    let files = Files::new();
    let session = new_session(&files.open()).await;
    let path = file_of(&files.open(), &session).await;
    let lock = format!("{}.lock", path.display());
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let sweeper = {
        let provider = files.open();
        tokio::spawn(async move {
            while stopped.try_recv().is_err() {
                provider.remove_leftovers().await.unwrap();
            }
        })
    };
    for round in 0..100 {
        // As a killed process leaves it.
        std::fs::write(&lock, "process 1").unwrap();
        let (writer, second) = (files.open(), files.open());
        let text = format!("{round}");
        writer.append_entry(&session, user(&text)).await.unwrap();
        second
            .append_entry(&session, user("second"))
            .await
            .unwrap_err();
    }
    stop.send(()).unwrap();
    sweeper.await.unwrap();
    let entries = files.open().list_entries(&session).await.unwrap();
    let expected: Vec<String> = (0..100).map(|round| round.to_string()).collect();
    assert_eq!(texts(&entries), expected);
}
