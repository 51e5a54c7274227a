//! Whether this node is active, suspended or dead.

use crate::{Moment, Timing};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// Too long without a confirmed beat: the node begins nothing until a beat succeeds.
    Suspended,
    /// The others may have claimed its sessions. Final; the process continues as a new node.
    Dead,
}

/// A node's view of itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// When the last beat that the database has confirmed was sent. Its confirmation may have taken
    /// a while, and the peers count from before it.
    beat_sent: Moment,
    dead: bool,
}

impl Standing {
    /// A node that has registered in the database, by a statement sent at this time.
    pub fn joined(sent: Moment) -> Self {
        Self {
            beat_sent: sent,
            dead: false,
        }
    }

    /// A beat that was sent at this time has been confirmed.
    pub fn beat_confirmed(&mut self, sent: Moment) {
        self.beat_sent = self.beat_sent.max(sent);
    }

    /// A beat has found the node declared dead.
    pub fn declared_dead(&mut self) {
        self.dead = true;
    }

    pub fn at(&self, now: Moment, timing: &Timing) -> State {
        if self.dead {
            return State::Dead;
        }
        match now.saturating_sub(self.beat_sent) >= timing.suspend_after {
            true => State::Suspended,
            false => State::Active,
        }
    }
}
