//! Ends a run without activity, with an error that says so; otherwise it would block its session
//! for good. Every run has a watchdog of its own: a hanging session does not affect others.

use crate::session::live::{TransientFields, TransientState};
use netaclaw_protocol::{LocalizedError, RunOutcome, RunTrouble, SessionId, Usage};
use netaclaw_runtime::RunReport;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a run may be without activity. Models, tools and stores have far shorter limits of
/// their own; this is for what they cannot see, such as a stream of nothing but pings.
const STALLED_AFTER: Duration = Duration::from_secs(600);
/// How long a run may take to end after it was stopped. Then it is dropped.
const END_GRACE: Duration = Duration::from_secs(10);

/// When a run last did something, and what. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Progress {
    last: Arc<Mutex<Activity>>,
}

#[derive(Clone, Copy)]
struct Activity {
    what: &'static str,
    at: Instant,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let sign = Activity {
            what: "start",
            at: Instant::now(),
        };
        Self {
            last: Arc::new(Mutex::new(sign)),
        }
    }

    pub(crate) fn made(&self, what: &'static str) {
        self.pauses(what, Duration::ZERO);
    }

    /// Nothing more is to be expected before this time has passed.
    pub(crate) fn pauses(&self, what: &'static str, time: Duration) {
        let at = Instant::now() + time;
        *self.lock() = Activity { what, at };
    }

    fn last(&self) -> Activity {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Activity> {
        // One assignment happens under it.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Watchdog {
    pub(crate) session: SessionId,
    pub(crate) live: TransientState,
    pub(crate) cancel: CancellationToken,
    /// Set once the run was found to have stalled.
    pub(crate) stalled: OnceLock<LocalizedError>,
}

impl Watchdog {
    /// The report of a run; one that was dropped has made none.
    pub(crate) async fn watch(self, run: impl Future<Output = RunReport>) -> RunReport {
        let report = tokio::select! {
            biased;
            report = run => Some(report),
            () = self.overdue() => None,
        };
        let report = report.unwrap_or_else(|| {
            tracing::warn!(session.id = %self.session, "a run did not end in time and was dropped");
            RunReport {
                outcome: RunOutcome::Stopped,
                reason: None,
                trouble: Some(Box::new(RunTrouble::Terminated.into())),
                usage: Usage::default(),
                turns: 0,
                tools_refused: None,
            }
        });
        match self.stalled.into_inner() {
            Some(trouble) => RunReport {
                outcome: RunOutcome::Error,
                trouble: Some(Box::new(trouble)),
                ..report
            },
            None => report,
        }
    }

    /// Ready when the run was stopped, for any reason, and has not ended.
    async fn overdue(&self) {
        tokio::select! {
            () = self.cancel.cancelled() => {}
            trouble = self.stalls() => {
                tracing::warn!(
                    session.id = %self.session,
                    why = trouble.words.en,
                    "a run has stalled"
                );
                // No other task sets it.
                self.stalled.get_or_init(|| trouble);
                self.cancel.cancel();
            }
        }
        tokio::time::sleep(END_GRACE).await;
    }

    /// Ready when nothing has happened for too long. A run that waits for a user has no limit, and
    /// tools have their own timeouts.
    async fn stalls(&self) -> LocalizedError {
        let mut from = self.live.progress().last().at;
        loop {
            tokio::time::sleep_until(from + STALLED_AFTER).await;
            let now = Instant::now();
            let last = self.live.progress().last();
            from = match self.live.read(TransientFields::waits_or_works) {
                true => now,
                false if last.at + STALLED_AFTER > now => last.at,
                false => return self.stalled(last, now),
            };
        }
    }

    fn stalled(&self, last: Activity, now: Instant) -> LocalizedError {
        let seconds = (now - last.at).as_secs();
        let (minutes, what) = (seconds / 60, last.what);
        let phase = self.live.read(|state| state.run.phase_name());
        RunTrouble::Stalled {
            minutes,
            phase,
            last_activity: what.to_owned(),
            seconds,
        }
        .into()
    }
}
