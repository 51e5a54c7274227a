//! Old files: read as they are, rewritten at the first write, with the old one kept.

use super::{Files, names_in, texts, user};
use netaclaw_session::{
    EntryId, InFlightEntry, MetadataChange, SessionError, SessionId, SessionPatch,
    SessionTreeProvider, raw_json,
};

const V1: &str = concat!(
    r#"{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/srv/app","provider":"x"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one","n":1.50}}"#,
    "\n",
    "not readable\n",
    r#"{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}"#,
    "\n",
    r#"{"type":"compaction","timestamp":"2025-01-01T00:00:03.000Z","summary":"s","firstKeptEntryIndex":2,"tokensBefore":9}"#,
    "\n",
);

#[tokio::test]
async fn a_version_1_file_is_migrated_at_the_first_write_and_kept() {
    let files = Files::new();
    let path = files.put("old.jsonl", V1);
    let session = SessionId::new("old");
    let provider = files.open();
    let before = provider.get_snapshot(&session).await.unwrap();
    assert_eq!((before.entries.len(), before.skipped_lines), (3, 1));
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        V1,
        "a look changes nothing"
    );

    provider
        .append_entry(&session, user("three"))
        .await
        .unwrap();
    drop(provider);
    let names = names_in(files.dir.path());
    assert_eq!(names, ["index.json", "old.jsonl", "old.jsonl.v1.bak"]);
    let backup = files.dir.path().join("old.jsonl.v1.bak");
    assert_eq!(std::fs::read_to_string(backup).unwrap(), V1);

    let tree = files.open().load_tree(&session).await.unwrap();
    assert_eq!(tree.header().version(), 3);
    assert!(
        tree.header().json().contains(r#""provider":"x""#),
        "unknown fields stay"
    );
    assert_eq!(texts(tree.entries()), ["one", "two", "", "three"]);
    assert_eq!(
        tree.entries()[..3],
        before.entries,
        "ids are the ones a look showed"
    );
    assert!(
        tree.entries()[0].json().contains("1.50"),
        "numbers keep their text"
    );
    let sources: Vec<_> = tree
        .context()
        .unwrap()
        .source_entry_ids()
        .cloned()
        .collect();
    let ids: Vec<_> = tree
        .entries()
        .iter()
        .map(|entry| entry.id().clone())
        .collect();
    assert_eq!(sources, [ids[2].clone(), ids[1].clone(), ids[3].clone()]);
}

#[tokio::test]
async fn a_backup_is_never_overwritten() {
    let files = Files::new();
    files.put("old.jsonl", V1);
    files.put("old.jsonl.v1.bak", "precious");
    files
        .open()
        .append_entry(&SessionId::new("old"), user("three"))
        .await
        .unwrap();
    let kept = std::fs::read_to_string(files.dir.path().join("old.jsonl.v1.bak")).unwrap();
    assert_eq!(kept, "precious");
    let second = std::fs::read_to_string(files.dir.path().join("old.jsonl.v1.bak2")).unwrap();
    assert_eq!(second, V1);
}

/// Of a version that does not exist yet, with lines that only it understands.
const V9: &str = concat!(
    r#"{"type":"session","version":9,"id":"new","timestamp":"2027-01-01T00:00:00.000Z","cwd":"/srv/app"}"#,
    "\n",
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2027-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
    "\n",
    r#"{"type":"thought","timestamp":"2027-01-01T00:00:02.000Z"}"#,
    "\n",
    r#"{"type":"message","id":"b","parentId":"a","timestamp":"2027-01-01T00:00:03.000Z","message":{"role":"user","content":"two"}}"#,
);

#[tokio::test]
async fn a_file_of_a_newer_version_is_read_and_never_written() {
    let files = Files::new();
    let path = files.put("new.jsonl", V9);
    let session = SessionId::new("new");
    let provider = files.open();
    let tree = provider.load_tree(&session).await.unwrap();
    assert_eq!(texts(tree.entries()), ["one", "", "two"]);
    assert_eq!(tree.header().version(), 9);

    let leaf = EntryId::new("a");
    let in_flight = InFlightEntry {
        id: EntryId::new("c"),
        parent_id: Some(leaf.clone()),
        message: raw_json(&serde_json::json!({"role": "assistant", "content": []})),
    };
    let title = SessionPatch {
        title: Some("t".to_owned()),
        ..SessionPatch::default()
    };
    let metadata = SessionPatch {
        metadata_changes: vec![MetadataChange::set(["k"], 1.into())],
        ..SessionPatch::default()
    };
    let refused = [
        provider.append_entry(&session, user("three")).await.err(),
        provider.move_leaf(&session, Some(&leaf)).await.err(),
        provider.update_session(&session, title).await.err(),
        provider.update_session(&session, metadata).await.err(),
        provider
            .update_in_flight_entry(&session, in_flight)
            .await
            .err(),
        provider.take_over(&session).await.err(),
        provider.delete_session(&session).await.err(),
        provider
            .create_branched_session(&session, &leaf, SessionId::new("fork"))
            .await
            .err(),
    ];
    for error in refused {
        let error = error.expect("a newer file is not written");
        assert!(
            matches!(
                error,
                SessionError::NewerFormat {
                    found: 9,
                    supported: 3,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("update NetaClaw"), "{error}");
    }
    provider.release(&session).await.unwrap();
    drop(provider);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), V9);
    let names = names_in(files.dir.path());
    let own: Vec<_> = names
        .iter()
        .filter(|name| name.starts_with("new"))
        .collect();
    assert_eq!(own, ["new.jsonl"], "neither a lock nor a backup is left");
}
