//! Creating a session and appending to it.

use super::ContractHarness;
use super::subject::{Subject, refused, shape, user_body, user_message};
use crate::{EntryBody, EntryId, NewEntry, RawJson, SessionError, raw_json};
use serde_json::json;

/// Text that has broken storage before: quotes, escapes, line separators, text outside the basic
/// plane, combining marks, right-to-left text, and characters that fold to others.
const UNRULY: &str =
    "a\"b\\c\n\t\u{0}\u{7f}\u{2028}\u{2029}é e\u{301} ß 深い 😀 👩‍👩‍👧 עברית \u{fffd}\u{10ffff} %_'`; ";

pub(super) async fn a_new_session_is_empty(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let snapshot = subject.snapshot().await;
    let session = snapshot["session"].clone();
    assert_eq!(
        snapshot,
        json!({
            "session": session,
            "entries": [],
            "activePath": [],
            "childrenByParentId": {},
            "labelsByEntryId": {},
            "runtimeContext": {"messages": [], "thinkingLevel": "off", "model": null, "sourceEntryIds": []},
            "skippedLines": 0,
        })
    );
    assert_eq!(subject.leaf().await, None);
}

pub(super) async fn appends_form_a_chain_and_move_the_leaf(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let answer = subject.answer("answer").await;
    let again = subject.user("again").await;
    assert_eq!(subject.leaf().await.as_ref(), Some(&again));
    assert_eq!(subject.path().await, [question.clone(), answer, again]);
    assert_eq!(
        subject.context().await,
        ["user: question", "assistant: answer", "user: again"]
    );
    assert_eq!(subject.meta().await.root_entry_id, Some(question));
}

pub(super) async fn every_kind_of_entry_is_written_in_its_form(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let (port, id) = (&subject.provider, &subject.id);
    let details = || Some(raw_json(&json!({"n": 1})));
    let first = subject.user("hello").await;
    port.append_thinking_level_change(id, "high").await.unwrap();
    port.append_model_change(id, "demo", "echo").await.unwrap();
    port.append_compaction(id, "so far", Some(first.clone()), 42, details())
        .await
        .unwrap();
    port.append_branch_summary(id, Some(&first), "left", details())
        .await
        .unwrap();
    port.append_custom(id, "note", Some(raw_json(&json!([1]))))
        .await
        .unwrap();
    port.append_custom_message(id, "hint", raw_json(&"look"), false, None)
        .await
        .unwrap();
    port.append_label_change(id, &first, Some("start"))
        .await
        .unwrap();
    port.append_session_info(id, " two\nlines ").await.unwrap();
    let batch = EntryBody::Other {
        type_name: "subagent_batch".to_owned(),
        fields: [("size".to_owned(), json!(2))].into_iter().collect(),
    };
    subject.append(NewEntry::at_leaf(batch)).await.unwrap();

    let entries = subject.entries().await;
    assert_eq!(
        shape(&entries),
        [
            r##"{"type":"message","id":"#1","parentId":null,"timestamp":"T","message":{"role":"user","content":"hello","timestamp":1}}"##,
            r##"{"type":"thinking_level_change","id":"#2","parentId":"#1","timestamp":"T","thinkingLevel":"high"}"##,
            r##"{"type":"model_change","id":"#3","parentId":"#2","timestamp":"T","provider":"demo","modelId":"echo"}"##,
            r##"{"type":"compaction","id":"#4","parentId":"#3","timestamp":"T","summary":"so far","firstKeptEntryId":"#1","tokensBefore":42,"details":{"n":1}}"##,
            r##"{"type":"branch_summary","id":"#5","parentId":"#1","timestamp":"T","fromId":"#4","summary":"left","details":{"n":1}}"##,
            r##"{"type":"custom","id":"#6","parentId":"#5","timestamp":"T","customType":"note","data":[1]}"##,
            r##"{"type":"custom_message","id":"#7","parentId":"#6","timestamp":"T","customType":"hint","content":"look","display":false}"##,
            r##"{"type":"label","id":"#8","parentId":"#7","timestamp":"T","targetId":"#1","label":"start"}"##,
            r##"{"type":"session_info","id":"#9","parentId":"#7","timestamp":"T","name":"two lines"}"##,
            r##"{"type":"subagent_batch","id":"#10","parentId":"#7","timestamp":"T","size":2}"##,
        ]
    );
    assert_eq!(subject.restart().await.entries().await, entries);
}

