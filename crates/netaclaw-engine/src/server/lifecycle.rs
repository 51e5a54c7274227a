//! The beginning and the end of a server: what a dead process left, and what this one leaves.

use super::Engine;
use super::sweep::{sweep, sweep_one};
use netaclaw_session::SessionError;
use std::time::Duration;
use tokio::task::JoinHandle;

impl Engine {
    /// Opens in the background the sessions that a dead process left unfinished, which closes what
    /// must be closed and continues what waits. Sessions of a living process are busy and stay as
    /// they are.
    pub fn recover_interrupted(&self) -> JoinHandle<Result<(), SessionError>> {
        let engine = self.clone();
        self.inner.jobs.spawn(async move { sweep(&engine).await })
    }

    /// Does the same whenever a process dies that shares a store with this one, until the engine is
    /// shut down.
    pub fn take_over_dead_sessions(&self) {
        let Some(provider) = self.inner.providers.mysql.clone() else {
            return;
        };
        let (engine, draining) = (self.clone(), self.inner.draining.clone());
        let watch = async move {
            loop {
                provider.owner_died().await;
                // What fails here is retried when the session is opened.
                if let Err(error) = sweep_one(&engine, &provider).await {
                    tracing::warn!(%error, "failed to look for the state of a dead process");
                }
            }
        };
        self.inner
            .jobs
            .spawn(async move { draining.run_until_cancelled(watch).await });
    }

    /// Removes files that killed processes left. Interrupted sessions should be recovered before.
    pub async fn remove_leftovers(&self) {
        crate::server::sweep::remove_leftovers(self).await;
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.inner.jobs.is_closed()
    }

    /// Lets runs end for a while, then interrupts the rest, and waits until all is stored.
    pub async fn shut_down(&self, grace: Duration) {
        self.inner.draining.cancel();
        self.sessions().clear();
        self.inner.jobs.close();
        if tokio::time::timeout(grace, self.inner.jobs.wait())
            .await
            .is_err()
        {
            self.inner.shutdown.cancel();
            self.inner.jobs.wait().await;
        }
        for provider in self.inner.providers.all() {
            if let Err(error) = provider.close().await {
                tracing::warn!(
                    %error,
                    "failed to release the sessions of this process; other processes take them over later"
                );
            }
        }
    }
}
