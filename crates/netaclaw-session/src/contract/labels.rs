//! Labels and names: entries that say something about the session and move nothing.

use super::ContractHarness;
use super::subject::{Subject, refused, shape};
use crate::EntryId;
use serde_json::{Value, json};

pub(super) async fn labels_are_set_replaced_and_cleared(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let first = subject.user("first").await;
    let second = subject.user("second").await;
    let labels = async || texts_of(&subject).await;

    subject.label(&first, Some("one")).await;
    subject.label(&second, Some("two")).await;
    assert_eq!(
        labels().await,
        json!({first.as_str(): "one", second.as_str(): "two"})
    );
    subject.label(&first, Some("uno")).await;
    assert_eq!(
        labels().await,
        json!({first.as_str(): "uno", second.as_str(): "two"})
    );
    subject.label(&first, None).await;
    subject.label(&second, Some("")).await;
    assert_eq!(labels().await, json!({}));
    // A label belongs to the session, so it counts from every branch.
    subject.label(&second, Some("again")).await;
    subject.switch(&first).await;
    assert_eq!(labels().await, json!({second.as_str(): "again"}));
    assert_eq!(
        shape(&subject.entries().await)[5],
        r##"{"type":"label","id":"#6","parentId":"#2","timestamp":"T","targetId":"#1"}"##
    );
}

/// The text of each label. Its time is that of the entry that set it.
async fn texts_of(subject: &Subject<'_>) -> Value {
    let labels = subject.snapshot().await["labelsByEntryId"].clone();
    let entries = subject.entries().await;
    let mut texts = json!({});
    for (target, label) in labels.as_object().unwrap() {
        let mut set_by = entries
            .iter()
            .rev()
            .filter(|entry| entry.text_field("targetId").as_deref() == Some(target));
        let set_by = set_by.next().unwrap();
        assert_eq!(label["timestamp"], set_by.timestamp().as_ref());
        texts[target] = label["label"].clone();
    }
    texts
}

pub(super) async fn labels_and_names_do_not_move_the_leaf(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let label = subject.label(&question, Some("here")).await;
    assert_eq!(label.parent_id(), Some(&question));
    assert_eq!(subject.leaf().await.as_ref(), Some(&question));
    subject
        .provider
        .append_session_info(&subject.id, "name")
        .await
        .unwrap();
    assert_eq!(subject.leaf().await.as_ref(), Some(&question));
    let answer = subject.answer("answer").await;
    assert_eq!(subject.path().await, [question, answer]);
}

pub(super) async fn a_label_for_an_unknown_entry_is_refused(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("question").await;
    let before = subject.snapshot().await;
    let missing = EntryId::new("missing");
    let result = subject
        .provider
        .append_label_change(&subject.id, &missing, Some("here"))
        .await;
    refused(result, &subject.error_for(&missing));
    assert_eq!(subject.snapshot().await, before);
}

pub(super) async fn the_last_name_counts_and_an_empty_one_clears(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let name = async |name: &str| {
        subject
            .provider
            .append_session_info(&subject.id, name)
            .await
            .unwrap();
        let title = subject.meta().await.title;
        assert_eq!(subject.tree().await.name().map(str::to_owned), title);
        title
    };
    assert_eq!(name("first").await.as_deref(), Some("first"));
    assert_eq!(
        name("  second\r\nline ").await.as_deref(),
        Some("second line")
    );
    assert_eq!(name("").await, None);
    assert_eq!(name("third").await.as_deref(), Some("third"));
    assert_eq!(
        subject.restart().await.meta().await.title.as_deref(),
        Some("third")
    );
}
