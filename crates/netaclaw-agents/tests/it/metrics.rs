//! What is counted, seen as a scraper sees it.

use crate::world::{Setting, World};
use metrics_exporter_prometheus::PrometheusBuilder;
use netaclaw_models::RetryPolicy;
use netaclaw_protocol::Supplier;
use netaclaw_testkit::engine::within;
use netaclaw_testkit::fake_model::Reply;
use std::time::Duration;

#[tokio::test]
async fn runs_models_tools_retries_and_the_queue_are_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    let world = World::with(Setting {
        retry: RetryPolicy {
            attempts: 2,
            first_wait: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
        ..Setting::of(Supplier::Openai)
    })
    .await;
    let script = world.script();
    script.push(Reply::status(503));
    script.push(
        Reply::tool_call("c1", "slow", "{}")
            .and_tool_call("c2", "broken", "{}")
            .and_tool_call("c3", "made_up_by_the_model", "{}"),
    );
    let (session, client) = world.session().await;
    world.chat(&session, "one").await;
    within(client.wait("tool_call_started", |_| true)).await;
    world.chat(&session, "two").await;
    for series in ["netaclaw_runs", "netaclaw_queued_messages"] {
        at_least(&handle.render(), series, 1.0);
    }
    world.gate.add_permits(1);
    within(client.done(2)).await;
    script.push(Reply::status(500));
    script.push(Reply::status(500));
    world.chat(&session, "three").await;
    within(client.done(3)).await;

    let after = handle.render();
    let model = r#"channel="fake",model="fake-model""#;
    for (series, count) in [
        ("netaclaw_runs_started_total", 3.0),
        (r#"netaclaw_runs_total{outcome="completed",reason=""}"#, 2.0),
        (
            r#"netaclaw_runs_total{outcome="error",reason="overloaded"}"#,
            1.0,
        ),
        (r#"netaclaw_run_seconds_count{outcome="completed"}"#, 2.0),
        (
            &format!("netaclaw_model_first_token_seconds_count{{{model}}}"),
            3.0,
        ),
        (
            &format!("netaclaw_model_answer_seconds_count{{{model}}}"),
            3.0,
        ),
        (
            &format!("netaclaw_model_errors_total{{{model},kind=\"overloaded\"}}"),
            1.0,
        ),
        (r#"netaclaw_model_retries_total{kind="overloaded"}"#, 2.0),
        (
            &format!("netaclaw_tokens_total{{{model},type=\"output\"}}"),
            1.0,
        ),
        (r#"netaclaw_tool_seconds_count{tool="slow"}"#, 1.0),
        (r#"netaclaw_tool_seconds_count{tool="(unavailable)"}"#, 1.0),
        (r#"netaclaw_tool_errors_total{tool="broken"}"#, 1.0),
    ] {
        at_least(&after, series, count);
    }
    assert!(!after.contains("made_up"), "a model cannot make a series");
}

/// Other tests of the process count into the same series.
#[track_caller]
fn at_least(rendered: &str, series: &str, count: f64) {
    let line = rendered
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let value: f64 = line
        .unwrap_or_else(|| panic!("{series} is not in {rendered}"))
        .parse()
        .unwrap();
    assert!(value >= count, "{series} is {value}");
}
