//! One writer per file.

use super::{Files, answer, file_of, names_in, new_session, texts, user};
use netaclaw_session::{SessionError, SessionTreeProvider};
use netaclaw_store::Fsync;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;

#[tokio::test]
async fn a_second_writer_is_refused_with_session_and_owner() {
    let files = Files::new();
    let (first, second) = (files.open(), files.open());
    let session = new_session(&first).await;
    first.append_entry(&session, user("one")).await.unwrap();
    let error = second
        .append_entry(&session, user("two"))
        .await
        .unwrap_err();
    let SessionError::Busy {
        session: named,
        owner,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(*named, session);
    assert!(
        owner.contains(&format!("process {}", std::process::id())),
        "{owner}"
    );
    assert!(error.to_string().contains(session.as_str()), "{error}");
    // Reading needs no lock, and the first writer is not disturbed.
    assert_eq!(
        texts(&second.list_entries(&session).await.unwrap()),
        ["one"]
    );
    first.append_entry(&session, user("three")).await.unwrap();
    assert_eq!(
        texts(&second.list_entries(&session).await.unwrap()),
        ["one", "three"]
    );
}

#[tokio::test]
async fn a_released_session_can_be_written_by_the_next() {
    let files = Files::new();
    let (first, second) = (files.open(), files.open());
    let session = new_session(&first).await;
    first.append_entry(&session, user("one")).await.unwrap();
    first.release(&session).await.unwrap();
    second.append_entry(&session, user("two")).await.unwrap();
    assert_eq!(
        texts(&second.list_entries(&session).await.unwrap()),
        ["one", "two"]
    );
}

#[tokio::test]
async fn a_lock_file_left_by_a_dead_process_does_not_lock() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    let path = file_of(&provider, &session).await;
    std::fs::write(
        format!("{}.lock", path.display()),
        "process 1, since long ago",
    )
    .unwrap();
    provider.append_entry(&session, user("one")).await.unwrap();
    assert_eq!(
        texts(&provider.list_entries(&session).await.unwrap()),
        ["one"]
    );
}

#[tokio::test]
async fn nothing_is_left_beside_a_closed_session() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider.append_entry(&session, user("one")).await.unwrap();
    let dir = file_of(&provider, &session)
        .await
        .parent()
        .unwrap()
        .to_owned();
    assert_eq!(names_in(&dir).len(), 2, "the session and its lock");
    drop(provider);
    assert_eq!(names_in(&dir).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_tasks_and_every_fsync_setting_lose_nothing() {
    for fsync in [Fsync::Always, Fsync::Turn, Fsync::Off] {
        let files = Files::new();
        let provider = Arc::new(files.open_with(fsync));
        let session = new_session(&provider).await;
        let jobs: Vec<_> = (0..32)
            .map(|task| {
                let (provider, session) = (Arc::clone(&provider), session.clone());
                tokio::spawn(async move {
                    for at in 0..10 {
                        let new = answer(&format!("{task}/{at}")).flushed();
                        provider.append_entry(&session, new).await.unwrap();
                    }
                })
            })
            .collect();
        for job in jobs {
            job.await.unwrap();
        }
        drop(provider);
        let tree = files.open().load_tree(&session).await.unwrap();
        let mut seen = texts(tree.entries());
        assert_eq!(tree.active_path().unwrap().len(), 320, "one chain");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 320);
    }
}

#[tokio::test]
async fn many_sessions_are_kept_open_only_as_far_as_they_fit() {
    let few = Rlimit {
        current: Some(512),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, few).unwrap();
    let files = Files::new();
    let provider = files.open();
    let mut sessions = Vec::new();
    for _ in 0..100 {
        let session = new_session(&provider).await;
        provider.append_entry(&session, user("one")).await.unwrap();
        sessions.push(session);
    }
    let dir = file_of(&provider, &sessions[0])
        .await
        .parent()
        .unwrap()
        .to_owned();
    let locks = names_in(&dir)
        .into_iter()
        .filter(|name| name.ends_with(".lock"))
        .count();
    assert!(locks <= 512 / 8, "{locks} sessions are open");
    for session in &sessions {
        provider.append_entry(session, user("two")).await.unwrap();
        assert_eq!(
            texts(&provider.list_entries(session).await.unwrap()),
            ["one", "two"]
        );
    }
}

#[tokio::test]
async fn a_deleted_session_that_another_process_writes_is_not_purged() {
    let files = Files::new();
    let (first, second) = (files.open(), files.open());
    let session = new_session(&first).await;
    first.append_entry(&session, user("one")).await.unwrap();
    first.delete_session(&session).await.unwrap();
    first.take_over(&session).await.unwrap();
    let busy = second.purge_session(&session, None).await;
    assert!(matches!(busy, Err(SessionError::Busy { .. })), "{busy:?}");
    first.release(&session).await.unwrap();
    let file = file_of(&second, &session).await;
    let dir = file.parent().unwrap();
    std::fs::write(file.with_extension("jsonl.v1.bak"), "old").unwrap();
    assert!(second.purge_session(&session, None).await.unwrap());
    assert_eq!(names_in(dir), [""; 0]);
    let gone = first.load_tree(&session).await;
    assert!(matches!(gone, Err(SessionError::NotFound(_))), "{gone:?}");
}
