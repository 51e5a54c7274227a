//! A leaf move that waits for the summary of the branch that is left: a job, like a run.

use super::LiveSession;
use super::launch::{CurrentRun, unasked};
use crate::compaction::{
    AttemptError, BranchMove, BranchSummary, StartedAttempt, keep, summaries_in,
};
use crate::error::EngineError;
use crate::metrics;
use crate::session::requests::{Outcome, Request};
use crate::session::tree::LeafTarget;
use netaclaw_compaction::{CompactionFailure, Conversation, Watcher};
use netaclaw_protocol::{
    Ack, Busy, CompactionDone, CompactionProgress, CompactionReason, CompactionStart, EntryId,
    RunOutcome, RunPhase, RunState, SwitchStatus, Unavailable,
};
use netaclaw_runtime::todo_on_path;
use netaclaw_session::{Flush, NavigationTree, NewEntry};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

const REASON: CompactionReason = CompactionReason::Branch;

/// A move that waits for its summary.
pub(super) struct PendingMove {
    leaving: BranchMove,
    request: Option<Request>,
    started: Instant,
    told: oneshot::Receiver<Result<BranchSummary, AttemptError>>,
}

impl LiveSession {
    /// Moves the leaf once the branch that is left is summarized, which takes as long as a model
    /// takes: the client is answered at once and receives the rest as events. If it fails, is
    /// stopped, or the server dies, nothing has changed.
    pub(super) async fn leave_branch(
        &mut self,
        leaf: Option<EntryId>,
        way: LeafTarget,
        request: Option<Request>,
    ) -> Result<Ack<SwitchStatus>, EngineError> {
        if request.is_some()
            && self
                .moving
                .as_ref()
                .is_some_and(|known| known.request == request)
        {
            return Ok(Ack::deduped(SwitchStatus::Summarizing));
        }
        let leaving = self.leaving(leaf.clone(), way).await?;
        let Some((leaving, conversation)) = leaving else {
            // There is nothing to summarize.
            self.switch_leaf(leaf, way, request).await?;
            return Ok(Ack::new(SwitchStatus::Moved));
        };
        let summaries = summaries_in(&*self.writer.tree().await?);
        self.allowance.begin()?;
        self.compaction_state.set_started(Some(StartedAttempt {
            reason: REASON,
            summaries,
            used: 0,
            window: 0,
            model: String::new(),
        }));
        if let Err(error) = keep(&self.writer, &self.compaction_state, &self.live).await {
            self.allowance.keep_while(self.current.is_some());
            return Err(error);
        }
        self.start_branch_summary(leaving, conversation, request);
        Ok(Ack::new(SwitchStatus::Summarizing))
    }

