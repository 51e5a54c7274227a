//! Old files: read as they are, rewritten at the first write, with the old one kept.

use super::{Files, names_in, texts, user};
use netaclaw_session::{SessionId, SessionTreeProvider};

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
