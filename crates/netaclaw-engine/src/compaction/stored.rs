//! The stored part of the compaction state: past attempts, failures, and the attempt that was
//! running.

use super::attempt::AttemptError;
use super::state::CompactionState;
use crate::error::EngineError;
use crate::session::live::TransientState;
use crate::session::writer::SessionWriter;
use netaclaw_compaction::{AttemptEnd, Breaker, BreakerInput};
use netaclaw_protocol::{CompactionFailed, CompactionReason};
use netaclaw_session::{EntryKind, Flush, SessionTree};
use serde::{Deserialize, Serialize};

/// Kept with the session's state. A session that never had trouble has nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoredCompaction {
    pub(crate) breaker: Breaker,
    /// Stored before the model call. If it is found after a restart, the server died during the
    /// call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) under_way: Option<StartedAttempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<CompactionFailed>,
}

/// An attempt that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedAttempt {
    pub(crate) reason: CompactionReason,
    /// Summaries that the session held before.
    pub(crate) summaries: usize,
    pub(crate) used: u64,
    pub(crate) window: u64,
    pub(crate) model: String,
}

impl StoredCompaction {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The compaction state of a session that is opened, and the failure that it shows. An attempt
    /// that died with its server has failed, and the next one waits as after any other failure:
    /// what kills a server must not be tried again as soon as the next one is up.
    pub(crate) fn reopen(
        self,
        tree: &SessionTree,
        now_ms: i64,
    ) -> (CompactionState, Option<CompactionFailed>) {
        let mut breaker = self.breaker;
        let died = self.under_way.filter(|under_way| {
            // An attempt whose entry was stored has succeeded, even if its end was not published.
            summaries_in(tree) <= under_way.summaries
        });
        let Some(died) = died else {
            return (CompactionState::new(breaker), self.failed);
        };
        let moment = BreakerInput {
            now_ms,
            used: died.used,
            window: died.window,
            model: &died.model,
        };
        breaker.ended(died.reason, AttemptEnd::Failed, moment);
        let waits = matches!(
            died.reason,
            CompactionReason::Auto | CompactionReason::Overflow
        );
        let retry_at = breaker.cools_until_ms().filter(|_| waits);
        let failed = CompactionFailed {
            error: AttemptError::Interrupted.into_error_event(died.reason, retry_at),
            at: now_ms,
        };
        (CompactionState::new(breaker), Some(failed))
    }
}

/// Compactions and summaries of branches, wherever in the tree.
pub(crate) fn summaries_in(tree: &SessionTree) -> usize {
    let kinds = tree.entries().iter().map(|entry| entry.kind());
    kinds
        .filter(|kind| matches!(kind, EntryKind::Compaction | EntryKind::BranchSummary))
        .count()
}

/// Stores what is to outlive this process, if it has changed.
pub(crate) async fn keep(
    writer: &SessionWriter,
    compaction_state: &CompactionState,
    live: &TransientState,
) -> Result<(), EngineError> {
    let mut writing = writer.begin().await;
    let kept = compaction_state.kept(live.read(|state| state.compaction.failed().cloned()));
    if writing.state.durable.compaction != kept {
        writing.state.durable.compaction = kept;
        writing.persist_then_publish(Flush::Now).await?;
    }
    Ok(())
}
