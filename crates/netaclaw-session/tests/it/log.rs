use crate::{HEADER, entry_line, ids, read};
use netaclaw_session::{
    Entry, LogError, MetaRecord, SessionLog, SessionStatus, SessionTree, encode_leaf_marker,
    encode_meta_record,
};
use serde_json::json;

const TIME: &str = "2026-01-01T00:00:02.000Z";

fn entry_ids(log: &SessionLog) -> String {
    ids(log.entries.iter().map(Entry::id))
}

#[test]
fn bad_lines_are_counted_and_cost_nothing_else() {
    let (a, b) = (entry_line("a . user a"), entry_line("b a user b"));
    let torn = &b[..b.len() / 2];
    let text = format!("\u{feff}{HEADER}\r\n\n{a}\r\nnot json\n[1]\nnull\n  \n{b}\n{torn}");
    let log = read(&text);
    assert_eq!(entry_ids(&log), "a b");
    assert_eq!(log.entries[0].json(), a);
    assert_eq!(log.skipped_lines, 4);
    assert!(!log.needs_migration);
}

#[test]
fn lines_end_at_line_feeds_only() {
    let odd = entry_line("a . user x\u{2028}y\u{2029}z\u{85}\u{b}");
    let log = read(&format!("{HEADER}\n{odd}"));
    assert_eq!(log.entries[0].json(), odd);
    assert_eq!(log.skipped_lines, 0);
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    let mut bytes = format!("{HEADER}\n{}\n", entry_line("a . user a?b")).into_bytes();
    let at = bytes.iter().rposition(|b| *b == b'?').unwrap();
    bytes[at] = 0xff;
    let log = SessionLog::parse(bytes).unwrap();
    let message = log.entries[0].message_json().unwrap();
    assert!(message.contains("a\u{fffd}b"), "{message}");
}

#[test]
fn a_text_without_a_header_is_no_session() {
    let parse = |text: &str| SessionLog::parse(text.as_bytes().to_vec()).unwrap_err();
    assert_eq!(parse(""), LogError::Empty);
    let no_header = |readable, unreadable| LogError::NoHeader {
        readable,
        unreadable,
    };
    assert_eq!(parse("\n \n"), no_header(0, 0));
    assert_eq!(parse("\0\0\0\0"), no_header(0, 1));
    let a = entry_line("a . user a");
    assert_eq!(parse(&format!("{a}\n{HEADER}")), no_header(2, 0));
    assert_eq!(parse(r#"{"type":"session","id":5}"#), no_header(1, 0));
}

#[test]
fn a_header_may_follow_junk_and_a_second_one_says_nothing() {
    let a = entry_line("a . user a");
    let log = read(&format!("junk\n{HEADER}\n{a}\n{HEADER}\n"));
    assert_eq!((entry_ids(&log).as_str(), log.skipped_lines), ("a", 1));
}

#[test]
fn leaf_markers_are_looked_through() {
    let lines = [
        HEADER.to_owned(),
        entry_line("a . user a"),
        entry_line("b a user b"),
        encode_leaf_marker(&"m1".into(), Some(&"a".into()), TIME),
        encode_leaf_marker(&"m2".into(), Some(&"m1".into()), TIME),
    ];
    let log = read(&lines.join("\n"));
    assert_eq!(
        (entry_ids(&log).as_str(), log.last.clone()),
        ("a b", Some("a".into()))
    );

    // What Pi appended below a marker becomes a child of the marker's target.
    let below = entry_line("c m2 user c");
    let log = read(&[&lines[..], &[below]].concat().join("\n"));
    assert_eq!(entry_ids(&log), "a b c");
    assert_eq!(log.entries[2].json(), entry_line("c a user c"));
    let tree = SessionTree::new(log);
    let path = tree.active_path().unwrap();
    assert_eq!(ids(path.into_iter().map(Entry::id)), "a c");

    let reset = encode_leaf_marker(&"m3".into(), None, TIME);
    let log = read(
        &[&lines[..], std::slice::from_ref(&reset)]
            .concat()
            .join("\n"),
    );
    assert_eq!(log.last, None);
    let below = entry_line("d m3 user d");
    let log = read(&[&lines[..], &[reset, below]].concat().join("\n"));
    assert_eq!(log.entries[2].json(), entry_line("d . user d"));
}

#[test]
fn meta_records_add_up_and_are_no_entries() {
    let record = |json| serde_json::from_value::<MetaRecord>(json).unwrap();
    let first = record(json!({"status": "archived", "agentId": "x"}));
    let second = record(json!({"status": "deleted", "metadata": {"k": 1}}));
    let leaf = Some("a".into());
    let lines = [
        HEADER.to_owned(),
        entry_line("a . user a"),
        encode_meta_record(&"m1".into(), leaf.as_ref(), TIME, &first),
        encode_meta_record(&"m2".into(), leaf.as_ref(), TIME, &second),
    ];
    let log = read(&lines.join("\n"));
    assert_eq!((entry_ids(&log).as_str(), log.last), ("a", leaf));
    let expected = MetaRecord {
        status: Some(SessionStatus::Deleted),
        agent_id: Some("x".to_owned()),
        metadata: Some(json!({"k": 1}).as_object().unwrap().clone().into()),
        changes: Vec::new(),
    };
    assert_eq!(log.meta, expected);
}

#[test]
fn a_member_of_a_meta_record_that_is_not_understood_costs_only_itself() {
    let header = HEADER.replace("}", r#","metadata":{"old":1,"kept":2}}"#);
    let data = r#"{"status":"of tomorrow","agentId":"x","changes":[{"at":["old"]},{"at":["new"],"is":{"n":null}}]}"#;
    let line = format!(
        r#"{{"type":"custom","customType":"netaclaw.meta","data":{data},"id":"m","parentId":null,"timestamp":"{TIME}"}}"#
    );
    let log = read(&[header, line].join("\n"));
    assert_eq!(
        (log.meta.status, log.meta.agent_id.as_deref()),
        (None, Some("x"))
    );
    let metadata = serde_json::to_value(log.meta.metadata).unwrap();
    assert_eq!(metadata, json!({"kept": 2, "new": {"n": null}}));
}

#[test]
fn a_compaction_that_keeps_from_a_marker_on_keeps_from_the_entry_below_it() {
    let text = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/"}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"a"}}"#,
        r#"{"type":"custom","customType":"netaclaw.leaf","id":"m","parentId":"a"}"#,
        r#"{"type":"custom","customType":"netaclaw.leaf","id":"n","parentId":"m"}"#,
        r#"{"type":"message","id":"b","parentId":"n","message":{"role":"user","content":"b"}}"#,
        r#"{"type":"compaction","id":"c","parentId":"b","summary":"s","firstKeptEntryId":"m","tokensBefore":1}"#,
    ]
    .join("\n");
    let tree = netaclaw_session::SessionTree::new(
        netaclaw_session::SessionLog::parse(text.into_bytes()).unwrap(),
    );
    let context = tree.context().unwrap();
    let sources: Vec<_> = context.source_entry_ids().map(|id| id.as_str()).collect();
    assert_eq!(sources, ["c", "b"]);
}
