//! The tool calls of one answer, as the machine tracks them.

use super::Effect;
use netaclaw_governance::Concurrency;

/// What the machine needs of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallFacts {
    /// The same for the same tool with the same arguments.
    pub(crate) fingerprint: u64,
    pub(crate) concurrency: Concurrency,
}

/// What the machine needs of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultFacts {
    pub(crate) fingerprint: u64,
    pub(crate) failed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ToolBatch {
    calls: Vec<Slot>,
    /// How many results are appended; always the first ones.
    appended: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    facts: CallFacts,
    status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Running,
    Skipped,
    Ended(ResultFacts),
}

impl ToolBatch {
    pub(super) fn new(calls: Vec<CallFacts>) -> Self {
        let waiting = |facts| Slot {
            facts,
            status: Status::Waiting,
        };
        Self {
            calls: calls.into_iter().map(waiting).collect(),
            appended: 0,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.appended == self.calls.len()
    }

    /// Takes the result of a running call. A second one for the same call is none.
    pub(super) fn end(&mut self, call: usize, result: ResultFacts) {
        if let Some(slot) = self.calls.get_mut(call)
            && slot.status == Status::Running
        {
            slot.status = Status::Ended(result);
        }
    }

    pub(super) fn skip_waiting(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (call, slot) in self.calls.iter_mut().enumerate() {
            if slot.status == Status::Waiting {
                slot.status = Status::Skipped;
                effects.push(Effect::SkipCall(call));
            }
        }
        effects
    }

    /// The results that follow on those appended, up to the first that is still open.
    pub(super) fn append_ended(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(slot) = self.calls.get(self.appended)
            && matches!(slot.status, Status::Skipped | Status::Ended(_))
        {
            effects.push(Effect::AppendResult(self.appended));
            self.appended += 1;
        }
        effects
    }

    /// Calls start in their order. One that runs alone waits for all before it, and holds back
    /// all behind it.
    pub(super) fn start_ready(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut all_before_ended = true;
        for call in 0..self.calls.len() {
            let slot = &mut self.calls[call];
            let exclusive = slot.facts.concurrency == Concurrency::Exclusive;
            if slot.status == Status::Waiting {
                if exclusive && !all_before_ended {
                    break;
                }
                slot.status = Status::Running;
                effects.push(Effect::StartCall(call));
            }
            if slot.status == Status::Running {
                all_before_ended = false;
                if exclusive {
                    break;
                }
            }
        }
        effects
    }

    /// Calls with their results, in the order of the calls.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (CallFacts, ResultFacts)> + '_ {
        self.calls.iter().filter_map(|slot| match slot.status {
            Status::Ended(result) => Some((slot.facts, result)),
            _ => None,
        })
    }
}
