//! Two instances of NetaClaw on the same tables.

use super::{Harness, ask, assert_chain, new_session, question};
use netaclaw_session::{
    Entry, EntryId, InFlightEntry, SessionError, SessionPatch, SessionStatus, SessionTreeProvider,
    raw_json,
};
use serde_json::json;

fn streamed(id: &EntryId, parent: &Entry, text: &str) -> InFlightEntry {
    InFlightEntry {
        id: id.clone(),
        parent_id: Some(parent.id().clone()),
        message: raw_json(&json!({"role": "assistant", "content": text})),
    }
}

#[tokio::test]
async fn a_node_sees_at_once_what_the_other_did() {
    let harness = Harness::new();
    let (a, b) = (harness.provider().await, harness.provider().await);
    let session = new_session(&a).await;
    let first = ask(&a, &session, "first").await.unwrap();
    assert_chain(&b, &session, std::slice::from_ref(&first)).await;
    a.release(&session).await.unwrap();
    let second = ask(&b, &session, "second").await.unwrap();
    assert_chain(&a, &session, &[first.clone(), second.clone()]).await;

    // The cache must not decide: here it has another leaf, and no such entry.
    let third = ask(&b, &session, "third").await.unwrap();
    b.release(&session).await.unwrap();
    let late = question("late").expecting(Some(second.id().clone()));
    let conflict = a.append_entry(&session, late).await.unwrap_err();
    assert!(
        matches!(conflict, SessionError::LeafConflict { .. }),
        "{conflict}"
    );
    a.release(&session).await.unwrap();
    let fourth = ask(&b, &session, "fourth").await.unwrap();
    b.release(&session).await.unwrap();
    a.switch_leaf(&session, fourth.id()).await.unwrap();
    a.switch_leaf(&session, third.id()).await.unwrap();
    assert_eq!(
        b.load_tree(&session).await.unwrap().leaf(),
        Some(third.id())
    );

    let archived = SessionPatch {
        title: Some("a name".to_owned()),
        status: Some(SessionStatus::Archived),
        ..SessionPatch::default()
    };
    a.update_session(&session, archived).await.unwrap();
    let tree = b.load_tree(&session).await.unwrap();
    assert_eq!(
        (tree.name(), tree.meta().status),
        (Some("a name"), Some(SessionStatus::Archived))
    );
    a.delete_session(&session).await.unwrap();
    let gone = ask(&b, &session, "too late").await.unwrap_err();
    assert!(matches!(gone, SessionError::NotFound(_)), "{gone}");
}

#[tokio::test]
async fn reading_leaves_an_answer_in_flight_alone_and_the_next_owner_closes_it_once() {
    let harness = Harness::new();
    let (a, b) = (harness.provider().await, harness.provider().await);
    let session = new_session(&a).await;
    let asked = ask(&a, &session, "question").await.unwrap();
    let id = EntryId::new("cafe0001");
    a.update_in_flight_entry(&session, streamed(&id, &asked, "Once"))
        .await
        .unwrap();

    let seen = b.in_flight_entry(&session).await.unwrap().unwrap();
    assert_eq!(
        seen.message_json(),
        Some(r#"{"content":"Once","role":"assistant"}"#)
    );
    assert_chain(&b, &session, std::slice::from_ref(&asked)).await;
    a.release(&session).await.unwrap();
    let asked_again = ask(&b, &session, "are you there?").await.unwrap();
    assert_chain(&b, &session, &[asked, seen.aborted(), asked_again]).await;
    assert_eq!(b.in_flight_entry(&session).await.unwrap(), None);
}

#[tokio::test]
async fn many_sessions_are_more_than_a_node_remembers() {
    let harness = Harness::new();
    let node = harness.provider().await;
    let mut sessions = Vec::new();
    for _ in 0..140 {
        let session = new_session(&node).await;
        let entry = ask(&node, &session, "first").await.unwrap();
        sessions.push((session, entry));
    }
    for (session, first) in sessions {
        let second = ask(&node, &session, "second").await.unwrap();
        assert_chain(&node, &session, &[first, second]).await;
    }
}
