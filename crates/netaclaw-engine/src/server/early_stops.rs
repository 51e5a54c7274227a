//! Stops that overtook their message: without them, a message that was stopped before it arrived
//! would run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A message that comes later than this was not meant.
const KEPT_FOR: Duration = Duration::from_secs(120);
/// Kept for one user. Beyond it that user's oldest stop is forgotten, never another user's.
const STOPS_PER_USER_MAX: usize = 64;

/// The stops of each user, the oldest first. Users without any have no place in it.
#[derive(Debug, Default)]
pub(crate) struct EarlyStops {
    stops: Mutex<HashMap<String, VecDeque<EarlyStop>>>,
}

#[derive(Debug)]
struct EarlyStop {
    request_id: String,
    at: Instant,
}

impl EarlyStops {
    /// Keeps a stop for a user's message.
    pub(crate) fn remember(&self, user_id: &str, request_id: &str) {
        let mut stops = self.stops();
        // Stops are rare, so this is the place to drop what expired, also of other users.
        stops.retain(|_, own| {
            drop_expired(own);
            !own.is_empty()
        });
        let own = stops.entry(user_id.to_owned()).or_default();
        if own.len() >= STOPS_PER_USER_MAX {
            own.pop_front();
        }
        own.push_back(EarlyStop {
            request_id: request_id.to_owned(),
            at: Instant::now(),
        });
    }

    /// Whether this message was stopped before it came. It is asked once.
    pub(crate) fn take(&self, user_id: &str, request_id: &str) -> bool {
        let mut stops = self.stops();
        let Some(own) = stops.get_mut(user_id) else {
            return false;
        };
        drop_expired(own);
        let before = own.len();
        own.retain(|stop| stop.request_id != request_id);
        let found = own.len() < before;
        if own.is_empty() {
            stops.remove(user_id);
        }
        found
    }

    fn stops(&self) -> MutexGuard<'_, HashMap<String, VecDeque<EarlyStop>>> {
        // The map is whole between any two of its operations.
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn drop_expired(stops: &mut VecDeque<EarlyStop>) {
    let is_expired = |stop: &EarlyStop| stop.at.elapsed() >= KEPT_FOR;
    while stops.front().is_some_and(is_expired) {
        stops.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stop_is_for_one_message_of_one_user_and_not_for_long() {
        let stops = EarlyStops::default();
        stops.remember("ann", "q1");
        assert!(!stops.take("bob", "q1"));
        assert!(!stops.take("ann", "q2"));
        assert!(stops.take("ann", "q1"));
        assert!(!stops.take("ann", "q1"), "it has had its effect");
        stops.remember("ann", "q1");
        tokio::time::advance(KEPT_FOR).await;
        assert!(!stops.take("ann", "q1"));
    }

    #[tokio::test]
    async fn a_user_cannot_evict_the_stops_of_another() {
        let stops = EarlyStops::default();
        stops.remember("bob", "q1");
        for at in 0..2000 {
            stops.remember("ann", &at.to_string());
        }
        assert!(stops.take("bob", "q1"));
        let first_kept = 2000 - STOPS_PER_USER_MAX;
        assert!(!stops.take("ann", &(first_kept - 1).to_string()));
        assert!(stops.take("ann", &first_kept.to_string()));
    }

    #[tokio::test(start_paused = true)]
    async fn users_whose_stops_expired_take_no_place() {
        let stops = EarlyStops::default();
        stops.remember("ann", "q1");
        tokio::time::advance(KEPT_FOR).await;
        stops.remember("bob", "q1");
        assert_eq!(stops.stops().keys().collect::<Vec<_>>(), ["bob"]);
    }
}
