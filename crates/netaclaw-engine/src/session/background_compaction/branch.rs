//! A leaf move that waits for the summary of the branch that is left.

use super::{BackgroundCompaction, BackgroundJob};
use crate::compaction::{
    AttemptError, BranchMove, BranchSummary, StartedAttempt, keep, summaries_in,
};
use crate::error::EngineError;
use crate::metrics;
use crate::session::launch::unasked;
use crate::session::numbers::ContextNumbers;
use crate::session::requests::{Outcome, Request, Requests};
use crate::session::tree::LeafTarget;
use crate::session::writer::Writing;
use futures::FutureExt;
use netaclaw_compaction::{CompactionFailure, Conversation, Watcher};
use netaclaw_protocol::{
    Busy, CompactionDone, CompactionProgress, CompactionReason, CompactionStart, EntryId,
    RunOutcome, RunPhase, RunState, Unavailable,
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

impl BackgroundCompaction {
    /// Whether this request is being carried out.
    pub(in crate::session) fn moves_for(&self, request: Option<&Request>) -> bool {
        let moving = self.moving.as_ref();
        let of = moving.and_then(|moving| moving.request.as_ref());
        request.is_some() && of == request
    }

    /// Begins to summarize the branch that is left. If that fails, is stopped, or the server dies,
    /// nothing has changed.
    pub(in crate::session) async fn start_move(
        &mut self,
        leaving: BranchMove,
        conversation: Conversation,
        request: Option<Request>,
    ) -> Result<BackgroundJob, EngineError> {
        let summaries = summaries_in(&*self.writer.tree().await?);
        self.state.set_started(Some(StartedAttempt {
            reason: REASON,
            summaries,
            used: 0,
            window: 0,
            model: String::new(),
        }));
        keep(&self.writer, &self.state, &self.live).await?;
        let (tell, told) = oneshot::channel();
        let cancel = self.token();
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        let start = CompactionStart {
            reason: REASON,
            message_count: conversation.pieces.len() as u64,
        };
        self.live.change(|state| state.compaction.start(start));
        let (writer, source) = (Arc::clone(&self.writer), Arc::clone(&self.source));
        let (cancelled, branch) = (cancel.clone(), leaving.clone());
        let live = self.live.clone();
        let work = async move {
            let telling = async {
                let session = writer.meta().await?;
                let model = writer.begin().await.state.durable.model.clone();
                let model = model.map(Into::into);
                let tree = writer.tree().await?;
                let foreign = writer.foreign(&tree, Some(&branch.from));
                let watcher = Watcher {
                    tell: &|progress| live.compaction_progress(progress),
                    cancel: &cancelled,
                };
                branch
                    .summarize(conversation, foreign, &*source, &session, model, watcher)
                    .await
            };
            let told = tokio::select! {
                biased;
                () = cancelled.cancelled() => Err(CompactionFailure::Cancelled.into()),
                told = telling => told,
            };
            // The session that asked for it is the one that owns this job.
            drop(tell.send(told));
            unasked(RunOutcome::Completed, None)
        };
        self.moving = Some(PendingMove {
            leaving,
            request,
            started: Instant::now(),
            told,
        });
        Ok(BackgroundJob {
            cancel,
            work: work.boxed(),
        })
    }

    /// Where the move begins and ends, if it leaves anything worth telling.
    pub(in crate::session) async fn leaving(
        &self,
        leaf: Option<EntryId>,
        way: LeafTarget,
    ) -> Result<Option<(BranchMove, Conversation)>, EngineError> {
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
    pub(super) async fn finish_move(
        &self,
        mut moving: PendingMove,
        requests: &mut Requests,
        numbers: &ContextNumbers,
    ) {
        let told = moving.told.try_recv().unwrap_or_else(|_| {
            let failed = EngineError::from(Unavailable::BranchNotSummarized);
            Err(failed.into())
        });
        let moved = match told {
            Ok(told) => {
                self.live.compaction_progress(CompactionProgress::Saving);
                let appended = self.append_summary(moving.leaving, told, numbers).await;
                let stored = match appended {
                    Ok(mut writing) => {
                        let stored = requests.store(&mut writing, moving.request, Outcome::Done);
                        stored.await
                    }
                    Err(error) => Err(error),
                };
                stored.map_err(AttemptError::from)
            }
            Err(failed) => Err(failed),
        };
        let fault = moved.as_ref().err().map(AttemptError::fault);
        metrics::compaction_ended(REASON, fault, moving.started.elapsed());
        self.state.set_started(None);
        if let Err(failed) = moved
            && self.is_running()
        {
            let failed = failed.into_error_event(REASON, None);
            self.live.change(|state| state.compaction.fail(failed));
        }
        if let Err(error) = keep(&self.writer, &self.state, &self.live).await {
            tracing::warn!(
                session.id = %self.writer.id,
                %error,
                "failed to store the outcome of leaving a branch"
            );
        }
    }

    async fn append_summary(
        &self,
        leaving: BranchMove,
        told: BranchSummary,
        numbers: &ContextNumbers,
    ) -> Result<Writing<'_>, EngineError> {
        let mut writing = self.writer.begin().await;
        writing.remember_visit(&*self.writer.tree().await?);
        let new = NewEntry::below(leaving.to, told.body);
        let tell = |entry: &netaclaw_session::Entry| {
            let done = CompactionDone {
                success: true,
                compacted_count: told.messages as u64,
                keep_recent_count: 0,
                summary_entry_id: entry.id().clone(),
                summary_message_id: entry.id().clone(),
                summary_content: told.summary,
                tokens_before: told.tokens_before,
                tokens_after: told.tokens_after,
            };
            self.live.change(|state| state.compaction.succeed(done));
        };
        writing.append_after(new.flushed(), tell).await?;
        let tree = self.writer.tree().await?;
        writing.remember_visit(&tree);
        writing.persist_then_publish(Flush::Now).await?;
        let todo = todo_on_path(tree.active_path().unwrap_or_default().into_iter());
        self.live.change(|state| state.set_todo(todo));
        let meta = self.writer.meta().await?;
        let model = writing.state.durable.model.clone();
        numbers.publish_at(&tree, &meta, model).await;
        Ok(writing)
    }
}
