//! Condensing the context of a live session: when it is time, and one attempt from start to end.

mod attempt;
mod branch;
mod breakdown;
mod desk;
mod in_run;
mod kept;
mod preview;
mod setup;

pub(crate) use attempt::{Attempt, Attempted, Failed, cancelled};
pub(crate) use branch::{Leaving, Told};
pub(crate) use breakdown::breakdown;
pub(crate) use desk::{Asked, Desk};
pub(crate) use kept::{Kept, UnderWay, keep, summaries_in};
pub(crate) use preview::preview;
pub use preview::{CompactionPreview, Previewed, PreviewedMessage};
pub use setup::{CompactionSetup, Overhead};
