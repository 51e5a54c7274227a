//! Compactions are entries of the tree: branches, a second one, and what is left of the first.

use super::*;
use netaclaw_protocol::{ApprovalMode, CompactionReason, Stop, SwitchLeaf, SwitchStatus};
use netaclaw_testkit::fake_model::Reply;
use serde_json::json;

#[tokio::test]
async fn a_branch_from_before_knows_nothing_of_it_and_the_other_still_does() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    world
        .script()
        .push(Reply::text(words("Noted: MARKER-early.")));
    talk(&world, &session, &client, 8).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let old_leaf = tree.leaf().unwrap().clone();
    let early = tree.active_path().unwrap()[3].id().clone();
    compact(&world, &session).await.unwrap();
    let done = compacted(&client).await;
    let summary = netaclaw_protocol::EntryId::new(done["summaryEntryId"].as_str().unwrap());

    for (leaf, sees_summary, sees_early) in [
        (early, false, true),
        (old_leaf, false, true),
        (summary, true, true),
    ] {
        within(client.wait("run_status", |status| status["status"] == "idle")).await;
        let caller = ann();
        let moving = world.engine.execute(
            &caller,
            SwitchLeaf {
                session_id: session.clone(),
                leaf_entry_id: Some(leaf),
                follow: false,
                summarize: false,
                request_id: None,
            },
        );
        moving.await.unwrap();
        client.clear();
        world.chat(&session, "What do you know?").await;
        within(client.done(1)).await;
        let sent = world.script().last_request().body["messages"].to_string();
        assert_eq!(sent.contains("Goal of the user"), sees_summary);
        assert_eq!(sent.contains("MARKER-early"), sees_early);
    }
    assert_eq!(refusals(&world), Vec::<String>::new());
}

#[tokio::test]
async fn a_second_one_updates_the_first_and_counts_instead_of_it() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    world
        .change_agent(|spec| spec.approval = ApprovalMode::Never)
        .await;
    let (session, client) = world.session().await;
    world.script().push(Reply::tool_call(
        "w1",
        "write",
        r#"{"path":"b.txt","content":"MARKER-content"}"#,
    ));
    world
        .script()
        .push(Reply::text(words("Written. MARKER-one.")));
    talk(&world, &session, &client, 8).await;
    compact(&world, &session).await.unwrap();
    compacted(&client).await;
    world
        .script()
        .push(Reply::text(words("Noted: MARKER-two.")));
    talk(&world, &session, &client, 8).await;
    client.clear();
    compact(&world, &session).await.unwrap();
    compacted(&client).await;

    let made = compactions(&world, &session).await;
    assert_eq!(made.len(), 2);
    let asked = summaries(&world)[1].last_user_text();
    assert!(asked.contains("<previous-summary>") && asked.contains("MARKER-one"));
    let read = asked.split("<conversation>").nth(1).unwrap();
    assert!(
        !read.contains("MARKER-one"),
        "what was folded is not read again"
    );
    let second = made[1]["summary"].as_str().unwrap();
    for kept in [
        "MARKER-one",
        "MARKER-two",
        "write(",
        "> Question 0.",
        "<modified-files>\nb.txt",
    ] {
        assert!(second.contains(kept), "{kept}: {second}");
    }
    assert_eq!(made[1]["details"]["ledger"][0]["times"], 1);
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let path = tree.active_path().unwrap();
    let first_kept = path[netaclaw_session::folded_count(&path)].id();
    assert_eq!(first_kept.as_str(), made[1]["firstKeptEntryId"]);
    let seen = context(&world, &session).await;
    assert_eq!(
        seen.matches("compactionSummary").count(),
        1,
        "the latest wins"
    );
}

