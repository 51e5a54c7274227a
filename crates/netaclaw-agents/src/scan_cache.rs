//! A cache of directory scans, valid for half a second.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A change of a file takes effect after this time at most.
const SCAN_AGAIN: Duration = Duration::from_millis(500);
/// The maximum of cached directories; beyond it the cache is cleared.
const PLACES_MAX: usize = 64;

/// The last scan of each place.
pub(crate) struct ScanCache<K, V> {
    places: Mutex<HashMap<K, Place<V>>>,
}

/// Held during a scan, so that a hundred runs that begin at once scan once. A place on a disk that
/// hangs holds up only those who need it.
type Place<V> = Arc<tokio::sync::Mutex<Option<(Instant, V)>>>;

impl<K: Eq + Hash, V: Clone> ScanCache<K, V> {
    /// The content of a directory, at most half a second old. A scan receives the previous one; a
    /// failed scan is repeated by the next caller.
    pub(crate) async fn get<E, F>(
        &self,
        place: K,
        scan: impl FnOnce(Option<V>) -> F,
    ) -> Result<V, E>
    where
        F: Future<Output = Result<V, E>>,
    {
        let place = self.place(place);
        let mut last = place.lock().await;
        let before = match &*last {
            Some((at, value)) if at.elapsed() < SCAN_AGAIN => return Ok(value.clone()),
            Some((_, value)) => Some(value.clone()),
            None => None,
        };
        let began = Instant::now();
        let value = scan(before).await?;
        *last = Some((began, value.clone()));
        Ok(value)
    }

    fn place(&self, name: K) -> Place<V> {
        // A map is whole between any two of its operations.
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= PLACES_MAX && !places.contains_key(&name) {
            places.clear();
        }
        Arc::clone(places.entry(name).or_default())
    }
}

impl<K, V> Default for ScanCache<K, V> {
    fn default() -> Self {
        Self {
            places: Mutex::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(start_paused = true)]
    async fn callers_share_a_scan_for_half_a_second() {
        let scans = ScanCache::default();
        let count = &AtomicUsize::new(0);
        let get = |place: &'static str| {
            scans.get(place, move |before: Option<usize>| async move {
                tokio::task::yield_now().await;
                let number = count.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(before.unwrap_or(100) + number)
            })
        };
        let (one, two, other) = tokio::join!(get("a"), get("a"), get("b"));
        assert_eq!(one, two);
        assert_ne!(one, other);
        assert_eq!(get("a").await, one);
        tokio::time::advance(SCAN_AGAIN).await;
        let before = one.unwrap();
        assert_eq!(get("a").await, Ok(before + 2));
    }

    #[tokio::test]
    async fn a_scan_that_failed_is_repeated() {
        let scans = ScanCache::default();
        let failed = scans.get("a", |_| async { Err::<(), _>("no") });
        assert_eq!(failed.await, Err("no"));
        let seen = scans.get("a", |_| async { Ok::<_, &str>(()) });
        assert_eq!(seen.await, Ok(()));
    }

    #[tokio::test]
    async fn a_disk_that_hangs_holds_up_its_own_place_only() {
        let scans = ScanCache::default();
        let hangs = scans.get("a", |_| std::future::pending::<Result<(), Infallible>>());
        let works = scans.get("b", |_| async { Ok::<_, Infallible>(()) });
        tokio::select! {
            biased;
            _ = hangs => panic!("it never ends"),
            seen = works => assert_eq!(seen, Ok(())),
        }
    }
}
