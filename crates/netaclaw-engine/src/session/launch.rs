//! Starts, watches and ends runs.

use super::LiveSession;
use super::agent::switch_to;
use super::end_of_run::ClosingRun;
use crate::error::EngineError;
use crate::events::feed::Feed;
use crate::metrics::{self, CallClock, RunningRun};
use crate::session::durable::RunMark;
use crate::session::host::SessionHost;
use crate::session::live::TransientFields;
use crate::session::meter::Meter;
use crate::session::partial::{PartialAnswer, PartialSlot};
use crate::session::recover::ResumableCalls;
use crate::session::requests::{AnsweredRequest, Outcome, Request};
use crate::session::run_ending::RunEnding;
use crate::session::trace::RunTrace;
use crate::session::user_message::{is_literal, user_text};
use crate::session::watchdog::Watchdog;
use crate::session::writer::SessionWriter;
use crate::skills::{SkillCommand, SkillOpening};
use crate::source::{AgentRef, AgentSource, PrepareRun};
use netaclaw_protocol::{
    Done, EntryId, ErrorCode, LocalizedError, LocalizedErrorKind, ReliableEvent, RunError, RunId,
    RunOutcome, RunPhase, RunState, RunTrouble, Severity, TodoList, Usage, now_ms,
};
use netaclaw_runtime::{PendingCalls, RunHost, RunReport, todo_on_path};
use netaclaw_session::{Flush, NewEntry, NewParent, Role, SessionTree};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The current run.
pub(crate) struct CurrentRun {
    /// `None` if it is a compaction, which is not a run but keeps one from beginning.
    pub(crate) id: Option<RunId>,
    pub(crate) cancel: CancellationToken,
    started: Instant,
    _counted: Option<RunningRun>,
}

impl CurrentRun {
    pub(super) fn compaction(cancel: CancellationToken) -> Self {
        Self {
            id: None,
            cancel,
            started: Instant::now(),
            _counted: None,
        }
    }
}

impl LiveSession {
    /// Appends a user's message and starts a run at it. The mark of the run is stored first: a
    /// message that is in the log after a crash is known to have had a run. If this fails, the
    /// message is not in the log; if not, it is, and the caller still has to flush it against a
    /// power cut. With another agent than before, the session is switched to it first.
    pub(super) async fn start(
        &mut self,
        new: NewEntry,
        run_id: RunId,
        agent: Option<AgentRef>,
    ) -> Result<EntryId, EngineError> {
        self.end_of_run.settle().await?;
        let switch = switch_to(agent, &self.writer, &*self.source).await?;
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        let mut branches = false;
        if let NewParent::Entry(parent) = &new.parent {
            let tree = self.writer.tree().await?;
            branches = parent.as_ref() != tree.leaf();
            writing.remember_visit(&tree);
        }
        let before = writing.state.durable.clone();
        writing.state.durable.run = Some(mark(&run_id));
        if let Some(switch) = &switch {
            switch.prepare(&mut writing.state.durable);
        }
        if let Err(error) = writing.persist_then_publish(Flush::Later).await {
            writing.state.durable = before;
            return Err(error);
        }
        let appended = match switch {
            Some(switch) => switch.append(&mut writing, new).await,
            None => writing.append(new).await,
        };
        let entry = match appended {
            Ok(entry) => entry,
            Err(error) => {
                writing.state.durable.run = None;
                if let Err(error) = writing.persist_then_publish(Flush::Now).await {
                    // The next change that is stored takes the mark away.
                    tracing::warn!(
                        session.id = %self.writer.id,
                        %error,
                        "failed to clear the mark of a run that did not start"
                    );
                }
                return Err(error);
            }
        };
        writing.set_run_tip(Some(entry.id().clone()));
        if branches {
            writing.publish_leaf().await?;
        }
        drop(writing);
        self.compactions.state().on_user_message();
        self.launch(run_id);
        Ok(entry.id().clone())
    }

    /// Starts a run at the leaf without a message: where a question has been answered, or where a
    /// request wants another answer.
    pub(super) async fn continue_run(
        &mut self,
        request: Option<Request>,
    ) -> Result<RunId, EngineError> {
        self.end_of_run.settle().await?;
        let run_id = RunId::new(Uuid::now_v7().to_string());
        let tip = self.writer.tree().await?.leaf().cloned();
        let started = Outcome::Started(run_id.clone());
        let answered = request.map(|request| AnsweredRequest::new(request, now_ms(), started));
        let mut writing = self.writer.begin().await;
        let marked = writing.change(|durable| {
            durable.run = Some(mark(&run_id));
            if let Some(answered) = &answered {
                durable.remember(answered.clone(), now_ms());
            }
            Ok(())
        });
        marked.await?;
        writing.set_run_tip(tip);
        drop(writing);
        answered
            .into_iter()
            .for_each(|answered| self.requests.remember(answered));
        self.launch(run_id.clone());
        Ok(run_id)
    }