#[tokio::test]
async fn a_branch_that_is_left_is_summarized_at_the_new_leaf() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 2).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let fork = tree.leaf().unwrap().clone();
    world
        .script()
        .push(Reply::text(words("Noted: MARKER-branch.")));
    talk(&world, &session, &client, 3).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let left = tree.leaf().unwrap().clone();

    // A model that fails moves nothing.
    world.script().forget(SUMMARY);
    world.script().when(SUMMARY, Reply::status(500));
    let before = stored(&world, &session).await;
    let caller = ann();
    let leave = || {
        let (engine, fork) = (&world.engine, Some(fork.clone()));
        within(engine.execute(
            &caller,
            SwitchLeaf {
                session_id: session.clone(),
                leaf_entry_id: fork,
                follow: false,
                summarize: true,
                request_id: None,
            },
        ))
    };
    client.clear();
    assert_eq!(
        leave().await.unwrap().answer.status,
        SwitchStatus::Summarizing
    );
    let error = refused(&client).await;
    assert_eq!(
        (&error["fault"], &error["reason"]),
        (&json!("model_failed"), &json!("branch"))
    );
    within(client.wait("run_status", |status| status["status"] == "idle")).await;
    assert_eq!(stored(&world, &session).await, before);
    let (_, opened) = world.open(&session).await;
    let failed = opened.snapshot.unwrap().compaction_failed.unwrap();
    assert_eq!(
        failed.error.reason,
        CompactionReason::Branch,
        "also for who comes later"
    );
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    assert_eq!(tree.leaf(), Some(&left));

    world.script().forget(SUMMARY);
    let (reply, hold) = good_summary(&json!({"messages": "MARKER-branch"})).holding_after(1);
    world.script().when(SUMMARY, reply);
    client.clear();
    // The answer does not wait for the model, and a stop ends it.
    assert_eq!(
        leave().await.unwrap().answer.status,
        SwitchStatus::Summarizing
    );
    within(hold.reached()).await;
    let busy = leave().await.unwrap_err();
    assert!(matches!(busy, EngineError::Busy(_)), "{busy}");
    let (_, opened) = world.open(&session).await;
    let under_way = opened.snapshot.unwrap().compaction.unwrap();
    assert_eq!(under_way.start.reason, CompactionReason::Branch);
    within(world.engine.execute(&caller, Stop::of(&session)))
        .await
        .unwrap();
    assert_eq!(refused(&client).await["fault"], "cancelled");
    within(client.wait("run_status", |status| status["status"] == "idle")).await;
    assert_eq!(stored(&world, &session).await, before);
    hold.release();

    world.script().forget(SUMMARY);
    world.script().when_asked(SUMMARY, good_summary);
    client.clear();
    leave().await.unwrap();
    let done = compacted(&client).await;
    assert_eq!(done["compactedCount"], 6);
    within(client.wait("run_status", |status| status["status"] == "idle")).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let path = tree.active_path().unwrap();
    let told = path.last().unwrap();
    assert_eq!(told.kind(), EntryKind::BranchSummary);
    assert_eq!(told.parent_id(), Some(&fork));
    assert_eq!(told.id().as_str(), done["summaryEntryId"]);
    assert_eq!(told.text_field("fromId").as_deref(), Some(left.as_str()));
    let (_, opened) = world.open(&session).await;
    let snapshot = opened.snapshot.unwrap();
    assert_eq!(snapshot.compaction_failed, None, "it worked since");
    assert_eq!(snapshot.tokens.auxiliary.api_calls, 1);
    let asked = summaries(&world).pop().unwrap().last_user_text();
    assert_eq!(
        asked.matches("[User]:").count(),
        3,
        "only the abandoned branch is summarized"
    );
    client.clear();
    world.chat(&session, "And now?").await;
    within(client.done(1)).await;
    let sent = world.script().last_request().body["messages"].to_string();
    assert!(
        sent.contains("MARKER-branch"),
        "what was found there is known here"
    );

    // Nothing is left on the way down, and a short branch is quoted in full.
    let asked = summaries(&world).len();
    let engine = &world.engine;
    let tree = engine.providers().file.load_tree(&session).await.unwrap();
    let here = tree.leaf().cloned();
    let stay = engine.execute(
        &caller,
        SwitchLeaf {
            session_id: session.clone(),
            leaf_entry_id: here.clone(),
            follow: false,
            summarize: true,
            request_id: None,
        },
    );
    assert_eq!(
        within(stay).await.unwrap().answer.status,
        SwitchStatus::Moved
    );
    let tree = engine.providers().file.load_tree(&session).await.unwrap();
    assert_eq!(tree.leaf(), here.as_ref());
    assert_eq!(summaries(&world).len(), asked);
    assert_eq!(refusals(&world), Vec::<String>::new());
}