pub(super) async fn a_given_id_is_kept_and_a_taken_one_refused(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let id = EntryId::new("my-own-id");
    let new = || NewEntry::at_leaf(user_body("once")).with_id(id.clone());
    assert_eq!(subject.append(new()).await.unwrap().id(), &id);
    let before = subject.snapshot().await;
    let taken = SessionError::DuplicateEntry {
        session: subject.id.clone(),
        entry: id.clone(),
    };
    refused(subject.append(new()).await, &taken);
    assert_eq!(subject.snapshot().await, before);
    let subject = subject.restart().await;
    refused(subject.append(new()).await, &taken);
    assert_eq!(subject.snapshot().await, before);
}

pub(super) async fn an_unknown_parent_is_refused(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("question").await;
    let before = subject.snapshot().await;
    let missing = EntryId::new("missing");
    let new = NewEntry::below(Some(missing.clone()), user_body("lost"));
    refused(subject.append(new).await, &subject.error_for(&missing));
    assert_eq!(subject.snapshot().await, before);
}

pub(super) async fn an_append_that_expects_the_leaf_is_written(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let first = NewEntry::at_leaf(user_body("first")).expecting(None);
    let first = subject.append(first).await.unwrap();
    let second = NewEntry::at_leaf(user_body("second")).expecting(Some(first.id().clone()));
    let second = subject.append(second.flushed()).await.unwrap();
    assert_eq!(subject.entries().await, [first, second]);
}

pub(super) async fn an_append_that_expects_another_leaf_changes_nothing(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let first = subject.user("first").await;
    let second = subject.user("second").await;
    let before = subject.snapshot().await;
    for expected in [None, Some(first.clone()), Some(EntryId::new("missing"))] {
        let conflict = SessionError::LeafConflict {
            session: subject.id.clone(),
            expected: expected.clone(),
            actual: Some(second.clone()),
        };
        let below = NewEntry::below(Some(first.clone()), user_body("late"));
        let late = NewEntry::at_leaf(user_body("late"));
        refused(
            subject.append(late.expecting(expected.clone())).await,
            &conflict,
        );
        refused(subject.append(below.expecting(expected)).await, &conflict);
    }
    assert_eq!(subject.snapshot().await, before);
    assert_eq!(subject.restart().await.snapshot().await, before);
}

pub(super) async fn every_text_may_be_any_text(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let (port, id) = (&subject.provider, &subject.id);
    let raw = || -> RawJson { raw_json(&json!({UNRULY: UNRULY})) };
    let first = port
        .append_message(id, user_message(UNRULY))
        .await
        .unwrap()
        .id()
        .clone();
    port.append_thinking_level_change(id, UNRULY).await.unwrap();
    port.append_model_change(id, UNRULY, UNRULY).await.unwrap();
    port.append_compaction(id, UNRULY, Some(first.clone()), u64::MAX, Some(raw()))
        .await
        .unwrap();
    port.append_branch_summary(id, Some(&first), UNRULY, Some(raw()))
        .await
        .unwrap();
    port.append_custom(id, UNRULY, Some(raw())).await.unwrap();
    port.append_custom_message(id, UNRULY, raw(), true, Some(raw()))
        .await
        .unwrap();
    port.append_label_change(id, &first, Some(UNRULY))
        .await
        .unwrap();
    port.append_session_info(id, UNRULY).await.unwrap();

    let entries = subject.entries().await;
    let before = subject.snapshot().await;
    assert_eq!(before["labelsByEntryId"][first.as_str()]["label"], UNRULY);
    assert_eq!(before["entries"][0]["message"]["content"], UNRULY);
    let subject = subject.restart().await;
    assert_eq!(subject.entries().await, entries);
    assert_eq!(subject.snapshot().await, before);
}
