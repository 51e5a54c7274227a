//! The leaf after a restart. Pi forgets a move that no append followed; NetaClaw must not.

use super::ContractHarness;
use super::subject::{Subject, answer_message, shape};
use crate::{EntryBody, NewEntry};

pub(super) async fn a_moved_leaf_survives_a_restart(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    subject.answer("answer").await;
    subject.switch(&question).await;
    let entries = subject.entries().await;

    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await.as_ref(), Some(&question));
    assert_eq!(subject.entries().await, entries);
    let other = subject.answer("other").await;
    assert_eq!(subject.path().await, [question, other]);
    assert_eq!(subject.entries().await.len(), 3);
}

pub(super) async fn a_reset_leaf_survives_a_restart(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("first").await;
    subject.provider.reset_leaf(&subject.id).await.unwrap();

    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await, None);
    assert_eq!(subject.entries().await.len(), 1);
    let second = subject.user("second").await;
    assert_eq!(subject.path().await, [second]);
}

pub(super) async fn a_label_does_not_move_the_leaf_of_the_next_process(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let answer = subject.answer("answer").await;
    subject.label(&question, Some("here")).await;
    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await.as_ref(), Some(&answer));

    // Below another entry than the leaf a label must not pull the leaf there either.
    let elsewhere = EntryBody::Label {
        target_id: answer.clone(),
        label: Some("there".to_owned()),
    };
    let label = NewEntry::below(Some(question.clone()), elsewhere);
    assert_eq!(
        subject.append(label).await.unwrap().parent_id(),
        Some(&question)
    );
    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await.as_ref(), Some(&answer));

    subject.provider.reset_leaf(&subject.id).await.unwrap();
    subject.label(&question, Some("at the root")).await;
    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await, None);
}

pub(super) async fn snapshots_are_the_same_after_a_restart(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let kept = subject.answer("first").await;
    subject.switch(&question).await;
    subject.answer("second").await;
    subject.label(&kept, Some("better")).await;
    subject
        .provider
        .append_branch_summary(&subject.id, Some(&kept), "was worse", None)
        .await
        .unwrap();
    subject
        .provider
        .append_compaction(&subject.id, "all", Some(kept.clone()), 9, None)
        .await
        .unwrap();
    subject
        .provider
        .append_session_info(&subject.id, "a name")
        .await
        .unwrap();
    let closing = EntryBody::Message {
        message: answer_message("done"),
    };
    subject.append(NewEntry::at_leaf(closing)).await.unwrap();
    let (before, entries) = (subject.snapshot().await, shape(&subject.entries().await));

    let subject = subject.restart().await;
    assert_eq!(subject.snapshot().await, before);
    assert_eq!(shape(&subject.entries().await), entries);
    assert_eq!(subject.crash().await.snapshot().await, before);
}
