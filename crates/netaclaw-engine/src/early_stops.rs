//! Stops that overtook the message they are meant for (RUN-3).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A message that comes later than this was not meant.
const KEPT_FOR: Duration = Duration::from_secs(120);
/// Beyond it the oldest is forgotten.
const STOPS_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct EarlyStops {
    stops: Mutex<VecDeque<EarlyStop>>,
}

#[derive(Debug)]
struct EarlyStop {
    user_id: String,
    request_id: String,
    at: Instant,
}

impl EarlyStops {
    /// Keeps a stop for a user's message.
    pub(crate) fn remember(&self, user_id: &str, request_id: &str) {
        let mut stops = self.current();
        if stops.len() >= STOPS_MAX {
            stops.pop_front();
        }
        stops.push_back(EarlyStop {
            user_id: user_id.to_owned(),
            request_id: request_id.to_owned(),
            at: Instant::now(),
        });
    }

    /// Whether this message was stopped before it came. It is asked once.
    pub(crate) fn take(&self, user_id: &str, request_id: &str) -> bool {
        let mut stops = self.current();
        let before = stops.len();
        stops.retain(|stop| stop.user_id != user_id || stop.request_id != request_id);
        stops.len() < before
    }

    fn current(&self) -> std::sync::MutexGuard<'_, VecDeque<EarlyStop>> {
        // A queue is whole between any two of its operations.
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        while stops
            .front()
            .is_some_and(|stop| stop.at.elapsed() >= KEPT_FOR)
        {
            stops.pop_front();
        }
        stops
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
    async fn there_are_never_too_many() {
        let stops = EarlyStops::default();
        for at in 0..=STOPS_MAX {
            stops.remember("ann", &at.to_string());
        }
        assert!(!stops.take("ann", "0"));
        assert!(stops.take("ann", "1"));
    }
}
