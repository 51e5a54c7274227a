//! Automatic compaction: at the threshold, between rounds of tools, and when a model reports that
//! the context is too long.

use super::*;
use netaclaw_protocol::{SetModel, SetThinkingLevel, ThinkingLevel};
use netaclaw_testkit::fake_model::{Reply, TokenCounts};

#[tokio::test]
async fn the_threshold_is_looked_at_before_every_model_call() {
    for supplier in crate::world::APIS {
        let world = world(supplier).await;
        answers_at_length(&world);
        let (session, client) = world.session().await;
        talk(&world, &session, &client, 20).await;
        assert_eq!(summaries(&world).len(), 0);
        client.clear();
        // The model reports a much larger context than estimated, in the middle of a run.
        let full = TokenCounts {
            input: 24_000,
            output: 10,
            ..TokenCounts::default()
        };
        world
            .script()
            .push(Reply::tool_call("c1", "ls", "{}").with_usage(full));
        world.chat(&session, "Look around.").await;
        within(client.done(1)).await;
        let done = compacted(&client).await;
        assert_eq!(
            client
                .events()
                .iter()
                .find(|e| e["type"] == "compaction_start")
                .unwrap()["data"]["reason"],
            "auto"
        );
        assert!(done["tokensBefore"].as_u64().unwrap() >= 24_000);
        assert_eq!(refusals(&world), Vec::<String>::new());
        let request = world.script().last_request();
        assert!(
            request.body["messages"]
                .to_string()
                .contains("Goal of the user")
        );
        assert_eq!(compactions(&world, &session).await.len(), 1);
    }
}

#[tokio::test]
async fn a_number_from_before_does_not_start_it_again() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    let full = TokenCounts {
        input: 24_000,
        output: 10,
        ..TokenCounts::default()
    };
    world.script().push(Reply::text("Full.").with_usage(full));
    world.chat(&session, "Still there?").await;
    within(client.done(1)).await;
    client.clear();
    talk(&world, &session, &client, 3).await;
    assert_eq!(
        compactions(&world, &session).await.len(),
        1,
        "the stale reading is kept in the tail"
    );
}

#[tokio::test]
async fn too_long_for_the_model_is_condensed_and_asked_again_once() {
    for supplier in crate::world::APIS {
        let world = world(supplier).await;
        answers_at_length(&world);
        let (session, client) = world.session().await;
        talk(&world, &session, &client, 20).await;
        // The real window is smaller than the channel says.
        world.script().set_limits(Limits {
            strict: true,
            window: Some(14_000),
        });
        client.clear();
        world.chat(&session, "MARKER-late: go on.").await;
        let done = within(client.done(1)).await;
        assert_eq!(done[0]["data"]["outcome"], "completed");
        let start = within(client.wait("compaction_start", |_| true)).await;
        assert_eq!(start["data"]["reason"], "overflow");
        assert_eq!(count(&client, "compaction_done"), 1);
        assert_eq!(refusals(&world).len(), 1, "the overflow was reported once");
        assert!(
            world
                .script()
                .last_request()
                .last_user_text()
                .contains("MARKER-late")
        );
    }
}

#[tokio::test]
async fn a_smaller_model_makes_it_due_at_once() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 15).await;
    let narrow = world.add_narrow_channel("narrow", 14_000).await;
    let choice = SetModel {
        session_id: session.clone(),
        channel_id: narrow.to_string(),
        model_id: "fake-model".to_owned(),
        request_id: None,
    };
    world.engine.execute(&ann(), choice).await.unwrap();
    world.script().set_limits(Limits {
        strict: true,
        window: Some(14_000),
    });
    client.clear();
    world.chat(&session, "Go on.").await;
    within(client.done(1)).await;
    assert_eq!(count(&client, "compaction_done"), 1);
    assert_eq!(refusals(&world), Vec::<String>::new());
}

#[tokio::test]
async fn the_auxiliary_model_of_the_agent_writes_and_one_that_is_off_is_a_clear_error() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    let small = world.add_channel("small", Supplier::Anthropic).await;
    let named = Some(small.clone());
    world
        .change_agent(|spec| spec.auxiliary_model_channel_id = named)
        .await;
    compact(&world, &session).await.unwrap();
    compacted(&client).await;
    assert_eq!(summaries(&world)[0].path, "/v1/messages");
    assert_eq!(
        compactions(&world, &session).await[0]["details"]["channel"],
        "small"
    );

    talk(&world, &session, &client, 8).await;
    world.disable(&small).await;
    client.clear();
    compact(&world, &session).await.unwrap();
    let error = refused(&client).await;
    assert_eq!(error["fault"], "not_ready");
    assert!(
        error["message"].as_str().unwrap().contains("small"),
        "{error}"
    );
}

#[tokio::test]
async fn off_is_off_but_not_by_hand() {
    let world = world(Supplier::Openai).await;
    world
        .change_agent(|spec| spec.compaction_threshold = 0)
        .await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    let full = TokenCounts {
        input: 29_000,
        output: 10,
        ..TokenCounts::default()
    };
    talk(&world, &session, &client, 8).await;
    world
        .script()
        .push(Reply::tool_call("c1", "ls", "{}").with_usage(full));
    client.clear();
    world.chat(&session, "Look.").await;
    within(client.done(1)).await;
    assert_eq!(count(&client, "compaction_start"), 0);
    compact(&world, &session).await.unwrap();
    compacted(&client).await;
}

#[tokio::test]
async fn thinking_is_not_asked_of_who_summarises() {
    let world = world(Supplier::Anthropic).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    let level = ThinkingLevel::High;
    world
        .engine
        .execute(
            &ann(),
            SetThinkingLevel {
                session_id: session.clone(),
                level,
                request_id: None,
            },
        )
        .await
        .unwrap();
    talk(&world, &session, &client, 8).await;
    compact(&world, &session).await.unwrap();
    compacted(&client).await;
    let body = &summaries(&world)[0].body;
    assert!(
        body.get("thinking")
            .is_none_or(|thinking| thinking["type"] == "disabled"),
        "{body}"
    );
    assert!(
        body.get("tools")
            .is_none_or(|tools| tools.as_array().is_none_or(Vec::is_empty))
    );
}
