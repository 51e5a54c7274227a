//! What another version of NetaClaw stored: kept as it is, shown to users, and never overwritten.

use netaclaw_engine::{EngineError, UpdateSession};
use netaclaw_protocol::{
    Chat, ErrorCode, LiveSnapshot, LocalizedErrorKind, QueueChange, QueueEdit, ReadOnly,
    SessionChange, SessionId,
};
use netaclaw_session::{MetadataChange, SessionPatch, SessionTreeProvider};
use netaclaw_store::{FileProvider, FileSettings, Fsync, MysqlProvider, MysqlSettings};
use netaclaw_testkit::MariaDb;
use netaclaw_testkit::engine::{Act, Server, ann, within};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Opens the store as the next process does.
trait Opens: AsyncFn() -> Arc<dyn SessionTreeProvider> {}
impl<T: AsyncFn() -> Arc<dyn SessionTreeProvider>> Opens for T {}

fn files(dir: &Path) -> Arc<dyn SessionTreeProvider> {
    let (dir, fsync) = (dir.to_owned(), Fsync::Off);
    Arc::new(FileProvider::new(FileSettings { dir, fsync }))
}

async fn mysql(url: &str) -> Arc<dyn SessionTreeProvider> {
    let provider = MysqlProvider::connect(MysqlSettings::new(url)).await;
    Arc::new(provider.unwrap())
}

async fn stop(server: Server) {
    server.engine.shut_down(Duration::ZERO).await;
}

async fn state(provider: &dyn SessionTreeProvider, session: &SessionId) -> Value {
    let meta = provider.get_session(session).await.unwrap();
    meta.metadata["netaclaw"].clone()
}

async fn change(
    store: &dyn SessionTreeProvider,
    session: &SessionId,
    changes: Vec<MetadataChange>,
) {
    let patch = SessionPatch {
        metadata_changes: changes,
        ..SessionPatch::default()
    };
    store.update_session(session, patch).await.unwrap();
    store.release(session).await.unwrap();
}

async fn snapshot(server: &Server, session: &SessionId) -> LiveSnapshot {
    let (_, opened) = server.open(session).await;
    *opened.snapshot.expect("a new client gets a snapshot")
}

/// A session with two messages that wait, and a run that a stop of the server interrupted.
async fn left_waiting(open: &impl Opens) -> (SessionId, [String; 2]) {
    let server = Server::over(open().await);
    let session = server.chat(None, "one").await.session_id;
    let [two, three] = ["two", "three"].map(|text| Chat {
        request_id: Some(format!("request {text}")),
        session_id: Some(session.clone()),
        content: text.to_owned(),
        ..Chat::default()
    });
    let two = server.send(two).await.unwrap().answer.item_id.unwrap();
    let three = server.send(three).await.unwrap().answer.item_id.unwrap();
    stop(server).await;
    (session, [two, three])
}

async fn nothing_is_lost(open: impl Opens) {
    let (session, [two, three]) = left_waiting(&open).await;
    let store = open().await;
    let odd = json!({"deep": [null, {"x": 1}]});
    let queued = |id: &str, member: &str| -> Vec<String> {
        ["netaclaw", "queue", id, member].map(str::to_owned).into()
    };
    let set = |path: Vec<String>, value: Value| MetadataChange {
        path,
        value: Some(value),
    };
    change(
        &*store,
        &session,
        vec![
            set(queued(&two, "mode"), json!("whisper")),
            set(queued(&two, "odd"), odd.clone()),
            set(queued(&three, "odd"), odd.clone()),
            MetadataChange::set(["netaclaw", "future"], odd.clone()),
            MetadataChange::set(["netaclaw", "warnings"], json!([{"kind": "of tomorrow"}])),
            MetadataChange::set(["other"], odd.clone()),
        ],
    )
    .await;
    let before = state(&*store, &session).await;
    drop(store);

    // The message that is understood runs, the other one is shown and held.
    let server = Server::over(open().await);
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Say("3"), Act::End]);
    within(client.done(1)).await;
    let shown = snapshot(&server, &session).await.queue;
    assert_eq!(shown.items.len(), 1, "{shown:?}");
    let item = &shown.items[0];
    assert_eq!(
        (item.item_id.as_str(), item.content.as_str()),
        (two.as_str(), "two")
    );
    assert!(item.unsupported && item.held && !shown.held, "{shown:?}");
    let edit = QueueChange::Edit {
        item_id: two.clone(),
        content: "else".to_owned(),
    };
    let refused = server
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: session.clone(),
                change: edit,
                request_id: None,
            },
        )
        .await;
    assert_eq!(refused.unwrap_err().code(), ErrorCode::BadRequest);
    let resumed = QueueChange::Resume;
    server
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: session.clone(),
                change: resumed,
                request_id: None,
            },
        )
        .await
        .unwrap();
    let again = Chat {
        request_id: Some("request two".to_owned()),
        session_id: Some(session.clone()),
        content: "two".to_owned(),
        ..Chat::default()
    };
    assert!(
        server.send(again).await.unwrap().deduped,
        "it waits already"
    );
    let path = server.path(&session).await;
    assert!(path.contains(&"user: three".to_owned()), "{path:?}");
    assert!(!path.contains(&"user: two".to_owned()), "{path:?}");
    stop(server).await;

    let store = open().await;
    let after = state(&*store, &session).await;
    assert_eq!(after["queue"], json!({&two: before["queue"][&two]}));
    for member in ["future", "warnings"] {
        assert_eq!(after[member], before[member], "{member}");
    }
    let meta = store.get_session(&session).await.unwrap();
    assert_eq!(meta.metadata["other"], odd);
    drop(store);

    // A user removes it.
    let server = Server::over(open().await);
    let remove = QueueChange::Remove {
        item_id: two.clone(),
    };
    let queue = server
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: session.clone(),
                change: remove,
                request_id: None,
            },
        )
        .await;
    assert!(queue.unwrap().answer.queue.items.is_empty());
    stop(server).await;
    assert_eq!(
        state(&*open().await, &session).await["queue"][&two],
        Value::Null
    );
}

