//! Two instances of NetaClaw on the same tables.

use super::{Harness, ask, assert_chain, new_session, question};
use netaclaw_session::{
    Entry, EntryId, InFlightEntry, SessionError, SessionPatch, SessionStatus, SessionTreeProvider,
    raw_json,
};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::task::JoinSet;

fn streamed(id: &EntryId, parent: &Entry, text: &str) -> InFlightEntry {
    InFlightEntry {
        id: id.clone(),
        parent_id: Some(parent.id().clone()),
        message: raw_json(&json!({"role": "assistant", "content": text})),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_append_to_one_session_without_loss() {
    let harness = Harness::new();
    let nodes = [harness.provider().await, harness.provider().await];
    let session = new_session(&nodes[0]).await;
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let (node, session) = (Arc::clone(&nodes[writer % 2]), session.clone());
        writers.spawn(async move {
            let mut mine = Vec::new();
            for turn in 0..8 {
                mine.push(
                    ask(&node, &session, &format!("{writer}/{turn}"))
                        .await
                        .unwrap(),
                );
            }
            mine
        });
    }
    let written: Vec<Entry> = writers.join_all().await.into_iter().flatten().collect();
    let entries = nodes[0].list_entries(&session).await.unwrap();
    assert_chain(&nodes[1], &session, &entries).await;
    let texts = |entries: &[Entry]| {
        entries
            .iter()
            .map(|e| e.json().to_owned())
            .collect::<HashSet<_>>()
    };
    assert_eq!((entries.len(), texts(&entries)), (16 * 8, texts(&written)));
}

#[tokio::test]
async fn a_node_sees_at_once_what_the_other_did() {
    let harness = Harness::new();
    let (a, b) = (harness.provider().await, harness.provider().await);
    let session = new_session(&a).await;
    let first = ask(&a, &session, "first").await.unwrap();
    assert_chain(&b, &session, std::slice::from_ref(&first)).await;
    let second = ask(&b, &session, "second").await.unwrap();
    assert_chain(&a, &session, &[first.clone(), second.clone()]).await;

    // What a node remembers must not decide: here it remembers another leaf, and no such entry.
    let third = ask(&b, &session, "third").await.unwrap();
    let late = question("late").expecting(Some(second.id().clone()));
    let conflict = a.append_entry(&session, late).await.unwrap_err();
    assert!(
        matches!(conflict, SessionError::LeafConflict { .. }),
        "{conflict}"
    );
    let fourth = ask(&b, &session, "fourth").await.unwrap();
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
async fn reading_leaves_an_answer_in_flight_alone_and_writing_closes_it_once() {
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
    let asked_again = ask(&b, &session, "are you there?").await.unwrap();
    assert_chain(&b, &session, &[asked, seen.aborted(), asked_again]).await;
    assert_eq!(b.in_flight_entry(&session).await.unwrap(), None);
}

#[tokio::test]
async fn an_answer_that_a_node_forgot_is_completed_all_the_same() {
    let harness = Harness::new();
    let node = harness.provider().await;
    let session = new_session(&node).await;
    let asked = ask(&node, &session, "question").await.unwrap();
    let id = EntryId::new("cafe0001");
    node.update_in_flight_entry(&session, streamed(&id, &asked, "Once"))
        .await
        .unwrap();
    node.release(&session).await.unwrap();
    node.update_in_flight_entry(&session, streamed(&id, &asked, "Once upon"))
        .await
        .unwrap();
    node.release(&session).await.unwrap();
    let answer = node
        .append_entry(&session, question("Once upon a time").with_id(id))
        .await
        .unwrap();
    assert_chain(&node, &session, &[asked, answer]).await;
    assert_eq!(node.in_flight_entry(&session).await.unwrap(), None);
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
