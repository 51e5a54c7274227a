//! The compaction state of a session, across runs and servers.

use super::stored::{StartedAttempt, StoredCompaction};
use netaclaw_compaction::{AttemptEnd, Blocked, Breaker, BreakerInput};
use netaclaw_protocol::{CompactStatus, CompactionFailed, CompactionReason};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shared by the session and its run.
#[derive(Default)]
pub(crate) struct CompactionState {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    under_way: Option<StartedAttempt>,
    /// A compaction that a user requested during a run.
    waiting: Option<RequestedCompaction>,
}

/// A compaction that a user requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestedCompaction {
    pub(crate) instructions: Option<String>,
}

impl CompactionState {
    pub(crate) fn new(breaker: Breaker) -> Self {
        let state = State {
            breaker,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// The part to store, with the failure that users see.
    pub(crate) fn kept(&self, failed: Option<CompactionFailed>) -> StoredCompaction {
        let state = self.lock();
        let breaker = match state.breaker.is_fresh() {
            true => Breaker::default(),
            false => state.breaker.clone(),
        };
        StoredCompaction {
            breaker,
            under_way: state.under_way.clone(),
            failed,
        }
    }

    pub(crate) fn set_started(&self, under_way: Option<StartedAttempt>) {
        self.lock().under_way = under_way;
    }

    /// Queues a compaction for the next boundary of the current run.
    pub(crate) fn put(&self, asked: RequestedCompaction) -> CompactStatus {
        let mut state = self.lock();
        match state.waiting {
            Some(_) => CompactStatus::AlreadyQueued,
            None => {
                state.waiting = Some(asked);
                CompactStatus::Queued
            }
        }
    }

    pub(crate) fn take(&self) -> Option<RequestedCompaction> {
        self.lock().waiting.take()
    }

    pub(crate) fn begin(
        &self,
        reason: CompactionReason,
        moment: BreakerInput<'_>,
    ) -> Result<(), Blocked> {
        self.lock().breaker.begin(reason, moment)
    }

    /// Returns when the next automatic attempt may begin, if it has to wait.
    pub(crate) fn ended(
        &self,
        reason: CompactionReason,
        ended: AttemptEnd,
        moment: BreakerInput<'_>,
    ) -> Option<i64> {
        let breaker = &mut self.lock().breaker;
        breaker.ended(reason, ended, moment);
        breaker.cools_until_ms()
    }

    pub(crate) fn answered(&self) {
        self.lock().breaker.answered();
    }

    pub(crate) fn on_user_message(&self) {
        self.lock().breaker.on_user_message();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Counters: whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
