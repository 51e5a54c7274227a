//! The limits of one user: concurrent runs, and messages within a minute.
//!
//! A session holds one slot from its first run until nothing of it runs or waits, so that a message
//! that was acknowledged never has to compete for a slot again. A refused message was not stored.

use crate::error::EngineError;
use netaclaw_protocol::{LimitedText, SessionId, TooLarge, TooMany};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Characters of a session's title.
pub const TITLE_CHARS_MAX: usize = 200;
/// Characters of an entry's label.
pub const LABEL_CHARS_MAX: usize = 100;
/// Characters of a client's id for a request.
pub const REQUEST_ID_CHARS_MAX: usize = 128;

/// A first message that has reserved a place and does not arrive by then has lost it.
const RESERVED_FOR: Duration = Duration::from_secs(30);
/// When to retry if all slots are taken: an estimate, as runs take seconds to minutes.
const RETRY_RUN: Duration = Duration::from_secs(5);
/// Beyond it users who use nothing are forgotten before another is remembered.
const USERS_TIDY: usize = 1024;

/// 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserLimits {
    /// Sessions of one user in which something runs.
    pub runs_max: usize,
    /// Messages, retries and new sessions of one user. As many may come at once.
    pub messages_per_minute: u32,
}

/// Why a message was refused, and when to retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    pub reason: TooMany,
    pub retry_after: Duration,
}

/// What all users use.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    limits: UserLimits,
    users: Mutex<HashMap<String, UserUsage>>,
}

#[derive(Debug)]
struct UserUsage {
    runs: HashMap<SessionId, RunSlot>,
    /// The messages that are currently left.
    tokens: f64,
    counted_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunSlot {
    /// By a first message whose session is being created.
    Reserved(Instant),
    Running,
}

impl Usage {
    pub(crate) fn new(limits: UserLimits) -> Self {
        Self {
            limits,
            users: Mutex::default(),
        }
    }

    /// Counts something that is not a run, such as a session without a message.
    pub(crate) fn spend(&self, user: &str) -> Result<(), Limited> {
        self.with(user, |usage, limits, now| usage.spend(limits, now))
    }

    /// Counts a first message and keeps a place for it.
    pub(crate) fn reserve(&self, user: &str, session: &SessionId) -> Result<(), Limited> {
        self.with(user, |usage, limits, now| {
            usage.take_place(limits, session, RunSlot::Reserved(now), now)
        })
    }

    /// The session was not made.
    pub(crate) fn release(&self, user: &str, session: &SessionId) {
        if let Some(usage) = self.lock().get_mut(user) {
            usage.runs.remove(session);
        }
    }

    fn with<T>(
        &self,
        user: &str,
        change: impl FnOnce(&mut UserUsage, UserLimits, Instant) -> T,
    ) -> T {
        let now = Instant::now();
        let (limits, mut users) = (self.limits, self.lock());
        if users.len() >= USERS_TIDY && !users.contains_key(user) {
            users.retain(|_, usage| !usage.is_unused(limits, now));
        }
        let usage = users.entry(user.to_owned()).or_insert_with(|| UserUsage {
            runs: HashMap::new(),
            tokens: f64::from(limits.messages_per_minute),
            counted_at: now,
        });
        change(usage, limits, now)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UserUsage>> {
        // Every change is made in one step.
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UserUsage {
    fn spend(&mut self, limits: UserLimits, now: Instant) -> Result<(), Limited> {
        let per_minute = f64::from(limits.messages_per_minute);
        if limits.messages_per_minute == 0 {
            return Ok(());
        }
        self.refill(limits, now);
        if self.tokens < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - self.tokens) * 60.0 / per_minute);
            return Err(too_often(limits.messages_per_minute, wait));
        }
        self.tokens -= 1.0;
        Ok(())
    }

    fn refill(&mut self, limits: UserLimits, now: Instant) {
        let per_minute = f64::from(limits.messages_per_minute);
        let passed = now.saturating_duration_since(self.counted_at).as_secs_f64();
        self.tokens = (self.tokens + passed * per_minute / 60.0).min(per_minute);
        self.counted_at = now;
    }

    /// A session that has a place keeps it, and its message was counted with it.
    fn take_place(
        &mut self,
        limits: UserLimits,
        session: &SessionId,
        held: RunSlot,
        now: Instant,
    ) -> Result<(), Limited> {
        self.runs.retain(|_, held| held.counts(now));
        if let Some(place) = self.runs.get_mut(session) {
            if held == RunSlot::Running {
                *place = held;
            }
            return Ok(());
        }
        if limits.runs_max != 0 && self.runs.len() >= limits.runs_max {
            return Err(too_many_runs(limits.runs_max));
        }
        self.spend(limits, now)?;
        self.runs.insert(session.clone(), held);
        Ok(())
    }

    fn is_unused(&mut self, limits: UserLimits, now: Instant) -> bool {
        self.runs.retain(|_, held| held.counts(now));
        self.refill(limits, now);
        self.runs.is_empty() && self.tokens >= f64::from(limits.messages_per_minute)
    }
}

impl RunSlot {
    fn counts(self, now: Instant) -> bool {
        match self {
            Self::Running => true,
            Self::Reserved(at) => now.saturating_duration_since(at) < RESERVED_FOR,
        }
    }
}

/// One session's share of what its owner may use.
#[derive(Debug)]
pub(crate) struct Allowance {
    usage: Arc<Usage>,
    /// `None` for a session that belongs to no user, such as an imported file.
    user: Option<String>,
    session: SessionId,
}

impl Allowance {
    pub(crate) fn new(usage: Arc<Usage>, user: Option<String>, session: SessionId) -> Self {
        Self {
            usage,
            user,
            session,
        }
    }

