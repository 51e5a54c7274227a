//! Compactions outside of runs: on request of a user, and of a branch that the leaf leaves.

mod branch;

use crate::compaction::{Attempt, AttemptOutcome, CompactionState, RequestedCompaction, cancelled};
use crate::session::launch::unasked;
use crate::session::live::TransientState;
use crate::session::numbers::ContextNumbers;
use crate::session::requests::Requests;
use crate::session::writer::SessionWriter;
use crate::source::AgentSource;
use branch::PendingMove;
use futures::FutureExt;
use futures::future::BoxFuture;
use netaclaw_protocol::{
    CompactStatus, CompactionReason, CompactionStart, RunOutcome, RunPhase, RunState,
};
use netaclaw_runtime::RunReport;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) struct BackgroundCompaction {
    writer: Arc<SessionWriter>,
    live: TransientState,
    source: Arc<dyn AgentSource>,
    /// Shared with the runs, which compact as well.
    state: Arc<CompactionState>,
    /// Cancelled when the server stops.
    shutdown: CancellationToken,
    /// The move of the leaf that a background task prepares.
    moving: Option<PendingMove>,
}

/// What the session runs in the place of a run.
pub(super) struct BackgroundJob {
    pub(super) cancel: CancellationToken,
    pub(super) work: BoxFuture<'static, RunReport>,
}

impl BackgroundCompaction {
    pub(super) fn new(
        writer: &Arc<SessionWriter>,
        live: &TransientState,
        source: &Arc<dyn AgentSource>,
        state: Arc<CompactionState>,
        shutdown: &CancellationToken,
    ) -> Self {
        Self {
            writer: Arc::clone(writer),
            live: live.clone(),
            source: Arc::clone(source),
            state,
            shutdown: shutdown.clone(),
            moving: None,
        }
    }

    pub(super) fn state(&self) -> &Arc<CompactionState> {
        &self.state
    }

    /// Whether clients see a compaction, be it that of a run.
    pub(super) fn is_running(&self) -> bool {
        self.live.read(|state| state.compaction.running().is_some())
    }

    /// Lets a compaction wait for the next boundary of the current run.
    pub(super) fn enqueue(&self, asked: RequestedCompaction) -> CompactStatus {
        self.state.put(asked)
    }

    /// The compaction that waits.
    pub(super) fn take_waiting(&self) -> Option<RequestedCompaction> {
        self.state.take()
    }

    /// A stop is for what waits to begin as well.
    pub(super) fn forget_waiting(&self) {
        if self.state.take().is_some() {
            let start = CompactionStart {
                reason: CompactionReason::Manual,
                message_count: 0,
            };
            self.live.change(|state| {
                let started = state.compaction.start(start);
                let failed = state.compaction.fail(cancelled());
                started.into_iter().chain(failed)
            });
        }
    }

    pub(super) fn start(&self, asked: RequestedCompaction) -> BackgroundJob {
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        let (writer, live) = (Arc::clone(&self.writer), self.live.clone());
        let (source, state) = (Arc::clone(&self.source), Arc::clone(&self.state));
        let cancel = self.token();
        let cancelled = cancel.clone();
        let work = async move {
            let attempt = Attempt {
                writer: &writer,
                live: &live,
                source: &*source,
                compaction_state: &state,
                reason: CompactionReason::Manual,
                instructions: asked.instructions,
                overhead_tokens: None,
                cancel: &cancelled,
            };
            let outcome = match attempt.make().await {
                AttemptOutcome::Done => RunOutcome::Completed,
                AttemptOutcome::Failed => RunOutcome::Error,
            };
            unasked(outcome, None)
        };
        BackgroundJob {
            cancel,
            work: work.boxed(),
        }
    }

    /// A job has ended, whatever its outcome. The summary of a branch is appended at the target,
    /// which moves the leaf there.
    pub(super) async fn finish(&mut self, requests: &mut Requests, numbers: &ContextNumbers) {
        if let Some(moving) = self.moving.take() {
            self.finish_move(moving, requests, numbers).await;
        }
        if self.is_running() {
            // The task ended without an outcome.
            self.state.set_started(None);
            self.live.change(|state| state.compaction.fail(cancelled()));
        }
    }

    fn token(&self) -> CancellationToken {
        let cancel = CancellationToken::new();
        if self.shutdown.is_cancelled() {
            cancel.cancel();
        }
        cancel
    }
}
