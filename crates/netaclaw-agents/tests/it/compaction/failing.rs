//! Every failure: few attempts, an unchanged history, a reason, and a way to continue.

use super::*;
use netaclaw_protocol::{Compact, DismissCompaction, LiveSnapshot, SessionOpen};
use netaclaw_testkit::fake_model::{Fault, Part, Reply, TokenCounts};
use std::time::Duration;

fn full() -> TokenCounts {
    TokenCounts {
        input: 24_000,
        output: 10,
        ..TokenCounts::default()
    }
}

#[tokio::test]
async fn a_summariser_that_fails_never_fails_the_chat() {
    let long = words("More than there was.").repeat(60);
    let thinking = Reply::default().and(Part::Thinking("Hm, what to write?".into()));
    for (case, reply, fault) in [
        ("fails", Reply::status(500), "model_failed"),
        ("says nothing", Reply::failing(Fault::Empty), "bad_summary"),
        ("only thinks", thinking, "bad_summary"),
        ("is too short", Reply::text("Short."), "bad_summary"),
        (
            "is longer than the text that it replaces",
            Reply::text(long),
            "bad_summary",
        ),
    ] {
        let world = world(Supplier::Anthropic).await;
        answers_at_length(&world);
        let (session, client) = world.session().await;
        talk(&world, &session, &client, 20).await;
        world.script().forget(SUMMARY);
        world.script().when(SUMMARY, reply);
        client.clear();
        let before = stored(&world, &session).await;
        world
            .script()
            .push(Reply::tool_call("c1", "ls", "{}").with_usage(full()));
        world.chat(&session, "Look around.").await;
        let done = within(client.done(1)).await;
        assert_eq!(
            done[0]["data"]["outcome"], "completed",
            "{case}: the chat goes on"
        );
        let error = refused(&client).await;
        assert_eq!(error["fault"], fault, "{case}: {error}");
        assert!(error["retryAt"].is_i64(), "{case}: {error}");
        assert_eq!(count(&client, "compaction_start"), 1, "{case}");
        assert_eq!(compactions(&world, &session).await, Vec::<Value>::new());
        let after = stored(&world, &session).await;
        assert_eq!(after[..before.len()], before[..]);

        // It is not tried again at once, however full it is.
        let asked = summaries(&world).len();
        assert!(asked <= 2, "{case}: {asked}");
        for n in 0..4 {
            client.clear();
            world.script().push(Reply::text("Full.").with_usage(full()));
            world.chat(&session, &format!("Go on, {n}.")).await;
            within(client.done(1)).await;
        }
        assert_eq!(summaries(&world).len(), asked, "{case}");

        // By hand it works as soon as the model does.
        world.script().forget(SUMMARY);
        world.script().when_asked(SUMMARY, good_summary);
        client.clear();
        compact(&world, &session).await.unwrap();
        compacted(&client).await;
    }
}

#[tokio::test]
async fn a_model_that_always_overflows_is_not_retried_without_end() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    let too_long = Reply::failing(Fault::Body {
        status: 400,
        content_type: "application/json",
        body: r#"{"error":{"message":"This model's maximum context length is 10 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#.into(),
    });
    world.script().otherwise(too_long);
    for n in 0..6 {
        client.clear();
        world.chat(&session, &words(&format!("Again {n}."))).await;
        let done = within(client.done(1)).await;
        assert_eq!(done[0]["data"]["reason"], "context_too_long");
        let (begun, ended) = (
            count(&client, "compaction_start"),
            count(&client, "compaction_done") + count(&client, "compaction_error"),
        );
        assert_eq!(begun, ended);
        assert!(begun <= 2);
    }
    assert!(summaries(&world).len() <= 3, "{}", summaries(&world).len());
    answers_at_length(&world);
    client.clear();
    world.chat(&session, "Better now?").await;
    let done = within(client.done(1)).await;
    assert_eq!(done[0]["data"]["outcome"], "completed");
}

#[tokio::test]
async fn success_again_and_again_pauses_it_and_says_so() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    // From now on every answer claims a full window, whatever was compacted.
    let full = Reply::text(words("Full.")).with_usage(full());
    world.script().otherwise(full);
    let mut warned = Vec::new();
    for n in 0..24 {
        client.clear();
        world
            .chat(&session, &words(&format!("Question {n}.")))
            .await;
        within(client.done(1)).await;
        warned.extend(
            client
                .events()
                .into_iter()
                .filter(|event| event["type"] == "error"),
        );
    }
    let made = compactions(&world, &session).await.len();
    assert!((1..=6).contains(&made), "{made}");
    assert!(
        (1..=3).contains(&warned.len()),
        "told when it changes: {warned:?}"
    );
    assert_eq!(warned[0]["data"]["trouble"]["kind"], "compaction_paused");
    assert_eq!(warned[0]["data"]["severity"], "warning");
    let (_, opened) = world.open(&session).await;
    let standing = opened.snapshot.unwrap().warnings;
    assert_eq!(standing.len(), 1, "{standing:?}");
}