    fn launch(&mut self, run_id: RunId) {
        let cancel = CancellationToken::new();
        if self.shutdown.is_cancelled() {
            cancel.cancel();
        }
        self.live.run_status(
            RunState::Running,
            Some(run_id.clone()),
            Some(RunPhase::Preparing),
            None,
        );
        let partial = Arc::new(PartialSlot::default());
        let host = SessionHost {
            run_id: run_id.clone(),
            writer: Arc::clone(&self.writer),
            live: self.live.clone(),
            pending_replies: self.questions.waiting(),
            consents: self.approvals.waiting(),
            meter: Meter::default(),
            clock: CallClock::default(),
            trace: RunTrace::begin(&self.writer.id, &run_id),
            steps: self.writer.steps.clone(),
            free_ids: Vec::new(),
            partial: Arc::clone(&partial),
            source: Arc::clone(&self.source),
            compaction_state: Arc::clone(self.compactions.state()),
            shutdown: self.shutdown.clone(),
            threshold_percent: None,
            measured: None,
        };
        self.live.progress().made("start");
        let watchdog = Watchdog {
            session: self.writer.id.clone(),
            live: self.live.clone(),
            cancel: cancel.clone(),
            stalled: OnceLock::new(),
        };
        let (source, token) = (Arc::clone(&self.source), cancel.clone());
        let writer = Arc::clone(&self.writer);
        let feed = self.writer.feed.clone();
        // Boxed, as what is spawned is moved several times, and this is large.
        let run = Box::pin(async move {
            tokio::select! {
                report = run(host, source, token) => report,
                never = keep_partial(writer, partial) => match never {},
                never = feed.send_when_due() => match never {},
            }
        });
        self.runs.spawn(watchdog.watch(run));
        self.allowance.count_accepted();
        self.current = Some(CurrentRun {
            id: Some(run_id),
            cancel,
            started: Instant::now(),
            _counted: Some(RunningRun::begin()),
        });
    }

    /// Cleans up after a run, whatever its outcome, publishes its end, and starts what waits.
    pub(super) async fn run_ended(&mut self, ended: Result<RunReport, JoinError>) {
        let Some(run) = self.current.take() else {
            return;
        };
        let Some(run_id) = run.id else {
            return self.compaction_ended(ended).await;
        };
        let (outcome, trouble) = match ended {
            Ok(report) => (report.outcome, report.trouble),
            // The server's runtime is going down under the run. Whatever is written now may be cut
            // off; the next process finds the mark of the run and closes it.
            Err(cut_off) if cut_off.is_cancelled() => return,
            Err(panic) => {
                tracing::error!(session.id = %self.writer.id, run.id = %run_id, %panic, "a run panicked");
                (
                    RunOutcome::Error,
                    Some(Box::new(RunTrouble::Internal.into())),
                )
            }
        };
        if outcome == RunOutcome::Error
            && let Some(trouble) = &trouble
        {
            publish_error(&self.writer.feed, &run_id, trouble.clone());
        }
        // A shutdown is not the user's decision: the run was interrupted.
        let outcome = match outcome {
            RunOutcome::Stopped if self.shutdown.is_cancelled() => RunOutcome::Interrupted,
            outcome => outcome,
        };
        self.questions.clear();
        self.approvals.clear();
        let warnings = self.live.clear_run(outcome);
        self.live.change(TransientFields::close_requests);
        self.end_of_run.set(ClosingRun {
            ending: ending_of(outcome, trouble.as_deref()),
            warnings,
            unread: self.writer.feed.subscriber_count() == 0,
        });
        if let Err(error) = self.close_run(outcome).await {
            tracing::error!(
                session.id = %self.writer.id,
                %error,
                "failed to store the end of a run"
            );
        }
        if outcome != RunOutcome::Completed {
            // What was appended last has no count of the supplier.
            self.numbers.publish().await;
        }
        let kind = trouble.as_ref().map(|why| why.kind);
        metrics::run_ended(outcome, kind, run.started.elapsed());
        let done = Done {
            run_id,
            outcome,
            reason: kind.map(|kind| kind.as_str().to_owned()),
            trouble,
        };
        self.writer.feed.emit(&ReliableEvent::Done(done));
        if let Some(waiting) = self.compactions.take_waiting()
            && !self.closing
        {
            return self.start_compaction(waiting);
        }
        self.numbers.run_ended().await;
        self.live.run_status(RunState::Idle, None, None, None);
        self.start_next().await;
    }

    async fn close_run(&mut self, outcome: RunOutcome) -> Result<(), EngineError> {
        self.end_of_run.settle().await?;
        self.titles.update(outcome).await?;
        self.writer.sync().await
    }
}

fn publish_error(feed: &Feed, run_id: &RunId, trouble: Box<LocalizedError>) {
    let code = match trouble.kind {
        LocalizedErrorKind::Internal => ErrorCode::Internal,
        _ => ErrorCode::Unavailable,
    };
    let error = RunError {
        run_id: Some(run_id.clone()),
        code,
        severity: Severity::Error,
        message: trouble.words.en.clone(),
        trouble: Some(trouble),
    };
    feed.emit(&ReliableEvent::Error(error));
}

