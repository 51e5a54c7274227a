use crate::session;
use netaclaw_session::build_session_context;
use serde_json::{Value, json};

/// Checks the messages at the last entry, each given as `source role text`.
#[track_caller]
fn check(lines: &[&str], expected: &[&str]) {
    let tree = session(lines);
    let leaf = tree.entries().last().map(|entry| entry.id());
    let context = build_session_context(&tree, leaf).unwrap();
    let context = serde_json::to_value(&context).unwrap();
    let messages = context["messages"].as_array().unwrap();
    let sources = context["sourceEntryIds"].as_array().unwrap();
    let found: Vec<String> = messages
        .iter()
        .zip(sources)
        .map(|(message, source)| {
            let text = match (&message["content"], &message["summary"]) {
                (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
                (content, _) => content[0]["text"].as_str().unwrap_or_default().to_owned(),
            };
            let (source, role) = (source.as_str().unwrap(), message["role"].as_str().unwrap());
            format!("{source} {role} {text}")
        })
        .collect();
    assert_eq!(found, expected);
}

/// The whole context at the last entry.
fn context(lines: &[&str]) -> Value {
    let tree = session(lines);
    let leaf = tree.entries().last().map(|entry| entry.id());
    serde_json::to_value(build_session_context(&tree, leaf).unwrap()).unwrap()
}

#[test]
fn without_a_compaction_every_message_on_the_path_speaks() {
    check(
        &[
            "a . user one",
            "b a assistant two",
            "x a user elsewhere",
            "c b level high",
            "d c hint three",
            "e d summary left",
            "f e summary",
            "g f hologram",
            "h g label a x",
            "i h name n",
            "j i user last",
        ],
        &[
            "a user one",
            "b assistant two",
            "d custom three",
            "e branchSummary left",
            "j user last",
        ],
    );
}

#[test]
fn before_the_first_entry_there_is_nothing() {
    let tree = session(&["a . user one"]);
    let context = build_session_context(&tree, None).unwrap();
    assert_eq!(
        serde_json::to_value(&context).unwrap(),
        json!({"messages": [], "thinkingLevel": "off", "model": null, "sourceEntryIds": []})
    );
}

#[test]
fn the_last_compaction_on_the_path_counts_and_older_ones_are_silent() {
    let lines = [
        "a . user a",
        "b a user b",
        "c b compaction b first",
        "d c user d",
        "e d user e",
        "f e compaction b second",
        "g f user g",
    ];
    check(
        &lines[..4],
        &["c compactionSummary first", "b user b", "d user d"],
    );
    check(
        &lines,
        &[
            "f compactionSummary second",
            "b user b",
            "d user d",
            "e user e",
            "g user g",
        ],
    );
}

#[test]
fn a_compaction_keeps_from_a_position_on_the_path_before_it() {
    let kept_from = |first: &str| {
        let compaction = format!("k c compaction {first} sum");
        let lines = [
            "a . user a",
            "l a label a x",
            "b l user b",
            "x a user x",
            "c b user c",
            &compaction,
            "d k user d",
        ];
        let context = context(&lines);
        let ids = context["sourceEntryIds"].as_array().unwrap();
        ids.iter()
            .map(|id| id.as_str().unwrap())
            .collect::<Vec<_>>()
            .join("")
    };
    assert_eq!(kept_from("a"), "kabcd");
    assert_eq!(kept_from("l"), "kbcd");
    assert_eq!(kept_from("c"), "kcd");
    // Its own id, an entry of another branch, a later one and an unknown one: nothing is kept.
    for nothing in ["k", "x", "d", "missing"] {
        assert_eq!(kept_from(nothing), "kd", "{nothing}");
    }
}

#[test]
fn a_compaction_that_lost_its_place_is_reported_and_one_that_keeps_nothing_is_not() {
    let broken = |first: &str| {
        let tree = session(&["a . user a", &format!("k a compaction {first} sum")]);
        tree.context().unwrap().broken_compaction
    };
    assert_eq!(broken("gone"), Some("k".into()));
    assert_eq!(broken("k"), None);
    assert_eq!(broken("a"), None);
}

#[test]
fn settings_count_over_the_whole_path() {
    let lines = [
        "l . level high",
        "m l model p1 m1",
        "a m user a",
        "k a compaction k sum",
        "b k user b",
    ];
    let found = context(&lines);
    assert_eq!(found["thinkingLevel"], "high");
    assert_eq!(found["model"], json!({"provider": "p1", "modelId": "m1"}));
    // An answer names its model too, also one that failed.
    let failed = r#"{"type":"message","id":"f","parentId":"b","message":{"role":"assistant","content":[],"provider":"p2","model":"m2","stopReason":"aborted"}}"#;
    let found = context(&[&lines[..], &[failed]].concat());
    assert_eq!(found["model"], json!({"provider": "p2", "modelId": "m2"}));
}

#[test]
fn system_messages_before_a_compaction_are_carried_by_it() {
    let compaction = r#"{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:01.000Z","summary":"sum","firstKeptEntryId":"s","tokensBefore":1,"systemMessage":{"role":"system","content":"carried"}}"#;
    let lines = [
        "s . system old",
        "a s user a",
        "b a system newer",
        compaction,
        "c k system after",
        "d c user d",
    ];
    check(&lines[..3], &["s system old", "a user a", "b system newer"]);
    check(
        &lines,
        &[
            "k system carried",
            "k compactionSummary sum",
            "a user a",
            "c system after",
            "d user d",
        ],
    );
    let null = compaction.replace(r#"{"role":"system","content":"carried"}"#, "null");
    check(
        &["s . system old", "a s user a", "b a user b", &null],
        &["k compactionSummary sum", "a user a", "b user b"],
    );
}

#[test]
fn the_last_edit_among_the_selected_entries_counts() {
    check(
        &["a . user a", "b a user b", "c b omit a", "d c user d"],
        &["b user b", "d user d"],
    );
    check(
        &["a . user a", "c a omit a", "d c edit a new", "e d user e"],
        &["a user new", "e user e"],
    );
    check(&["a . hint a", "b a edit a new"], &["a custom new"]);
    // An edit on another branch, and one that a compaction left behind, have no effect.
    check(
        &["a . user a", "c a omit a", "b a user b"],
        &["a user a", "b user b"],
    );
    check(
        &[
            "x . user x",
            "e x omit b",
            "b e user b",
            "k b compaction b sum",
        ],
        &["k compactionSummary sum", "b user b"],
    );
}

#[test]
fn null_content_becomes_empty_and_stays_null_in_the_entry() {
    let message = |role: &str| {
        let line = format!(
            r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"{role}","content":null,"x":1.0}}}}"#
        );
        let tree = session(&[&line]);
        assert_eq!(tree.entries()[0].json(), line);
        let context = tree.context().unwrap();
        context.messages[0].json().into_owned()
    };
    assert_eq!(message("user"), r#"{"role":"user","content":[],"x":1.0}"#);
    assert_eq!(
        message("system"),
        r#"{"role":"system","content":"","x":1.0}"#
    );
}