async fn a_newer_state_is_only_read(open: impl Opens) {
    let (session, _) = left_waiting(&open).await;
    let store = open().await;
    let newer = MetadataChange::set(["netaclaw", "version"], json!(77));
    change(&*store, &session, vec![newer]).await;
    let before = store.get_session(&session).await.unwrap();
    let entries = store.list_entries(&session).await.unwrap();
    drop(store);

    let server = Server::over(open().await);
    let swept = server.engine.recover_interrupted().await;
    swept.unwrap().unwrap();
    let shown = snapshot(&server, &session).await;
    let warning = shown
        .warnings
        .iter()
        .find(|w| w.kind == LocalizedErrorKind::NewerVersion);
    let words = &warning.expect("people see why").words;
    assert!(
        words.en.contains("77") && words.zh.contains("77"),
        "{words:?}"
    );
    let chat = Chat {
        session_id: Some(session.clone()),
        content: "more".to_owned(),
        ..Chat::default()
    };
    let title = SessionChange {
        title: Some("t".to_owned()),
        ..SessionChange::default()
    };
    let resume = QueueChange::Resume;
    let (engine, ann) = (&server.engine, ann());
    let refused = [
        server.send(chat).await.err(),
        engine
            .execute(
                &ann,
                UpdateSession {
                    session_id: session.clone(),
                    change: title,
                },
            )
            .await
            .err(),
        engine
            .execute(
                &ann,
                QueueEdit {
                    session_id: session.clone(),
                    change: resume,
                    request_id: None,
                },
            )
            .await
            .err(),
    ];
    for error in refused {
        let error = error.expect("it is not written");
        assert!(matches!(error, EngineError::ReadOnly(_)), "{error}");
        assert_eq!(error.code(), ErrorCode::Conflict);
        let words = error.words();
        assert!(words.en.contains("Update NetaClaw"), "{words:?}");
        assert!(words.zh.contains("更新 NetaClaw"), "{words:?}");
    }
    stop(server).await;
    let store = open().await;
    assert_eq!(store.get_session(&session).await.unwrap(), before);
    assert_eq!(store.list_entries(&session).await.unwrap(), entries);
}

#[tokio::test]
async fn nothing_that_is_not_understood_is_lost_in_files() {
    let dir = tempfile::tempdir().unwrap();
    nothing_is_lost(async || files(dir.path())).await;
}

#[tokio::test]
async fn nothing_that_is_not_understood_is_lost_in_mysql() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    nothing_is_lost(async || mysql(&database.url()).await).await;
}

#[tokio::test]
async fn a_newer_state_is_only_read_in_files() {
    let dir = tempfile::tempdir().unwrap();
    a_newer_state_is_only_read(async || files(dir.path())).await;
}

#[tokio::test]
async fn a_newer_state_is_only_read_in_mysql() {
    let server = MariaDb::start().unwrap();
    let database = server.fresh_database().unwrap();
    a_newer_state_is_only_read(async || mysql(&database.url()).await).await;
}

#[tokio::test]
async fn a_file_of_a_newer_format_is_shown_and_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2027-01-01T00-00-00-000Z_new.jsonl");
    let text = concat!(
        r#"{"type":"session","version":9,"id":"new","timestamp":"2027-01-01T00:00:00.000Z","cwd":"/srv/app","userId":"ann"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2027-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
    );
    std::fs::write(&path, text).unwrap();
    let session = SessionId::new("new");
    let server = Server::start(dir.path());
    let shown = snapshot(&server, &session).await;
    assert_eq!(shown.entries.len(), 1);
    assert_eq!(shown.warnings[0].kind, LocalizedErrorKind::NewerVersion);
    let chat = Chat {
        session_id: Some(session.clone()),
        content: "two".to_owned(),
        ..Chat::default()
    };
    let title = SessionChange {
        title: Some("t".to_owned()),
        ..SessionChange::default()
    };
    let refused = server.send(chat).await.unwrap_err();
    let newer = ReadOnly::NewerFormat {
        found: 9,
        supported: 3,
    };
    assert_eq!(refused.reason(), newer.into());
    stop(server).await;
    let server = Server::start(dir.path());
    let refused = server
        .engine
        .execute(
            &ann(),
            UpdateSession {
                session_id: session.clone(),
                change: title,
            },
        )
        .await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, EngineError::ReadOnly(_)), "{refused}");
    stop(server).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