/// What the path of a run has to say about its end, so that it is known after a reload.
fn ending_of(outcome: RunOutcome, trouble: Option<&LocalizedError>) -> Option<RunEnding> {
    match outcome {
        RunOutcome::Error => trouble.cloned().map(RunEnding::failed),
        RunOutcome::Interrupted => Some(RunEnding::interrupted()),
        // Between two answers a run that is stopped has nothing to record it in.
        RunOutcome::Stopped => Some(RunEnding::stopped(trouble.cloned())),
        RunOutcome::Completed => None,
    }
}

fn mark(run_id: &RunId) -> RunMark {
    RunMark {
        run_id: run_id.clone(),
        started_at: now_ms(),
    }
}

/// One run from start to end. A failure before the loop begins ends the run like any later failure:
/// the message stays, and the user reads the reason.
async fn run(
    mut host: SessionHost,
    source: Arc<dyn AgentSource>,
    cancel: CancellationToken,
) -> RunReport {
    // A store that hangs must not keep a stop from ending the run.
    let prepared = tokio::select! {
        biased;
        () = cancel.cancelled() => return unasked(RunOutcome::Stopped, None),
        prepared = prepare(&mut host, &*source) => prepared,
    };
    let report = match prepared {
        Ok(runner) => runner.run(&mut host, cancel).await,
        Err(error) => {
            error.log();
            unasked(RunOutcome::Error, Some(Box::new(error.trouble())))
        }
    };
    host.trace.ended(&report);
    report
}

/// The end of a run that never asked a model.
pub(super) fn unasked(outcome: RunOutcome, trouble: Option<Box<LocalizedError>>) -> RunReport {
    RunReport {
        outcome,
        reason: None,
        trouble,
        usage: Usage::default(),
        turns: 0,
        tools_refused: None,
    }
}

async fn prepare(
    host: &mut SessionHost,
    source: &dyn AgentSource,
) -> Result<Box<dyn crate::source::Runner>, EngineError> {
    let session = host.writer.meta().await?;
    host.trace.of_session(&session);
    let durable = host.writer.begin().await.state.durable.clone();
    let tree = host.writer.tree().await?;
    let tip = host.writer.run_tip();
    let foreign = host.writer.foreign(&tree, tip.as_ref());
    let mut pending = ResumableCalls::read(&tree, &durable).into_pending(&tree, foreign.clone());
    let opening = match skill_command(&tree, host.writer.run_tip().as_ref()) {
        Some((message, command)) => Some(source.open_skill(&session, &command, &message).await?),
        None => None,
    };
    let opening = opening.map(|opening| {
        host.draw_ids(&tree);
        (host.next_entry_id(), opening)
    });
    if let Some((entry_id, SkillOpening::Call { call, .. })) = &opening {
        pending = Some(PendingCalls {
            entry_id: entry_id.clone(),
            calls: vec![call.clone()],
            todo: todo_at(&tree, tip.as_ref()),
            foreign,
        });
    }
    let prepared = source
        .prepare(PrepareRun {
            session: &session,
            run_id: &host.run_id,
            pending,
            model: durable.model.map(Into::into),
            told_tools: durable.told_tools,
        })
        .await?;
    let totals = host.writer.totals(&tree, host.writer.run_tip().as_ref());
    host.meter = Meter::new(totals).for_model(&prepared.model, prepared.threshold_percent);
    host.threshold_percent = prepared.threshold_percent;
    if let Some((entry_id, opening)) = opening {
        let appended = host.append(Some(entry_id), opening.into_body()).await;
        appended.map_err(|error| EngineError::Internal(Box::new(error)))?;
    }
    Ok(prepared.runner)
}

/// The message that the run is to answer, if it names a skill.
fn skill_command(tree: &SessionTree, tip: Option<&EntryId>) -> Option<(EntryId, SkillCommand)> {
    let last = tip.and_then(|tip| tree.get(tip))?;
    if last.role() != Role::User || is_literal(last) {
        return None;
    }
    let command = SkillCommand::read(&user_text(last)?)?;
    Some((last.id().clone(), command))
}

fn todo_at(tree: &SessionTree, tip: Option<&EntryId>) -> TodoList {
    let path = tip.and_then(|tip| tree.path(tip).ok()).unwrap_or_default();
    todo_on_path(path.into_iter())
}

/// Keeps partial answers as they come, for as long as the run lasts.
async fn keep_partial(
    writer: Arc<SessionWriter>,
    partial: Arc<PartialSlot<PartialAnswer>>,
) -> std::convert::Infallible {
    loop {
        let in_flight = partial.take().await.into_entry();
        // If the answer was completed since, it is refused here, which is right.
        let kept = writer
            .provider
            .update_in_flight_entry(&writer.id, in_flight)
            .await;
        if let Err(error) = kept {
            tracing::debug!(session.id = %writer.id, %error, "failed to store a partial answer");
        }
    }
}
