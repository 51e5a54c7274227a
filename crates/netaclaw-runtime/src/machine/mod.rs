//! The loop as a pure machine: inputs are what happened, outputs are what to do. No clock, no IO,
//! and nothing of the content of messages; so every order of events can be tried in a test.
//!
//! What must stay true, whatever comes in:
//! - Before the model is called again, every call of its last answer has exactly one result, and
//!   results are appended in the order of the calls.
//! - After a stop nothing begins: what is open gets its results, and the run ends.
//! - A run ends exactly once.

mod loop_detector;
#[cfg(test)]
mod tests;
mod tool_batch;

use crate::host::Overflow;
use crate::report::StuckPattern;
use loop_detector::{LoopDetector, Repetition};
use tool_batch::ToolBatch;
pub(crate) use tool_batch::{CallFacts, ResultFacts};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Answered(Answered),
    CallEnded {
        call: usize,
        result: ResultFacts,
    },
    SteeringInserted {
        count: usize,
    },
    OverflowHandled(Overflow),
    Stop,
    /// The session cannot be written.
    HostFailed,
}

/// The outcome of a model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The run was stopped before there was anything to store.
    NotAsked,
    /// An answer that calls tools, at least one.
    Calls(Vec<CallFacts>),
    /// An answer that calls none. `cut` if it ran into the output limit.
    Words {
        cut: bool,
    },
    /// Neither words nor calls.
    Empty,
    TooLong,
    NoToolSupport,
    Failed,
    /// Stopped in the middle.
    Aborted,
}

