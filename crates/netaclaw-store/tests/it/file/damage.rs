//! Damaged files: nothing readable is lost, nothing is overwritten, the next append is intact.

use super::{Files, answer, file_of, new_session, texts, user};
use netaclaw_session::{SessionError, SessionId, SessionTreeProvider};
use std::path::Path;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv/app"}"#;

fn line(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// What a session looks like before and after one more append.
#[derive(Debug, PartialEq)]
struct Outcome {
    texts: Vec<String>,
    skipped: u32,
}

/// Opens `bytes` as session `s1`, looks, appends "next" and looks again with a new provider.
/// Checks that nothing but whole lines was added to the file.
async fn append_to(bytes: &[u8]) -> (Outcome, Outcome) {
    let files = Files::new();
    let path = files.put("s1.jsonl", bytes);
    let session = SessionId::new("s1");
    let look = async |provider: &dyn SessionTreeProvider| {
        let tree = provider.load_tree(&session).await.unwrap();
        Outcome {
            texts: texts(tree.entries()),
            skipped: tree.skipped_lines(),
        }
    };
    let provider = files.open();
    let before = look(&provider).await;
    assert_eq!(
        std::fs::read(&path).unwrap(),
        bytes,
        "looking changes nothing"
    );
    provider.append_entry(&session, user("next")).await.unwrap();
    drop(provider);
    let after = look(&files.open()).await;
    assert!(
        std::fs::read(&path).unwrap().starts_with(bytes),
        "what was there stays"
    );
    (before, after)
}

async fn check(bytes: impl AsRef<[u8]>, texts: &[&str], skipped: u32) {
    let (before, after) = append_to(bytes.as_ref()).await;
    let mut expected: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(
        before,
        Outcome {
            texts: expected.clone(),
            skipped
        }
    );
    expected.push("next".to_owned());
    assert_eq!(
        after,
        Outcome {
            texts: expected,
            skipped
        }
    );
}

#[tokio::test]
async fn a_file_cut_at_any_byte_of_its_last_record() {
    let kept = format!("{HEADER}\n{}\n", line("a1", "null", "one"));
    let last = line("a2", r#""a1""#, "two 😀\u{2028}");
    for cut in 0..=last.len() {
        let bytes = [kept.as_bytes(), &last.as_bytes()[..cut]].concat();
        match cut {
            0 => check(bytes, &["one"], 0).await,
            // Only the newline is missing: the record is whole.
            cut if cut == last.len() => check(bytes, &["one", "two 😀\u{2028}"], 0).await,
            _ => check(bytes, &["one"], 1).await,
        }
    }
}

#[tokio::test]
async fn null_bytes_spoil_their_line_only() {
    let (one, two) = (line("a1", "null", "one"), line("a2", r#""a1""#, "two"));
    check(
        format!("{HEADER}\n{one}\n{}\n{two}\n", "\0".repeat(4096)),
        &["one", "two"],
        1,
    )
    .await;
    check(
        format!("{HEADER}\n{one}\n{two}\n{}", "\0".repeat(4096)),
        &["one", "two"],
        1,
    )
    .await;
}

#[tokio::test]
async fn invalid_utf8_is_shown_as_replacement_characters() {
    let mut bytes = format!("{HEADER}\n").into_bytes();
    bytes.extend(
        line("a1", "null", "on#e")
            .bytes()
            .map(|b| if b == b'#' { 0xff } else { b }),
    );
    bytes.extend(b"\n\xff\xfe\n");
    bytes.extend(line("a2", r#""a1""#, "two").bytes());
    check(bytes, &["on\u{fffd}e", "two"], 1).await;
}

#[tokio::test]
async fn line_ends_are_newlines_and_nothing_else() {
    let (one, two) = (
        line("a1", "null", "o\u{2028}n\u{2029}e"),
        line("a2", r#""a1""#, "two"),
    );
    check(
        format!("{HEADER}\r\n{one}\r\n\r\n{two}\r\n"),
        &["o\u{2028}n\u{2029}e", "two"],
        0,
    )
    .await;
}

#[tokio::test]
async fn a_byte_order_mark_is_looked_over() {
    check(
        format!("\u{feff}{HEADER}\n{}\n", line("a1", "null", "one")),
        &["one"],
        0,
    )
    .await;
}

#[tokio::test]
async fn garbage_between_good_lines_is_counted() {
    let (one, two) = (line("a1", "null", "one"), line("a2", r#""a1""#, "two"));
    let garbage = "{\"type\":\"mess\nplain text\nnull\n17\n\"text\"\n[1]\ntrue";
    check(
        format!("{HEADER}\n{one}\n{garbage}\n{two}\n"),
        &["one", "two"],
        7,
    )
    .await;
}

#[tokio::test]
async fn a_line_of_five_megabytes_is_a_line() {
    let long = "x".repeat(5 << 20);
    let text = format!(
        "{HEADER}\n{}\n{}\n",
        line("a1", "null", &long),
        line("a2", r#""a1""#, "two")
    );
    check(text, &[&long, "two"], 0).await;
}

#[tokio::test]
async fn a_file_without_a_header_is_reported_and_left_alone() {
    for bytes in [
        line("a1", "null", "one") + "\n",
        format!("{}\n{HEADER}\n", line("a1", "null", "one")),
        "not a session\n".to_owned(),
        "\n\n".to_owned(),
    ] {
        let files = Files::new();
        let path = files.put("2026-01-01T00-00-00-000Z_s1.jsonl", &bytes);
        let provider = files.open();
        let session = SessionId::new("s1");
        let error = provider
            .append_entry(&session, user("next"))
            .await
            .unwrap_err();
        assert!(matches!(error, SessionError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("s1"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bytes);
        assert_eq!(only_files(files.dir.path()), 1, "nothing is left beside it");
    }
}

#[tokio::test]
async fn an_empty_file_with_a_session_name_begins_anew() {
    let files = Files::new();
    files.put("2026-01-01T00-00-00-000Z_s1.jsonl", "");
    let session = SessionId::new("s1");
    files
        .open()
        .append_entry(&session, user("one"))
        .await
        .unwrap();
    let tree = files.open().load_tree(&session).await.unwrap();
    assert_eq!(texts(tree.entries()), ["one"]);
}

#[tokio::test]
async fn an_empty_file_of_another_name_is_no_session() {
    let files = Files::new();
    files.put("notes.jsonl", "");
    let error = files
        .open()
        .load_tree(&SessionId::new("notes"))
        .await
        .unwrap_err();
    assert!(matches!(error, SessionError::NotFound(_)), "{error}");
}

#[tokio::test]
async fn lines_that_another_program_appends_are_seen() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    let first = provider
        .append_entry(&session, answer("one"))
        .await
        .unwrap();
    let path = file_of(&provider, &session).await;
    let foreign = line("f0", &format!("{:?}", first.id().as_str()), "foreign") + "\n";
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(&foreign);
    std::fs::write(&path, text).unwrap();
    assert_eq!(
        texts(&provider.list_entries(&session).await.unwrap()),
        ["one", "foreign"]
    );
    provider.append_entry(&session, user("two")).await.unwrap();
    let tree = files.open().load_tree(&session).await.unwrap();
    assert_eq!(texts(tree.entries()), ["one", "foreign", "two"]);
    assert_eq!(tree.active_path().unwrap().len(), 3);
}

/// What a sync tool or a restored backup does: another file in the place of the one that is
/// written.
#[tokio::test]
async fn a_file_that_is_put_in_its_place_is_the_one_that_is_continued() {
    let files = Files::new();
    let provider = files.open();
    let session = new_session(&provider).await;
    provider.append_entry(&session, user("one")).await.unwrap();
    let path = file_of(&provider, &session).await;
    let copy = path.with_extension("copy");
    std::fs::copy(&path, &copy).unwrap();
    provider
        .append_entry(&session, user("lost with the file"))
        .await
        .unwrap();
    std::fs::rename(&copy, &path).unwrap();
    let tree = provider.load_tree(&session).await.unwrap();
    assert_eq!(tree.entries().len(), 1, "as it is in the new file");
    let added = provider.append_entry(&session, user("two")).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.lines().last().unwrap().contains(added.id().as_str()));
    drop(provider);
    let again = files.open().load_tree(&session).await.unwrap();
    assert_eq!(again.leaf(), Some(added.id()));
    assert_eq!(again.entries().len(), 2);
}

fn only_files(dir: &Path) -> usize {
    super::names_in(dir)
        .into_iter()
        .filter(|name| !name.starts_with("index.json"))
        .count()
}
