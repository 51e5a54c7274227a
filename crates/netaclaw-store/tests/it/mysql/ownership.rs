//! One owner for each session, and a fence in every write.

use super::{Harness, ask, assert_chain, new_session, question, run};
use netaclaw_session::{
    EntryBody, EntryId, InFlightEntry, NewEntry, SessionError, SessionId, SessionPatch,
    SessionStatus, SessionTreeProvider, raw_json,
};
use netaclaw_store::{MysqlProvider, MysqlSettings, NodeSettings, Timing};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

impl Harness {
    /// A node with this process name.
    async fn node(&self, instance: &str) -> Arc<MysqlProvider> {
        self.node_with(instance, Timing::default()).await
    }

    async fn node_with(&self, instance: &str, timing: Timing) -> Arc<MysqlProvider> {
        let node = NodeSettings {
            instance: instance.to_owned(),
            timing,
            ..NodeSettings::default()
        };
        let settings = MysqlSettings {
            node,
            ..MysqlSettings::new(self.database.url())
        };
        Arc::new(MysqlProvider::connect(settings).await.unwrap())
    }

    async fn fences(&self) -> Vec<u64> {
        sqlx::query_scalar(
            "SELECT fence FROM neta_agent_session_entry WHERE entrySeq > 0 ORDER BY entrySeq",
        )
        .fetch_all(&mut self.sql().await)
        .await
        .unwrap()
    }
}

fn answer(id: &str, parent: &EntryId, text: &str) -> InFlightEntry {
    InFlightEntry {
        id: EntryId::new(id),
        parent_id: Some(parent.clone()),
        message: raw_json(&json!({"role": "assistant", "content": text})),
    }
}

fn asked_by(request: &str, text: &str) -> NewEntry {
    NewEntry::at_leaf(EntryBody::message(
        &json!({"role": "user", "content": text, "netaclaw": {"requestId": request}}),
    ))
}

fn is_busy<T>(result: &Result<T, SessionError>) -> bool {
    matches!(result, Err(SessionError::Busy { .. }))
}

fn is_deposed<T>(result: &Result<T, SessionError>) -> bool {
    matches!(result, Err(SessionError::Deposed(_)))
}

#[tokio::test]
async fn a_session_of_a_living_node_is_busy_for_others_until_it_is_released() {
    let harness = Harness::new();
    let (a, b) = (harness.node("a").await, harness.node("b").await);
    let session = new_session(&a).await;
    let first = ask(&a, &session, "first").await.unwrap();
    let rename = SessionPatch {
        title: Some("mine".to_owned()),
        ..SessionPatch::default()
    };
    assert!(is_busy(&ask(&b, &session, "late").await));
    assert!(is_busy(&b.move_leaf(&session, None).await));
    assert!(is_busy(&b.update_session(&session, rename).await));
    assert!(is_busy(&b.take_over(&session).await));
    assert!(is_busy(&b.claim(&session).await.map(|_| ())));
    assert!(is_busy(&b.delete_session(&session).await));
    let streamed = answer("cafe0001", first.id(), "Once");
    assert!(is_busy(&b.update_in_flight_entry(&session, streamed).await));
    // Reading needs no claim.
    assert_chain(&b, &session, std::slice::from_ref(&first)).await;
    assert_eq!(b.get_session(&session).await.unwrap().title, None);

    a.release(&session).await.unwrap();
    let second = ask(&b, &session, "second").await.unwrap();
    assert!(is_busy(&ask(&a, &session, "late").await));
    b.close().await.unwrap();
    let third = ask(&a, &session, "third").await.unwrap();
    assert_chain(&a, &session, &[first, second, third]).await;
    let fences = harness.fences().await;
    assert!(
        fences.is_sorted() && fences[0] < fences[1] && fences[1] < fences[2],
        "{fences:?}"
    );
}

#[tokio::test]
async fn a_deleted_session_of_a_living_node_is_not_purged() {
    let harness = Harness::new();
    let (a, b) = (harness.node("a").await, harness.node("b").await);
    let session = new_session(&a).await;
    ask(&a, &session, "first").await.unwrap();
    a.delete_session(&session).await.unwrap();
    a.take_over(&session).await.unwrap();
    assert!(is_busy(&b.purge_session(&session, None).await));
    a.release(&session).await.unwrap();
    assert!(b.purge_session(&session, None).await.unwrap());
    for count in [
        "SELECT COUNT(*) FROM neta_agent_session",
        "SELECT COUNT(*) FROM neta_agent_session_entry",
    ] {
        let rows: i64 = sqlx::query_scalar(count)
            .fetch_one(&mut harness.sql().await)
            .await
            .unwrap();
        assert_eq!(rows, 0, "{count}");
    }
}

/// Claims the session of `a`, which is alive and gets no notice.
async fn depose(harness: &Harness, b: &MysqlProvider, session: &SessionId) {
    run(
        &mut harness.sql().await,
        "UPDATE netaclaw_node SET state = 'dead' WHERE instance = 'a'",
    )
    .await;
    ask(b, session, "taken over").await.unwrap();
}

