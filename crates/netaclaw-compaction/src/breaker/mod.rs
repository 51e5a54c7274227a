//! When automatic compaction should stop trying, and when it may try again.
//!
//! Pure: time is an argument. A compaction that a user requests is never blocked, and a successful
//! one closes the breaker.

use netaclaw_protocol::{CompactionReason, RunTrouble};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Automatic compactions without a new message of the user.
const WITHOUT_USER_MAX: u32 = 3;
/// Automatic compactions within this many answers.
const AMONG_ANSWERS_MAX: usize = 4;
const ANSWERS_LOOKED_AT: u64 = 20;
/// In a row, that saved too little.
const STRIKES_MAX: u32 = 2;
/// Attempts before an answer has arrived: one for the threshold, and one more if the model reports
/// that the context is still too long.
const UNPROVEN_AUTO_MAX: u32 = 1;
const UNPROVEN_OVERFLOW_MAX: u32 = 2;
/// Answers after which a model's "too long" counts more than a pause.
const ANSWERS_BETWEEN: u64 = 5;
const COOL_DOWN_MS: i64 = 60_000;
const PAUSE_MS: i64 = 600_000;

/// What one session has tried. Kept with the session, so that a server that dies again and again
/// does not begin again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Breaker {
    /// Since the last answer.
    unproven: u32,
    /// The last of them.
    tried: Option<PastAttempts>,
    /// Since the last message of the user.
    without_user: u32,
    answers: u64,
    /// After how many answers each of the last ones was.
    when: VecDeque<u64>,
    strikes: u32,
    /// The size of the context that could not be made smaller.
    stuck_at: Option<u64>,
    failures: u32,
    cool_until_ms: Option<i64>,
    paused: Option<Paused>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PastAttempts {
    at_ms: i64,
    model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    cause: PauseCause,
    at_ms: i64,
    used: u64,
    model: String,
}

/// What is known when something is about to begin, or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerInput<'a> {
    pub now_ms: i64,
    pub used: u64,
    pub window: u64,
    /// The model that the conversation is held with.
    pub model: &'a str,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    Gained,
    /// Nothing could be compacted, or it would have saved too little.
    NoGain,
    Failed,
    /// A user stopped it, which shows nothing about whether it works.
    Cancelled,
}

/// Why an attempt does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The last one has not been proven by an answer.
    Unproven,
    /// It did not help, and the context has not grown since.
    NotGrown,
    /// It failed recently.
    CoolingDown { until_ms: i64 },
    /// Users should be notified.
    Paused(PauseCause),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseCause {
    /// It saved too little, twice.
    Ineffective,
    /// It happened too often.
    TooOften,
    /// Instructions and tools alone are over the threshold.
    Overhead,
    /// Nothing can be compacted until the context has grown.
    NothingLeft,
}

impl From<PauseCause> for RunTrouble {
    fn from(cause: PauseCause) -> Self {
        match cause {
            PauseCause::Ineffective => Self::CompactionIneffective,
            PauseCause::TooOften => Self::CompactionTooOften,
            PauseCause::Overhead => Self::CompactionOverhead,
            PauseCause::NothingLeft => Self::CompactionNothingLeft,
        }
    }
}

impl Breaker {
    /// Whether an attempt may begin. An attempt that may begin is one that has begun:
    /// [`Breaker::ended`] has to follow.
    pub fn begin(
        &mut self,
        reason: CompactionReason,
        moment: BreakerInput<'_>,
    ) -> Result<(), Blocked> {
        let unproven_max = match reason {
            CompactionReason::Manual | CompactionReason::Branch => return Ok(()),
            CompactionReason::Auto => UNPROVEN_AUTO_MAX,
            CompactionReason::Overflow => UNPROVEN_OVERFLOW_MAX,
        };
        if self.unproven >= unproven_max && !self.may_prove_again(moment) {
            return Err(Blocked::Unproven);
        }
        // A model that reports “too long” is right: a pause must not end a conversation that has
        // worked since the last attempt.
        let rested = |at: &u64| self.answers - at >= ANSWERS_BETWEEN;
        let due = reason == CompactionReason::Overflow && self.when.back().is_none_or(rested);
        if !due {
            self.check_pause(moment)?;
        }
        // The one attempt of a breaker that is half open has waited long enough.
        if reason == CompactionReason::Auto && self.paused.is_none() {
            self.check_cool_down(moment)?;
        }
        self.unproven += 1;
        self.tried = Some(PastAttempts {
            at_ms: moment.now_ms,
            model: moment.model.to_owned(),
        });
        Ok(())
    }

