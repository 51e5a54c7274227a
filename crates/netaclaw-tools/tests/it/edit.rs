use crate::call;
use netaclaw_tools::ToolOutput;
use serde_json::json;
use std::fs;
use std::path::Path;

async fn edit(root: &Path, path: &str, old: &str, new: &str) -> ToolOutput {
    let args = json!({"path": path, "edits": [{"old_text": old, "new_text": new}]});
    call(root, "edit", args).await.output
}

#[track_caller]
fn check(output: &ToolOutput, is_error: bool, part: &str) {
    assert_eq!(output.is_error, is_error, "{output:?}");
    assert!(output.joined_text().contains(part), "{output:?}");
}

#[tokio::test]
async fn texts_are_replaced_and_the_change_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rs");
    fs::write(&path, "fn a() {}\nfn b() {}\nfn c() {}\n").unwrap();
    let args = json!({"path": "a.rs", "edits": [
        {"old_text": "fn a()", "new_text": "pub fn a()"},
        {"old_text": "fn c() {}\n", "new_text": ""},
    ]});
    let output = call(dir.path(), "edit", args).await.output;
    check(
        &output,
        false,
        "Edited `a.rs`: 2 replacements, +1 −2 lines, the first at line 1.",
    );
    assert_eq!(
        output.details,
        Some(json!({
            "path": "a.rs",
            "change": "edited",
            "bytes": 24,
            "replacements": 2,
            "added": 1,
            "removed": 2,
            "firstLine": 1,
            "diff": "@@ -1,3 +1,2 @@\n-fn a() {}\n+pub fn a() {}\n fn b() {}\n-fn c() {}\n",
        }))
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "pub fn a() {}\nfn b() {}\n"
    );
}

#[tokio::test]
async fn what_does_not_fit_changes_nothing_and_helps_on() {
    let dir = tempfile::tempdir().unwrap();
    let text = "if ready {\n\tstart();\n}\nif done {\n\tstart();\n}\n";
    fs::write(dir.path().join("a.c"), text).unwrap();
    check(
        &edit(dir.path(), "a.c", "start();", "stop();").await,
        true,
        "occurs 2 times, at line 2, 5.",
    );
    check(
        &edit(dir.path(), "a.c", "if ready {\n    start();\n}", "x").await,
        true,
        "The file contains it with different spaces or indentation, at line 1:\nif ready {\n\tstart();\n}\n Nothing was changed in `a.c`.",
    );
    check(&edit(dir.path(), "a.c", "", "x").await, true, "is empty");
    check(
        &edit(dir.path(), "b.c", "a", "x").await,
        true,
        "does not exist",
    );
    check(
        &edit(dir.path(), ".", "a", "x").await,
        true,
        "is a directory",
    );
    let output = call(dir.path(), "edit", json!({"path": "a.c", "edits": []})).await;
    assert!(output.output.is_error);
    assert_eq!(fs::read_to_string(dir.path().join("a.c")).unwrap(), text);
}

#[tokio::test]
async fn large_and_binary_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let huge = fs::File::create(dir.path().join("huge")).unwrap();
    huge.set_len(500 << 20).unwrap();
    fs::write(dir.path().join("binary"), b"a\0b").unwrap();
    check(
        &edit(dir.path(), "huge", "a", "b").await,
        true,
        "cannot be edited",
    );
    check(
        &edit(dir.path(), "binary", "a", "b").await,
        true,
        "not a text file",
    );
}

#[tokio::test]
async fn line_endings_and_mark_stay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dos.txt");
    fs::write(&path, "\u{feff}eins\r\nzwei\r\n").unwrap();
    let output = edit(dir.path(), "dos.txt", "eins\nzwei", "one\ntwo\nthree").await;
    check(&output, false, "+3 −2 lines");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "\u{feff}one\r\ntwo\r\nthree\r\n");
}
