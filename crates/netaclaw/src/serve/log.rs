//! The server's log on standard error.

use super::log_writer::{FlushAtEnd, LogWriter};
use crate::config::{LogFormat, LogSettings};
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterFn, filter_fn};
use tracing_subscriber::prelude::*;

/// Starts the log. An output that fails or blocks costs log lines and nothing else. What is queued
/// is written when the returned value is dropped.
pub(super) fn start(settings: &LogSettings) -> std::io::Result<FlushAtEnd> {
    let writer = LogWriter::start(std::io::stderr())?;
    let flush = writer.flush_at_end();
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.filter))
        // The formatter reports its own failures with `eprintln!`, which panics.
        .log_internal_errors(false)
        .with_writer(writer);
    let started = match settings.format {
        LogFormat::Json => log.json().finish().with(harmless()).try_init(),
        LogFormat::Text => log.with_ansi(false).finish().with(harmless()).try_init(),
    };
    // Only a test that started two servers in one process could have a log already.
    started.unwrap_or_default();
    // The default hook writes to the error output directly and waits for its reader.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(flush)
}

/// Keeps the detailed logs of libraries out of the log, whatever the configured filter says:
/// frames, headers and handshakes, which hold access tokens and messages. Their spans carry
/// arguments too, also at `info`.
fn harmless() -> FilterFn {
    filter_fn(|metadata| {
        is_own(metadata.target()) || (metadata.is_event() && *metadata.level() <= Level::INFO)
    })
}

fn is_own(target: &str) -> bool {
    let krate = target.split("::").next().unwrap_or_default();
    krate == "netaclaw" || krate.starts_with("netaclaw_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_crates_log_in_detail() {
        for target in ["netaclaw", "netaclaw::serve", "netaclaw_gateway::doors"] {
            assert!(is_own(target), "{target}");
        }
        for target in ["socketioxide", "netaclawed", "hyper::netaclaw", ""] {
            assert!(!is_own(target), "{target}");
        }
    }
}
