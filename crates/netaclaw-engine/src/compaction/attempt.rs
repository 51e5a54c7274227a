//! One attempt to compact a context: its start is published, and then exactly once its success or
//! failure.

use super::setup::CompactionSetup;
use super::state::CompactionState;
use super::stored::{StartedAttempt, keep, summaries_in};
use crate::error::EngineError;
use crate::metrics;
use crate::session::live::TransientState;
use crate::session::meter::Meter;
use crate::session::writer::SessionWriter;
use crate::source::{AgentSource, ChosenModel};
use netaclaw_compaction::{
    Assembled, AttemptEnd, BreakerInput, CompactionFailure, Conversation, Plan, PlanRequest, Used,
    Watcher, assemble, plan, summarize,
};
use netaclaw_protocol::{
    CompactionDone, CompactionError, CompactionFault, CompactionProblem, CompactionProgress,
    CompactionReason, CompactionStart, EntryId, LocalizedText, SessionMeta, now_ms,
};
use netaclaw_runtime::todo_on_path;
use netaclaw_session::{NewEntry, SessionTree, build_session_context};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// What an attempt is made with.
pub(crate) struct Attempt<'a> {
    pub(crate) writer: &'a SessionWriter,
    pub(crate) live: &'a TransientState,
    pub(crate) source: &'a dyn AgentSource,
    pub(crate) compaction_state: &'a CompactionState,
    pub(crate) reason: CompactionReason,
    pub(crate) instructions: Option<String>,
    /// The size of instructions and tools in every request, if a run has measured it.
    pub(crate) overhead_tokens: Option<u64>,
    pub(crate) cancel: &'a CancellationToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptOutcome {
    Done,
    Failed,
}

/// What was found before anything was asked.
pub(super) struct PreparedAttempt {
    pub(super) setup: CompactionSetup,
    pub(super) conversation: Conversation,
    used: Used,
    /// Summaries in the whole session.
    summaries: usize,
    pub(super) plan: Result<Plan, CompactionFailure>,
}

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(crate) enum AttemptError {
    Compaction(CompactionFailure),
    Engine(EngineError),
    /// The server died during the attempt.
    Interrupted,
}

impl From<EngineError> for AttemptError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<CompactionFailure> for AttemptError {
    fn from(failure: CompactionFailure) -> Self {
        Self::Compaction(failure)
    }
}