    pub fn ended(&mut self, reason: CompactionReason, ended: AttemptEnd, moment: BreakerInput<'_>) {
        if reason == CompactionReason::Branch {
            return;
        }
        if reason == CompactionReason::Manual {
            // A user who requested it receives the result. Only success changes the breaker.
            if ended == AttemptEnd::Gained {
                *self = Self {
                    answers: self.answers,
                    ..Self::default()
                };
            }
            return;
        }
        match ended {
            AttemptEnd::Gained => self.gained(),
            AttemptEnd::NoGain => {
                self.strikes += 1;
                self.stuck_at = Some(moment.used);
                if self.strikes >= STRIKES_MAX || self.paused.is_some() {
                    self.pause(PauseCause::Ineffective, moment);
                }
            }
            AttemptEnd::Failed => {
                let doubled = COOL_DOWN_MS << self.failures.min(8);
                self.failures += 1;
                self.cool_until_ms = Some(moment.now_ms + doubled.min(PAUSE_MS));
                if let Some(cause) = self.paused.as_ref().map(|paused| paused.cause) {
                    self.pause(cause, moment);
                }
            }
            AttemptEnd::Cancelled => self.unproven = self.unproven.saturating_sub(1),
        }
    }

    /// The model has answered, so the context is not too long for it.
    pub fn answered(&mut self) {
        self.answers += 1;
        self.unproven = 0;
        self.tried = None;
    }

    /// Whether there is nothing to store: a new one would behave the same.
    pub fn is_fresh(&self) -> bool {
        // Answers only count between compactions.
        let fresh = Self {
            answers: self.answers,
            ..Self::default()
        };
        *self == fresh
    }

    pub fn on_user_message(&mut self) {
        self.without_user = 0;
    }

    /// When an attempt may begin again after a failure.
    pub fn cools_until_ms(&self) -> Option<i64> {
        self.cool_until_ms
    }

    /// A model without an answer is not retried endlessly, and another one may answer.
    fn may_prove_again(&self, moment: BreakerInput<'_>) -> bool {
        self.tried.as_ref().is_some_and(|tried| {
            moment.now_ms - tried.at_ms >= PAUSE_MS || tried.model != moment.model
        })
    }

    fn gained(&mut self) {
        self.without_user += 1;
        self.when.push_back(self.answers);
        if self.when.len() > AMONG_ANSWERS_MAX {
            self.when.pop_front();
        }
        self.strikes = 0;
        self.stuck_at = None;
        self.failures = 0;
        self.cool_until_ms = None;
        self.paused = None;
    }

    fn check_pause(&mut self, moment: BreakerInput<'_>) -> Result<(), Blocked> {
        if let Some(paused) = &self.paused {
            let waited = moment.now_ms - paused.at_ms >= PAUSE_MS;
            let grown = moment.used >= paused.used + moment.window / 10;
            let other = moment.model != paused.model;
            // Half open: one attempt, which closes the breaker or restarts the pause.
            return match waited || grown || other {
                true => Ok(()),
                false => Err(Blocked::Paused(paused.cause)),
            };
        }
        let recent = self.when.iter();
        let recent = recent.filter(|at| self.answers - **at < ANSWERS_LOOKED_AT);
        if self.without_user >= WITHOUT_USER_MAX || recent.count() >= AMONG_ANSWERS_MAX {
            self.pause(PauseCause::TooOften, moment);
            return Err(Blocked::Paused(PauseCause::TooOften));
        }
        Ok(())
    }

    fn check_cool_down(&self, moment: BreakerInput<'_>) -> Result<(), Blocked> {
        if let Some(until_ms) = self.cool_until_ms.filter(|until| *until > moment.now_ms) {
            return Err(Blocked::CoolingDown { until_ms });
        }
        match self.stuck_at {
            Some(stuck) if moment.used * 10 < stuck * 11 => Err(Blocked::NotGrown),
            _ => Ok(()),
        }
    }

    fn pause(&mut self, cause: PauseCause, moment: BreakerInput<'_>) {
        self.paused = Some(Paused {
            cause,
            at_ms: moment.now_ms,
            used: moment.used,
            model: moment.model.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests;
