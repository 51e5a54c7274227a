//! Nothing that a session file can say is lost, and it means the same in every provider.

use super::ContractHarness;
use super::random::{random_log, random_steps};
use super::subject::{Subject, parse, session_text, user_message};
use crate::{
    EntryId, PathError, SessionError, SessionTree, build_session_context, group_children_by_parent,
};

/// Lines that a program which takes JSON apart and writes it again would change.
const FOREIGN: &[&str] = &[
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1},"x":{"b":1.0,"a":1e5,"c":12345678901234567890,"d":-0,"e":1E+2}}"#,
    r#"{ "timestamp" : "2026-01-01T00:00:02.000Z" , "message" : {"content":[{"type":"text","text":"two"}],"role":"assistant","z":{"z":1,"a":2}} , "parentId" : "a" , "id" : "b" , "type" : "message" }"#,
    r#"{"type":"hologram","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","depth":3.10}"#,
    r#"{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"lone \ud83d and \udc00, \u0000, \/ and \u00e9"}}"#,
    "{\"type\":\"message\",\"id\":\"e\",\"parentId\":\"d\",\"timestamp\":\"2026-01-01T00:00:05.000Z\",\"message\":{\"role\":\"user\",\"content\":\"a\u{2028}b\u{2029}c\u{85}d 😀\u{10ffff}\"}}",
    r#"{"type":"custom","id":"f","parentId":"e","timestamp":"2026-01-01T00:00:06.000Z","customType":"deep","data":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
    r#"{"type":"message","id":"g","parentId":"f","timestamp":"not a time","message":{"role":"user","content":"seven"},"message":{"role":"user","content":"the later one counts"}}"#,
    r#"{"type":"compaction","id":"h","parentId":"g","timestamp":"2026-01-01T00:00:08.000Z","summary":5,"firstKeptEntryId":["d"],"tokensBefore":"many","details":1.50}"#,
    r#"{"type":"label","id":"i","parentId":"h","timestamp":"2026-01-01T00:00:09.000Z","targetId":"nobody","label":"x"}"#,
    r#"{"type":"message","id":"an id that is longer than the eight digits that a program of today would make for an entry of its own, with spaces and #2 ","parentId":"h","timestamp":"2026-01-01T00:00:10.000Z","message":{"role":"user","content":"ten"}}"#,
    r#"{"type":"message","id":"A","parentId":"a","timestamp":"2026-01-01T00:00:11.000Z","message":null}"#,
    r#"{"type":7,"id":"a ","parentId":"A","timestamp":null}"#,
    r#"{"id":"","parentId":"a "}"#,
    r#"{"type":"message","id":"z","parentId":"a ","timestamp":"2026-01-01T00:00:12.000Z","message":{"role":"user","content":"last"}}"#,
];

const DUPLICATES: &[&str] = &[
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first a"}}"#,
    r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"b"}}"#,
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"second a"}}"#,
    r#"{"type":"message","id":"a","parentId":"lost","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"third a"}}"#,
    r#"{"type":"message","id":"a#2","parentId":"b","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"user","content":"not a double"}}"#,
    r#"{"type":"message","id":"o","parentId":"gone","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"user","content":"an orphan"}}"#,
    r#"{"type":"label","id":"l","parentId":"o","timestamp":"2026-01-01T00:00:07.000Z","targetId":"a","label":"which?"}"#,
];

const CIRCLES: &[&str] = &[
    r#"{"type":"message","id":"self","parentId":"self","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"me"}}"#,
    r#"{"type":"message","id":"x","parentId":"y","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"x"}}"#,
    r#"{"type":"message","id":"y","parentId":"x","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"y"}}"#,
];

/// Imports a text, and finds the same entries, leaf, children, labels and contexts in the
/// provider as in the text itself, before and after a restart.
async fn same_as_the_text<'h>(harness: &'h dyn ContractHarness, text: &str) -> Subject<'h> {
    let pure = SessionTree::new(parse(text));
    let subject = Subject::import(harness, text).await;
    assert_same(&pure, subject.tree().await.as_ref());
    let subject = subject.restart().await;
    assert_same(&pure, subject.tree().await.as_ref());
    subject
}

#[track_caller]
fn assert_same(pure: &SessionTree, stored: &SessionTree) {
    assert_eq!(stored.header(), pure.header());
    assert_eq!(stored.entries(), pure.entries());
    assert_eq!(stored.leaf(), pure.leaf());
    assert_eq!(stored.labels(), pure.labels());
    assert_eq!(stored.name(), pure.name());
    assert_eq!(
        group_children_by_parent(stored.entries(), stored.index()),
        group_children_by_parent(pure.entries(), pure.index())
    );
    let leaves = pure.entries().iter().map(|entry| Some(entry.id()));
    for leaf in leaves.chain([None]) {
        assert_eq!(context(stored, leaf), context(pure, leaf));
    }
}

/// The context at a leaf as the bytes that a client would get.
fn context(tree: &SessionTree, leaf: Option<&EntryId>) -> Result<String, PathError> {
    build_session_context(tree, leaf).map(|context| serde_json::to_string(&context).unwrap())
}

pub(super) async fn foreign_entries_survive_byte_for_byte(harness: &dyn ContractHarness) {
    let text = session_text("foreign", FOREIGN);
    let subject = same_as_the_text(harness, &text).await;
    let stored: Vec<String> = subject
        .entries()
        .await
        .iter()
        .map(|entry| entry.json().to_owned())
        .collect();
    assert_eq!(stored, FOREIGN);
    let next = subject.user("next").await;
    assert_eq!(
        subject.entries().await[..FOREIGN.len()],
        parse(&text).entries
    );
    assert_eq!(subject.leaf().await, Some(next));
}

