//! The metrics, and their format. Names are spelled here and, for what runs count, in the engine's
//! `metrics` module, and nowhere else.

use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use netaclaw_protocol::ErrorCode;
use std::sync::OnceLock;
use std::time::Duration;

/// From a tool that only looks to a model that thinks for minutes.
const SECONDS: [f64; 14] = [
    0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];

/// From a line in a file to a database that is in trouble.
const STORE_SECONDS: [f64; 13] = [
    0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// The process has one recorder, whatever number of gateways it has.
static PROMETHEUS: OnceLock<PrometheusHandle> = OnceLock::new();

pub(crate) fn install() {
    PROMETHEUS.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .expect("there are buckets")
            .set_buckets_for_metric(
                Matcher::Full("netaclaw_store_seconds".to_owned()),
                &STORE_SECONDS,
            )
            .expect("there are buckets")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("another metrics recorder is installed; /metrics stays empty");
        }
        handle
    });
}

pub(crate) fn render() -> String {
    PROMETHEUS.get().map_or_else(String::new, |prometheus| {
        prometheus.run_upkeep();
        prometheus.render()
    })
}

pub(crate) fn connected() {
    gauge!("netaclaw_connections").increment(1.0);
    counter!("netaclaw_connections_total").increment(1);
}

pub(crate) fn disconnected() {
    gauge!("netaclaw_connections").decrement(1.0);
}

pub(crate) fn too_slow() {
    counter!("netaclaw_slow_clients_total").increment(1);
}

pub(crate) fn deltas_dropped(count: usize) {
    counter!("netaclaw_deltas_dropped_total").increment(count as u64);
}

/// There were too many connections, in all or from one address.
pub(crate) fn connection_refused() {
    counter!("netaclaw_connections_refused_total").increment(1);
}

pub(crate) fn command(name: &'static str) {
    counter!("netaclaw_commands_total", "type" => name).increment(1);
}

pub(crate) fn command_refused(code: ErrorCode) {
    counter!("netaclaw_command_errors_total", "code" => code_name(code)).increment(1);
}

pub(crate) fn http_error(code: ErrorCode) {
    counter!("netaclaw_http_errors_total", "code" => code_name(code)).increment(1);
}

/// A token was looked up, as for every request and every few commands.
pub(crate) fn token_checked(took: Duration) {
    histogram!("netaclaw_store_seconds", "store" => "admin", "call" => "check_token").record(took);
}

pub(crate) fn code_name(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::BadRequest => "bad_request",
        ErrorCode::Unauthorized => "unauthorized",
        ErrorCode::Forbidden => "forbidden",
        ErrorCode::NotFound => "not_found",
        ErrorCode::Conflict => "conflict",
        ErrorCode::SessionBusy => "session_busy",
        ErrorCode::StaleParent => "stale_parent",
        ErrorCode::TooLarge => "too_large",
        ErrorCode::RateLimited => "rate_limited",
        ErrorCode::Unavailable => "unavailable",
        ErrorCode::Internal => "internal",
    }
}
