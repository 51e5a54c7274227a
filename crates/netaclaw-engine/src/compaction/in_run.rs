//! Compaction during a run: before a model call, and when the model reports an overflow.

use super::attempt::{Attempt, AttemptOutcome};
use crate::session::host::{MeasuredContext, SessionHost, read_context, unavailable};
use netaclaw_compaction::{Blocked, BreakerInput, PauseCause, trigger, used_by};
use netaclaw_models::tokens::{estimate_text, estimate_tool};
use netaclaw_protocol::{CompactionReason, RunPhase, RunTrouble, now_ms};
use netaclaw_runtime::{HostError, ModelCall, Overflow};

impl SessionHost {
    /// A user requested it in the meantime, or the context has grown over the threshold. A failure
    /// here never fails the run.
    pub(crate) async fn compact_if_due(&mut self, call: &ModelCall<'_>) -> Result<(), HostError> {
        if let Some(asked) = self.compaction_state.take() {
            let reason = CompactionReason::Manual;
            self.compact(call, reason, asked.instructions).await;
            return Ok(());
        }
        let percent = self.threshold_percent.unwrap_or(0);
        let Some(trigger) = trigger(call.model.context_window, percent) else {
            return Ok(());
        };
        let used = self.used(call).await?;
        if used < trigger {
            return Ok(());
        }
        if overhead(call) >= trigger {
            self.warn(PauseCause::Overhead);
            return Ok(());
        }
        let reason = CompactionReason::Auto;
        match self.compaction_state.begin(reason, moment(call, used)) {
            Ok(()) => drop(self.compact(call, reason, None).await),
            Err(Blocked::Paused(cause)) => self.warn(cause),
            Err(Blocked::NotGrown) => self.warn(PauseCause::NothingLeft),
            Err(blocked) => {
                tracing::debug!(session.id = %self.writer.id, ?blocked, "not compacting now");
            }
        }
        Ok(())
    }

    pub(crate) async fn compact_overflow(
        &mut self,
        call: &ModelCall<'_>,
    ) -> Result<Overflow, HostError> {
        let used = self.used(call).await?;
        let reason = CompactionReason::Overflow;
        match self.compaction_state.begin(reason, moment(call, used)) {
            Ok(()) => match self.compact(call, reason, None).await {
                AttemptOutcome::Done => Ok(Overflow::Retry),
                AttemptOutcome::Failed => Ok(Overflow::GiveUp),
            },
            Err(blocked) => {
                if let Blocked::Paused(cause) = blocked {
                    self.warn(cause);
                }
                Ok(Overflow::GiveUp)
            }
        }
    }

    async fn compact(
        &mut self,
        call: &ModelCall<'_>,
        reason: CompactionReason,
        instructions: Option<String>,
    ) -> AttemptOutcome {
        self.live.phase(RunPhase::Compacting, None);
        let attempt = Attempt {
            writer: &self.writer,
            live: &self.live,
            source: &*self.source,
            compaction_state: &self.compaction_state,
            reason,
            instructions,
            overhead_tokens: Some(overhead(call)),
            cancel: call.cancel,
        };
        let attempted = attempt.make().await;
        if attempted == AttemptOutcome::Done
            && let Ok(tree) = self.writer.tree().await
        {
            let tip = self.writer.run_tip();
            self.meter.recount(self.writer.totals(&tree, tip.as_ref()));
        }
        self.live.phase(RunPhase::WaitingForModel, None);
        attempted
    }

    async fn used(&mut self, call: &ModelCall<'_>) -> Result<u64, HostError> {
        let tip = self.writer.run_tip();
        let tree = self.writer.tree().await.map_err(unavailable)?;
        let context = read_context(&self.writer, &tree, tip.as_ref())?;
        let messages = &context.payload.messages;
        let used = used_by(messages, context.fresh_from, || overhead(call)).tokens;
        self.measured = Some(MeasuredContext {
            tip,
            entries: tree.entries().len(),
            context,
        });
        Ok(used)
    }

    fn warn(&self, cause: PauseCause) {
        let warning = RunTrouble::from(cause);
        self.live
            .change(|state| state.warnings.raise(&self.run_id, warning.into()));
    }
}

fn moment<'a>(call: &ModelCall<'a>, used: u64) -> BreakerInput<'a> {
    BreakerInput {
        now_ms: now_ms(),
        used,
        window: call.model.context_window,
        model: &call.model.name,
    }
}

/// What a request carries besides the messages.
fn overhead(call: &ModelCall<'_>) -> u64 {
    let texts: [&str; 2] = [&call.system.stable, &call.system.volatile];
    let system: u64 = texts.into_iter().map(estimate_text).sum();
    let tools: u64 = call.tools.iter().map(estimate_tool).sum();
    system + tools
}
