//! Which node may own what. Pure: nothing here reads a clock, draws a random number or does IO.
//!
//! A node proves that it is alive by increasing a number in the database, its *beat*. A peer that
//! has read the same beat for long enough declares the node dead; a node that could not beat for
//! long enough is suspended before that. Every time here is read from the clock of one machine, the
//! one that compares it: clocks of two machines, or of a machine and the database, are never
//! compared.
//!
//! A claim carries a *fence*, a number that grows with every claim and every release. The store
//! compares it in the statement that writes, so that a node which acts on an old claim changes
//! nothing.

mod claim;
mod peers;
mod standing;

#[cfg(test)]
mod model;

pub use claim::{Owner, OwnerState, Verdict, decide};
pub use peers::{Outlook, Peers, Silent};
pub use standing::{Standing, State};

use std::time::Duration;

/// A time on this machine's clock that also counts while the machine sleeps, since an arbitrary
/// start.
pub type Moment = Duration;

/// One start of a process that owns sessions. A process that was declared dead continues under a
/// new id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(String);

impl NodeId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The intervals that all nodes of a database share. A node is suspended well before the others may
/// declare it dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Between two beats, and between two looks at the peers.
    pub beat_every: Duration,
    /// A beat that takes longer than this is abandoned, and the next one opens another connection.
    pub beat_timeout: Duration,
    /// A node is suspended this long after its last confirmed beat was sent.
    pub suspend_after: Duration,
    /// A peer whose beat stays the same for this long is declared dead.
    pub dead_after: Duration,
}

impl Timing {
    /// Two looks that are further apart than this say nothing about the time between them.
    fn gap_max(&self) -> Duration {
        self.beat_every * 2
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            beat_every: Duration::from_secs(3),
            beat_timeout: Duration::from_secs(3),
            suspend_after: Duration::from_secs(8),
            dead_after: Duration::from_secs(12),
        }
    }
}
