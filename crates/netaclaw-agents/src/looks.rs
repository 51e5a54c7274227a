//! Looks at the disk that are shared for a moment.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Whoever changes a file does not notice that this long somebody may still see it as it was.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Places that are remembered at most; beyond it all are forgotten.
const PLACES_MAX: usize = 64;

/// What was seen at each place, and when. Cheap to clone; all clones are the same.
pub(crate) struct Looks<K, V> {
    places: Arc<Mutex<HashMap<K, Place<V>>>>,
}

/// Held while somebody looks, so that a hundred runs that begin at once look once.
type Place<V> = Arc<tokio::sync::Mutex<Option<(Instant, V)>>>;

impl<K: Eq + Hash, V: Clone> Looks<K, V> {
    /// What is at a place, as it was a moment ago at most. What went wrong is not shared.
    pub(crate) async fn look<E, F>(&self, place: K, work: impl FnOnce() -> F) -> Result<V, E>
    where
        F: Future<Output = Result<V, E>>,
    {
        let place = self.place(place);
        let mut seen = place.lock().await;
        if let Some((at, value)) = &*seen
            && at.elapsed() < LOOK_AGAIN
        {
            return Ok(value.clone());
        }
        let value = work().await?;
        *seen = Some((Instant::now(), value.clone()));
        Ok(value)
    }

    fn place(&self, name: K) -> Place<V> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= PLACES_MAX && !places.contains_key(&name) {
            places.clear();
        }
        Arc::clone(places.entry(name).or_default())
    }
}

impl<K, V> Clone for Looks<K, V> {
    fn clone(&self) -> Self {
        Self {
            places: Arc::clone(&self.places),
        }
    }
}

impl<K, V> Default for Looks<K, V> {
    fn default() -> Self {
        Self {
            places: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_at_once_sees_what_the_first_one_saw() {
        let looks = Looks::default();
        let count = AtomicUsize::new(0);
        let look = |place: &'static str| {
            let work = || async {
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(count.fetch_add(1, Ordering::Relaxed))
            };
            looks.look(place, work)
        };
        let (one, two, other) = tokio::join!(look("a"), look("a"), look("b"));
        assert_eq!(one, two);
        assert_ne!(one, other);
        assert_eq!(look("a").await, one);
        tokio::time::advance(LOOK_AGAIN).await;
        assert_eq!(look("a").await, Ok(2));
    }

    #[tokio::test]
    async fn what_went_wrong_is_tried_again() {
        let looks = Looks::default();
        let failed = looks.look("a", || async { Err::<(), _>("no") });
        assert_eq!(failed.await, Err("no"));
        let seen = looks.look("a", || async { Ok::<_, &str>(()) });
        assert_eq!(seen.await, Ok(()));
    }
}
