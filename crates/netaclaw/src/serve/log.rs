//! What the server writes about itself, to the error output.

use tracing_subscriber::EnvFilter;

/// What MCP servers do wrong is told by those who use them, once.
const USUAL: &str = "warn,rmcp=off";

/// Starts logging. `filter` is as `tracing` reads it, such as `info` or `netaclaw_engine=debug`;
/// `format` is `text` or `json`.
pub(super) fn start(filter: Option<&str>, format: Option<&str>) {
    let filter =
        EnvFilter::try_new(filter.unwrap_or(USUAL)).unwrap_or_else(|_| EnvFilter::new(USUAL));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match format {
        Some("json") => log.json().try_init(),
        _ => log.with_ansi(false).try_init(),
    };
    // Only a test that started two servers in one process could have a log already.
    started.unwrap_or_default();
}
