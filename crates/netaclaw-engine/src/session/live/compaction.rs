//! A running compaction, and a failed one until a user dismisses it.

use netaclaw_protocol::{
    CompactionDone, CompactionError, CompactionFailed, CompactionFault, CompactionProgress,
    CompactionStart, CompactionUnderWay, Nothing, ReliableEvent, now_ms,
};

#[derive(Debug, Default)]
pub(crate) struct CompactionView {
    running: Option<CompactionUnderWay>,
    failed: Option<CompactionFailed>,
}

impl CompactionView {
    pub(crate) fn running(&self) -> Option<&CompactionUnderWay> {
        self.running.as_ref()
    }

    /// A failure that was neither dismissed nor followed by a success.
    pub(crate) fn failed(&self) -> Option<&CompactionFailed> {
        self.failed.as_ref()
    }

    pub(crate) fn start(&mut self, start: CompactionStart) -> Option<ReliableEvent> {
        self.running = Some(CompactionUnderWay {
            start: start.clone(),
            since: now_ms(),
            progress: CompactionProgress::Planning,
        });
        self.failed = None;
        Some(ReliableEvent::CompactionStart(start))
    }

    pub(super) fn progress(&mut self, progress: CompactionProgress) -> Option<ReliableEvent> {
        self.running.as_mut()?.progress = progress;
        Some(ReliableEvent::CompactionProgress(progress))
    }

    pub(crate) fn succeed(&mut self, done: CompactionDone) -> Option<ReliableEvent> {
        self.running = None;
        Some(ReliableEvent::CompactionDone(done))
    }

    pub(crate) fn fail(&mut self, error: CompactionError) -> Option<ReliableEvent> {
        self.running = None;
        let answers_a_wish = matches!(
            error.fault,
            CompactionFault::Cancelled | CompactionFault::NothingToCompress
        );
        if !answers_a_wish {
            self.failed = Some(CompactionFailed {
                error: error.clone(),
                at: now_ms(),
            });
        }
        Some(ReliableEvent::CompactionError(error))
    }

    pub(crate) fn dismiss(&mut self) -> Option<ReliableEvent> {
        self.failed = None;
        Some(ReliableEvent::CompactionDismissed(Nothing {}))
    }

    /// A failure from before this process. It is in every snapshot, so that it needs no event.
    pub(crate) fn restore(&mut self, failed: Option<CompactionFailed>) {
        self.failed = failed;
    }
}
