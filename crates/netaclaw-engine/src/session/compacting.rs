//! Condensing that a person asks for.

use super::LiveSession;
use super::launch::CurrentRun;
use crate::compaction::{Asked, Attempt, Attempted, cancelled, keep};
use crate::error::EngineError;
use crate::events::feed::now_ms;
use crate::session::requests::{Done, Outcome, Request};
use netaclaw_protocol::{
    CompactStatus, CompactionReason, CompactionStart, RunOutcome, RunPhase, RunState,
};
use netaclaw_runtime::RunReport;
use std::sync::Arc;
use tokio::task::JoinError;

impl LiveSession {
    /// Begins at once if nothing runs, else at the next boundary of the run. One at a time: a
    /// second wish is answered and not kept.
    pub(super) async fn compact(
        &mut self,
        instructions: Option<String>,
        request: Option<Request>,
    ) -> Result<Done<CompactStatus>, EngineError> {
        match self.requests.repeat(request.as_ref(), now_ms())? {
            None => {}
            Some(Outcome::Compact(status)) => return Ok(Done::before(*status)),
            Some(_) => {
                let message = "this request id was used for another command".to_owned();
                return Err(EngineError::Conflict(message));
            }
        }
        let asked = Asked { instructions };
        let status = match &self.current {
            _ if self.live.compacts() => CompactStatus::AlreadyRunning,
            Some(job) if job.id.is_none() => CompactStatus::AlreadyRunning,
            Some(_) => self.desk.put(asked),
            None if self.live.waits_for_person() => {
                let message = "a question or an approval is open; answer it first";
                return Err(EngineError::Busy(message.to_owned()));
            }
            None => {
                self.allowance.begin()?;
                self.start_compaction(asked);
                CompactStatus::Started
            }
        };
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        let outcome = Outcome::Compact(status);
        self.remember(&mut writing, request, outcome).await?;
        Ok(Done::now(status))
    }

    /// Starts what waited for the run that has ended. Messages that come meanwhile wait.
    pub(super) fn start_waiting_compaction(&mut self) -> bool {
        match self.desk.take() {
            Some(asked) if !self.closing => {
                self.start_compaction(asked);
                true
            }
            _ => false,
        }
    }

    fn start_compaction(&mut self, asked: Asked) {
        let job = CurrentRun::compaction();
        if self.shutdown.is_cancelled() {
            job.cancel.cancel();
        }
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        let (writer, live) = (Arc::clone(&self.writer), self.live.clone());
        let (source, desk) = (Arc::clone(&self.source), Arc::clone(&self.desk));
        let cancel = job.cancel.clone();
        self.runs.spawn(async move {
            let attempt = Attempt {
                writer: &writer,
                live: &live,
                source: &*source,
                desk: &desk,
                reason: CompactionReason::Manual,
                instructions: asked.instructions,
                overhead_tokens: None,
                cancel: &cancel,
            };
            super::launch::unasked(
                match attempt.make().await {
                    Attempted::Done => RunOutcome::Completed,
                    Attempted::Failed => RunOutcome::Error,
                },
                None,
            )
        });
        self.allowance.goes_on();
        self.current = Some(job);
    }

    /// A compaction is over, however it ended, and what waits goes on.
    pub(super) async fn compaction_ended(&mut self, ended: Result<RunReport, JoinError>) {
        if let Err(error) = ended {
            if error.is_cancelled() {
                return;
            }
            tracing::error!(session.id = %self.writer.id, %error, "condensing panicked");
        }
        self.finish_move().await;
        if self.live.compacts() {
            // Nothing told how it ended.
            self.desk.set_under_way(None);
            self.live.compaction_failed(cancelled());
        }
        self.live.run_status(RunState::Idle, None, None, None);
        self.start_next().await;
    }

    /// Somebody has taken note of a failure.
    pub(super) async fn dismiss_compaction(&self) -> Result<(), EngineError> {
        self.live.compaction_dismissed();
        keep(&self.writer, &self.desk, &self.live).await
    }

    /// A stop is for what waits to begin as well.
    pub(super) fn forget_waiting_compaction(&self) {
        if self.desk.take().is_some() {
            self.live.compaction_started(CompactionStart {
                reason: CompactionReason::Manual,
                message_count: 0,
            });
            self.live.compaction_failed(cancelled());
        }
    }
}
