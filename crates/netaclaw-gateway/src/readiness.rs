//! The readiness check: the stores can be read and the data directory can be written.
//!
//! The endpoint needs no credential, and may be called at any rate. So an answer is cached for a
//! second, concurrent callers share it, and a disk that hangs has at most one probe waiting for it.

use crate::gateway::Shared;
use netaclaw_engine::store_fault_behind;
use netaclaw_protocol::{SessionId, StorePart, Unavailable};
use netaclaw_session::{SessionError, SessionTreeProvider};
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// A store that has not answered by then counts as away.
const PATIENCE: Duration = Duration::from_secs(3);
/// A session that does not exist. A store that answers this can be asked for others.
const NO_SESSION: &str = "readiness-probe";

/// Writes and syncs a small file where the server keeps its data. May block.
pub type DiskProbe = dyn Fn() -> io::Result<()> + Send + Sync;

#[derive(Default)]
pub(crate) struct Readiness {
    disk: Option<Arc<DiskProbe>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<(Instant, Result<(), NotReady>)>,
    /// A probe of the disk that has not ended yet.
    probing: Option<JoinHandle<io::Result<()>>>,
}

/// Which check failed, and the text about it.
#[derive(Clone, Debug)]
pub(crate) struct NotReady {
    pub(crate) part: StorePart,
    pub(crate) reason: Unavailable,
}

impl Readiness {
    pub(crate) fn new(disk: Option<Arc<DiskProbe>>) -> Self {
        Self {
            disk,
            state: Mutex::default(),
        }
    }

    pub(crate) async fn get(&self, shared: &Shared) -> Result<(), NotReady> {
        let mut state = self.state.lock().await;
        if let Some((at, last)) = &state.last
            && at.elapsed() < shared.settings.readiness_cached_for
        {
            return last.clone();
        }
        let checked = self.check(shared, &mut state).await;
        if let Err(not_ready) = &checked {
            let NotReady { part, reason } = not_ready;
            tracing::error!(check = part.as_str(), %reason, "the server is not ready");
        }
        state.last = Some((Instant::now(), checked.clone()));
        checked
    }

    async fn check(&self, shared: &Shared, state: &mut State) -> Result<(), NotReady> {
        let admin = timeout(PATIENCE, shared.admin.ping()).await;
        judge(StorePart::AdminStore, admin)?;
        let providers = shared.engine.providers();
        for provider in providers.all() {
            if provider.is_suspended() {
                return Err(suspended());
            }
            let sessions = timeout(PATIENCE, answers(&**provider)).await;
            judge(StorePart::SessionStore, sessions)?;
        }
        if let Some(disk) = &self.disk {
            let probe = probe(disk, &mut state.probing).await;
            judge(StorePart::DataDirectory, probe)?;
        }
        Ok(())
    }
}

fn suspended() -> NotReady {
    NotReady {
        part: StorePart::SessionStore,
        reason: Unavailable::DatabaseLost,
    }
}

/// Waits for a probe of the disk: for the running one, if there is one.
async fn probe(
    disk: &Arc<DiskProbe>,
    probing: &mut Option<JoinHandle<io::Result<()>>>,
) -> Result<io::Result<()>, tokio::time::error::Elapsed> {
    let job = probing.get_or_insert_with(|| {
        let disk = Arc::clone(disk);
        tokio::task::spawn_blocking(move || disk())
    });
    let ended = timeout(PATIENCE, job).await?;
    *probing = None;
    Ok(ended.unwrap_or_else(|panic| Err(io::Error::other(panic))))
}

async fn answers(provider: &dyn SessionTreeProvider) -> Result<(), SessionError> {
    match provider.get_session(&SessionId::new(NO_SESSION)).await {
        Err(error @ SessionError::Store { .. }) => Err(error),
        _ => Ok(()),
    }
}

fn judge<E: Error + 'static>(
    part: StorePart,
    answer: Result<Result<(), E>, tokio::time::error::Elapsed>,
) -> Result<(), NotReady> {
    let reason = match answer {
        Ok(Ok(())) => return Ok(()),
        Err(_) => Unavailable::PartNotAnswering { part },
        Ok(Err(error)) => {
            tracing::error!(%error, check = part.as_str(), "a readiness check failed");
            let fault = store_fault_behind(&error);
            Unavailable::PartNotUsable { part, fault }
        }
    };
    Err(NotReady { part, reason })
}
