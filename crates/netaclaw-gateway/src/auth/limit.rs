//! Limits failed logins per name and address, without locking out other users.
//!
//! Refusals count by address, and by name at an address: what one address does wrong never keeps a
//! right password from another address out. All failures of a name together only delay the next
//! try. A browser that proves an earlier login of the same name is counted on its own.

use super::known_browsers::KnownBrowser;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Failures within the window before further tries are refused. Many users may share one address,
/// so it may fail more often than one name at it.
const PAIR_FAILURES_MAX: u32 = 5;
const ADDRESS_FAILURES_MAX: u32 = 20;
/// Failures of a name, wherever they come from, before its tries are delayed.
const NAME_FAILURES_FREE: u32 = 10;
const DELAY: Duration = Duration::from_millis(250);
const DELAY_MAX: Duration = Duration::from_secs(4);
const WINDOW: Duration = Duration::from_secs(60);
/// What is remembered at most. Beyond it, what has the fewest failures is forgotten.
const KEYS_MAX: usize = 10_000;
/// So many are forgotten at once, as looking for them takes a while.
const KEYS_ROOM: usize = 1_000;
/// Providers give whole networks of this size to one customer.
const IPV6_PREFIX: u8 = 64;

/// Counts failed logins.
#[derive(Debug, Default)]
pub(crate) struct LoginLimiter {
    failures: Mutex<HashMap<Key, Failures>>,
    /// Names are kept as hashes, which are short however long a name is. The hasher's keys are
    /// random.
    names: RandomState,
}

/// What a try to log in counts for.
#[derive(Clone, Debug)]
pub(crate) struct LoginTry {
    /// Refused after this many failures.
    limits: Vec<(Key, u32)>,
    /// Delayed by failures.
    name: Option<Key>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Address(IpNet),
    Pair(u64, IpNet),
    Token(IpNet),
    Name(u64),
    Browser(u64),
    User(u64),
}

#[derive(Debug)]
struct Failures {
    count: u32,
    since: Instant,
}

impl LoginLimiter {
    /// A login with a name and a password.
    pub(super) fn by_password(
        &self,
        name: &str,
        address: IpAddr,
        known: Option<&KnownBrowser>,
    ) -> LoginTry {
        if let Some(known) = known {
            let browser = Key::Browser(self.names.hash_one(known.nonce()));
            return LoginTry {
                limits: vec![(browser, PAIR_FAILURES_MAX)],
                name: None,
            };
        }
        let name = self.names.hash_one(name.trim().to_lowercase());
        let network = network(address);
        LoginTry {
            limits: vec![
                (Key::Pair(name, network), PAIR_FAILURES_MAX),
                (Key::Address(network), ADDRESS_FAILURES_MAX),
            ],
            name: Some(Key::Name(name)),
        }
    }

    /// Tokens are too long to be guessed; the limit keeps the store from being asked too often.
    pub(super) fn by_token(&self, address: IpAddr) -> LoginTry {
        let network = network(address);
        LoginTry {
            limits: vec![
                (Key::Token(network), PAIR_FAILURES_MAX),
                (Key::Address(network), ADDRESS_FAILURES_MAX),
            ],
            name: None,
        }
    }

    /// A user who is logged in shows the password once more. What others do at the login does not
    /// count here.
    pub(super) fn by_user(&self, user_id: &str) -> LoginTry {
        LoginTry {
            limits: vec![(Key::User(self.names.hash_one(user_id)), PAIR_FAILURES_MAX)],
            name: None,
        }
    }

    /// Counts a try and says by how much to delay it, or refuses it and says how long to wait. It
    /// counts before its outcome is known, or many at once would all pass.
    pub(super) fn begin(&self, login: &LoginTry) -> Result<Duration, Duration> {
        let now = Instant::now();
        let mut all = self.lock();
        let wait = login.limits.iter().filter_map(|(key, max)| {
            let failures = all.get(key)?;
            let left = (failures.since + WINDOW).checked_duration_since(now)?;
            (failures.count >= *max && !left.is_zero()).then_some(left)
        });
        if let Some(wait) = wait.max() {
            return Err(wait);
        }
        for (key, _) in &login.limits {
            count(&mut all, *key, now);
        }
        let before = login.name.map(|name| count(&mut all, name, now) - 1);
        Ok(before.map_or(Duration::ZERO, delay))
    }

