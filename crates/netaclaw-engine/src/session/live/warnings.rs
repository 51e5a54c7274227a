//! The warnings of runs.

use netaclaw_protocol::{
    ErrorCode, LocalizedError, LocalizedErrorKind, ReliableEvent, RunError, RunId, RunOutcome,
    Severity,
};

#[derive(Debug)]
pub(crate) struct Warnings {
    /// Those about the setting of this session that were published. Published again only when they
    /// change.
    lasting: Vec<LocalizedError>,
    /// Raised by the current run.
    raised: Vec<LocalizedErrorKind>,
}

impl Warnings {
    /// Goes on from what earlier runs have raised.
    pub(super) fn new(lasting: Vec<LocalizedError>) -> Self {
        let raised = Vec::new();
        Self { lasting, raised }
    }

    pub(crate) fn lasting(&self) -> &[LocalizedError] {
        &self.lasting
    }

    /// A warning of a run. One about the session's setting is published once, because every run
    /// meets it.
    pub(crate) fn raise(
        &mut self,
        run_id: &RunId,
        warning: LocalizedError,
    ) -> Option<ReliableEvent> {
        if is_lasting(warning.kind) {
            self.raised.push(warning.kind);
            if self.lasting.contains(&warning) {
                return None;
            }
            self.lasting.retain(|known| known.kind != warning.kind);
            self.lasting.push(warning.clone());
        }
        Some(ReliableEvent::Error(RunError {
            run_id: Some(run_id.clone()),
            code: ErrorCode::Unavailable,
            severity: Severity::Warning,
            message: warning.words.en.clone(),
            trouble: Some(Box::new(warning)),
        }))
    }

    /// A run that came to its end has raised all there are; what it did not raise has been mended.
    pub(super) fn end_run(&mut self, outcome: RunOutcome) -> Vec<LocalizedError> {
        let raised = std::mem::take(&mut self.raised);
        if outcome == RunOutcome::Completed {
            self.lasting.retain(|known| raised.contains(&known.kind));
        }
        self.lasting.clone()
    }
}

/// Whether a warning is about how things are, and not about what has just happened.
fn is_lasting(kind: LocalizedErrorKind) -> bool {
    matches!(
        kind,
        LocalizedErrorKind::NoToolSupport
            | LocalizedErrorKind::UnknownTools
            | LocalizedErrorKind::NoSandbox
            | LocalizedErrorKind::UnreadableMessages
            | LocalizedErrorKind::CompactionPaused
            | LocalizedErrorKind::NewerVersion
    )
}