/// What a deposed owner streams reaches the database now or with the release: it is written four
/// times a second at most.
async fn stream_on(a: &MysqlProvider, session: &SessionId, parent: &EntryId) {
    let more = answer("cafe0001", parent, "Once upon");
    let streamed = a.update_in_flight_entry(session, more).await;
    assert!(streamed.is_ok() || is_deposed(&streamed), "{streamed:?}");
    a.release(session).await.unwrap();
}

#[tokio::test]
async fn every_write_of_a_deposed_owner_is_rejected() {
    let harness = Harness::new();
    let b = harness.node("b").await;
    let renamed = || SessionPatch {
        metadata: Some(serde_json::Map::new()),
        ..SessionPatch::default()
    };
    let deleted = || SessionPatch {
        status: Some(SessionStatus::Deleted),
        ..SessionPatch::default()
    };
    for write in [
        "append",
        "leaf",
        "metadata",
        "in_flight",
        "streaming",
        "delete",
    ] {
        let a = harness.node("a").await;
        let session = new_session(&a).await;
        let asked = ask(&a, &session, "question").await.unwrap();
        let mut claim = a.claim(&session).await.unwrap();
        if write == "streaming" {
            let started = answer("cafe0001", asked.id(), "Once");
            a.update_in_flight_entry(&session, started).await.unwrap();
        }
        depose(&harness, &b, &session).await;
        let before = b.get_session(&session).await.unwrap();
        let log = b.list_entries(&session).await.unwrap();
        let rejected = match write {
            "append" => is_deposed(&a.append_entry(&session, question("late")).await),
            "leaf" => is_deposed(&a.move_leaf(&session, None).await),
            "metadata" => is_deposed(&a.update_session(&session, renamed()).await),
            "delete" => is_deposed(&a.update_session(&session, deleted()).await),
            "in_flight" => {
                let started = answer("cafe0002", asked.id(), "Once");
                is_deposed(&a.update_in_flight_entry(&session, started).await)
            }
            _ => {
                stream_on(&a, &session, asked.id()).await;
                true
            }
        };
        assert!(rejected, "{write}");
        if write != "streaming" {
            (&mut claim.lost).await;
            // Also what comes later, although no other node writes: what was read is stale.
            assert!(is_deposed(&ask(&a, &session, "later").await), "{write}");
        }
        assert_eq!(b.get_session(&session).await.unwrap(), before, "{write}");
        assert_eq!(b.list_entries(&session).await.unwrap(), log, "{write}");
        assert_eq!(b.in_flight_entry(&session).await.unwrap(), None, "{write}");
        a.release(&session).await.unwrap();
        b.release(&session).await.unwrap();
    }
}

#[tokio::test]
async fn a_deposed_owner_streams_nothing_into_a_deleted_session() {
    let harness = Harness::new();
    let (a, b) = (harness.node("a").await, harness.node("b").await);
    let session = new_session(&a).await;
    let asked = ask(&a, &session, "question").await.unwrap();
    let started = answer("cafe0001", asked.id(), "Once");
    a.update_in_flight_entry(&session, started).await.unwrap();
    let before = a.in_flight_entry(&session).await.unwrap();
    let deleted = SessionPatch {
        status: Some(SessionStatus::Deleted),
        ..SessionPatch::default()
    };
    a.update_session(&session, deleted).await.unwrap();
    let dead = "UPDATE netaclaw_node SET state = 'dead' WHERE instance = 'a'";
    run(&mut harness.sql().await, dead).await;
    b.claim(&session).await.unwrap();
    stream_on(&a, &session, asked.id()).await;
    assert_eq!(b.in_flight_entry(&session).await.unwrap(), before);
}

