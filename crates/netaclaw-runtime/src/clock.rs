//! The clock of a run, injected.

use netaclaw_protocol::now_ms;
use std::time::Instant;

/// The time that the loop needs: when something happened, and how long it took.
pub trait Clock: Send + Sync {
    fn unix_ms(&self) -> i64;

    /// Milliseconds since an arbitrary start; monotonic.
    fn monotonic_ms(&self) -> u64;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn unix_ms(&self) -> i64 {
        now_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }
}
