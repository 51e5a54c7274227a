//! Whether the server can do its work: rows can be read, and the data directory can be written.
//!
//! The endpoint needs no credential, and may be called at any rate. So an answer is cached for a
//! second, concurrent callers share it, and a disk that hangs has at most one probe waiting for it.

use crate::gateway::Shared;
use netaclaw_engine::StoreFault;
use netaclaw_protocol::{SessionId, Words};
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
const NO_SESSION: &str = "is-anybody-there";

/// Writes and syncs a small file where the server keeps its data. May block.
pub type DiskProbe = dyn Fn() -> io::Result<()> + Send + Sync;

#[derive(Default)]
pub(crate) struct Readiness {
    pub(crate) disk: Option<Arc<DiskProbe>>,
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
    pub(crate) check: &'static str,
    pub(crate) words: Words,
}

impl Readiness {
    pub(crate) async fn get(&self, shared: &Shared) -> Result<(), NotReady> {
        let mut state = self.state.lock().await;
        if let Some((at, last)) = &state.last
            && at.elapsed() < shared.settings.readiness_cached_for
        {
            return last.clone();
        }
        let checked = self.check(shared, &mut state).await;
        if let Err(not_ready) = &checked {
            let check = not_ready.check;
            tracing::error!(check, reason = %not_ready.words.en, "the server is not ready");
        }
        state.last = Some((Instant::now(), checked.clone()));
        checked
    }

    async fn check(&self, shared: &Shared, state: &mut State) -> Result<(), NotReady> {
        let admin = timeout(PATIENCE, shared.admin.ping()).await;
        judge("admin_store", "管理数据库", "the admin store", admin)?;
        let providers = shared.engine.providers();
        for provider in std::iter::once(&providers.file).chain(&providers.mysql) {
            if provider.is_suspended() {
                return Err(suspended());
            }
            let sessions = timeout(PATIENCE, answers(&**provider)).await;
            judge("session_store", "会话存储", "the session store", sessions)?;
        }
        if let Some(disk) = &self.disk {
            let probe = probe(disk, &mut state.probing).await;
            judge("data_directory", "数据目录", "the data directory", probe)?;
        }
        Ok(())
    }
}

fn suspended() -> NotReady {
    NotReady {
        check: "session_store",
        words: Words::new(
            "服务器与数据库失去联系，暂不接受任何请求",
            "the server has lost its contact with the database and accepts nothing until it is back",
        ),
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
    check: &'static str,
    zh: &str,
    en: &str,
    answer: Result<Result<(), E>, tokio::time::error::Elapsed>,
) -> Result<(), NotReady> {
    let words = match answer {
        Ok(Ok(())) => return Ok(()),
        Err(_) => Words::new(format!("{zh}没有响应"), format!("{en} does not answer")),
        Ok(Err(error)) => {
            tracing::error!(%error, check, "a readiness check failed");
            let why = StoreFault::behind(&error).words();
            Words::new(
                format!("{zh}无法使用：{}", why.zh),
                format!("{en} cannot be used: {}", why.en),
            )
        }
    };
    Err(NotReady { check, words })
}
