//! Guessing passwords has to take long.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Failures of one kind within the window before it is closed.
const FAILURES_MAX: u32 = 5;
const WINDOW: Duration = Duration::from_secs(60);
/// Names and addresses remembered at most. Beyond it those whose window has passed are
/// forgotten, and if there are none, everybody waits.
const KEYS_MAX: usize = 10_000;

/// Counts failed logins by name and by address.
#[derive(Debug, Default)]
pub(crate) struct LoginLimiter {
    failures: Mutex<HashMap<String, Failures>>,
}

#[derive(Debug)]
struct Failures {
    count: u32,
    since: Instant,
}

impl LoginLimiter {
    /// How long to wait before the next try, if one has to.
    pub(crate) fn wait(&self, keys: &[&str]) -> Option<Duration> {
        let now = Instant::now();
        let failures = self.lock();
        let waits = keys.iter().filter_map(|key| {
            let failures = failures.get(*key)?;
            let left = (failures.since + WINDOW).checked_duration_since(now)?;
            (failures.count >= FAILURES_MAX && !left.is_zero()).then_some(left)
        });
        let full = (failures.len() >= KEYS_MAX).then_some(WINDOW);
        waits.chain(full).max()
    }

    pub(crate) fn failed(&self, keys: &[&str]) {
        let now = Instant::now();
        let mut all = self.lock();
        if all.len() + keys.len() > KEYS_MAX {
            all.retain(|_, failures| now - failures.since < WINDOW);
        }
        for key in keys {
            let failures = all.entry((*key).to_owned()).or_insert(Failures {
                count: 0,
                since: now,
            });
            if now - failures.since >= WINDOW {
                *failures = Failures {
                    count: 0,
                    since: now,
                };
            }
            failures.count += 1;
        }
    }

    /// A right password forgives its name, not its address: somebody may own one account and
    /// guess at another.
    pub(crate) fn succeeded(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Failures>> {
        // Counts are right between any two operations.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_five_failures_one_waits_for_the_window() {
        let limiter = LoginLimiter::default();
        for _ in 0..5 {
            assert_eq!(limiter.wait(&["name:a", "address:1"]), None);
            limiter.failed(&["name:a", "address:1"]);
        }
        assert_eq!(limiter.wait(&["name:a"]), Some(WINDOW));
        assert_eq!(limiter.wait(&["name:b", "address:1"]), Some(WINDOW));
        assert_eq!(limiter.wait(&["name:b", "address:2"]), None);
        limiter.succeeded("name:a");
        assert_eq!(limiter.wait(&["name:a"]), None);
        tokio::time::advance(WINDOW).await;
        assert_eq!(limiter.wait(&["name:b", "address:1"]), None);
    }
}