pub(super) async fn duplicate_ids_and_orphans_stay(harness: &dyn ContractHarness) {
    let text = session_text("doubles", DUPLICATES);
    let subject = same_as_the_text(harness, &text).await;
    assert_eq!(subject.path().await, [EntryId::new("o")]);
    subject.switch(&"a".into()).await;
    let next = subject.user("next").await;
    assert_eq!(subject.path().await, ["a".into(), next]);
    assert_eq!(subject.context().await, ["user: third a", "user: next"]);
}

pub(super) async fn circles_are_kept_and_end_in_typed_errors(harness: &dyn ContractHarness) {
    let text = session_text("circles", CIRCLES);
    let subject = same_as_the_text(harness, &text).await;
    let circle = SessionError::Path {
        session: subject.id.clone(),
        source: PathError::Cycle("y".into()),
    };
    super::subject::refused(subject.provider.get_active_path(&subject.id).await, &circle);
    super::subject::refused(subject.provider.get_snapshot(&subject.id).await, &circle);
    subject.provider.reset_leaf(&subject.id).await.unwrap();
    subject.user("a way out").await;
    assert_eq!(subject.context().await, ["user: a way out"]);
}

pub(super) async fn entries_of_five_megabytes_are_ordinary(harness: &dyn ContractHarness) {
    let large = "0123456789 深😀".repeat(5 * 1024 * 1024 / 18);
    let line = format!(
        r#"{{"type":"message","id":"large","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{large}"}}}}"#
    );
    let text = session_text("large", &[line.as_str()]);
    let subject = Subject::import(harness, &text).await;
    subject
        .provider
        .append_message(&subject.id, user_message(&large))
        .await
        .unwrap();
    let entries = subject.entries().await;
    let subject = subject.restart().await;
    // Not assert_eq: a failure would print ten megabytes.
    assert!(subject.entries().await == entries);
    assert!(entries[0].json() == line);
    assert_eq!(entries.len(), 2);
}

pub(super) async fn ten_thousand_entries_are_ordinary(harness: &dyn ContractHarness) {
    let line = |at: usize| {
        let parent = match at {
            0 => "null".to_owned(),
            _ => format!(r#""{:08x}""#, at - 1),
        };
        format!(
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"message {at}"}}}}"#
        )
    };
    let lines: Vec<String> = (0..10_000).map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let subject = Subject::import(harness, &session_text("long", &lines)).await;
    for text in ["one", "two", "three"] {
        subject.user(text).await;
    }
    let snapshot = subject.snapshot().await;
    let length = |value: &serde_json::Value| value.as_array().unwrap().len();
    assert_eq!(length(&snapshot["entries"]), 10_003);
    assert_eq!(length(&snapshot["activePath"]), 10_003);
    assert_eq!(length(&snapshot["runtimeContext"]["messages"]), 10_003);
    assert_eq!(snapshot["session"]["messageCount"], 10_003);
    let ids: Vec<EntryId> = subject
        .entries()
        .await
        .iter()
        .map(|e| e.id().clone())
        .collect();
    assert_eq!(subject.path().await, ids);
    assert!(subject.restart().await.snapshot().await == snapshot);
}

pub(super) async fn contexts_are_those_of_the_pure_function(harness: &dyn ContractHarness) {
    let text = session_text(
        "contexts",
        &[
            r#"{"type":"model_change","id":"m","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","provider":"p","modelId":"m"}"#,
            r#"{"type":"message","id":"s","parentId":"m","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"system","content":"be kind"}}"#,
            r#"{"type":"message","id":"u","parentId":"s","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":null}}"#,
            r#"{"type":"message","id":"v","parentId":"u","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","content":[],"provider":"q","model":"n","stopReason":"error"}}"#,
            r#"{"type":"custom_message","id":"c","parentId":"v","timestamp":"2026-01-01T00:00:05.000Z","customType":"t","content":"hint","display":false,"details":{"k":1.0}}"#,
            r#"{"type":"context_edit","id":"e","parentId":"c","timestamp":"2026-01-01T00:00:06.000Z","targetId":"v","replacement":null}"#,
            r#"{"type":"compaction","id":"k","parentId":"e","timestamp":"2026-01-01T00:00:07.000Z","summary":"sum","firstKeptEntryId":"u","tokensBefore":12,"systemMessage":{"role":"system","content":"be kind"}}"#,
            r#"{"type":"branch_summary","id":"b","parentId":"k","timestamp":"2026-01-01T00:00:08.000Z","fromId":"x","summary":"left"}"#,
            r#"{"type":"branch_summary","id":"n","parentId":"b","timestamp":"2026-01-01T00:00:09.000Z","fromId":"x","summary":""}"#,
            r#"{"type":"compaction","id":"w","parentId":"n","timestamp":"2026-01-01T00:00:10.000Z","summary":"lost","firstKeptEntryId":"gone","tokensBefore":1}"#,
            r#"{"type":"thinking_level_change","id":"t","parentId":"u","timestamp":"2026-01-01T00:00:11.000Z","thinkingLevel":"low"}"#,
            r#"{"type":"session_info","id":"i","parentId":"t","timestamp":"2026-01-01T00:00:12.000Z","name":" named "}"#,
        ],
    );
    same_as_the_text(harness, &text).await;
}

pub(super) async fn random_trees_give_the_contexts_of_the_pure_function(
    harness: &dyn ContractHarness,
) {
    for seed in 1..=12 {
        let steps = random_steps(seed, 60);
        let text = random_log(&format!("random-{seed}"), &steps);
        same_as_the_text(harness, &text).await;
    }
}