    /// Counts a message that begins something, and takes a place for it.
    pub(crate) fn begin(&self) -> Result<(), Limited> {
        let Some(user) = &self.user else {
            return Ok(());
        };
        self.usage.with(user, |usage, limits, now| {
            usage.take_place(limits, &self.session, RunSlot::Running, now)
        })
    }

    /// Counts a message that waits behind what runs.
    pub(crate) fn queue(&self) -> Result<(), Limited> {
        self.user
            .as_ref()
            .map_or(Ok(()), |user| self.usage.spend(user))
    }

    /// Something begins that was acknowledged before, and so has a place in any case.
    pub(crate) fn count_accepted(&self) {
        if let Some(user) = &self.user {
            self.usage.with(user, |usage, _, _| {
                usage.runs.insert(self.session.clone(), RunSlot::Running);
            });
        }
    }

    /// Gives the place back unless something still runs.
    pub(crate) fn keep_while(&self, is_running: bool) {
        if !is_running && let Some(user) = &self.user {
            self.usage.release(user, &self.session);
        }
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        self.keep_while(false);
    }
}

fn too_many_runs(max: usize) -> Limited {
    Limited {
        reason: TooMany::RunsOfUser { max },
        retry_after: RETRY_RUN,
    }
}

fn too_often(per_minute: u32, wait: Duration) -> Limited {
    let retry_after_s = wait.as_secs() + 1;
    Limited {
        reason: TooMany::MessagesOfUser {
            per_minute,
            retry_after_s,
        },
        retry_after: Duration::from_secs(retry_after_s),
    }
}

/// Refuses a text that is longer than it may be.
pub(crate) fn check_length(
    what: LimitedText,
    text: &str,
    chars_max: usize,
) -> Result<(), EngineError> {
    // As many bytes as characters at least: most texts need no counting.
    if text.len() <= chars_max || text.chars().nth(chars_max).is_none() {
        return Ok(());
    }
    let text = what;
    Err(TooLarge::TextTooLong { text, chars_max }.into())
}

pub(crate) fn check_request_id(id: &str) -> Result<(), EngineError> {
    check_length(LimitedText::RequestId, id, REQUEST_ID_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(runs_max: usize, messages_per_minute: u32) -> Arc<Usage> {
        Arc::new(Usage::new(UserLimits {
            runs_max,
            messages_per_minute,
        }))
    }

    fn session(usage: &Arc<Usage>, user: &str, id: &str) -> Allowance {
        let user = Some(user.to_owned());
        Allowance::new(Arc::clone(usage), user, SessionId::new(id))
    }

    #[test]
    fn places_are_counted_by_user_and_kept_by_session() {
        let usage = usage(2, 0);
        let [a, b, c] = ["a", "b", "c"].map(|id| session(&usage, "ann", id));
        a.begin().unwrap();
        b.begin().unwrap();
        let refused = c.begin().unwrap_err();
        assert_eq!(refused.reason, TooMany::RunsOfUser { max: 2 });
        a.begin().unwrap();
        session(&usage, "ben", "d").begin().unwrap();
        // What was acknowledged continues in any case, and counts.
        c.count_accepted();
        a.keep_while(false);
        assert!(a.begin().is_err());
        drop(b);
        a.begin().unwrap();
    }

    #[test]
    fn a_reserved_place_is_taken_by_its_message() {
        let usage = usage(1, 1);
        let first = SessionId::new("a");
        usage.reserve("ann", &first).unwrap();
        usage.reserve("ann", &first).unwrap();
        assert!(usage.reserve("ann", &SessionId::new("b")).is_err());
        let a = session(&usage, "ann", "a");
        a.begin().unwrap();
        a.keep_while(false);
        // The message was counted once, and the next one has to wait.
        let refused = a.begin().unwrap_err();
        assert!(
            matches!(
                refused.reason,
                TooMany::MessagesOfUser { per_minute: 1, .. }
            ),
            "{refused:?}"
        );
        assert!(refused.retry_after > Duration::from_secs(30));
    }

    #[test]
    fn messages_come_back_with_time() {
        let usage = usage(0, 60);
        let now = Instant::now();
        usage.with("ann", |ann, limits, _| {
            for _ in 0..60 {
                ann.spend(limits, now).unwrap();
            }
            assert!(ann.spend(limits, now).is_err());
            ann.spend(limits, now + Duration::from_secs(1)).unwrap();
            assert!(ann.spend(limits, now + Duration::from_secs(1)).is_err());
        });
    }

    #[test]
    fn texts_are_counted_in_characters() {
        check_length(LimitedText::Title, &"题".repeat(200), 200).unwrap();
        let error = check_length(LimitedText::Title, &"题".repeat(201), 200).unwrap_err();
        let too_long = TooLarge::TextTooLong {
            text: LimitedText::Title,
            chars_max: 200,
        };
        assert_eq!(error.reason(), too_long.into());
    }
}
