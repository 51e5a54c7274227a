//! Guessing passwords has to take long.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Failures within the window before one has to wait. Behind a proxy many people share an
/// address, so it may fail more often than a name.
const NAME_FAILURES_MAX: u32 = 5;
const ADDRESS_FAILURES_MAX: u32 = 20;
const WINDOW: Duration = Duration::from_secs(60);
/// Names and addresses remembered at most. Beyond it those whose window has passed are
/// forgotten, and if there are none, everybody waits.
const KEYS_MAX: usize = 10_000;

/// Counts failed logins by name and by address.
#[derive(Debug, Default)]
pub(crate) struct LoginLimiter {
    failures: Mutex<HashMap<String, Failures>>,
}

/// Who tries to log in, and from where.
pub(crate) struct LoginTry {
    name: String,
    address: String,
}

impl LoginTry {
    pub(crate) fn new(name: &str, address: IpAddr) -> Self {
        Self {
            name: format!("name {name}"),
            address: format!("address {address}"),
        }
    }

    pub(crate) fn by_token(address: IpAddr) -> Self {
        let name = format!("token from {address}");
        Self::new(&name, address)
    }

    fn keys(&self) -> [(&str, u32); 2] {
        [
            (&self.name, NAME_FAILURES_MAX),
            (&self.address, ADDRESS_FAILURES_MAX),
        ]
    }
}

#[derive(Debug)]
struct Failures {
    count: u32,
    since: Instant,
}

impl LoginLimiter {
    /// Counts a try and lets it through, or says how long to wait. It counts before its outcome
    /// is known, or many at once would all be let through.
    pub(crate) fn begin(&self, login: &LoginTry) -> Result<(), Duration> {
        let now = Instant::now();
        let mut all = self.lock();
        let wait = login.keys().into_iter().filter_map(|(key, max)| {
            let failures = all.get(key)?;
            let left = (failures.since + WINDOW).checked_duration_since(now)?;
            (failures.count >= max && !left.is_zero()).then_some(left)
        });
        if let Some(wait) = wait.max() {
            return Err(wait);
        }
        if all.len() >= KEYS_MAX {
            all.retain(|_, failures| now - failures.since < WINDOW);
            if all.len() >= KEYS_MAX {
                return Err(WINDOW);
            }
        }
        for (key, _) in login.keys() {
            let fresh = Failures {
                count: 0,
                since: now,
            };
            let failures = all.entry(key.to_owned()).or_insert(fresh);
            if now - failures.since >= WINDOW {
                *failures = Failures {
                    count: 0,
                    since: now,
                };
            }
            failures.count += 1;
        }
        Ok(())
    }

    /// A right password forgives its name. Of its address only this try is taken back: somebody
    /// may own one account and guess at another.
    pub(crate) fn succeeded(&self, login: &LoginTry) {
        let mut all = self.lock();
        all.remove(&login.name);
        if let Some(failures) = all.get_mut(&login.address) {
            failures.count = failures.count.saturating_sub(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Failures>> {
        // Counts are right between any two operations.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(name: &str) -> LoginTry {
        LoginTry::new(name, IpAddr::from([10, 0, 0, 1]))
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_waits_after_five_failures_and_an_address_after_twenty() {
        let limiter = LoginLimiter::default();
        for _ in 0..5 {
            assert_eq!(limiter.begin(&login("a")), Ok(()));
        }
        assert_eq!(limiter.begin(&login("a")), Err(WINDOW));
        for number in 0..15 {
            assert_eq!(limiter.begin(&login(&number.to_string())), Ok(()));
        }
        assert_eq!(limiter.begin(&login("b")), Err(WINDOW));
        tokio::time::advance(WINDOW).await;
        assert_eq!(limiter.begin(&login("a")), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn right_passwords_do_not_count() {
        let limiter = LoginLimiter::default();
        for _ in 0..100 {
            assert_eq!(limiter.begin(&login("a")), Ok(()));
            limiter.succeeded(&login("a"));
        }
    }
}
