//! The entry that is being streamed.

use super::ContractHarness;
use super::subject::{Subject, answer_message, shape};
use crate::{EntryBody, EntryId, InFlightEntry, NewEntry, RawJson};
use serde_json::Value;

fn in_flight(id: &EntryId, parent: &EntryId, text: &str) -> InFlightEntry {
    InFlightEntry {
        id: id.clone(),
        parent_id: Some(parent.clone()),
        message: answer_message(text),
    }
}

async fn stream(subject: &Subject<'_>, entry: InFlightEntry) {
    subject
        .provider
        .update_in_flight_entry(&subject.id, entry)
        .await
        .unwrap();
}

/// Text of the entry in flight, which the port and the snapshot must agree on.
async fn streamed(subject: &Subject<'_>) -> Option<String> {
    let entry = subject.provider.in_flight_entry(&subject.id).await.unwrap();
    let shown = subject.snapshot().await.get("inFlight").cloned();
    let entry = entry.map(|entry| serde_json::to_value(&entry).unwrap());
    assert_eq!(entry, shown);
    let text = |entry: Value| {
        entry["message"]["content"][0]["text"]
            .as_str()
            .map(str::to_owned)
    };
    entry.and_then(text)
}

pub(super) async fn an_entry_in_flight_shows_beside_the_log(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    assert_eq!(streamed(&subject).await, None);
    let id = EntryId::new("cafe0001");
    stream(&subject, in_flight(&id, &question, "Once")).await;
    assert_eq!(streamed(&subject).await.as_deref(), Some("Once"));
    stream(&subject, in_flight(&id, &question, "Once upon")).await;
    assert_eq!(streamed(&subject).await.as_deref(), Some("Once upon"));
    assert_eq!(subject.leaf().await.as_ref(), Some(&question));
    assert_eq!(subject.entries().await.len(), 1);
    assert_eq!(subject.context().await, ["user: question"]);
}

pub(super) async fn completing_an_entry_in_flight_leaves_one_entry(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let id = EntryId::new("cafe0001");
    stream(&subject, in_flight(&id, &question, "Once")).await;
    complete(&subject, &id, answer_message("Once upon a time")).await;
    assert_eq!(streamed(&subject).await, None);
    assert_eq!(subject.path().await, [question, id]);
    assert_eq!(
        subject.context().await,
        ["user: question", "assistant: Once upon a time"]
    );
    assert_eq!(subject.entries().await.len(), 2);
}

pub(super) async fn an_entry_in_flight_is_closed_by_the_next_writer(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let id = EntryId::new("cafe0001");
    stream(&subject, in_flight(&id, &question, "Once up")).await;

    let subject = subject.crash().await;
    assert_eq!(streamed(&subject).await.as_deref(), Some("Once up"));
    assert_eq!(subject.entries().await.len(), 1);
    subject.provider.take_over(&subject.id).await.unwrap();
    assert_eq!(subject.entries().await.len(), 2, "before anything else");
    let next = subject.user("go on").await;
    let entries = subject.entries().await;
    let aborted = answer_message("Once up")
        .get()
        .replace(r#""stop""#, r#""aborted""#);
    assert_eq!(
        shape(&entries)[1],
        format!(
            r##"{{"type":"message","id":"#2","parentId":"#1","timestamp":"T","message":{aborted}}}"##
        )
    );
    assert_eq!(subject.path().await, [question, id, next]);
    assert_eq!(entries.len(), 3);
    assert_eq!(streamed(&subject).await, None);

    let subject = subject.crash().await;
    subject.user("and on").await;
    assert_eq!(subject.entries().await[..3], entries);
    assert_eq!(subject.entries().await.len(), 4);
}

pub(super) async fn closing_an_entry_in_flight_does_not_take_the_leaf_from_another_branch(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let elsewhere = subject.user("elsewhere").await;
    let question = subject.user("question").await;
    let id = EntryId::new("cafe0001");
    stream(&subject, in_flight(&id, &question, "Once up")).await;
    subject.switch(&elsewhere).await;

    let subject = subject.crash().await;
    let next = subject.user("go on here").await;
    assert_eq!(subject.path().await, [elsewhere, next]);
    let entries = subject.entries().await;
    let closed = entries.iter().find(|entry| *entry.id() == id).unwrap();
    assert_eq!(closed.parent_id(), Some(&question));
    assert_eq!(entries.len(), 4);
}

pub(super) async fn a_completed_entry_leaves_nothing_for_the_next_writer(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let id = EntryId::new("cafe0001");
    for text in ["O", "On", "Once"] {
        stream(&subject, in_flight(&id, &question, text)).await;
    }
    complete(&subject, &id, answer_message("Once upon a time")).await;

    let subject = subject.crash().await;
    assert_eq!(streamed(&subject).await, None);
    let next = subject.user("go on").await;
    assert_eq!(subject.path().await, [question, id, next]);
    assert_eq!(subject.entries().await.len(), 3);
}

async fn complete(subject: &Subject<'_>, id: &EntryId, message: RawJson) {
    let new = NewEntry::at_leaf(EntryBody::Message { message }).with_id(id.clone());
    subject.append(new).await.unwrap();
}
