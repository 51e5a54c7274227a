use crate::{call, call_in};
use netaclaw_protocol::ContentBlock;
use netaclaw_tools::contract::context;
use netaclaw_tools::{ImageUse, ToolContext};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[track_caller]
fn check_text(output: &netaclaw_tools::ToolOutput, is_error: bool, expected: &str) {
    assert_eq!(
        (output.joined_text().as_str(), output.is_error),
        (expected, is_error)
    );
}

async fn read(root: &Path, args: Value) -> netaclaw_tools::ToolOutput {
    call(root, "read", args).await.output
}

#[tokio::test]
async fn text_comes_with_numbers_and_a_way_on() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    let output = read(dir.path(), json!({"path": "a.txt"})).await;
    check_text(&output, false, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let output = read(
        dir.path(),
        json!({"path": "a.txt", "offset": 2, "limit": 1}),
    )
    .await;
    check_text(
        &output,
        false,
        "     2\ttwo\n[Lines 2 to 2 of 3. Continue with offset=3.]\n",
    );
    assert_eq!(
        output.details,
        Some(json!({"path": "a.txt", "bytes": 14, "firstLine": 2, "lines": 1, "totalLines": 3}))
    );
    let output = read(dir.path(), json!({"path": "a.txt", "offset": 9})).await;
    check_text(
        &output,
        true,
        "`a.txt` has only 3 lines; `offset` 9 is past its end.",
    );
}

#[tokio::test]
async fn a_long_file_is_read_in_parts_that_meet() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (1..=6000).map(|n| format!("line number {n}")).collect();
    fs::write(dir.path().join("long"), lines.join("\n")).unwrap();
    let (mut offset, mut seen) = (1, Vec::new());
    loop {
        let output = read(dir.path(), json!({"path": "long", "offset": offset})).await;
        let details = output.details.as_ref().unwrap();
        assert!(output.joined_text().len() <= 50 << 10);
        let text = output.joined_text();
        let shown = text
            .lines()
            .filter_map(|line| Some(line.split_once('\t')?.1.to_owned()));
        seen.extend(shown);
        offset += details["lines"].as_u64().unwrap();
        if offset > details["totalLines"].as_u64().unwrap() {
            break;
        }
    }
    assert_eq!(seen, lines);
}

#[tokio::test]
async fn binary_content_is_reported_and_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("binary"), b"\x7fELF\0\0\0").unwrap();
    fs::write(dir.path().join("wide"), b"\xff\xfeh\0i\0").unwrap();
    fs::write(dir.path().join("latin"), b"caf\xe9").unwrap();
    fs::write(dir.path().join("empty"), b"").unwrap();
    let text = async |path: &str| read(dir.path(), json!({ "path": path })).await;
    check_text(
        &text("binary").await,
        true,
        "`binary` is a binary file of 7 bytes and cannot be shown as text.",
    );
    check_text(
        &text("wide").await,
        true,
        "`wide` is UTF-16 text of 6 bytes and cannot be shown as text.",
    );
    check_text(
        &text("latin").await,
        false,
        "     1\tcaf\u{fffd}\n[The file is not valid UTF-8; invalid bytes are shown as \u{fffd}.]\n",
    );
    check_text(&text("empty").await, false, "(The file is empty.)");
    check_text(&text(".").await, true, "`.` is a directory, not a file.");
    check_text(
        &text("../x").await,
        true,
        "`../x` is outside of the workspace. Use only paths inside of it.",
    );
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";

#[tokio::test]
async fn pictures_are_shown_to_models_that_see() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.txt"), PNG).unwrap();
    let output = read(dir.path(), json!({"path": "p.txt"})).await;
    assert_eq!(
        output.content[1],
        ContentBlock::Image {
            data: "iVBORw0KGgowMDAw".into(),
            mime_type: "image/png".into()
        }
    );
    let blind = ToolContext {
        images: ImageUse::Unseen,
        ..context(dir.path())
    };
    let output = call_in(blind, "read", json!({"path": "p.txt"}))
        .await
        .output;
    check_text(
        &output,
        false,
        "An image (image/png, 12 bytes). The current model does not support images.",
    );

    let mut large = PNG.to_vec();
    large.resize(4_000_000, 0);
    fs::write(dir.path().join("large"), large).unwrap();
    let output = read(dir.path(), json!({"path": "large"})).await;
    assert!(output.is_error && output.joined_text().contains("too large"));
}

#[tokio::test]
async fn unreadable_input_is_refused_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let locked = dir.path().join("locked");
    fs::write(&locked, "text").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let output = read(dir.path(), json!({"path": "locked"})).await;
    match fs::read(&locked) {
        // An account that may read everything is not affected by permissions.
        Ok(_) => check_text(&output, false, "     1\ttext\n"),
        Err(_) => assert!(output.is_error, "{output:?}"),
    }
    // Opened like a file, a pipe would wait for a writer who never comes.
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), mode).unwrap();
    check_text(
        &read(dir.path(), json!({"path": "pipe"})).await,
        true,
        "`pipe` is neither a file nor a directory, and reading it might not end.",
    );
}

/// A sparse file has any size and costs nothing to make.
#[tokio::test]
async fn half_a_gigabyte_is_read_without_holding_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge");
    fs::write(&path, "first\n".repeat(3000)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(500 << 20).unwrap();
    let before = peak_memory_kb();
    let output = read(dir.path(), json!({"path": "huge", "limit": 2})).await;
    check_text(
        &output,
        false,
        "     1\tfirst\n     2\tfirst\n[Lines 1 to 2; many more follow. Continue with offset=3.]\n",
    );
    let output = read(dir.path(), json!({"path": "huge", "offset": 3000})).await;
    assert!(
        output.joined_text().contains("3001\t"),
        "the zeros are one long line"
    );
    assert!(peak_memory_kb() - before < 20_000);
}

/// The most memory this process ever had.
fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
