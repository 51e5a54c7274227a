//! Time, from outside.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What the loop needs to know of time: when something happened, and how long it took.
pub trait Clock: Send + Sync {
    fn unix_ms(&self) -> i64;

    /// Milliseconds since some moment; never goes back.
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
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64)
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }
}
