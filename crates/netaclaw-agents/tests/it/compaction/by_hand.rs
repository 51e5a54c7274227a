//! `compact`: its answer, its events, and what happens in the meantime.

use super::*;
use netaclaw_protocol::{
    CompactionFault, CompactionProgress, CompactionReason, Disposition, RunState, SessionOpen, Stop,
};
use netaclaw_testkit::engine::message;
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;

#[tokio::test]
async fn it_is_published_as_start_end_entry_and_usage() {
    for supplier in crate::world::APIS {
        let world = world(supplier).await;
        answers_at_length(&world);
        let (session, client) = world.session().await;
        world.script().push(Reply::text("Noted: MARKER-first."));
        talk(&world, &session, &client, 8).await;
        let before = stored(&world, &session).await;
        client.clear();
        let status = compact_with(&world, &session, Some("the boats"))
            .await
            .unwrap();
        assert_eq!(status, CompactStatus::Started);
        let done = compacted(&client).await;
        within(client.wait("run_status", |status| status["status"] == "idle")).await;
        let told: Vec<String> = names(&client);
        assert_eq!(
            told,
            [
                "run_status",
                "compaction_start",
                "compaction_progress",
                "compaction_progress",
                "compaction_progress",
                "compaction_done",
                "session_entry_added",
                "token_update",
                "run_status"
            ]
        );
        let events = client.events();
        assert_eq!(events[0]["data"]["phase"], "compacting");
        assert_eq!(events[1]["data"]["reason"], "manual");
        assert_eq!(events[1]["data"]["messageCount"], done["compactedCount"]);
        let stages = events[2..5].iter().map(|event| event["data"].clone());
        assert_eq!(
            stages.collect::<Vec<_>>(),
            [
                json!({"stage": "summarizing", "part": 1, "parts": 1}),
                json!({"stage": "checking"}),
                json!({"stage": "saving"}),
            ]
        );
        let entry = &events[6]["data"]["entry"];
        assert_eq!(entry["type"], "compaction");
        assert_eq!(entry["id"], done["summaryEntryId"]);
        assert_eq!(entry["summary"], done["summaryContent"]);
        assert_eq!(entry["details"]["reason"], "manual");
        assert_eq!(entry["details"]["instructions"], "the boats");
        assert_eq!(events[7]["data"]["context"]["estimated"], true);
        let (was, is) = (done["tokensBefore"].as_u64(), done["tokensAfter"].as_u64());
        assert!(is.unwrap() * 10 <= was.unwrap() * 9, "{done}");
        assert!(
            done["summaryContent"]
                .as_str()
                .unwrap()
                .contains("MARKER-first")
        );
        let asked = &summaries(&world)[0];
        assert!(
            asked.last_user_text().contains("the boats"),
            "the focus is in the request"
        );

        // What was there is there, and the model sees the summary and the end of the talk.
        let after = stored(&world, &session).await;
        assert_eq!(after[..before.len()], before[..]);
        assert_eq!(after.len(), before.len() + 1);
        world.chat(&session, "And now?").await;
        within(client.done(1)).await;
        let request = world.script().last_request();
        assert_eq!(request.refused, None);
        let sent = request.body["messages"].to_string();
        assert!(sent.contains("MARKER-first") && sent.contains("Question 7."));
        assert!(!sent.contains("Question 1."));
        assert!(
            request.last_user_text().ends_with("And now?"),
            "the latest message comes last"
        );
    }
}

#[tokio::test]
async fn nothing_to_compress_is_reported_without_a_model_call() {
    let world = world(Supplier::Openai).await;
    let (session, client) = world.session().await;
    world.chat(&session, "Hello").await;
    within(client.done(1)).await;
    let asked = world.requests().len();
    compact(&world, &session).await.unwrap();
    let error = refused(&client).await;
    assert_eq!(error["fault"], "nothing_to_compress");
    assert_eq!(error["retryable"], false);
    assert_ne!(error["words"]["zh"], error["words"]["en"]);
    assert_eq!(world.requests().len(), asked);
    assert_eq!(count(&client, "compaction_start"), 1);
}

#[tokio::test]
async fn a_second_wish_is_answered_and_messages_wait_for_the_first() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    world.script().forget(SUMMARY);
    let (reply, hold) = good_summary(&serde_json::json!({})).holding_after(1);
    world.script().when(SUMMARY, reply);
    client.clear();
    assert_eq!(
        compact(&world, &session).await.unwrap(),
        CompactStatus::Started
    );
    within(hold.reached()).await;
    assert_eq!(
        compact(&world, &session).await.unwrap(),
        CompactStatus::AlreadyRunning
    );
    let mut items = Vec::new();
    for text in ["one", "two", "three"] {
        let ack = world.send(message(&session, text)).await.unwrap();
        assert_eq!(ack.answer.disposition, Disposition::Queued);
        assert_eq!(ack.answer.run_id, None);
        items.push(ack.answer.item_id);
    }
    let (_, opened) = world.open(&session).await;
    let snapshot = opened.snapshot.unwrap();
    let under_way = snapshot.compaction.unwrap();
    assert_eq!(under_way.start.message_count, 12);
    let stage = CompactionProgress::Summarizing { part: 1, parts: 1 };
    assert_eq!(
        under_way.progress, stage,
        "who comes late sees how far it is"
    );
    assert_eq!(snapshot.queue.items.len(), 3);
    hold.release();
    within(client.done(3)).await;
    let path = world.path(&session).await;
    let asked: Vec<&String> = path
        .iter()
        .filter(|text| text.starts_with("user: "))
        .collect();
    assert_eq!(
        asked[asked.len() - 3..],
        ["user: one", "user: two", "user: three"]
    );
    assert_eq!(count(&client, "compaction_done"), 1);
    assert_eq!(summaries(&world).len(), 1);
    assert_eq!(refusals(&world), Vec::<String>::new());
}

