//! The meter says what the supplier billed, or that it is an estimate.

use super::*;
use netaclaw_admin::{AgentStore, DEFAULT_AGENT};
use netaclaw_agents::{AgentPreviews, PreviewFor};
use netaclaw_protocol::{ContextPart, SessionOpen, SwitchLeaf, TokenTotals, TokenUpdate};
use netaclaw_testkit::fake_model::{Reply, TokenCounts};

fn billed(input: u64, output: u64) -> TokenCounts {
    TokenCounts {
        input,
        output,
        ..TokenCounts::default()
    }
}

async fn tokens(world: &World, session: &SessionId) -> TokenUpdate {
    let (_, opened) = world.open(session).await;
    opened.snapshot.unwrap().tokens
}

#[tokio::test]
async fn after_an_answer_it_is_what_was_billed_on_this_branch_and_after_a_restart() {
    let world = world(Supplier::Openai).await;
    let (session, client) = world.session().await;
    world
        .script()
        .push(Reply::text("One.").with_usage(billed(1_000, 50)));
    world.chat(&session, "First").await;
    within(client.done(1)).await;
    let tree = world
        .engine
        .providers()
        .file
        .load_tree(&session)
        .await
        .unwrap();
    let branch = tree.leaf().unwrap().clone();
    world
        .script()
        .push(Reply::text("Two.").with_usage(billed(2_000, 60)));
    world.chat(&session, "Second").await;
    within(client.done(2)).await;
    let at_the_end = tokens(&world, &session).await;
    assert_eq!(at_the_end.context.used_tokens, 2_060);
    assert!(!at_the_end.context.estimated);
    assert_eq!(at_the_end.context.max_tokens, WINDOW);
    assert_eq!(at_the_end.context.threshold_percent, Some(70));
    assert_eq!(at_the_end.current.total_tokens, 3_110);
    assert_eq!(at_the_end.branch, at_the_end.current);
    assert_eq!(at_the_end.last_call.unwrap().total_tokens, 2_060);
    assert_eq!(at_the_end.auxiliary, TokenTotals::default());
    client.clear();
    let caller = ann();
    let back = world.engine.execute(
        &caller,
        SwitchLeaf {
            session_id: session.clone(),
            leaf_entry_id: Some(branch),
            follow: false,
            summarize: false,
            request_id: None,
        },
    );
    back.await.unwrap();
    let told = within(client.wait("token_update", |_| true)).await;
    assert_eq!(told["data"]["context"]["usedTokens"], 1_050);
    assert_eq!(told["data"]["context"]["estimated"], false);
    assert_eq!(
        told["data"]["current"]["totalTokens"], 3_110,
        "both were paid for"
    );
    let told: TokenUpdate = serde_json::from_value(told["data"].clone()).unwrap();
    assert_eq!(told.branch.total_tokens, 1_050);
    assert_eq!((told.branch.api_calls, told.current.api_calls), (1, 2));
    assert_eq!(told.last_call, Some(told.branch.clone()));

    let next = world.engine_over(world.sessions_dir());
    world
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    let ear = Client::default();
    let opening = next.open(&caller, SessionOpen::of(&session), ear.subscriber());
    let (opened, _) = within(opening).await.unwrap();
    assert_eq!(opened.snapshot.unwrap().tokens, told);
}

#[tokio::test]
async fn after_a_compaction_it_is_an_estimate_until_the_next_answer() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 8).await;
    let before = tokens(&world, &session).await;
    client.clear();
    compact(&world, &session).await.unwrap();
    let done = compacted(&client).await;
    let told = within(client.wait("token_update", |_| true)).await;
    let meter = &told["data"]["context"];
    assert_eq!(meter["estimated"], true);
    let used = meter["usedTokens"].as_u64().unwrap();
    assert!(used < before.context.used_tokens, "{meter} {before:?}");
    let after = done["tokensAfter"].as_u64().unwrap();
    assert_eq!(used, after, "the message and the meter show one number");
    assert_eq!(
        tokens(&world, &session).await.context.used_tokens,
        used,
        "also for who comes now"
    );
    let told: TokenUpdate = serde_json::from_value(told["data"].clone()).unwrap();
    assert_eq!(
        (&told.current, &told.branch, &told.last_call),
        (&before.current, &before.branch, &before.last_call),
        "the summary feeds no meter"
    );
    assert_eq!(before.auxiliary, TokenTotals::default());
    assert_eq!(told.auxiliary.api_calls, 1, "and is listed apart");
    assert!(told.auxiliary.total_tokens > 0);

    world
        .script()
        .push(Reply::text("Yes.").with_usage(billed(4_321, 9)));
    world.chat(&session, "Still there?").await;
    within(client.done(1)).await;
    let after = tokens(&world, &session).await;
    let meter = &after.context;
    assert_eq!((meter.used_tokens, meter.estimated), (4_330, false));
    assert_eq!(after.auxiliary, told.auxiliary);
    assert_eq!(after.last_call.unwrap().total_tokens, 4_330);
}