    /// Only this try is taken back, except where it was the right one for its name: an owner of one
    /// account may guess at another.
    pub(super) fn succeeded(&self, login: &LoginTry) {
        let mut all = self.lock();
        for key in login.limits.iter().map(|(key, _)| key).chain(&login.name) {
            match key {
                Key::Address(_) | Key::Name(_) => {
                    if let Some(failures) = all.get_mut(key) {
                        failures.count = failures.count.saturating_sub(1);
                    }
                }
                Key::Pair(..) | Key::Token(_) | Key::Browser(_) | Key::User(_) => {
                    all.remove(key);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Failures>> {
        // Counts are right between any two operations.
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a failure and gives all of the window.
fn count(all: &mut HashMap<Key, Failures>, key: Key, now: Instant) -> u32 {
    if all.len() >= KEYS_MAX && !all.contains_key(&key) {
        make_room(all, now);
    }
    let fresh = || Failures {
        count: 0,
        since: now,
    };
    let failures = all.entry(key).or_insert_with(fresh);
    if now - failures.since >= WINDOW {
        *failures = fresh();
    }
    failures.count += 1;
    failures.count
}

fn make_room(all: &mut HashMap<Key, Failures>, now: Instant) {
    all.retain(|_, failures| now - failures.since < WINDOW);
    let excess = (all.len() + KEYS_ROOM).saturating_sub(KEYS_MAX);
    let mut keys: Vec<_> = all
        .iter()
        .map(|(key, failures)| (failures.count, failures.since, *key))
        .collect();
    keys.sort_unstable_by_key(|(count, since, _)| (*count, *since));
    for (_, _, key) in keys.iter().take(excess) {
        all.remove(key);
    }
}

/// The delay of a try after this many failures of its name.
fn delay(failures: u32) -> Duration {
    match failures.checked_sub(NAME_FAILURES_FREE) {
        Some(over) => DELAY_MAX.min(DELAY * 2u32.saturating_pow(over)),
        None => Duration::ZERO,
    }
}

fn network(address: IpAddr) -> IpNet {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Net::from(address).into(),
        IpAddr::V6(address) => Ipv6Net::new_assert(address, IPV6_PREFIX).trunc().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn begin(limiter: &LoginLimiter, name: &str, address: IpAddr) -> Result<Duration, Duration> {
        limiter.begin(&limiter.by_password(name, address, None))
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_waits_at_an_address_after_five_failures_and_an_address_after_twenty() {
        let limiter = LoginLimiter::default();
        for _ in 0..5 {
            assert_eq!(begin(&limiter, "a", from(1)), Ok(Duration::ZERO));
        }
        assert_eq!(begin(&limiter, "a", from(1)), Err(WINDOW));
        assert_eq!(begin(&limiter, " A", from(1)), Err(WINDOW));
        for number in 0..15 {
            let name = number.to_string();
            assert_eq!(begin(&limiter, &name, from(1)), Ok(Duration::ZERO));
        }
        assert_eq!(begin(&limiter, "b", from(1)), Err(WINDOW));
        assert_eq!(begin(&limiter, "a", from(2)), Ok(Duration::ZERO));
        tokio::time::advance(WINDOW).await;
        assert_eq!(begin(&limiter, "a", from(1)), Ok(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_is_guessed_from_everywhere_is_delayed_and_never_refused() {
        let limiter = LoginLimiter::default();
        let mut longest = Duration::ZERO;
        for last in 0..200 {
            longest = longest.max(begin(&limiter, "ann", from(last)).unwrap());
        }
        assert_eq!(longest, DELAY_MAX);
        assert_eq!(begin(&limiter, "bob", from(201)), Ok(Duration::ZERO));
        let known = KnownBrowser::with_nonce("n");
        let login = limiter.by_password("ann", from(0), Some(&known));
        assert_eq!(limiter.begin(&login), Ok(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_known_browser_has_its_own_count() {
        let limiter = LoginLimiter::default();
        let known = KnownBrowser::with_nonce("n");
        let login = limiter.by_password("ann", from(1), Some(&known));
        for _ in 0..5 {
            assert_eq!(limiter.begin(&login), Ok(Duration::ZERO));
        }
        assert_eq!(limiter.begin(&login), Err(WINDOW));
        assert_eq!(begin(&limiter, "ann", from(1)), Ok(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn right_passwords_do_not_count() {
        let limiter = LoginLimiter::default();
        for _ in 0..100 {
            let login = limiter.by_password("a", from(1), None);
            assert_eq!(limiter.begin(&login), Ok(Duration::ZERO));
            limiter.succeeded(&login);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_ipv6_is_one_address() {
        let limiter = LoginLimiter::default();
        for number in 0..20u16 {
            let address = IpAddr::from([0x2001, 0xdb8, 0, 1, number, 0, 0, 1]);
            let name = number.to_string();
            assert_eq!(begin(&limiter, &name, address), Ok(Duration::ZERO));
        }
        let same = IpAddr::from([0x2001, 0xdb8, 0, 1, 99, 0, 0, 1]);
        assert_eq!(begin(&limiter, "x", same), Err(WINDOW));
        let other = IpAddr::from([0x2001, 0xdb8, 0, 2, 0, 0, 0, 1]);
        assert_eq!(begin(&limiter, "x", other), Ok(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_and_the_worst_are_remembered() {
        let limiter = LoginLimiter::default();
        for _ in 0..5 {
            begin(&limiter, "a", from(1)).unwrap();
        }
        for number in 0..KEYS_MAX as u32 {
            let [_, _, high, low] = number.to_be_bytes().map(u16::from);
            let address = IpAddr::from([0x2001, 0xdb8, high, low, 0, 0, 0, 1]);
            begin(&limiter, &number.to_string(), address).unwrap();
        }
        assert!(limiter.lock().len() <= KEYS_MAX);
        assert_eq!(begin(&limiter, "a", from(1)), Err(WINDOW));
    }
}
