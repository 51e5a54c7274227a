//! A running compaction, and a failed one until a user dismisses it.

use super::TransientState;
use crate::events::feed::now_ms;
use netaclaw_protocol::{
    CompactionDone, CompactionError, CompactionFailed, CompactionFault, CompactionProgress,
    CompactionStart, CompactionUnderWay, Nothing, ReliableEvent,
};

impl TransientState {
    pub(crate) fn compaction_started(&self, start: CompactionStart) {
        let mut state = self.lock();
        state.compaction = Some(CompactionUnderWay {
            start: start.clone(),
            since: now_ms(),
            progress: CompactionProgress::Planning,
        });
        state.compaction_failed = None;
        self.feed.emit(&ReliableEvent::CompactionStart(start));
    }

    pub(crate) fn compaction_progress(&self, progress: CompactionProgress) {
        self.progress.made("compaction");
        let mut state = self.lock();
        if let Some(compaction) = &mut state.compaction {
            compaction.progress = progress;
            self.feed.emit(&ReliableEvent::CompactionProgress(progress));
        }
    }

    pub(crate) fn compaction_done(&self, done: CompactionDone) {
        let mut state = self.lock();
        state.compaction = None;
        self.feed.emit(&ReliableEvent::CompactionDone(done));
    }

    pub(crate) fn compaction_failed(&self, error: CompactionError) {
        let mut state = self.lock();
        state.compaction = None;
        let answers_a_wish = matches!(
            error.fault,
            CompactionFault::Cancelled | CompactionFault::NothingToCompress
        );
        if !answers_a_wish {
            state.compaction_failed = Some(CompactionFailed {
                error: error.clone(),
                at: now_ms(),
            });
        }
        self.feed.emit(&ReliableEvent::CompactionError(error));
    }

    /// A failure that was neither dismissed nor followed by a success.
    pub(crate) fn compaction_failure(&self) -> Option<CompactionFailed> {
        self.lock().compaction_failed.clone()
    }

    /// One from before this process.
    pub(crate) fn show_compaction_failure(&self, failed: Option<CompactionFailed>) {
        self.lock().compaction_failed = failed;
    }

    pub(crate) fn compaction_dismissed(&self) {
        let mut state = self.lock();
        state.compaction_failed = None;
        self.feed
            .emit(&ReliableEvent::CompactionDismissed(Nothing {}));
    }

    pub(crate) fn compacts(&self) -> bool {
        self.lock().compaction.is_some()
    }
}
