//! Condensing the context of a live session: when it is time, and one attempt from start to end.

mod attempt;
mod breakdown;
mod configured;
mod desk;
mod in_run;
mod setup;

pub(crate) use attempt::{Attempt, Attempted, cancelled};
pub(crate) use breakdown::breakdown;
pub(crate) use desk::{Asked, Desk};
pub use setup::{CompactionSetup, Overhead};
