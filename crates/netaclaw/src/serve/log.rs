//! What the server writes about itself, to the error output.

use super::log_writer::{FlushAtEnd, LogWriter};
use crate::config::{LogFormat, LogSettings};
use tracing_subscriber::EnvFilter;

/// Starts the log. An output that fails or blocks costs log lines and nothing else. What is queued is
/// written when the returned value is dropped.
pub(super) fn start(settings: &LogSettings) -> std::io::Result<FlushAtEnd> {
    let writer = LogWriter::start(std::io::stderr())?;
    let flush = writer.flush_at_end();
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.filter))
        // The formatter reports its own failures with `eprintln!`, which panics.
        .log_internal_errors(false)
        .with_writer(writer);
    let started = match settings.format {
        LogFormat::Json => log.json().try_init(),
        LogFormat::Text => log.with_ansi(false).try_init(),
    };
    // Only a test that started two servers in one process could have a log already.
    started.unwrap_or_default();
    // The default hook writes to the error output directly and waits for whoever reads it.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(flush)
}
