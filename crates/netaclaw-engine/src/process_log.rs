//! The log of every step of an operation: written concurrently with the run, in batches, and read
//! page by page.

use crate::error::EngineError;
use async_trait::async_trait;
use netaclaw_protocol::{ProcessLogPage, RuntimeProcessEvent, SessionId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Keeps logs. Names come from outside: none may lead out of where logs are.
#[async_trait]
pub trait ProcessLogs: Send + Sync + 'static {
    /// Adds whole lines. What is beyond the size a log may have is left out.
    async fn append(
        &self,
        session: &SessionId,
        operation: &str,
        lines: Vec<u8>,
    ) -> std::io::Result<()>;

    /// A page, counted from 1; `None` if the log does not exist.
    async fn page(
        &self,
        session: &SessionId,
        operation: &str,
        page: u32,
        size: u32,
    ) -> std::io::Result<Option<ProcessLogPage>>;

    /// Removes all logs of a session.
    async fn remove(&self, session: &SessionId) -> std::io::Result<()>;
}

/// Lines wait so long for more.
const WRITE_EVERY: Duration = Duration::from_millis(100);
/// Above this, writers of further steps wait.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// Writes the steps of one session. Cheap to clone.
#[derive(Clone)]
pub(crate) struct StepLog {
    logs: Option<Arc<dyn ProcessLogs>>,
    session: SessionId,
    waiting: Arc<Mutex<WaitingLines>>,
    /// One writes at a time, so that lines stay in order.
    turn: Arc<Semaphore>,
    /// The jobs that write later.
    jobs: TaskTracker,
    closing: CancellationToken,
}

#[derive(Default)]
struct WaitingLines {
    /// By operation, in the order they came.
    lines: Vec<(String, Vec<u8>)>,
    bytes: usize,
    timer: bool,
}

impl StepLog {
    pub(crate) fn new(logs: Option<Arc<dyn ProcessLogs>>, session: SessionId) -> Self {
        Self {
            logs,
            session,
            waiting: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
            jobs: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Adds a step. Returns at once unless too much waits to be written.
    pub(crate) async fn add(&self, event: &RuntimeProcessEvent) {
        if self.logs.is_none() {
            return;
        }
        let mut line = serde_json::to_vec(event).expect("steps are plain data");
        line.push(b'\n');
        let (full, start_timer) = {
            let mut waiting = self.lock();
            waiting.bytes += line.len();
            match waiting
                .lines
                .iter_mut()
                .find(|(id, _)| *id == event.operation_id)
            {
                Some((_, lines)) => lines.extend_from_slice(&line),
                None => waiting.lines.push((event.operation_id.clone(), line)),
            }
            let start_timer = !std::mem::replace(&mut waiting.timer, true);
            (waiting.bytes > WAITING_BYTES_MAX, start_timer)
        };
        if full {
            self.write().await;
        } else if start_timer {
            let log = self.clone();
            self.jobs.spawn(async move {
                let waiting = tokio::time::sleep(WRITE_EVERY);
                log.closing.run_until_cancelled(waiting).await;
                log.write().await;
            });
        }
    }

    /// Writes what waits, and ends the jobs that would have written it later.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.jobs.close();
        self.jobs.wait().await;
        self.write().await;
    }

    /// Writes what waits. Afterwards everything added before can be read.
    pub(crate) async fn write(&self) {
        let Some(logs) = &self.logs else {
            return;
        };
        let Ok(_turn) = self.turn.acquire().await else {
            return;
        };
        let lines = {
            let mut waiting = self.lock();
            waiting.timer = false;
            waiting.bytes = 0;
            std::mem::take(&mut waiting.lines)
        };
        for (operation, lines) in lines {
            if let Err(error) = logs.append(&self.session, &operation, lines).await {
                // People still have the steps that the result keeps.
                tracing::warn!(session.id = %self.session, %error, "failed to write a process log");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingLines> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn unreadable(error: std::io::Error) -> EngineError {
    EngineError::Internal(Box::new(error))
}
