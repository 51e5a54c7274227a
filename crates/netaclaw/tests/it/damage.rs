//! `verify`: what is wrong with a session, and that finding it changes nothing.

use crate::support::{SAMPLE_ID, Workspace, message, session};
use serde_json::Value;

fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["sessions"][0]["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect()
}

fn check(text: impl AsRef<[u8]>, code: i32, expected: &[&str]) {
    let workspace = Workspace::new();
    workspace.write("x.jsonl", text);
    let before = workspace.state();
    let ran = workspace.run("session verify x.jsonl --json");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, kinds(&report).as_slice()),
        (code, expected),
        "{}",
        ran.out
    );
    assert_eq!(workspace.run("session verify x.jsonl").code, code);
    assert!(workspace.state() == before);
}

#[test]
fn sound_sessions_and_remarks() {
    check(session("s", &[message("a", None, "x")]), 0, &[]);
    check(
        session("s", &[message("a", None, "x")]).trim_end(),
        0,
        &["no_last_line_break"],
    );
    check(
        "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"x\"}\n",
        0,
        &["old_version"],
    );
    check(
        "{\"type\":\"session\",\"version\":9,\"id\":\"s\"}\n",
        0,
        &["newer_version"],
    );
    check(
        "\u{feff}".to_owned() + &session("s", &[message("a", None, "x")]).replace('\n', "\r\n"),
        0,
        &[],
    );
}

#[test]
fn every_kind_of_damage() {
    let entry = |text: &str| session("s", &[text.to_owned()]);
    check("", 2, &["empty"]);
    check("prose\n", 2, &["no_header", "unreadable_lines"]);
    check(
        message("a", None, "x"),
        2,
        &["no_header", "no_last_line_break"],
    );
    check(entry("{broken"), 2, &["unreadable_lines"]);
    check(entry("\u{0}\u{0}\u{0}"), 2, &["unreadable_lines"]);
    check(
        session("s", &[]) + "{\"type\":\"mess",
        2,
        &["torn_tail", "unreadable_lines"],
    );
    check(entry(&message("a", Some("gone"), "x")), 2, &["orphans"]);
    check(
        session("s", &[message("a", None, "x"), message("a", None, "y")]),
        2,
        &["duplicate_ids"],
    );
    check(
        session(
            "s",
            &[message("a", Some("b"), "x"), message("b", Some("a"), "y")],
        ),
        2,
        &["circles"],
    );
    check(
        entry(r#"{"type":"message","id":"a","parentId":null}"#),
        2,
        &["missing_message"],
    );
    check(
        entry(
            r#"{"type":"compaction","id":"a","parentId":null,"summary":"s","firstKeptEntryId":"gone"}"#,
        ),
        2,
        &["missing_first_kept"],
    );
    check(
        entry(
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"toolResult","toolCallId":"c"}}"#,
        ),
        2,
        &["results_without_call"],
    );
    check(
        entry(r#"{"type":"custom","customType":"netaclaw.leaf","id":"a","parentId":"gone"}"#),
        2,
        &["missing_leaf"],
    );
    let mut bytes = session("s", &[message("a", None, "x")]).into_bytes();
    let at = bytes.len() - 30;
    bytes[at] = 0xff;
    check(bytes, 2, &["invalid_utf8"]);
}

#[test]
fn many_at_once_and_what_cannot_be_looked_at() {
    let workspace = Workspace::with_sample();
    workspace.write("bad.jsonl", session("bad", &["{broken".to_owned()]));
    let both = workspace.run("session verify sample.jsonl bad.jsonl");
    assert_eq!(both.code, 2);
    assert!(
        both.out.contains("1 ok, 1 damaged, 0 unreadable"),
        "{}",
        both.out
    );

    let ran = workspace.run("session verify bad.jsonl gone.jsonl sample.jsonl --json");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("gone.jsonl"), "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&report["sound"], &report["damaged"], &report["failed"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(report["sessions"].as_array().unwrap().len(), 3);
    assert_eq!(workspace.run("session verify nothing-like-it").code, 1);
}

#[test]
fn all_sessions_of_the_store_those_that_are_not_listed_included() {
    let workspace = Workspace::with_sample();
    workspace.out("session import sample.jsonl");
    assert_eq!(workspace.run("session verify --all").code, 0);
    assert_eq!(
        workspace.run(&format!("session verify {SAMPLE_ID}")).code,
        0
    );
    workspace.write(
        "home/.netaclaw/sessions/--srv-app--/lost.jsonl",
        "no header\n",
    );
    let ran = workspace.run("session verify --all");
    assert_eq!(ran.code, 2);
    assert!(
        ran.out.contains("lost.jsonl") && ran.out.contains("not a session header"),
        "{}",
        ran.out
    );
}