impl Attempt<'_> {
    /// Makes the attempt. A failure leaves the session unchanged, and users are notified. The
    /// caller has checked the breaker.
    pub(crate) async fn make(self) -> AttemptOutcome {
        let started = Instant::now();
        let prepared = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(CompactionFailure::Cancelled.into()),
            prepared = self.prepare() => prepared,
        };
        let (used, window, model) = match &prepared {
            Ok(prepared) => {
                let model = &prepared.setup.model;
                (
                    prepared.used.tokens,
                    model.context_window,
                    model.name.clone(),
                )
            }
            Err(_) => (0, 0, String::new()),
        };
        let message_count = match &prepared {
            Ok(PreparedAttempt { plan: Ok(plan), .. }) => plan.folded_count() as u64,
            _ => 0,
        };
        let moment = || BreakerInput {
            now_ms: now_ms(),
            used,
            window,
            model: &model,
        };
        if self.reason == CompactionReason::Auto
            && let Ok(PreparedAttempt { plan: Err(_), .. }) = &prepared
        {
            // Nothing was begun, so there is nothing to publish; the breaker waits for growth.
            self.compaction_state
                .ended(self.reason, AttemptEnd::NoGain, moment());
            return AttemptOutcome::Failed;
        }
        let start = CompactionStart {
            reason: self.reason,
            message_count,
        };
        self.live.change(|state| state.compaction.start(start));
        let carried_out = match prepared {
            Ok(prepared) => self.carry_out(prepared, started).await,
            Err(failed) => Err(failed),
        };
        self.compaction_state.set_started(None);
        let (attempted, ended) = match &carried_out {
            Ok(()) => (AttemptOutcome::Done, AttemptEnd::Gained),
            Err(failed) => (AttemptOutcome::Failed, failed.ended()),
        };
        let retry_at = self.compaction_state.ended(self.reason, ended, moment());
        let fault = carried_out.as_ref().err().map(AttemptError::fault);
        metrics::compaction_ended(self.reason, fault, started.elapsed());
        if let Err(failed) = carried_out {
            let retry_at = retry_at.filter(|_| self.reason != CompactionReason::Manual);
            let failed = failed.into_error_event(self.reason, retry_at);
            self.live.change(|state| state.compaction.fail(failed));
        }
        if let Err(error) = keep(self.writer, self.compaction_state, self.live).await {
            tracing::warn!(
                session.id = %self.writer.id,
                %error,
                "failed to store the outcome of a compaction"
            );
        }
        attempted
    }

    async fn prepare(&self) -> Result<PreparedAttempt, AttemptError> {
        let session = self.writer.meta().await?;
        let model = self.writer.begin().await.state.durable.model.clone();
        let tree = self.writer.tree().await?;
        let tip = self.writer.run_tip().or_else(|| tree.leaf().cloned());
        let wish = PlanOptions {
            reason: self.reason,
            instructions: self.instructions.as_deref(),
            overhead_tokens: self.overhead_tokens,
        };
        let model = model.map(Into::into);
        let prepared = prepare(self.source, &session, model, (&tree, tip.as_ref()), wish);
        Ok(prepared.await?)
    }

    async fn carry_out(
        &self,
        prepared: PreparedAttempt,
        started: Instant,
    ) -> Result<(), AttemptError> {
        let PreparedAttempt {
            setup,
            conversation,
            plan,
            used,
            summaries,
        } = prepared;
        let plan = plan?;
        self.compaction_state.set_started(Some(StartedAttempt {
            reason: self.reason,
            summaries,
            used: used.tokens,
            window: setup.model.context_window,
            model: setup.model.name.clone(),
        }));
        keep(self.writer, self.compaction_state, self.live).await?;
        let auxiliary = &setup.auxiliary;
        let tell = |progress| self.live.compaction_progress(progress);
        let watcher = Watcher {
            tell: &tell,
            cancel: self.cancel,
        };
        let summary = summarize(&conversation, &plan, auxiliary, watcher).await?;
        tell(CompactionProgress::Checking);
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let assembled = assemble(&plan, summary, auxiliary, took)?;
        if self.cancel.is_cancelled() {
            return Err(CompactionFailure::Cancelled.into());
        }
        tell(CompactionProgress::Saving);
        let tree = self.append(&plan, assembled).await?;
        let tip = self.writer.run_tip().or_else(|| tree.leaf().cloned());
        let meter = Meter::new(self.writer.totals(&tree, tip.as_ref()));
        let meter = meter.for_model(&setup.model, setup.threshold_percent);
        let tokens = meter.update_at(&tree, tip.as_ref(), plan.tokens.overhead);
        self.live.change(|state| state.set_tokens(tokens));
        Ok(())
    }

    /// Appends the entry. It is stored before any client receives it, and the end of the compaction
    /// is published before the entry itself.
    async fn append(
        &self,
        plan: &Plan,
        assembled: Assembled,
    ) -> Result<Arc<SessionTree>, EngineError> {
        let Assembled {
            summary,
            details,
            tokens_before,
            body,
        } = assembled;
        let mut writing = self.writer.begin().await;
        let new = match self.writer.run_tip() {
            Some(tip) => NewEntry::below(Some(tip), body),
            None => NewEntry::at_leaf(body),
        };
        let (compacted_count, keep_recent_count) = (plan.folded_count(), plan.kept_count);
        writing
            .append_after(new.flushed(), |entry| {
                let done = CompactionDone {
                    success: true,
                    compacted_count: compacted_count as u64,
                    keep_recent_count: keep_recent_count as u64,
                    summary_entry_id: entry.id().clone(),
                    summary_message_id: entry.id().clone(),
                    summary_content: summary,
                    tokens_before,
                    tokens_after: details.tokens_after,
                };
                self.live.change(|state| state.compaction.succeed(done));
            })
            .await?;
        self.writer.tree().await
    }
}

