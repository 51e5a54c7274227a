//! Leaving a branch with a summary of it: a model is asked, so it is a job like a run.

use super::LiveSession;
use super::launch::{CurrentRun, unasked};
use crate::command::{Reply, Way};
use crate::compaction::Leaving;
use crate::error::EngineError;
use crate::requests::{Done, Outcome, Request};
use netaclaw_protocol::{EntryId, RunOutcome, RunPhase, RunState};
use netaclaw_runtime::todo_on_path;
use netaclaw_session::{EntryBody, NewEntry, Places};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A move that waits for its summary.
pub(super) struct PendingMove {
    leaving: Leaving,
    request: Option<Request>,
    reply: Reply<Done<()>>,
    told: oneshot::Receiver<Result<EntryBody, EngineError>>,
}

impl LiveSession {
    /// Moves the leaf once it is known what to tell of the branch that is left. If that fails,
    /// nothing has changed.
    pub(super) async fn leave_branch(
        &mut self,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<Request>,
        reply: Reply<Done<()>>,
    ) {
        let leaving = match self.leaving(leaf.clone(), way, request.as_ref()).await {
            Ok(Some(leaving)) => leaving,
            // There is nothing to tell.
            Ok(None) => {
                drop(reply.send(self.switch_leaf(leaf, way, request).await));
                return;
            }
            Err(error) => {
                drop(reply.send(Err(error)));
                return;
            }
        };
        let (tell, told) = oneshot::channel();
        let job = CurrentRun::compaction();
        let phase = Some(RunPhase::Compacting);
        self.live.run_status(RunState::Running, None, phase, None);
        let (writer, source) = (Arc::clone(&self.writer), Arc::clone(&self.source));
        let (cancel, branch) = (job.cancel.clone(), leaving.clone());
        self.runs.spawn(async move {
            let telling = async {
                let tree = writer.tree().await?;
                let conversation = branch.conversation(&tree)?.unwrap_or_default();
                let session = writer.meta().await?;
                let model = writer.begin().await.state.durable.model.clone();
                let model = model.map(Into::into);
                branch
                    .tell(conversation, &*source, &session, model, &cancel)
                    .await
            };
            // The session that asked for it is the one that owns this job.
            drop(tell.send(telling.await));
            unasked(RunOutcome::Completed, None)
        });
        self.current = Some(job);
        self.moving = Some(PendingMove {
            leaving,
            request,
            reply,
            told,
        });
    }

    /// Where the move begins and ends, if it leaves anything worth telling.
    async fn leaving(
        &self,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<&Request>,
    ) -> Result<Option<Leaving>, EngineError> {
        if self.repeats(request)? {
            return Ok(None);
        }
        if self.current.is_some() {
            let message = "a run is writing; stop it or wait for its end".to_owned();
            return Err(EngineError::Busy(message));
        }
        if self.live.waits_for_person() {
            let message = "a question or an approval is open; answer it first".to_owned();
            return Err(EngineError::Busy(message));
        }
        let tree = self.writer.tree().await?;
        let to = match (leaf, way) {
            (Some(entry), _) if !tree.contains(&entry) => {
                return Err(EngineError::StaleParent(entry.to_string()));
            }
            (Some(entry), Way::Follow) => {
                let writing = self.writer.begin().await;
                Some(Places::new(&tree).follow(&entry, &writing.state.durable.visits))
            }
            (leaf, _) => tree.resting_place(leaf),
        };
        let Some(from) = tree.leaf().cloned() else {
            return Ok(None);
        };
        let leaving = Leaving { from, to };
        Ok(leaving.conversation(&tree)?.map(|_| leaving))
    }

    /// The job is over: the summary is appended where one goes on, which moves the leaf there.
    pub(super) async fn finish_move(&mut self) {
        let Some(mut moving) = self.moving.take() else {
            return;
        };
        let told = moving.told.try_recv().unwrap_or_else(|_| {
            let message = "the branch could not be summarised".to_owned();
            Err(EngineError::Unavailable(message))
        });
        let moved = match told {
            Ok(body) => {
                self.append_summary(moving.leaving, body, moving.request)
                    .await
            }
            Err(error) => Err(error),
        };
        drop(moving.reply.send(moved));
    }

    async fn append_summary(
        &mut self,
        leaving: Leaving,
        body: EntryBody,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        writing.remember_visit(&*writer.tree().await?);
        let new = NewEntry::below(leaving.to, body);
        writing.append(new.flushed()).await?;
        let tree = writer.tree().await?;
        writing.remember_visit(&tree);
        writing.save().await?;
        self.live.todo_changed(todo_on_path(
            tree.active_path().unwrap_or_default().into_iter(),
        ));
        let meta = writer.meta().await?;
        let model = writing.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &meta, model);
        self.live.tokens_changed(tokens.await);
        self.remember(&mut writing, request, Outcome::Done).await?;
        Ok(Done::now(()))
    }
}