#[tokio::test]
async fn a_claim_that_was_lost_is_made_anew_only_on_purpose() {
    let harness = Harness::new();
    let (a, b) = (harness.node("a").await, harness.node("b").await);
    let session = new_session(&a).await;
    ask(&a, &session, "first").await.unwrap();
    depose(&harness, &b, &session).await;
    b.release(&session).await.unwrap();
    assert!(is_deposed(&ask(&a, &session, "late").await));
    assert!(
        is_deposed(&ask(&a, &session, "late").await),
        "it has no owner, and still"
    );
    let claim = a.claim(&session).await.unwrap();
    assert_eq!(claim.meta.message_count, 2);
    ask(&a, &session, "third").await.unwrap();
    assert_eq!(a.list_entries(&session).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_request_stores_one_message_of_a_session() {
    let harness = Harness::new();
    let (a, b) = (harness.node("a").await, harness.node("b").await);
    let session = new_session(&a).await;
    a.append_entry(&session, asked_by("q1", "hello"))
        .await
        .unwrap();
    a.release(&session).await.unwrap();
    for text in ["hello", "something else"] {
        let again = b.append_entry(&session, asked_by("q1", text)).await;
        assert!(
            matches!(again, Err(SessionError::RepeatedRequest(_))),
            "{again:?}"
        );
    }
    // Spaces at the end and length make another request of it.
    for request in ["q1 ", "q2", &"long".repeat(300)] {
        b.append_entry(&session, asked_by(request, "hello"))
            .await
            .unwrap();
    }
    let other = new_session(&b).await;
    b.append_entry(&other, asked_by("q1", "hello"))
        .await
        .unwrap();
    assert_eq!(b.list_entries(&session).await.unwrap().len(), 4);
    // A copy answers for no request.
    let leaf = b.load_tree(&session).await.unwrap().leaf().unwrap().clone();
    let fork = SessionId::new("a-fork");
    b.create_branched_session(&session, &leaf, fork.clone())
        .await
        .unwrap();
    b.append_entry(&fork, asked_by("q1", "hello"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_process_that_died_in_this_data_directory_is_taken_over_at_once() {
    let harness = Harness::new();
    let a = harness.node("a").await;
    let session = new_session(&a).await;
    let first = ask(&a, &session, "first").await.unwrap();
    drop(a);
    let b = harness.node("b").await;
    assert!(is_busy(&ask(&b, &session, "too soon").await));
    b.instances_died(&["a".to_owned()]).await.unwrap();
    let second = ask(&b, &session, "second").await.unwrap();
    assert_chain(&b, &session, &[first, second]).await;
}

/// Quicker than by default, but not so quick that a beat on a busy machine comes too late. However
/// long a beat takes there, it is not abandoned.
const QUICK: Timing = Timing {
    beat_every: Duration::from_millis(300),
    beat_timeout: NEVER,
    suspend_after: Duration::from_millis(1500),
    dead_after: Duration::from_millis(2500),
};
/// Of a node that enters its row and never beats.
const SILENT: Timing = Timing {
    beat_every: NEVER,
    beat_timeout: NEVER,
    suspend_after: NEVER,
    dead_after: NEVER,
};
const NEVER: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_a_sign_of_life_is_declared_dead_and_taken_over() {
    let harness = Harness::new();
    let b = harness.node_with("b", QUICK).await;
    ask(&b, &new_session(&b).await, "here").await.unwrap();
    let a = harness.node_with("a", SILENT).await;
    let session = new_session(&a).await;
    ask(&a, &session, "first").await.unwrap();
    b.owner_died().await;
    ask(&b, &session, "second").await.unwrap();
    assert!(is_deposed(&ask(&a, &session, "late").await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_declared_dead_gives_everything_up_and_goes_on_as_another() {
    let harness = Harness::new();
    let a = harness.node_with("a", QUICK).await;
    let session = new_session(&a).await;
    let claim = a.claim(&session).await.unwrap();
    ask(&a, &session, "first").await.unwrap();
    let sql = &mut harness.sql().await;
    run(sql, "UPDATE netaclaw_node SET state = 'dead'").await;
    claim.lost.await;
    assert!(is_deposed(&ask(&a, &session, "late").await));
    let claim = a.claim(&session).await.unwrap();
    assert_eq!(claim.meta.message_count, 1);
    ask(&a, &session, "second").await.unwrap();
    let living = "SELECT COUNT(*) FROM netaclaw_node WHERE state = 'live'";
    let living: i64 = sqlx::query_scalar(living).fetch_one(sql).await.unwrap();
    assert_eq!(living, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_beat_is_suspended_until_it_can() {
    let harness = Harness::new();
    let a = harness.node_with("a", QUICK).await;
    let session = new_session(&a).await;
    ask(&a, &session, "first").await.unwrap();
    a.resumed().await;
    let mut sql = harness.sql().await;
    run(&mut sql, "BEGIN").await;
    run(&mut sql, "SELECT * FROM netaclaw_node FOR UPDATE").await;
    // Time alone suspends it. A loop without a pause would keep the processor from the database.
    while !a.is_suspended() {
        tokio::time::sleep(QUICK.beat_every).await;
    }
    // What is written now waits, is not lost, and keeps nothing from being read.
    let late = ask(&a, &session, "second");
    tokio::pin!(late);
    assert!(futures::poll!(&mut late).is_pending());
    assert_eq!(a.list_entries(&session).await.unwrap().len(), 1);
    run(&mut sql, "ROLLBACK").await;
    a.resumed().await;
    late.await.unwrap();
    assert_eq!(a.list_entries(&session).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_process_that_only_reads_is_no_node() {
    let harness = Harness::new();
    let a = harness.node("a").await;
    let session = new_session(&a).await;
    ask(&a, &session, "first").await.unwrap();
    let b = harness.node("b").await;
    b.load_tree(&session).await.unwrap();
    b.get_snapshot(&session).await.unwrap();
    let nodes = "SELECT instance FROM netaclaw_node";
    let nodes: Vec<String> = sqlx::query_scalar(nodes)
        .fetch_all(&mut harness.sql().await)
        .await
        .unwrap();
    assert_eq!(nodes, ["a"]);
    a.close().await.unwrap();
    let owned = "SELECT COUNT(*) FROM neta_agent_session WHERE ownerNode IS NOT NULL";
    let owned: i64 = sqlx::query_scalar(owned)
        .fetch_one(&mut harness.sql().await)
        .await
        .unwrap();
    assert_eq!(owned, 0);
}
