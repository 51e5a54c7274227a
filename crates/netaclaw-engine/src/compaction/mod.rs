//! Compaction of a live session: when it is due, and one attempt from start to end.

mod attempt;
mod branch;
mod breakdown;
mod in_run;
mod preview;
mod setup;
mod state;
mod stored;

pub(crate) use attempt::{Attempt, AttemptError, AttemptOutcome, cancelled};
pub(crate) use branch::{BranchMove, BranchSummary};
pub(crate) use breakdown::breakdown;
pub(crate) use preview::preview;
pub use preview::{CompactionPreview, PreviewOutcome, PreviewedMessage};
pub use setup::{CompactionSetup, Overhead};
pub(crate) use state::{CompactionState, RequestedCompaction};
pub(crate) use stored::{StartedAttempt, StoredCompaction, keep, summaries_in};
