//! What a server does for its data directory beside serving: at start, and then once a day.

use netaclaw_engine::Engine;
use netaclaw_session::SessionError;
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
        tokio::select! {
            () = shutdown.cancelled() => return recovered,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}
