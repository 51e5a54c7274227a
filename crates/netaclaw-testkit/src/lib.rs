//! For tests only: a private MariaDB, and everything else that a test needs from outside.

mod collector;
#[cfg(feature = "engine")]
pub mod engine;
pub mod fake_model;
mod mariadb;
mod pi;
mod queue;
pub mod socket;

pub use collector::{Collector, Traced};
pub use mariadb::{Database, MariaDb};
pub use pi::Pi;
pub use queue::queue_after;
