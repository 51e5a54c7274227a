use crate::{call, call_in};
use netaclaw_tools::contract::context;
use netaclaw_tools::{ToolOutput, ToolRegistry, execute};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

async fn write(root: &Path, path: &str, content: &str) -> ToolOutput {
    call(root, "write", json!({"path": path, "content": content}))
        .await
        .output
}

#[track_caller]
fn check(output: &ToolOutput, is_error: bool, part: &str) {
    assert_eq!(output.is_error, is_error, "{output:?}");
    assert!(output.joined_text().contains(part), "{output:?}");
}

#[tokio::test]
async fn a_file_is_created_with_its_directories_and_replaced_with_a_diff() {
    let dir = tempfile::tempdir().unwrap();
    let output = write(dir.path(), "a/b/c.txt", "one\ntwo\n").await;
    check(&output, false, "Created `a/b/c.txt` (2 lines, 8 bytes).");
    let path = dir.path().join("a/b/c.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");

    let output = write(dir.path(), "a/b/c.txt", "one\n2\n").await;
    check(
        &output,
        false,
        "Replaced `a/b/c.txt` (+1 −1 lines, 6 bytes).",
    );
    assert_eq!(
        output.details,
        Some(json!({
            "path": "a/b/c.txt",
            "change": "replaced",
            "bytes": 6,
            "added": 1,
            "removed": 1,
            "firstLine": 2,
            "diff": "@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        }))
    );
    let output = write(dir.path(), "a/b/c.txt", "one\n2\n").await;
    check(&output, false, "already had this content");
    assert_eq!(names(&dir.path().join("a/b")), ["c.txt"]);
}

#[tokio::test]
async fn mode_and_links_stay_and_the_old_file_is_never_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.sh");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", dir.path().join("link")).unwrap();
    let before = fs::File::open(&path).unwrap();

    check(&write(dir.path(), "link", "new").await, false, "Replaced");
    assert!(
        fs::symlink_metadata(dir.path().join("link"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
    // A reader that had the old file open still has all of it.
    assert_eq!(std::io::read_to_string(before).unwrap(), "old");
}

#[tokio::test]
async fn what_is_no_file_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("f"), "f").unwrap();
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    for (path, part) in [
        ("d", "is a directory"),
        (".", "is a directory"),
        ("", "is a directory"),
        ("f/x", "is not a directory"),
        ("dangling", "does not exist"),
        ("pipe", "neither a file nor a directory"),
        ("a\0b", "cannot be opened"),
    ] {
        check(&write(dir.path(), path, "x").await, true, part);
    }
    assert!(!dir.path().join("nowhere").exists());
    assert_eq!(names(dir.path()), ["d", "dangling", "f", "pipe"]);
}

#[tokio::test]
async fn a_concurrent_change_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "mine").unwrap();
    let run = context(dir.path());
    let here = async |tool: &str, args: Value| call_in(run.clone(), tool, args).await.output;
    let new = json!({"path": "./a.txt", "content": "new"});

    here("read", json!({"path": "a.txt"})).await;
    fs::write(&path, "theirs, longer").unwrap();
    check(
        &here("write", new.clone()).await,
        true,
        "changed by another program or user",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs, longer");
    // Reading again is enough; and the run's own writes do not count as changes.
    here("read", json!({"path": "a.txt"})).await;
    check(&here("write", new).await, false, "Replaced");
    let again = json!({"path": "a.txt", "content": "newer"});
    check(&here("write", again).await, false, "Replaced");
    // An edit looks at the file as it is, so it needs no such rule.
    fs::write(&path, "theirs again").unwrap();
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "again", "new_text": "once more"}]});
    check(&here("edit", edit).await, false, "Edited");
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs once more");
}

#[tokio::test]
async fn files_that_cannot_be_compared_are_replaced_and_said_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("binary"), b"\0\x01\x02").unwrap();
    let huge = fs::File::create(dir.path().join("huge")).unwrap();
    huge.set_len(500 << 20).unwrap();
    fs::write(dir.path().join("dos"), "a\r\nb\r\n").unwrap();
    let output = write(dir.path(), "binary", "text").await;
    check(&output, false, "Replaced `binary` (4 bytes).");
    assert_eq!(output.details.unwrap().get("diff"), None);
    check(
        &write(dir.path(), "huge", "x").await,
        false,
        "Replaced `huge` (1 bytes).",
    );
    check(
        &write(dir.path(), "dos", "a\n").await,
        false,
        "ended with CRLF before",
    );
}

/// Concurrency is decided by the manifest; here the calls really run concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn even_at_once_every_file_is_one_of_the_whole_contents() {
    let dir = tempfile::tempdir().unwrap();
    let registry = std::sync::Arc::new(ToolRegistry::builtin());
    let contents: Vec<String> = (0..8).map(|n| format!("{n}\n").repeat(20_000)).collect();
    let jobs: Vec<_> = contents
        .iter()
        .map(|content| {
            let args = json!({"path": "same.txt", "content": content});
            let approved = netaclaw_tools::contract::approve(&registry, "write", args);
            let (registry, context) = (registry.clone(), context(dir.path()));
            tokio::spawn(async move { execute(&registry, approved, context).await })
        })
        .collect();
    let mut written = 0;
    for job in jobs {
        let output = job.await.unwrap().output;
        written += usize::from(!output.is_error);
    }
    assert!(written > 0);
    let text = fs::read_to_string(dir.path().join("same.txt")).unwrap();
    assert!(
        contents.contains(&text),
        "a mixture of {} bytes",
        text.len()
    );
    assert_eq!(names(dir.path()), ["same.txt"], "no temporary file stays");
}

#[tokio::test]
async fn calls_of_one_answer_keep_their_order() {
    let registry = ToolRegistry::builtin();
    for name in ["write", "edit"] {
        let catalogue = registry.catalogue();
        let manifest = catalogue.iter().find(|tool| tool.name == name).unwrap();
        assert_eq!(
            manifest.concurrency,
            netaclaw_governance::Concurrency::Exclusive
        );
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