#[test]
fn messages_made_from_entries_keep_their_fields_as_written() {
    let hint = r#"{"type":"custom_message","customType":"t","content":[{"type":"text","text":"x"}],"display":true,"details":{"n":1.0},"id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z"}"#;
    let summary = r#"{"type":"branch_summary","id":"b","parentId":"a","timestamp":"bad","fromId":"r","summary":"s"}"#;
    let compaction = r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:01.000Z","summary":"s","firstKeptEntryId":"a","tokensBefore":1e3}"#;
    let tree = session(&[hint, summary, compaction]);
    let context = tree.context().unwrap();
    let messages: Vec<_> = context.messages.iter().map(|m| m.json()).collect();
    assert_eq!(
        messages,
        [
            r#"{"role":"compactionSummary","summary":"s","tokensBefore":1e3,"timestamp":1767225601000}"#,
            r#"{"role":"custom","customType":"t","content":[{"type":"text","text":"x"}],"display":true,"details":{"n":1.0},"timestamp":1767225601000}"#,
            r#"{"role":"branchSummary","summary":"s","fromId":"r","timestamp":null}"#,
        ]
    );
}

#[test]
fn a_message_entry_without_a_message_is_silent() {
    check(
        &[
            "a . user a",
            r#"{"type":"message","id":"b","parentId":"a"}"#,
            r#"{"type":"message","id":"c","parentId":"b","message":"text"}"#,
            "d c user d",
        ],
        &["a user a", "d user d"],
    );
}

#[test]
fn a_context_holds_no_process_events_and_nothing_about_subagents() {
    let details = json!({
        "route": "main", "processEvents": [{"message": "step"}], "processLogRef": {"id": "x"},
        "latestProcessEvent": {"message": "step"}, "exitCode": 1.0, "processEventCount": 3,
        "processEventsDropped": 1,
    });
    let result = json!({
        "type": "message", "id": "b", "parentId": "a", "timestamp": "T", "message": {
            "role": "toolResult", "toolCallId": "c", "details": details,
            "metadata": {"subagentProjection": {}, "kept": [1]},
            "content": [{"type": "text", "text": "\"processEvents\" is a word"}],
        },
    });
    let lines = ["a . user a".to_owned(), result.to_string()];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let message = context(&lines)["messages"][1].clone();
    let mut expected = result["message"].clone();
    expected["details"] = json!({"route": "main", "exitCode": 1.0});
    expected["metadata"] = json!({"kept": [1]});
    assert_eq!(message, expected);
    assert!(
        session(&lines).entries()[1]
            .json()
            .contains("processLogRef"),
        "the entry is as it was stored"
    );
}