/// What is wanted of a plan.
#[derive(Clone, Copy)]
pub(super) struct PlanOptions<'a> {
    pub(super) reason: CompactionReason,
    pub(super) instructions: Option<&'a str>,
    pub(super) overhead_tokens: Option<u64>,
}

/// Plans for a place in a session. Nothing is asked and nothing changed.
pub(super) async fn prepare(
    source: &dyn AgentSource,
    session: &SessionMeta,
    model: Option<ChosenModel>,
    (tree, tip): (&SessionTree, Option<&EntryId>),
    wish: PlanOptions<'_>,
) -> Result<PreparedAttempt, EngineError> {
    let setup = source.compaction(session, model.clone()).await?;
    let overhead_tokens = match wish.overhead_tokens {
        Some(tokens) => tokens,
        None => source.overhead(session, model).await?.total(),
    };
    let context = build_session_context(tree, tip).map_err(damaged)?;
    let path = tip.map_or(Ok(Vec::new()), |tip| tree.path(tip));
    let todo = todo_on_path(path.map_err(damaged)?.into_iter());
    let conversation = Conversation::read(&context);
    let used = conversation.used(overhead_tokens);
    let request = PlanRequest {
        reason: wish.reason,
        limits: setup.limits(overhead_tokens),
        used,
        todo: &todo,
        instructions: wish.instructions,
        looks_only: &|tool| setup.looks_only.contains(tool),
    };
    let plan = plan(&conversation, &request);
    Ok(PreparedAttempt {
        setup,
        conversation,
        used,
        summaries: summaries_in(tree),
        plan,
    })
}

impl AttemptError {
    fn ended(&self) -> AttemptEnd {
        match self {
            Self::Compaction(CompactionFailure::Cancelled) => AttemptEnd::Cancelled,
            Self::Compaction(
                CompactionFailure::NothingToCompress | CompactionFailure::NoGain { .. },
            ) => AttemptEnd::NoGain,
            Self::Compaction(_) | Self::Engine(_) | Self::Interrupted => AttemptEnd::Failed,
        }
    }

    pub(crate) fn fault(&self) -> CompactionFault {
        match self {
            Self::Compaction(failure) => failure.fault(),
            Self::Interrupted => CompactionFault::Interrupted,
            Self::Engine(EngineError::Internal(_)) => CompactionFault::SessionUnavailable,
            Self::Engine(_) => CompactionFault::NotReady,
        }
    }

    pub(crate) fn into_error_event(
        self,
        reason: CompactionReason,
        retry_at: Option<i64>,
    ) -> CompactionError {
        let fault = self.fault();
        let (words, retryable): (LocalizedText, bool) = match self {
            Self::Compaction(failure) => (failure.words(), failure.is_retryable()),
            Self::Engine(error) => (error.refusal().words, true),
            Self::Interrupted => (CompactionProblem::Interrupted.words(), true),
        };
        CompactionError {
            reason,
            message: words.en.clone(),
            retryable,
            fault,
            words,
            retry_at: retry_at.filter(|_| retryable),
        }
    }
}

/// For a request that no run executes.
pub(crate) fn cancelled() -> CompactionError {
    AttemptError::from(CompactionFailure::Cancelled)
        .into_error_event(CompactionReason::Manual, None)
}

pub(super) fn damaged(error: netaclaw_session::PathError) -> EngineError {
    EngineError::Internal(Box::new(error))
}
