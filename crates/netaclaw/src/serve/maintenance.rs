//! Maintenance of the data directory: at startup, and then once a day.

use crate::config::Retention;
use netaclaw_engine::Engine;
use netaclaw_session::{SessionError, format_timestamp};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether everything that dead processes left unfinished was seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    All,
    Some,
}

/// Waits for the recovery of interrupted sessions, then keeps the directory tidy until shutdown.
pub(super) async fn run(
    engine: Engine,
    recovery: JoinHandle<Result<(), SessionError>>,
    retention: Retention,
    shutdown: CancellationToken,
) -> Recovered {
    let recovered = match recovery.await {
        Ok(Ok(())) => Recovered::All,
        _ => Recovered::Some,
    };
    loop {
        if shutdown.is_cancelled() {
            return recovered;
        }
        engine.remove_leftovers().await;
        if let Some(deleted_before) = cutoff(retention) {
            let purged = engine.purge_deleted(&deleted_before).await;
            if purged > 0 {
                tracing::info!(
                    purged,
                    "deleted sessions permanently after their retention period"
                );
            }
        }
        tracing::debug!("completed the daily maintenance");
        tokio::select! {
            () = shutdown.cancelled() => return recovered,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}

/// What was deleted before this time is due; `None` if deleted sessions are kept.
fn cutoff(retention: Retention) -> Option<String> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let Retention::Days(days) = retention else {
        return None;
    };
    let now_ms = jiff::Timestamp::now().as_millisecond();
    Some(format_timestamp(now_ms - i64::from(days) * DAY_MS))
}
