//! Compaction on request of a user, and leaving a branch with a summary.

use super::LiveSession;
use super::background_compaction::BackgroundJob;
use super::launch::CurrentRun;
use crate::compaction::{RequestedCompaction, keep};
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::requests::{Outcome, Request};
use crate::session::tree::LeafTarget;
use netaclaw_protocol::{
    Ack, Busy, Compact, CompactAck, CompactStatus, DismissCompaction, EntryId, Nothing, RunState,
    SwitchStatus,
};
use netaclaw_runtime::RunReport;
use tokio::task::JoinError;

impl Handle for Compact {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<CompactAck>, EngineError> {
        let status = session.compact(self.instructions)?;
        let outcome = Outcome::Compact(status);
        session.record(request, outcome, async |_| Ok(())).await?;
        Ok(Ack::new(CompactAck { status }))
    }
}

impl Handle for DismissCompaction {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        session.live.change(|state| state.compaction.dismiss());
        keep(&session.writer, session.compactions.state(), &session.live).await?;
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
            _ if self.compactions.is_running() => CompactStatus::AlreadyRunning,
            Some(job) if job.id.is_none() => CompactStatus::AlreadyRunning,
            Some(_) => self.compactions.enqueue(asked),
            None if self.live.waits_for_person() => return Err(Busy::WaitsForAnswer.into()),
            None => {
                self.allowance.begin()?;
                self.start_compaction(asked);
                CompactStatus::Started
            }
        })
    }

    /// Messages that arrive during it wait.
    pub(super) fn start_compaction(&mut self, asked: RequestedCompaction) {
        let job = self.compactions.start(asked);
        self.start_job(job);
        self.allowance.count_accepted();
    }

    /// Moves the leaf once the branch that is left is summarized, which takes as long as a model
    /// takes: the client is answered at once and receives the rest as events.
    pub(super) async fn leave_branch(
        &mut self,
        leaf: Option<EntryId>,
        way: LeafTarget,
        request: Option<Request>,
    ) -> Result<Ack<SwitchStatus>, EngineError> {
        if self.compactions.moves_for(request.as_ref()) {
            return Ok(Ack::deduped(SwitchStatus::Summarizing));
        }
        if self.current.is_some() {
            return Err(Busy::Running.into());
        }
        let leaving = self.compactions.leaving(leaf.clone(), way).await?;
        let Some((leaving, conversation)) = leaving else {
            // There is nothing to summarize.
            self.switch_leaf(leaf, way, request).await?;
            return Ok(Ack::new(SwitchStatus::Moved));
        };
        self.allowance.begin()?;
        let started = self.compactions.start_move(leaving, conversation, request);
        match started.await {
            Ok(job) => self.start_job(job),
            Err(error) => {
                self.allowance.keep_while(false);
                return Err(error);
            }
        }
        Ok(Ack::new(SwitchStatus::Summarizing))
    }

    fn start_job(&mut self, job: BackgroundJob) {
        self.runs.spawn(job.work);
        self.current = Some(CurrentRun::compaction(job.cancel));
    }

    /// A compaction has ended, whatever its outcome, and what waits continues.
    pub(super) async fn compaction_ended(&mut self, ended: Result<RunReport, JoinError>) {
        if let Err(error) = ended {
            if error.is_cancelled() {
                return;
            }
            tracing::error!(session.id = %self.writer.id, %error, "a compaction panicked");
        }
        let finished = self.compactions.finish(&mut self.requests, &self.numbers);
        finished.await;
        self.live.run_status(RunState::Idle, None, None, None);
        self.start_next().await;
    }
}
