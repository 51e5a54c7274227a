//! Many tasks, one session.

use super::ContractHarness;
use super::subject::{Subject, user_body};
use crate::{EntryId, NewEntry, NewSession, SessionError};
use std::collections::HashSet;
use std::sync::Arc;
use tokio::task::JoinSet;

const WRITERS: usize = 32;

pub(super) async fn concurrent_appends_are_all_there_once_and_in_one_order(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (port, id) = (Arc::clone(&subject.provider), subject.id.clone());
        writers.spawn(async move {
            let mut mine = Vec::new();
            for turn in 0..5 {
                let body = user_body(&format!("{writer}/{turn}"));
                mine.push(
                    port.append_entry(&id, NewEntry::at_leaf(body))
                        .await
                        .unwrap(),
                );
            }
            mine
        });
    }
    let written = writers.join_all().await;

    let entries = subject.entries().await;
    let ids: HashSet<&EntryId> = entries.iter().map(|entry| entry.id()).collect();
    assert_eq!((entries.len(), ids.len()), (WRITERS * 5, WRITERS * 5));
    for (before, after) in entries.iter().zip(&entries[1..]) {
        assert_eq!(after.parent_id(), Some(before.id()));
    }
    // The store has exactly what each writer received as acknowledgement, in that order.
    for mine in written {
        let mut log = entries.iter();
        assert!(mine.iter().all(|entry| log.any(|logged| logged == entry)));
    }
    assert_eq!(subject.restart().await.entries().await, entries);
}

pub(super) async fn of_concurrent_appends_that_expect_a_leaf_one_wins(
    harness: &dyn ContractHarness,
) {
    let subject = Subject::create(harness).await;
    for round in 0..8 {
        let leaf = subject.leaf().await;
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (port, id) = (Arc::clone(&subject.provider), subject.id.clone());
            let new = NewEntry::at_leaf(user_body(&format!("{round}/{writer}")));
            let new = new.expecting(leaf.clone());
            writers.spawn(async move { port.append_entry(&id, new).await });
        }
        let (won, lost): (Vec<_>, Vec<_>) = writers
            .join_all()
            .await
            .into_iter()
            .partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        let winner = subject.leaf().await;
        for result in lost {
            let conflict = SessionError::LeafConflict {
                session: subject.id.clone(),
                expected: leaf.clone(),
                actual: winner.clone(),
            };
            super::subject::refused(result, &conflict);
        }
    }
    assert_eq!(subject.path().await.len(), 8);
    assert_eq!(subject.entries().await.len(), 8);
}

pub(super) async fn concurrent_sessions_do_not_mix(harness: &dyn ContractHarness) {
    let subject = Subject::create(harness).await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS / 4 {
        let port = Arc::clone(&subject.provider);
        writers.spawn(async move {
            let id = port
                .create_session(NewSession::default())
                .await
                .unwrap()
                .session_id;
            let mut mine = Vec::new();
            for turn in 0..5 {
                let body = user_body(&format!("{writer}/{turn}"));
                mine.push(
                    port.append_entry(&id, NewEntry::at_leaf(body))
                        .await
                        .unwrap(),
                );
            }
            assert_eq!(port.list_entries(&id).await.unwrap(), mine);
        });
    }
    writers.join_all().await;
    assert_eq!(subject.entries().await, []);
}
