//! The meter says what the supplier billed, or that it is an estimate.

use super::*;
use netaclaw_engine::Way;
use netaclaw_protocol::{ContextPart, TokenUpdate};
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
    client.clear();
    let caller = ann();
    let back = world
        .engine
        .switch_leaf(&caller, &session, Some(branch), Way::Exactly, None);
    back.await.unwrap();
    let told = within(client.wait("token_update", |_| true)).await;
    assert_eq!(told["data"]["context"]["usedTokens"], 1_050);
    assert_eq!(told["data"]["context"]["estimated"], false);
    assert_eq!(
        told["data"]["current"]["totalTokens"], 3_110,
        "both were paid for"
    );

    let next = world.engine_over(world.sessions_dir());
    world
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    let ear = Client::default();
    let opening = next.open(&caller, &session, None, None, ear.subscriber());
    let (opened, _) = within(opening).await.unwrap();
    assert_eq!(opened.snapshot.unwrap().tokens.context.used_tokens, 1_050);
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
    assert!(used.abs_diff(after) * 100 <= after * 30, "{used} {after}");
    assert_eq!(
        tokens(&world, &session).await.context.used_tokens,
        used,
        "also for who comes now"
    );
    assert_eq!(
        told["data"]["current"],
        serde_json::to_value(&before.current).unwrap(),
        "the summary feeds no meter"
    );

    world
        .script()
        .push(Reply::text("Yes.").with_usage(billed(4_321, 9)));
    world.chat(&session, "Still there?").await;
    within(client.done(1)).await;
    let meter = tokens(&world, &session).await.context;
    assert_eq!((meter.used_tokens, meter.estimated), (4_330, false));
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
