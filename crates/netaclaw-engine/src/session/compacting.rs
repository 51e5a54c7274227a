//! Compaction on request of a user.

use super::LiveSession;
use super::launch::CurrentRun;
use crate::compaction::{Attempt, AttemptOutcome, RequestedCompaction, cancelled, keep};
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::requests::{Outcome, Request};
use netaclaw_protocol::{
    Ack, Busy, Compact, CompactAck, CompactStatus, CompactionReason, CompactionStart,
    DismissCompaction, Nothing, RunOutcome, RunPhase, RunState,
};
use netaclaw_runtime::RunReport;
use std::sync::Arc;
use tokio::task::JoinError;

impl Handle for Compact {
    async fn repeat(
        &self,
        _: &mut LiveSession,
        outcome: Outcome,
    ) -> Result<Option<CompactAck>, EngineError> {
        Ok(match outcome {
            Outcome::Compact(status) => Some(CompactAck { status }),
            _ => None,
        })
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<CompactAck>, EngineError> {
        let status = session.compact(self.instructions)?;
        let writer = Arc::clone(&session.writer);
        let mut writing = writer.begin().await;
        let outcome = Outcome::Compact(status);
        session.remember(&mut writing, request, outcome).await?;
        Ok(Ack::new(CompactAck { status }))
    }
}

impl Handle for DismissCompaction {
    async fn repeat(
        &self,
        _: &mut LiveSession,
        _: Outcome,
    ) -> Result<Option<Nothing>, EngineError> {
        Ok(Some(Nothing {}))
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        session.live.compaction_dismissed();
        keep(&session.writer, &session.compaction_state, &session.live).await?;
        Ok(Ack::new(Nothing {}))
    }
}

impl LiveSession {
    /// Compacts at once if nothing runs, otherwise at the next boundary of the run. One at a time:
    /// a second request is answered and not stored.
    pub(super) fn compact(
        &mut self,
        instructions: Option<String>,
    ) -> Result<CompactStatus, EngineError> {
        let asked = RequestedCompaction { instructions };
        Ok(match &self.current {
            _ if self.live.compacts() => CompactStatus::AlreadyRunning,
            Some(job) if job.id.is_none() => CompactStatus::AlreadyRunning,
            Some(_) => self.compaction_state.put(asked),
            None if self.live.waits_for_person() => return Err(Busy::WaitsForAnswer.into()),
            None => {
                self.allowance.begin()?;
                self.start_compaction(asked);
                CompactStatus::Started
            }
        })
    }

    /// Starts the compaction that waited for the run. Messages that arrive during it wait.
    pub(super) fn start_waiting_compaction(&mut self) -> bool {
        match self.compaction_state.take() {
            Some(asked) if !self.closing => {
                self.start_compaction(asked);
                true
            }
            _ => false,
        }
    }

    fn start_compaction(&mut self, asked: RequestedCompaction) {
        let job = CurrentRun::compaction();
        if self.shutdown.is_cancelled() {
            job.cancel.cancel();
        }
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        let (writer, live) = (Arc::clone(&self.writer), self.live.clone());
        let (source, compaction_state) =
            (Arc::clone(&self.source), Arc::clone(&self.compaction_state));
        let cancel = job.cancel.clone();
        self.runs.spawn(async move {
            let attempt = Attempt {
                writer: &writer,
                live: &live,
                source: &*source,
                compaction_state: &compaction_state,
                reason: CompactionReason::Manual,
                instructions: asked.instructions,
                overhead_tokens: None,
                cancel: &cancel,
            };
            super::launch::unasked(
                match attempt.make().await {
                    AttemptOutcome::Done => RunOutcome::Completed,
                    AttemptOutcome::Failed => RunOutcome::Error,
                },
                None,
            )
        });
        self.allowance.count_accepted();
        self.current = Some(job);
    }

    /// A compaction has ended, whatever its outcome, and what waits continues.
    pub(super) async fn compaction_ended(&mut self, ended: Result<RunReport, JoinError>) {
        if let Err(error) = ended {
            if error.is_cancelled() {
                return;
            }
            tracing::error!(session.id = %self.writer.id, %error, "a compaction panicked");
        }
        self.finish_move().await;
        if self.live.compacts() {
            // The task ended without an outcome.
            self.compaction_state.set_started(None);
            self.live.compaction_failed(cancelled());
        }
        self.live.run_status(RunState::Idle, None, None, None);
        self.start_next().await;
    }

    /// A stop is for what waits to begin as well.
    pub(super) fn forget_waiting_compaction(&self) {
        if self.compaction_state.take().is_some() {
            self.live.compaction_started(CompactionStart {
                reason: CompactionReason::Manual,
                message_count: 0,
            });
            self.live.compaction_failed(cancelled());
        }
    }
}
