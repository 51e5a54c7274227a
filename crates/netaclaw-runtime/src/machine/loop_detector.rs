//! Detects a model that repeats the same calls, which would otherwise use up tokens until the turn
//! limit.

use super::tool_batch::{CallFacts, ResultFacts};
use crate::report::StuckPattern;
use std::collections::VecDeque;

const SAME_RESULTS_MAX: usize = 4;
const SAME_FAILURES_MAX: usize = 3;
const EMPTY_ANSWERS_MAX: u32 = 2;
/// Loops of up to this many calls are detected: one answer may hold several, and models like to
/// alternate.
const CIRCLE_CALLS_MAX: usize = 4;

/// What was done lately.
#[derive(Clone, Debug, Default)]
pub(super) struct LoopDetector {
    lately: VecDeque<PastCall>,
    empty_answers: u32,
    /// The model has been warned. Doing something else resets it.
    warned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PastCall {
    call: u64,
    result: u64,
    failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    None,
    /// Worth a warning.
    First(StuckPattern),
    /// And the warning did not help.
    Again(StuckPattern),
}

impl LoopDetector {
    pub(super) fn on_text(&mut self) {
        self.empty_answers = 0;
    }

    pub(super) fn on_silent_turn(&mut self) -> Repetition {
        self.empty_answers += 1;
        let stuck = self.empty_answers >= EMPTY_ANSWERS_MAX;
        self.judge(stuck.then_some(StuckPattern::EmptyAnswers))
    }

    pub(super) fn batch(
        &mut self,
        pairs: impl Iterator<Item = (CallFacts, ResultFacts)>,
    ) -> Repetition {
        for (call, result) in pairs {
            self.lately.push_back(PastCall {
                call: call.fingerprint,
                result: result.fingerprint,
                failed: result.failed,
            });
            if self.lately.len() > SAME_RESULTS_MAX * CIRCLE_CALLS_MAX {
                self.lately.pop_front();
            }
        }
        let pattern = if self.loop_detector(SAME_RESULTS_MAX, |a, b| a == b) {
            Some(StuckPattern::SameResults)
        } else if self.loop_detector(SAME_FAILURES_MAX, |a, b| {
            a.failed && b.failed && a.call == b.call
        }) {
            Some(StuckPattern::SameFailure)
        } else {
            None
        };
        self.judge(pattern)
    }

    fn judge(&mut self, pattern: Option<StuckPattern>) -> Repetition {
        let warned = std::mem::replace(&mut self.warned, pattern.is_some());
        match pattern {
            None => Repetition::None,
            Some(pattern) if warned => Repetition::Again(pattern),
            Some(pattern) => Repetition::First(pattern),
        }
    }

    /// Whether the last things done are one group of calls, done `times` times.
    fn loop_detector(&self, times: usize, same: impl Fn(&PastCall, &PastCall) -> bool) -> bool {
        (1..=CIRCLE_CALLS_MAX).any(|group| {
            let Some(from) = self.lately.len().checked_sub(times * group) else {
                return false;
            };
            let last: Vec<&PastCall> = self.lately.iter().skip(from).collect();
            last.iter().zip(&last[group..]).all(|(a, b)| same(a, b))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_governance::Concurrency;

    /// Rounds of calls, each a letter for the call and one for the result; `!` marks a failure.
    #[track_caller]
    fn check(rounds: &[&str], expected: &[Repetition]) {
        let mut loop_detector = LoopDetector::default();
        let actual: Vec<_> = rounds
            .iter()
            .map(|batch| {
                let pairs = batch.split_whitespace().map(|pair| {
                    let bytes = pair.as_bytes();
                    let call = CallFacts {
                        fingerprint: bytes[0].into(),
                        concurrency: Concurrency::Parallel,
                    };
                    let result = ResultFacts {
                        fingerprint: bytes[1].into(),
                        failed: pair.ends_with('!'),
                    };
                    (call, result)
                });
                loop_detector.batch(pairs)
            })
            .collect();
        assert_eq!(actual, expected);
    }

    const NONE: Repetition = Repetition::None;
    const SAME: StuckPattern = StuckPattern::SameResults;
    const FAILURE: StuckPattern = StuckPattern::SameFailure;

    #[test]
    fn four_same_results_are_a_circle() {
        check(
            &["ax", "ax", "ax", "ax", "ax"],
            &[
                NONE,
                NONE,
                NONE,
                Repetition::First(SAME),
                Repetition::Again(SAME),
            ],
        );
        check(&["ax", "ay", "ax", "az", "ax", "ay"], &[NONE; 6]);
    }

    #[test]
    fn so_are_four_rounds_of_the_same_and_to_and_fro() {
        check(
            &["ax bx", "ax bx", "ax bx", "ax bx"],
            &[NONE, NONE, NONE, Repetition::First(SAME)],
        );
        check(
            &["ax", "bx", "ax", "bx", "ax", "bx", "ax", "bx", "ax"],
            &[
                NONE,
                NONE,
                NONE,
                NONE,
                NONE,
                NONE,
                NONE,
                Repetition::First(SAME),
                Repetition::Again(SAME),
            ],
        );
    }

    #[test]
    fn three_same_failures_are_enough_whatever_they_say() {
        check(
            &["ax!", "ay!", "az!", "a1!"],
            &[
                NONE,
                NONE,
                Repetition::First(FAILURE),
                Repetition::Again(FAILURE),
            ],
        );
        check(&["ax!", "bx!", "ax!", "ay", "ax!"], &[NONE; 5]);
    }

    #[test]
    fn doing_something_else_earns_a_new_warning() {
        check(
            &["ax!", "ax!", "ax!", "bx", "ax!", "ax!", "ax!"],
            &[
                NONE,
                NONE,
                Repetition::First(FAILURE),
                NONE,
                NONE,
                NONE,
                Repetition::First(FAILURE),
            ],
        );
    }

    #[test]
    fn two_empty_answers_in_a_row_are_one_too_many() {
        let mut loop_detector = LoopDetector::default();
        let empty = StuckPattern::EmptyAnswers;
        assert_eq!(loop_detector.on_silent_turn(), NONE);
        loop_detector.on_text();
        assert_eq!(loop_detector.on_silent_turn(), NONE);
        assert_eq!(loop_detector.on_silent_turn(), Repetition::First(empty));
        assert_eq!(loop_detector.on_silent_turn(), Repetition::Again(empty));
    }
}