#[tokio::test]
async fn instructions_over_the_threshold_never_begin_it() {
    // The tools alone take more than this.
    let world = World::with(Setting {
        window: 1_500,
        ..Setting::of(Supplier::Openai)
    })
    .await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    world.chat(&session, "Hello").await;
    within(client.done(1)).await;
    client.clear();
    world.chat(&session, "Hello again").await;
    within(client.done(1)).await;
    assert_eq!(count(&client, "compaction_start"), 0);
    let (_, opened) = world.open(&session).await;
    let warnings = opened.snapshot.unwrap().warnings;
    assert!(
        warnings[0].words.en.contains("exceed its threshold"),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn one_giant_result_is_folded_and_the_work_goes_on() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    // Far more than what may be kept, and less than the window.
    let line = "The harbour was quiet that morning, and no one spoke.\n";
    std::fs::write(world.work_dir().join("log.txt"), line.repeat(850)).unwrap();
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    client.clear();
    world
        .script()
        .push(Reply::tool_call("c1", "read", r#"{"path":"log.txt"}"#));
    world.chat(&session, "MARKER-task: read the log.").await;
    let done = within(client.done(1)).await;
    assert_eq!(done[0]["data"]["outcome"], "completed");
    assert_eq!(count(&client, "compaction_done"), 1, "{:?}", names(&client));
    assert_eq!(refusals(&world), Vec::<String>::new());
    let sent = world.script().last_request().body["messages"].to_string();
    assert!(
        sent.contains("MARKER-task: read the log."),
        "the task is stated in the user's words"
    );
}

/// The same session with the next server, which began after the last has ended.
async fn restarted(
    world: &World,
    session: &SessionId,
) -> (netaclaw_engine::Engine, Client, LiveSnapshot) {
    world.engine.shut_down(Duration::from_secs(5)).await;
    let next = world.engine_over(world.sessions_dir());
    let ear = Client::default();
    let caller = ann();
    let opening = next.open(&caller, SessionOpen::of(session), ear.subscriber());
    let (opened, _) = within(opening).await.unwrap();
    (next, ear, *opened.snapshot.unwrap())
}

#[tokio::test]
async fn a_failure_is_shown_until_it_is_dismissed_or_one_succeeds() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    world.script().forget(SUMMARY);
    world.script().when(SUMMARY, Reply::status(500));
    compact(&world, &session).await.unwrap();
    let error = refused(&client).await;
    within(client.wait("run_status", |status| status["status"] == "idle")).await;
    let failed = |snapshot: &LiveSnapshot| {
        let failed = snapshot.compaction_failed.as_ref();
        failed.map(|failed| serde_json::to_value(&failed.error).unwrap())
    };
    let caller = ann();
    let (_, opened) = world.open(&session).await;
    assert_eq!(failed(&opened.snapshot.unwrap()), Some(error.clone()));
    let (next, ear, snapshot) = restarted(&world, &session).await;
    assert_eq!(failed(&snapshot), Some(error));
    // A message does not make it good.
    let chat = netaclaw_testkit::engine::message(&session, "And now?");
    within(next.execute(&caller, chat)).await.unwrap();
    within(ear.done(1)).await;
    let look = || async {
        let ear = Client::default();
        let opening = next.open(&caller, SessionOpen::of(&session), ear.subscriber());
        *within(opening).await.unwrap().0.snapshot.unwrap()
    };
    assert!(look().await.compaction_failed.is_some());
    next.execute(
        &caller,
        DismissCompaction {
            session_id: session.clone(),
        },
    )
    .await
    .unwrap();
    within(ear.wait("compaction_dismissed", |_| true)).await;
    assert_eq!(look().await.compaction_failed, None);

    within(next.execute(
        &caller,
        Compact {
            session_id: session.clone(),
            instructions: None,
            request_id: None,
        },
    ))
    .await
    .unwrap();
    within(ear.wait("compaction_error", |_| true)).await;
    within(ear.wait("run_status", |status| status["status"] == "idle")).await;
    assert!(look().await.compaction_failed.is_some());
    world.script().forget(SUMMARY);
    world.script().when_asked(SUMMARY, good_summary);
    ear.clear();
    within(next.execute(
        &caller,
        Compact {
            session_id: session.clone(),
            instructions: None,
            request_id: None,
        },
    ))
    .await
    .unwrap();
    within(ear.wait("compaction_done", |_| true)).await;
    assert_eq!(look().await.compaction_failed, None);
}

/// A summarizer that fails, and a server that is restarted for every message: past attempts are
/// stored.
#[tokio::test]
async fn a_restart_does_not_begin_it_again() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    world.script().forget(SUMMARY);
    world.script().when(SUMMARY, Reply::status(500));
    world
        .script()
        .otherwise(Reply::text("Full.").with_usage(full()));
    for n in 0..2 {
        client.clear();
        world.chat(&session, &format!("Go on, {n}.")).await;
        within(client.done(1)).await;
    }
    let asked = summaries(&world).len();
    assert_eq!(asked, 1);
    world.engine.shut_down(Duration::from_secs(5)).await;
    for n in 0..3 {
        let next = world.engine_over(world.sessions_dir());
        let (ear, caller) = (Client::default(), ann());
        let opening = next.open(&caller, SessionOpen::of(&session), ear.subscriber());
        let (opened, _) = within(opening).await.unwrap();
        let failed = opened.snapshot.unwrap().compaction_failed.unwrap();
        assert!(failed.error.retry_at.is_some());
        let chat = netaclaw_testkit::engine::message(&session, &format!("After a restart, {n}."));
        within(next.execute(&caller, chat)).await.unwrap();
        let done = within(ear.done(1)).await;
        assert_eq!(done[0]["data"]["outcome"], "completed");
        next.shut_down(Duration::from_secs(5)).await;
    }
    assert_eq!(summaries(&world).len(), asked);
}
