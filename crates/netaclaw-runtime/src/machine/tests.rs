//! Random runs against the promises of the machine.

use super::*;
use netaclaw_governance::Concurrency;
use proptest::prelude::*;

const TURNS_MAX: u32 = 6;

/// What the world does next, if it is its turn.
#[derive(Clone, Debug)]
struct World {
    answers: Vec<Answered>,
    /// Which of the running calls ends next.
    picks: Vec<usize>,
    /// After which input the stop comes.
    stop_after: Option<usize>,
    host_fails_after: Option<usize>,
    steering: Vec<usize>,
}

fn world() -> impl Strategy<Value = World> {
    let facts = (0..3_u64, any::<bool>()).prop_map(|(fingerprint, exclusive)| CallFacts {
        fingerprint,
        concurrency: match exclusive {
            true => Concurrency::Exclusive,
            false => Concurrency::Parallel,
        },
    });
    let answer = prop_oneof![
        6 => prop::collection::vec(facts, 1..5).prop_map(Answered::Calls),
        2 => any::<bool>().prop_map(|cut| Answered::Words { cut }),
        1 => Just(Answered::Empty),
        1 => Just(Answered::TooLong),
        1 => Just(Answered::NoToolSupport),
        1 => Just(Answered::Failed),
    ];
    (
        prop::collection::vec(answer, 1..12),
        prop::collection::vec(0..8_usize, 1..40),
        prop::option::of(0..20_usize),
        prop::option::weighted(0.2, 0..20_usize),
        prop::collection::vec(0..2_usize, 1..12),
    )
        .prop_map(
            |(answers, picks, stop_after, host_fails_after, steering)| World {
                answers,
                picks,
                stop_after,
                host_fails_after,
                steering,
            },
        )
}

/// Plays a run and watches every effect.
struct Watch {
    world: World,
    pending: Option<Pending>,
    /// Calls of the last answer, and their progress.
    calls: Vec<(CallFacts, Progress)>,
    appended: usize,
    answer_open: bool,
    tools_taken_back: bool,
    inputs: usize,
    answers: usize,
    stopped: bool,
    host_failed: bool,
    end: Option<End>,
}

/// What the machine waits for besides running calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Model,
    Steering,
    Overflow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Running,
    Over,
}

impl Watch {
    fn play(world: World) -> (End, u32) {
        let mut watch = Self {
            world,
            pending: None,
            calls: Vec::new(),
            appended: 0,
            answer_open: false,
            tools_taken_back: false,
            inputs: 0,
            answers: 0,
            stopped: false,
            host_failed: false,
            end: None,
        };
        let (mut state, mut effects) = State::start(TURNS_MAX, true);
        loop {
            effects.into_iter().for_each(|effect| watch.check(effect));
            assert!(state.turn() <= TURNS_MAX);
            if let Some(end) = watch.end {
                let (_, late) = state.clone().step(Input::Stop);
                assert_eq!(late, [], "nothing comes after the end");
                return (end, state.turn());
            }
            let input = watch.next_input();
            (state, effects) = state.step(input);
        }
    }

    fn next_input(&mut self) -> Input {
        self.inputs += 1;
        assert!(self.inputs < 500, "the run does not end");
        if self
            .world
            .stop_after
            .is_some_and(|after| self.inputs > after)
            && !self.stopped
        {
            self.stopped = true;
            return Input::Stop;
        }
        if self
            .world
            .host_fails_after
            .is_some_and(|after| self.inputs > after)
        {
            self.host_failed = true;
            return Input::HostFailed;
        }
        let pick = self.world.picks[self.inputs % self.world.picks.len()];
        match self.pending.take() {
            Some(Pending::Model) => Input::Answered(self.next_answer(pick)),
            Some(Pending::Steering) => {
                let at = self.inputs % self.world.steering.len();
                let count = self.world.steering[at];
                Input::SteeringInserted { count }
            }
            Some(Pending::Overflow) => Input::OverflowHandled(match pick % 2 {
                0 => Overflow::Retry,
                _ => Overflow::GiveUp,
            }),
            None => self.end_one(pick),
        }
    }

    fn next_answer(&mut self, pick: usize) -> Answered {
        let answered = match self.stopped && pick.is_multiple_of(2) {
            true => Answered::Aborted,
            false => self.world.answers[self.answers % self.world.answers.len()].clone(),
        };
        self.answers += 1;
        self.answer_open = true;
        self.appended = 0;
        self.calls = match &answered {
            Answered::Calls(calls) => calls.iter().map(|&c| (c, Progress::Waiting)).collect(),
            _ => Vec::new(),
        };
        answered
    }