#[tokio::test]
async fn during_a_run_it_waits_for_the_next_boundary() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    client.clear();
    world.script().push(Reply::tool_call("c1", "slow", "{}"));
    world.chat(&session, "Go slow.").await;
    within(client.wait("tool_call_started", |_| true)).await;
    assert_eq!(
        compact(&world, &session).await.unwrap(),
        CompactStatus::Queued
    );
    assert_eq!(
        compact(&world, &session).await.unwrap(),
        CompactStatus::AlreadyQueued
    );
    assert_eq!(count(&client, "compaction_start"), 0);
    world.gate.add_permits(1);
    within(client.done(1)).await;
    let told = names(&client);
    let at = |name: &str| told.iter().position(|known| known == name).unwrap();
    assert!(at("tool_call_completed") < at("compaction_start"));
    assert!(
        at("compaction_done") < at("assistant_stream_end") || at("compaction_done") < at("done")
    );
    assert_eq!(count(&client, "compaction_done"), 1);
    assert_eq!(
        refusals(&world),
        Vec::<String>::new(),
        "the call kept its result"
    );
    assert_eq!(summaries(&world).len(), 1);
}

#[tokio::test]
async fn during_the_last_answer_of_a_run_it_waits_for_the_end() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    client.clear();
    let (reply, hold) = Reply::text("The last words.").holding_after(1);
    world.script().push(reply);
    world.chat(&session, "Say it.").await;
    within(hold.reached()).await;
    assert_eq!(
        compact(&world, &session).await.unwrap(),
        CompactStatus::Queued
    );
    world.send(message(&session, "after")).await.unwrap();
    hold.release();
    compacted(&client).await;
    within(client.done(2)).await;
    let told = names(&client);
    let at = |name: &str| told.iter().position(|known| known == name).unwrap();
    assert!(at("done") < at("compaction_start"), "{told:?}");
    assert!(
        world
            .path(&session)
            .await
            .contains(&"user: after".to_owned())
    );
}

#[tokio::test]
async fn a_stop_ends_it_and_leaves_everything_as_it_was() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    let before = stored(&world, &session).await;
    world.script().forget(SUMMARY);
    let (reply, hold) = good_summary(&serde_json::json!({})).holding_after(1);
    world.script().when(SUMMARY, reply);
    client.clear();
    compact(&world, &session).await.unwrap();
    within(hold.reached()).await;
    let stopped = within(world.engine.execute(&ann(), Stop::of(&session)))
        .await
        .unwrap();
    assert_eq!(stopped.answer.status, RunState::Stopping);
    let error = refused(&client).await;
    assert_eq!(error["fault"], "cancelled");
    within(client.wait("run_status", |status| status["status"] == "idle")).await;
    assert_eq!(stored(&world, &session).await, before);
    assert_eq!(count(&client, "compaction_start"), 1);
    assert_eq!(count(&client, "compaction_done"), 0);
    hold.release();
    client.clear();
    world.chat(&session, "And now?").await;
    within(client.done(1)).await;
}

/// The sessions as `kill -9` would leave them in the middle of a compaction.
#[tokio::test]
async fn a_server_that_dies_meanwhile_loses_nothing() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    world.script().forget(SUMMARY);
    let (reply, hold) = good_summary(&serde_json::json!({})).holding_after(1);
    world.script().when(SUMMARY, reply);
    compact(&world, &session).await.unwrap();
    within(hold.reached()).await;
    world
        .send(message(&session, "sent meanwhile"))
        .await
        .unwrap();
    let before = stored(&world, &session).await;
    let left = tempfile::tempdir().unwrap();
    copy_dir(&world.sessions_dir(), left.path());
    hold.release();
    compacted(&client).await;

    let next = world.engine_over(left.path().to_owned());
    let ear = Client::default();
    let caller = ann();
    let opening = next.open(&caller, SessionOpen::of(&session), ear.subscriber());
    let (opened, _) = within(opening).await.unwrap();
    let failed = opened.snapshot.unwrap().compaction_failed.unwrap();
    assert_eq!(failed.error.fault, CompactionFault::Interrupted);
    assert_eq!(failed.error.reason, CompactionReason::Manual);
    within(ear.done(1)).await;
    let tree = next.providers().file.load_tree(&session).await.unwrap();
    let entries: Vec<&str> = tree.entries().iter().map(|entry| entry.json()).collect();
    assert_eq!(entries[..before.len()], before[..], "nothing is lost");
    let said = tree.entries()[before.len()].message_json().unwrap();
    assert!(said.contains("sent meanwhile"), "{said}");
    assert_eq!(refusals(&world), Vec::<String>::new());
}

fn copy_dir(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => {
                std::fs::create_dir(&target).unwrap();
                copy_dir(&entry.path(), &target);
            }
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}
