//! A new session made of one path of another.

use super::ContractHarness;
use super::subject::{Subject, refused, shape};
use crate::{EntryId, PageRequest, SessionError, SessionFilter, SessionId};

pub(super) async fn a_branched_session_holds_the_path_and_its_labels(
    harness: &dyn ContractHarness,
) {
    let source = Subject::create(harness).await;
    let question = source.user("question").await;
    let dropped = source.answer("dropped").await;
    source.label(&dropped, Some("not on the path")).await;
    source.switch(&question).await;
    let taken = source.answer("taken").await;
    source.label(&taken, Some("here")).await;
    source.user("beyond the leaf").await;

    let port = &source.provider;
    let id = SessionId::new("branch");
    let made = port
        .create_branched_session(&source.id, &taken, id.clone())
        .await
        .unwrap();
    assert_eq!(made.session_id, id);
    assert_eq!(made.parent_session_id.as_ref(), Some(&source.id));
    assert_eq!(made.cwd, "/srv/app");
    assert_eq!(made.leaf_entry_id.as_ref(), Some(&taken));
    assert_eq!(port.get_session(&made.session_id).await.unwrap(), made);

    let kept = source.entries().await;
    let forked = port.list_entries(&made.session_id).await.unwrap();
    assert_eq!(forked[..2], [kept[0].clone(), kept[3].clone()]);
    assert_eq!(
        shape(&forked)[2..],
        [
            r##"{"type":"label","id":"#3","parentId":"#2","timestamp":"T","targetId":"#2","label":"here"}"##
        ]
    );
}

pub(super) async fn branching_leaves_the_source_alone(harness: &dyn ContractHarness) {
    let source = Subject::create(harness).await;
    source.user("question").await;
    let leaf = source.answer("answer").await;
    let (snapshot, entries) = (source.snapshot().await, source.entries().await);

    let port = &source.provider;
    let made = port
        .create_branched_session(&source.id, &leaf, SessionId::new("branch"))
        .await
        .unwrap()
        .session_id;
    assert_eq!(source.snapshot().await, snapshot);
    let message = super::subject::user_message("in the fork");
    port.append_message(&made, message).await.unwrap();
    assert_eq!(source.snapshot().await, snapshot);
    let fork_entries = port.list_entries(&made).await.unwrap();
    source.user("in the source").await;
    assert_eq!(port.list_entries(&made).await.unwrap(), fork_entries);

    port.release(&made).await.unwrap();
    let source = source.restart().await;
    assert_eq!(source.entries().await[..2], entries);
    assert_eq!(
        source.context().await,
        ["user: question", "assistant: answer", "user: in the source"]
    );
    assert_eq!(
        source.provider.list_entries(&made).await.unwrap(),
        fork_entries
    );
}

pub(super) async fn branching_at_an_unknown_entry_makes_nothing(harness: &dyn ContractHarness) {
    let source = Subject::create(harness).await;
    source.user("question").await;
    let missing = EntryId::new("missing");
    let port = &source.provider;
    let id = SessionId::new("branch");
    refused(
        port.create_branched_session(&source.id, &missing, id).await,
        &source.error_for(&missing),
    );
    let all = port
        .list_sessions(&SessionFilter::default(), PageRequest::default())
        .await
        .unwrap();
    assert_eq!(all.total, 1);
}

pub(super) async fn branching_into_a_taken_id_changes_nothing(harness: &dyn ContractHarness) {
    let source = Subject::create(harness).await;
    let question = source.user("question").await;
    let answer = source.answer("answer").await;
    let port = &source.provider;
    let id = SessionId::new("branch");
    let made = port.create_branched_session(&source.id, &answer, id.clone());
    let made = made.await.unwrap();
    let entries = port.list_entries(&id).await.unwrap();
    for taken in [&id, &source.id] {
        refused(
            port.create_branched_session(&source.id, &question, taken.clone())
                .await,
            &SessionError::AlreadyExists(taken.clone()),
        );
    }
    assert_eq!(port.get_session(&id).await.unwrap(), made);
    assert_eq!(port.list_entries(&id).await.unwrap(), entries);
}
