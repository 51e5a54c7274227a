//! Stores the end of a run. After a store failure that is retried before anything else is written;
//! until then the mark of the run stays.

use crate::compaction::CompactionState;
use crate::error::EngineError;
use crate::session::live::TransientState;
use crate::session::run_ending::RunEnding;
use crate::session::writer::SessionWriter;
use netaclaw_protocol::{LocalizedError, Unavailable};
use netaclaw_session::Flush;
use std::sync::Arc;
use std::time::Duration;

/// How long the end of a run may take to be stored, until the next command retries.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The end of the last run, until it is stored.
pub(super) struct EndOfRun {
    writer: Arc<SessionWriter>,
    live: TransientState,
    compaction_state: Arc<CompactionState>,
    closing: Option<ClosingRun>,
}

/// What is to be stored of a run that has ended.
pub(super) struct ClosingRun {
    /// For a run that may have written none itself.
    pub(super) ending: Option<RunEnding>,
    pub(super) warnings: Vec<LocalizedError>,
    pub(super) unread: bool,
}

impl EndOfRun {
    pub(super) fn new(
        writer: &Arc<SessionWriter>,
        live: &TransientState,
        compaction_state: &Arc<CompactionState>,
    ) -> Self {
        Self {
            writer: Arc::clone(writer),
            live: live.clone(),
            compaction_state: Arc::clone(compaction_state),
            closing: None,
        }
    }

    /// A run has ended; [`Self::settle`] stores that.
    pub(super) fn set(&mut self, closing: ClosingRun) {
        self.closing = Some(closing);
    }

    /// Stores the end of the last run, if that is still to be done.
    pub(super) async fn settle(&mut self) -> Result<(), EngineError> {
        if self.closing.is_none() {
            return Ok(());
        }
        let stored = tokio::time::timeout(SETTLE_TIMEOUT, self.store()).await;
        stored.unwrap_or_else(|_| Err(Unavailable::StoreNotAnswering.into()))
    }

    async fn store(&mut self) -> Result<(), EngineError> {
        let Some(closing) = &self.closing else {
            return Ok(());
        };
        let mut writing = self.writer.begin().await;
        writing.set_run_tip(None);
        if let Some(ending) = &closing.ending {
            ending.close(&self.writer, &mut writing).await?;
        }
        let failed = self.live.read(|state| state.compaction.failed().cloned());
        let durable = &mut writing.state.durable;
        durable.run = None;
        durable.questions.clear();
        durable.approvals.clear();
        durable.warnings.clone_from(&closing.warnings);
        durable.compaction = self.compaction_state.kept(failed);
        if let Some(told) = self.live.take_told_tools() {
            durable.told_tools = Some(told);
        }
        durable.unread = closing.unread;
        writing.persist_then_publish(Flush::Later).await?;
        drop(writing);
        self.closing = None;
        Ok(())
    }
}