    fn start_branch_summary(
        &mut self,
        leaving: BranchMove,
        conversation: Conversation,
        request: Option<Request>,
    ) {
        let (tell, told) = oneshot::channel();
        let job = CurrentRun::compaction();
        if self.shutdown.is_cancelled() {
            job.cancel.cancel();
        }
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        self.live.compaction_started(CompactionStart {
            reason: REASON,
            message_count: conversation.pieces.len() as u64,
        });
        let (writer, source) = (Arc::clone(&self.writer), Arc::clone(&self.source));
        let (cancel, branch) = (job.cancel.clone(), leaving.clone());
        let live = self.live.clone();
        self.runs.spawn(async move {
            let telling = async {
                let session = writer.meta().await?;
                let model = writer.begin().await.state.durable.model.clone();
                let model = model.map(Into::into);
                let tree = writer.tree().await?;
                let foreign = writer.foreign(&tree, Some(&branch.from));
                let watcher = Watcher {
                    tell: &|progress| live.compaction_progress(progress),
                    cancel: &cancel,
                };
                branch
                    .summarize(conversation, foreign, &*source, &session, model, watcher)
                    .await
            };
            let told = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(CompactionFailure::Cancelled.into()),
                told = telling => told,
            };
            // The session that asked for it is the one that owns this job.
            drop(tell.send(told));
            unasked(RunOutcome::Completed, None)
        });
        self.current = Some(job);
        self.moving = Some(PendingMove {
            leaving,
            request,
            started: Instant::now(),
            told,
        });
    }

    /// Where the move begins and ends, if it leaves anything worth telling.
    async fn leaving(
        &self,
        leaf: Option<EntryId>,
        way: LeafTarget,
    ) -> Result<Option<(BranchMove, Conversation)>, EngineError> {
        if self.current.is_some() {
            return Err(Busy::Running.into());
        }
        if self.live.waits_for_person() {
            return Err(Busy::WaitsForAnswer.into());
        }
        let tree = self.writer.tree().await?;
        let to = match (leaf, way) {
            (Some(entry), _) if !tree.contains(&entry) => {
                return Err(EngineError::StaleParent(entry));
            }
            (Some(entry), LeafTarget::Follow) => {
                let writing = self.writer.begin().await;
                Some(NavigationTree::new(&tree).follow(&entry, &writing.state.durable.visits))
            }
            (leaf, _) => tree.effective_leaf(leaf),
        };
        let Some(from) = tree.leaf().cloned() else {
            return Ok(None);
        };
        let leaving = BranchMove { from, to };
        let conversation = leaving.conversation(&tree)?;
        Ok(conversation.map(|conversation| (leaving, conversation)))
    }

    /// The task has ended: the summary is appended at the target, which moves the leaf there.
    pub(super) async fn finish_move(&mut self) {
        let Some(mut moving) = self.moving.take() else {
            return;
        };
        let told = moving.told.try_recv().unwrap_or_else(|_| {
            let failed = EngineError::from(Unavailable::BranchNotSummarized);
            Err(failed.into())
        });
        let moved = match told {
            Ok(told) => {
                self.live.compaction_progress(CompactionProgress::Saving);
                self.append_summary(moving.leaving, told, moving.request)
                    .await
                    .map_err(AttemptError::from)
            }
            Err(failed) => Err(failed),
        };
        let fault = moved.as_ref().err().map(AttemptError::fault);
        metrics::compaction_ended(REASON, fault, moving.started.elapsed());
        self.compaction_state.set_started(None);
        if let Err(failed) = moved
            && self.live.compacts()
        {
            self.live
                .compaction_failed(failed.into_error_event(REASON, None));
        }
        if let Err(error) = keep(&self.writer, &self.compaction_state, &self.live).await {
            tracing::warn!(
                session.id = %self.writer.id,
                %error,
                "failed to store the outcome of leaving a branch"
            );
        }
    }

    async fn append_summary(
        &mut self,
        leaving: BranchMove,
        told: BranchSummary,
        request: Option<Request>,
    ) -> Result<(), EngineError> {
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        writing.remember_visit(&*writer.tree().await?);
        let new = NewEntry::below(leaving.to, told.body);
        let tell = |entry: &netaclaw_session::Entry| {
            self.live.compaction_done(CompactionDone {
                success: true,
                compacted_count: told.messages as u64,
                keep_recent_count: 0,
                summary_entry_id: entry.id().clone(),
                summary_message_id: entry.id().clone(),
                summary_content: told.summary,
                tokens_before: told.tokens_before,
                tokens_after: told.tokens_after,
            });
        };
        writing.append_after(new.flushed(), tell).await?;
        let tree = writer.tree().await?;
        writing.remember_visit(&tree);
        writing.persist_then_publish(Flush::Now).await?;
        self.live.todo_changed(todo_on_path(
            tree.active_path().unwrap_or_default().into_iter(),
        ));
        let meta = writer.meta().await?;
        let model = writing.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &meta, model);
        self.live.tokens_changed(tokens.await);
        self.remember(&mut writing, request, Outcome::Done).await
    }
}