#[tokio::test]
async fn a_summary_in_the_midst_of_a_run_stays_counted_apart_when_the_run_goes_on() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    talk(&world, &session, &client, 20).await;
    let full = Reply::tool_call("c1", "ls", "{}").with_usage(billed(24_000, 10));
    world.script().push(full);
    let last = Reply::text("Looked.").with_usage(billed(5_000, 3));
    world.script().push(last);
    client.clear();
    world.chat(&session, "Look around.").await;
    within(client.done(1)).await;
    assert_eq!(count(&client, "compaction_done"), 1);
    let live = tokens(&world, &session).await;
    assert_eq!(live.auxiliary.api_calls, 1);
    assert_eq!(live.last_call.as_ref().unwrap().total_tokens, 5_003);
    assert_eq!(live.context.used_tokens, 5_003);
    world
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    let next = world.engine_over(world.sessions_dir());
    let caller = ann();
    let opening = next.open(
        &caller,
        SessionOpen::of(&session),
        Client::default().subscriber(),
    );
    let (opened, _) = within(opening).await.unwrap();
    assert_eq!(opened.snapshot.unwrap().tokens, live);
}

#[tokio::test]
async fn before_the_first_answer_instructions_and_tools_count() {
    let world = world(Supplier::Openai).await;
    let (session, client) = world.session().await;
    let empty = tokens(&world, &session).await.context;
    let caller = ann();
    let filled = world.engine.context_breakdown(&caller, &session);
    let filled = filled.await.unwrap();
    assert_eq!(empty.used_tokens, filled.used_tokens);
    assert!(empty.estimated && empty.used_tokens > 500, "{empty:?}");
    // What the model is sent first is not much more than was foretold.
    world.script().push(Reply::text("Hello."));
    world.chat(&session, "Hello").await;
    within(client.done(1)).await;
    let body = world.script().last_request().body;
    let sent = body["messages"].to_string() + &body["tools"].to_string();
    let sent = netaclaw_models::tokens::estimate_text(&sent);
    let off = sent.abs_diff(empty.used_tokens);
    assert!(off * 100 <= sent * 25, "{} of {sent}", empty.used_tokens);
}

#[tokio::test]
async fn another_model_is_another_window_at_once() {
    let world = world(Supplier::Openai).await;
    let (session, client) = world.session().await;
    world.chat(&session, "Hello").await;
    within(client.done(1)).await;
    let narrow = world.add_narrow_channel("narrow", 14_000).await;
    let choice = |channel: &netaclaw_protocol::ChannelId| netaclaw_protocol::SetModel {
        session_id: session.clone(),
        channel_id: channel.to_string(),
        model_id: "fake-model".to_owned(),
        request_id: None,
    };
    client.clear();
    let chosen = world.engine.execute(&ann(), choice(&narrow)).await;
    chosen.unwrap();
    let told = within(client.wait("token_update", |_| true)).await;
    assert_eq!(told["data"]["context"]["maxTokens"], 14_000);

    // A run keeps the model that it began with; the values for the next are published when it ends.
    let (reply, hold) = Reply::text("Slowly.").holding_after(1);
    world.script().push(reply);
    world.chat(&session, "Say it.").await;
    within(hold.reached()).await;
    let back = world.channel.clone();
    let chosen = world.engine.execute(&ann(), choice(&back)).await;
    chosen.unwrap();
    client.clear();
    hold.release();
    within(client.done(1)).await;
    let wide = |told: &Value| told["context"]["maxTokens"] == WINDOW;
    within(client.wait("token_update", wide)).await;
}

#[tokio::test]
async fn what_fills_the_window_adds_up() {
    let world = world(Supplier::Openai).await;
    answers_at_length(&world);
    let (session, client) = world.session().await;
    world.script().push(Reply::tool_call("c1", "ls", "{}"));
    talk(&world, &session, &client, 8).await;
    for folded in [false, true] {
        let shown = world
            .engine
            .context_breakdown(&ann(), &session)
            .await
            .unwrap();
        let of = |part: ContextPart| {
            shown
                .parts
                .iter()
                .find(|share| share.part == part)
                .unwrap()
                .tokens
        };
        let free = [ContextPart::Reserve, ContextPart::Free]
            .map(of)
            .iter()
            .sum::<u64>();
        let sum: u64 = shown.parts.iter().map(|share| share.tokens).sum();
        assert_eq!(sum, shown.max_tokens);
        assert_eq!(sum - free, shown.used_tokens);
        assert_eq!(
            shown.used_tokens,
            tokens(&world, &session).await.context.used_tokens
        );
        assert!(of(ContextPart::System) > 0 && of(ContextPart::Tools) > 0);
        assert_eq!(of(ContextPart::Summary) > 0, folded);
        assert_eq!(of(ContextPart::ToolResults) > 0, !folded);
        if !folded {
            compact(&world, &session).await.unwrap();
            compacted(&client).await;
        }
    }
}

#[tokio::test]
async fn a_preview_counts_what_the_first_message_costs() {
    let world = world(Supplier::Openai).await;
    let session = world.bare_session().await;
    let agent = world.admin.agent_named(DEFAULT_AGENT).await.unwrap();
    let whom = PreviewFor {
        user: Some("ann"),
        ..PreviewFor::default()
    };
    let prompt = world
        .agents
        .preview(&agent.spec, whom)
        .await
        .unwrap()
        .prompt;
    let ann = ann();
    let filled = world.engine.context_breakdown(&ann, &session);
    let parts = filled.await.unwrap().parts;
    let of = |wanted: &[ContextPart]| -> u64 {
        let shares = parts.iter().filter(|share| wanted.contains(&share.part));
        shares.map(|share| share.tokens).sum()
    };
    assert!(prompt.tool_tokens > 0);
    assert_eq!(of(&[ContextPart::Tools]), prompt.tool_tokens);
    let fixed = [ContextPart::System, ContextPart::Skills, ContextPart::Tools];
    assert_eq!(of(&fixed), prompt.tokens);
}
