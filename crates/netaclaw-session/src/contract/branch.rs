//! Branches, summaries of what was left, and compactions.

use super::ContractHarness;
use super::subject::{Subject, refused, shape, user_body};
use crate::{EntryId, NewEntry};
use serde_json::json;

pub(super) async fn branches_keep_their_siblings(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let first = subject.answer("first").await;
    subject.switch(&question).await;
    let second = subject.answer("second").await;
    let third = NewEntry::below(Some(question.clone()), user_body("third"));
    let third = subject.append(third).await.unwrap().id().clone();

    let snapshot = subject.snapshot().await;
    assert_eq!(
        snapshot["childrenByParentId"],
        json!({"__root__": [question], question.as_str(): [first, second, third]})
    );
    assert_eq!(snapshot["activePath"], json!([question, third]));
    subject.switch(&first).await;
    assert_eq!(
        subject.context().await,
        ["user: question", "assistant: first"]
    );
    assert_eq!(subject.entries().await.len(), 4);
}

pub(super) async fn a_branch_summary_hangs_at_its_target_and_names_the_leaf_left(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    subject.answer("a dead end").await;
    let summary = subject
        .provider
        .append_branch_summary(&subject.id, Some(&question), "it was no use", None)
        .await
        .unwrap();
    assert_eq!(
        shape(&subject.entries().await)[2],
        r##"{"type":"branch_summary","id":"#3","parentId":"#1","timestamp":"T","fromId":"#2","summary":"it was no use"}"##
    );
    assert_eq!(subject.path().await, [question, summary.id().clone()]);
    assert_eq!(
        subject.context().await,
        ["user: question", "branchSummary: it was no use"]
    );
}

pub(super) async fn a_branch_summary_can_begin_a_root(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let port = &subject.provider;
    // With nothing to leave, Pi writes "root" for the leaf left.
    port.append_branch_summary(&subject.id, None, "nothing yet", None)
        .await
        .unwrap();
    port.append_branch_summary(&subject.id, None, "all of it", None)
        .await
        .unwrap();
    assert_eq!(
        shape(&subject.entries().await),
        [
            r##"{"type":"branch_summary","id":"#1","parentId":null,"timestamp":"T","fromId":"root","summary":"nothing yet"}"##,
            r##"{"type":"branch_summary","id":"#2","parentId":null,"timestamp":"T","fromId":"#1","summary":"all of it"}"##,
        ]
    );
    assert_eq!(subject.context().await, ["branchSummary: all of it"]);
}

pub(super) async fn the_append_after_a_reset_is_a_second_root(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let first = subject.user("first").await;
    subject.provider.reset_leaf(&subject.id).await.unwrap();
    assert_eq!(subject.leaf().await, None);
    assert_eq!(subject.context().await, [""; 0]);
    let second = subject.user("second").await;
    assert_eq!(
        subject.snapshot().await["childrenByParentId"],
        json!({"__root__": [first, second]})
    );
    assert_eq!(subject.path().await, [second]);
    assert_eq!(subject.meta().await.root_entry_id, Some(first));
}

pub(super) async fn a_leaf_cannot_move_to_an_unknown_entry(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("question").await;
    let before = subject.snapshot().await;
    let missing = EntryId::new("missing");
    refused(
        subject.provider.switch_leaf(&subject.id, &missing).await,
        &subject.error_for(&missing),
    );
    assert_eq!(subject.snapshot().await, before);
    assert_eq!(subject.restart().await.snapshot().await, before);
}

pub(super) async fn a_leaf_that_moves_to_a_label_rests_above_it(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let question = subject.user("question").await;
    let label = subject.label(&question, Some("here")).await;
    subject.answer("answer").await;
    subject.switch(label.id()).await;
    assert_eq!(subject.leaf().await.as_ref(), Some(&question));
    let subject = subject.crash().await;
    assert_eq!(subject.leaf().await, Some(question));
}

pub(super) async fn a_compaction_stands_in_for_what_it_covers(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("old").await;
    let kept = subject.answer("kept").await;
    let covered_leaf = subject.user("also kept").await;
    subject
        .provider
        .append_compaction(&subject.id, "the old part", Some(kept), 1000, None)
        .await
        .unwrap();
    subject.answer("new").await;
    let compacted = [
        "compactionSummary: the old part",
        "assistant: kept",
        "user: also kept",
        "assistant: new",
    ];
    assert_eq!(subject.context().await, compacted);
    let leaf = subject.leaf().await.unwrap();
    subject.switch(&covered_leaf).await;
    assert_eq!(
        subject.context().await,
        ["user: old", "assistant: kept", "user: also kept"]
    );
    subject.switch(&leaf).await;
    assert_eq!(subject.restart().await.context().await, compacted);
}

pub(super) async fn a_compaction_may_keep_nothing(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    subject.user("old").await;
    subject
        .provider
        .append_compaction(&subject.id, "all of it", None, 1000, None)
        .await
        .unwrap();
    subject.user("new").await;
    assert_eq!(
        subject.context().await,
        ["compactionSummary: all of it", "user: new"]
    );
    assert_eq!(subject.snapshot().await.get("warnings"), None);
}
