//! What the server writes about itself, to the error output.

use crate::config::{LogFormat, LogSettings};
use tracing_subscriber::EnvFilter;

pub(super) fn start(settings: &LogSettings) {
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.filter))
        .with_writer(std::io::stderr);
    let started = match settings.format {
        LogFormat::Json => log.json().try_init(),
        LogFormat::Text => log.with_ansi(false).try_init(),
    };
    // Only a test that started two servers in one process could have a log already.
    started.unwrap_or_default();
}
