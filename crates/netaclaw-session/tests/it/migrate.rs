use crate::{HEADER, entry_line, read};
use netaclaw_session::{EntryId, EntryKind, SessionTree};

const V1: &str = r#"{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv","provider":"p"}"#;
const V2: &str = r#"{"type":"session","version":2,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/srv"}"#;

fn user(text: &str) -> String {
    format!(
        r#"{{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

/// Migrates a version 1 text and gives its entries as they are then.
fn migrated(lines: &[&str]) -> Vec<String> {
    let log = read(&[&[V1], lines].concat().join("\n"));
    assert!(log.needs_migration);
    assert_eq!(log.header.json(), V1.replace('}', r#","version":3}"#));
    log.entries
        .iter()
        .map(|entry| entry.json().to_owned())
        .collect()
}

#[test]
fn version_1_becomes_a_chain_and_nothing_else_changes() {
    let odd = r#"{"type":"custom", "x":1.0 ,"id":"mine","parentId":"elsewhere"}"#;
    assert_eq!(
        migrated(&[&user("one"), odd]),
        [
            user("one").replace("}}", r#"},"id":"00000001","parentId":null}"#),
            odd.replace("mine", "00000002")
                .replace("elsewhere", "00000001"),
        ]
    );
}

#[test]
fn migrating_twice_gives_the_same_ids() {
    let text = [V1, &user("one"), &user("two")].join("\n");
    assert_eq!(read(&text).entries, read(&text).entries);
}

#[test]
fn a_first_kept_index_counts_readable_lines_with_the_header_as_number_0() {
    let kept = |index: &str| {
        let compaction = format!(
            r#"{{"type":"compaction","timestamp":"T","summary":"s","firstKeptEntryIndex":{index},"tokensBefore":1}}"#
        );
        let entries = migrated(&[
            &user("one"),
            "bad line",
            V1,
            &user("two"),
            &compaction,
            &user("later"),
        ]);
        let ids = r#""id":"00000004","parentId":"00000003""#;
        let plain = compaction.replace(&format!(r#""firstKeptEntryIndex":{index},"#), "");
        entries[2]
            .strip_prefix(plain.strip_suffix('}').unwrap())
            .map(|rest| rest.replace(ids, "").replace([',', '}'], ""))
            .unwrap_or_else(|| entries[2].clone())
    };
    assert_eq!(kept("1"), r#""firstKeptEntryId":"00000001""#);
    assert_eq!(kept("3"), r#""firstKeptEntryId":"00000003""#);
    assert_eq!(kept("3.0"), r#""firstKeptEntryId":"00000003""#);
    // Itself: its own new id, which keeps nothing.
    assert_eq!(kept("4"), r#""firstKeptEntryId":"00000004""#);
    // The header, a repeated header, a later entry and nothing: the index goes all the same.
    for nothing in ["0", "2", "5", "99", "-1", "1.5"] {
        assert_eq!(kept(nothing), "", "{nothing}");
    }
    // A value that is not a number stays as it is.
    for odd in [r#""1""#, "null"] {
        assert!(
            kept(odd).contains(&format!(r#""firstKeptEntryIndex":{odd}"#)),
            "{odd}"
        );
    }
}

#[test]
fn a_migrated_compaction_keeps_what_it_kept() {
    let compaction =
        r#"{"type":"compaction","summary":"s","firstKeptEntryIndex":2,"tokensBefore":1}"#;
    let text = [V1, &user("one"), &user("two"), compaction, &user("three")].join("\n");
    let tree = SessionTree::new(read(&text));
    let context = tree.context().unwrap();
    let sources: Vec<&str> = context.source_entry_ids().map(EntryId::as_str).collect();
    assert_eq!(sources, ["00000003", "00000002", "00000004"]);
}

#[test]
fn version_2_calls_hook_messages_custom() {
    let hook = entry_line("a . user x").replace("\"user\"", "\"hookMessage\"");
    let inside = entry_line("b a user hookMessage");
    let log = read(&[V2, &hook, &inside].join("\n"));
    assert!(log.needs_migration);
    assert_eq!(log.entries[0].json(), hook.replace("hookMessage", "custom"));
    assert_eq!(log.entries[1].json(), inside);
    // A version 1 file takes both steps.
    assert_eq!(
        migrated(&[&user("x").replace("\"user\"", "\"hookMessage\"")])[0],
        user("x")
            .replace("\"user\"", "\"custom\"")
            .replace("}}", r#"},"id":"00000001","parentId":null}"#)
    );
}

#[test]
fn version_3_and_later_ones_are_left_alone() {
    let hook = entry_line("a . user x").replace("\"user\"", "\"hookMessage\"");
    for header in [HEADER, &HEADER.replace(":3", ":7")] {
        let log = read(&[header, &hook].join("\n"));
        assert!(!log.needs_migration);
        assert_eq!(
            (log.header.json(), log.entries[0].json()),
            (header, hook.as_str())
        );
    }
}

#[test]
fn entries_without_ids_under_a_new_header_are_named_by_their_lines() {
    // Pi makes such files when it forks one of version 1.
    let text = [
        HEADER,
        &user("one"),
        &entry_line("a . user a"),
        &user("two"),
    ]
    .join("\n");
    let log = read(&text);
    assert!(log.needs_migration);
    let shown: Vec<String> = log
        .entries
        .iter()
        .map(|entry| {
            assert_eq!(entry.kind(), EntryKind::Message);
            format!(
                "{}<{}",
                entry.id(),
                entry.parent_id().map_or(".", EntryId::as_str)
            )
        })
        .collect();
    assert_eq!(shown, ["line-2<.", "a<.", "line-4<a"]);
}