/// What to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Leads to [`Input::Answered`].
    CallModel,
    AppendAnswer,
    /// Leads to [`Input::CallEnded`].
    StartCall(usize),
    /// The call never runs; its result records that.
    SkipCall(usize),
    AppendResult(usize),
    /// Leads to [`Input::SteeringInserted`].
    InsertSteering,
    /// Leads to [`Input::OverflowHandled`].
    HandleOverflow,
    OfferNoTools,
    /// Warns the model and the clients that it repeats itself.
    Warn(StuckPattern),
    End(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Completed { cut: bool },
    Stopped,
    TurnLimit,
    Stuck(StuckPattern),
    ContextTooLong,
    ModelFailed,
    HostFailed,
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(crate) struct State {
    at: Phase,
    turns_max: u32,
    turn: u32,
    stopping: bool,
    loop_detector: LoopDetector,
    offers_tools: bool,
    /// Set until an answer comes, so that one overflow leads to one attempt to mend it.
    overflow_handled: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    Model,
    Tools(ToolBatch),
    /// Between two turns.
    Steering,
    /// After an answer without calls: the run ends unless a user has steered it.
    LastSteering {
        cut: bool,
    },
    Overflow,
    Ended,
}

impl State {
    pub(crate) fn start(turns_max: u32, offers_tools: bool) -> (Self, Vec<Effect>) {
        let state = Self {
            at: Phase::Model,
            turns_max: turns_max.max(1),
            turn: 1,
            stopping: false,
            loop_detector: LoopDetector::default(),
            offers_tools,
            overflow_handled: false,
        };
        (state, vec![Effect::CallModel])
    }

    /// A run that begins with the calls of an answer that is stored already.
    pub(crate) fn resume_calls(
        turns_max: u32,
        offers_tools: bool,
        calls: Vec<CallFacts>,
    ) -> (Self, Vec<Effect>) {
        let (mut state, _) = Self::start(turns_max, offers_tools);
        let mut effects = Vec::new();
        state.advance(ToolBatch::new(calls), &mut effects);
        (state, effects)
    }

    /// The turn the run is in, counted from 1.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    pub(crate) fn step(mut self, input: Input) -> (Self, Vec<Effect>) {
        let mut effects = Vec::new();
        match (std::mem::replace(&mut self.at, Phase::Ended), input) {
            (Phase::Ended, _) => {}
            (_, Input::HostFailed) => effects.push(Effect::End(End::HostFailed)),
            (at, Input::Stop) => self.stop(at, &mut effects),
            (Phase::Model, Input::Answered(answered)) => self.answered(answered, &mut effects),
            (Phase::Tools(mut batch), Input::CallEnded { call, result }) => {
                batch.end(call, result);
                self.advance(batch, &mut effects);
            }
            (Phase::LastSteering { cut }, Input::SteeringInserted { count: 0 }) => {
                self.end(End::Completed { cut }, &mut effects);
            }
            (Phase::Steering | Phase::LastSteering { .. }, Input::SteeringInserted { count }) => {
                // New input may well make the same call useful again.
                if count > 0 {
                    self.loop_detector = LoopDetector::default();
                }
                self.next_turn(&mut effects);
            }
            (Phase::Overflow, Input::OverflowHandled(Overflow::Retry)) => {
                self.call_model(&mut effects);
            }
            (Phase::Overflow, Input::OverflowHandled(Overflow::GiveUp)) => {
                self.end(End::ContextTooLong, &mut effects);
            }
            // An input that does not belong here changes nothing.
            (at, _) => self.at = at,
        }
        (self, effects)
    }

    fn stop(&mut self, at: Phase, effects: &mut Vec<Effect>) {
        self.stopping = true;
        match at {
            Phase::Tools(mut batch) => {
                effects.extend(batch.skip_waiting());
                self.advance(batch, effects);
            }
            // Running calls return soon, and then the run ends.
            at => self.at = at,
        }
    }

    fn answered(&mut self, answered: Answered, effects: &mut Vec<Effect>) {
        // A model call without an answer leaves no trace: it was not made, or is retried at once,
        // without the tools.
        let without_trace = match answered {
            Answered::NotAsked => true,
            Answered::NoToolSupport => self.offers_tools,
            _ => false,
        };
        if !without_trace {
            effects.push(Effect::AppendAnswer);
        }
        if matches!(answered, Answered::Calls(_) | Answered::Words { .. }) {
            self.overflow_handled = false;
            self.loop_detector.on_text();
        }
        match answered {
            Answered::NotAsked | Answered::Aborted => effects.push(Effect::End(End::Stopped)),
            Answered::Calls(calls) => {
                let mut batch = ToolBatch::new(calls);
                if self.stopping {
                    effects.extend(batch.skip_waiting());
                }
                self.advance(batch, effects);
            }
            Answered::Words { cut } => self.steer(Phase::LastSteering { cut }, effects),
            Answered::Empty => {
                let repetition = self.loop_detector.on_silent_turn();
                self.between_turns(repetition, effects);
            }
            Answered::TooLong if self.overflow_handled => self.end(End::ContextTooLong, effects),
            Answered::TooLong => {
                self.overflow_handled = true;
                self.at = Phase::Overflow;
                self.unless_stopping(Effect::HandleOverflow, effects);
            }
            Answered::NoToolSupport if self.offers_tools => {
                self.offers_tools = false;
                effects.push(Effect::OfferNoTools);
                self.call_model(effects);
            }
            Answered::NoToolSupport | Answered::Failed => self.end(End::ModelFailed, effects),
        }
    }

    /// Appends what can be appended, starts what can be started, and leaves the round when all of
    /// its calls have ended.
    fn advance(&mut self, mut batch: ToolBatch, effects: &mut Vec<Effect>) {
        effects.extend(batch.append_ended());
        if !batch.is_over() {
            if !self.stopping {
                effects.extend(batch.start_ready());
            }
            self.at = Phase::Tools(batch);
            return;
        }
        let repetition = self.loop_detector.batch(batch.pairs());
        self.between_turns(repetition, effects);
    }

    fn between_turns(&mut self, repetition: Repetition, effects: &mut Vec<Effect>) {
        match repetition {
            Repetition::Again(pattern) => return self.end(End::Stuck(pattern), effects),
            Repetition::First(pattern) if !self.stopping && self.turn < self.turns_max => {
                effects.push(Effect::Warn(pattern));
            }
            Repetition::First(_) | Repetition::None => {}
        }
        if self.turn >= self.turns_max {
            return self.end(End::TurnLimit, effects);
        }
        self.steer(Phase::Steering, effects);
    }

    fn steer(&mut self, at: Phase, effects: &mut Vec<Effect>) {
        self.at = at;
        self.unless_stopping(Effect::InsertSteering, effects);
    }

    fn next_turn(&mut self, effects: &mut Vec<Effect>) {
        if self.turn >= self.turns_max {
            return self.end(End::TurnLimit, effects);
        }
        self.call_model(effects);
        // A stop has ended the run; its last turn stays the last.
        self.turn += u32::from(!self.stopping);
    }

    fn call_model(&mut self, effects: &mut Vec<Effect>) {
        self.at = Phase::Model;
        self.unless_stopping(Effect::CallModel, effects);
    }

    fn unless_stopping(&mut self, effect: Effect, effects: &mut Vec<Effect>) {
        match self.stopping {
            true => self.end(End::Stopped, effects),
            false => effects.push(effect),
        }
    }

    fn end(&mut self, end: End, effects: &mut Vec<Effect>) {
        self.at = Phase::Ended;
        let end = if self.stopping { End::Stopped } else { end };
        effects.push(Effect::End(end));
    }
}
