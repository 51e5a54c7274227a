//! The listing index.

use super::{Files, answer, file_of, new_session, user};
use netaclaw_session::{
    PageRequest, SessionError, SessionFilter, SessionId, SessionPage, SessionTreeProvider,
};
use netaclaw_store::FileProvider;

async fn list(provider: &FileProvider) -> SessionPage {
    provider
        .list_sessions(&SessionFilter::default(), PageRequest::default())
        .await
        .unwrap()
}

#[tokio::test]
async fn a_listing_follows_changes_of_other_processes() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider
        .append_entry(&session, user("hello"))
        .await
        .unwrap();
    assert_eq!(list(&provider).await.items[0].message_count, 1);
    provider
        .append_entry(&session, answer("there"))
        .await
        .unwrap();
    assert_eq!(
        list(&provider).await.items[0].message_count,
        2,
        "seen while it is open"
    );
    assert_eq!(
        list(&files.open()).await.items[0].message_count,
        2,
        "seen by another process"
    );
    let path = file_of(&provider, &session).await;
    drop(provider);
    assert_eq!(
        list(&files.open()).await.items[0].first_message.as_deref(),
        Some("hello")
    );
    std::fs::remove_file(path).unwrap();
    assert_eq!(list(&files.open()).await.total, 0);
}

#[tokio::test]
async fn an_index_is_only_a_help() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider
        .append_entry(&session, user("hello"))
        .await
        .unwrap();
    drop(provider);
    let right = list(&files.open()).await;
    let index = files.dir.path().join("index.json");
    for damage in ["", "garbage", "{\"version\":99,\"rows\":[]}", "null"] {
        std::fs::write(&index, damage).unwrap();
        assert_eq!(list(&files.open()).await, right, "{damage:?}");
    }
    std::fs::remove_file(index).unwrap();
    assert_eq!(list(&files.open()).await, right);
}

#[tokio::test]
async fn an_unchanged_file_is_not_read_again() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider
        .append_entry(&session, user("hello"))
        .await
        .unwrap();
    let path = file_of(&provider, &session).await;
    drop(provider);
    list(&files.open()).await;
    // Same size, same time, other content: only reading the file shows it.
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("hello", "HELLO");
    std::fs::write(&path, text).unwrap();
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    assert_eq!(
        list(&files.open()).await.items[0].first_message.as_deref(),
        Some("hello")
    );
}

#[tokio::test]
async fn files_that_are_no_sessions_are_not_listed() {
    let files = Files::new();
    files.put("broken.jsonl", "{");
    files.put("empty.jsonl", "");
    files.put("notes.txt", "hello");
    let provider = files.open();
    let session = new_session(&provider).await;
    let listed = list(&provider).await;
    assert_eq!(listed.total, 1);
    assert_eq!(listed.items[0].session_id, session);
    assert_eq!(
        std::fs::read(files.dir.path().join("broken.jsonl")).unwrap(),
        b"{"
    );
}

#[tokio::test]
async fn a_session_id_cannot_leave_the_directory() {
    let files = Files::new();
    let provider = files.open();
    for id in ["../escape", "/etc/passwd", "..", "a/../../b"] {
        let new = netaclaw_session::NewSession {
            id: Some(SessionId::new(id)),
            ..netaclaw_session::NewSession::default()
        };
        assert!(provider.create_session(new).await.is_err(), "{id}");
        assert!(
            provider.load_tree(&SessionId::new(id)).await.is_err(),
            "{id}"
        );
    }
    assert!(!files.dir.path().join("../escape.jsonl").exists());
}

#[tokio::test]
async fn an_id_is_used_once_also_by_the_next_process() {
    let files = Files::new();
    let id = SessionId::new("made-from-a-request");
    let make = async |provider: &FileProvider, id: &SessionId| {
        let new = netaclaw_session::NewSession {
            id: Some(id.clone()),
            ..Default::default()
        };
        provider.create_session(new).await
    };
    let provider = files.open();
    make(&provider, &id).await.unwrap();
    for provider in [provider, files.open()] {
        let again = make(&provider, &id).await;
        assert!(
            matches!(&again, Err(SessionError::AlreadyExists(taken)) if *taken == id),
            "{again:?}"
        );
    }
    make(&files.open(), &SessionId::new("another"))
        .await
        .unwrap();
    assert_eq!(list(&files.open()).await.total, 2);
}