    fn end_one(&mut self, pick: usize) -> Input {
        let running: Vec<usize> = (0..self.calls.len())
            .filter(|&call| self.calls[call].1 == Progress::Running)
            .collect();
        assert!(!running.is_empty(), "the machine waits for nothing");
        let call = running[pick % running.len()];
        self.calls[call].1 = Progress::Over;
        let result = ResultFacts {
            fingerprint: pick as u64 % 2,
            failed: pick.is_multiple_of(3),
        };
        Input::CallEnded { call, result }
    }

    fn check(&mut self, effect: Effect) {
        assert_eq!(self.end, None, "{effect:?} after the end");
        assert!(!self.host_failed || matches!(effect, Effect::End(End::HostFailed)));
        match effect {
            Effect::CallModel => self.wait_for(Pending::Model),
            Effect::InsertSteering => self.wait_for(Pending::Steering),
            Effect::HandleOverflow => self.wait_for(Pending::Overflow),
            Effect::AppendAnswer => assert!(std::mem::take(&mut self.answer_open)),
            Effect::StartCall(call) => self.check_start(call),
            Effect::SkipCall(call) => {
                assert!(self.stopped);
                assert_eq!(self.calls[call].1, Progress::Waiting);
                self.calls[call].1 = Progress::Over;
            }
            Effect::AppendResult(call) => {
                assert!(!self.answer_open, "the answer comes before its results");
                assert_eq!(
                    call, self.appended,
                    "results come in the order of the calls"
                );
                assert_eq!(self.calls[call].1, Progress::Over);
                self.appended += 1;
            }
            Effect::OfferNoTools => {
                assert!(!std::mem::replace(&mut self.tools_taken_back, true));
                assert!(std::mem::take(&mut self.answer_open), "it leaves no trace");
            }
            Effect::Warn(_) => assert!(!self.stopped),
            Effect::End(end) => {
                if !self.host_failed {
                    self.check_paired();
                    assert_eq!(self.stopped, end == End::Stopped, "{end:?}");
                }
                self.end = Some(end);
            }
        }
    }

    fn wait_for(&mut self, pending: Pending) {
        assert!(!self.stopped, "{pending:?} begins after a stop");
        assert_eq!(self.pending, None);
        self.check_paired();
        self.pending = Some(pending);
    }

    fn check_paired(&self) {
        assert!(!self.answer_open, "the answer is stored");
        assert_eq!(self.appended, self.calls.len(), "every call has its result");
    }

    fn check_start(&mut self, call: usize) {
        assert!(!self.stopped && !self.answer_open);
        let exclusive = |call: &(CallFacts, Progress)| call.0.concurrency == Concurrency::Exclusive;
        assert_eq!(self.calls[call].1, Progress::Waiting);
        for (other, progress) in self.calls.iter().enumerate() {
            let alone = exclusive(progress) || exclusive(&self.calls[call]);
            if alone && other != call {
                assert_ne!(progress.1, Progress::Running, "{call} beside {other}");
                assert!(other > call || progress.1 == Progress::Over);
            }
        }
        self.calls[call].1 = Progress::Running;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn every_run_keeps_the_promises(world in world()) {
        Watch::play(world);
    }
}

fn answers(answers: &[Answered]) -> World {
    World {
        answers: answers.to_vec(),
        picks: vec![1],
        stop_after: None,
        host_fails_after: None,
        steering: vec![0],
    }
}

fn call(fingerprint: u64) -> Answered {
    Answered::Calls(vec![CallFacts {
        fingerprint,
        concurrency: Concurrency::Parallel,
    }])
}

#[test]
fn a_run_of_calls_ends_at_the_limit() {
    let different = [call(1), call(2), call(3)];
    assert_eq!(
        Watch::play(answers(&different)),
        (End::TurnLimit, TURNS_MAX)
    );
}

#[test]
fn a_run_in_circles_is_warned_and_then_ends() {
    let end = End::Stuck(StuckPattern::SameResults);
    assert_eq!(Watch::play(answers(&[call(1)])), (end, 5));
    let end = End::Stuck(StuckPattern::EmptyAnswers);
    assert_eq!(Watch::play(answers(&[Answered::Empty])), (end, 3));
}

#[test]
fn an_overflow_is_handled_once() {
    let mut world = answers(&[Answered::TooLong]);
    assert_eq!(Watch::play(world.clone()), (End::ContextTooLong, 1));
    world.picks = vec![0];
    assert_eq!(
        Watch::play(world),
        (End::ContextTooLong, 1),
        "also if it was of no use"
    );
}

#[test]
fn steering_goes_on_behind_a_last_word() {
    let mut world = answers(&[Answered::Words { cut: false }]);
    world.steering = vec![1];
    assert_eq!(Watch::play(world.clone()), (End::TurnLimit, TURNS_MAX));
    world.steering = vec![0];
    assert_eq!(Watch::play(world), (End::Completed { cut: false }, 1));
}
