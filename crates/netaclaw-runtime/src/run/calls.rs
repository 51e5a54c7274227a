//! The calls of one answer, from the answer to their stored results.

use super::Driver;
use super::result::{Outcome, call_fingerprint, result_message};
use super::services::{MESSAGES_MAX, ToolRequest};
use crate::event::{RunEvent, ToolCompleted};
use crate::host::HostError;
use crate::machine::{CallFacts, Input};
use netaclaw_governance::Concurrency;
use netaclaw_protocol::{ApprovalUse, ContentBlock, EntryId, Message, ToolRoute};
use netaclaw_session::EntryBody;
use netaclaw_tools::process::Operation;
use netaclaw_tools::{Ending, Executed};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The running calls. Every answer gets new ones, so that messages of an abandoned tool of an
/// earlier answer have no receiver.
pub(super) struct Calls {
    /// The answer that made them.
    pub(super) entry_id: EntryId,
    pub(super) open: Vec<OpenCall>,
    pub(super) jobs: JoinSet<JobEnd>,
    /// Calls that ended without having run.
    pub(super) refused: VecDeque<JobEnd>,
    pub(super) messages_tx: mpsc::Sender<ToolRequest>,
    messages_rx: mpsc::Receiver<ToolRequest>,
    /// The token of this turn's tools.
    pub(super) cancel: CancellationToken,
    pub(super) started: bool,
}

pub(super) type JobEnd = (usize, Executed);

/// Messages of tools that go before the end of a call.
const SERVED_MAX: usize = MESSAGES_MAX;

/// A call as the model made it, and its outcome.
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
    /// The answer broke off at this call, so it may not be whole.
    pub(super) cut: bool,
    /// When it began, or the user that it waited for answered.
    pub(super) started_ms: u64,
    /// It waits for a user.
    pub(super) waiting: bool,
    /// Characters of live output that were shown.
    pub(super) output_chars: u64,
    /// Its steps, after the first one.
    pub(super) operation: Option<Operation>,
    /// Steps that were dropped because the queue was full.
    pub(super) dropped: Arc<AtomicU64>,
    /// The tool's label for users.
    pub(super) label: String,
    /// Where it runs and why, from its announcement on.
    pub(super) governed: Governed,
    /// The standing approvals that allowed it.
    pub(super) allowed_by: Vec<ApprovalUse>,
    pub(super) ended: bool,
    /// Until it is stored.
    pub(super) outcome: Option<Outcome>,
}

/// What governance says about a call; stored with its result.
#[derive(Clone, Debug, Default)]
pub(super) struct Governed {
    pub(super) route: Option<ToolRoute>,
    pub(super) worker_hint: Option<ToolRoute>,
    pub(super) policy_sources: Vec<String>,
    pub(super) blocked_reason: Option<String>,
}

impl OpenCall {
    /// How long it has been at work at this time.
    fn worked_ms(&self, now_ms: u64) -> u64 {
        match self.waiting {
            true => 0,
            false => now_ms.saturating_sub(self.started_ms),
        }
    }

    pub(super) fn read(block: &ContentBlock) -> Option<Self> {
        let ContentBlock::ToolCall {
            id,
            name,
            arguments,
        } = block
        else {
            return None;
        };
        Some(Self {
            id: id.clone(),
            name: name.clone(),
            args: arguments.clone(),
            cut: false,
            started_ms: 0,
            waiting: false,
            output_chars: 0,
            operation: None,
            dropped: Arc::default(),
            label: name.clone(),
            governed: Governed::default(),
            allowed_by: Vec::new(),
            ended: false,
            outcome: None,
        })
    }
}

impl Calls {
    pub(super) fn none(cancel: &CancellationToken) -> Self {
        Self::new(EntryId::new(""), Vec::new(), cancel)
    }

    fn new(entry_id: EntryId, open: Vec<OpenCall>, cancel: &CancellationToken) -> Self {
        let (messages_tx, messages_rx) = mpsc::channel(MESSAGES_MAX);
        Self {
            entry_id,
            open,
            jobs: JoinSet::new(),
            refused: VecDeque::new(),
            messages_tx,
            messages_rx,
            cancel: cancel.child_token(),
            started: false,
        }
    }
}

impl Driver<'_> {
    /// Takes the calls of an answer and returns their facts for the machine.
    pub(super) fn open_calls(
        &mut self,
        entry_id: EntryId,
        mut calls: Vec<OpenCall>,
        answer_cut: bool,
    ) -> Vec<CallFacts> {
        if let Some(last) = calls.last_mut() {
            last.cut = answer_cut;
        }
        let facts = calls.iter().map(|call| CallFacts {
            fingerprint: call_fingerprint(&call.name, &call.args),
            concurrency: match self.input.tools.get(&call.name) {
                Some(tool) => tool.manifest().concurrency,
                None => Concurrency::Parallel,
            },
        });
        let facts = facts.collect();
        self.calls = Calls::new(entry_id, calls, &self.input.cancel);
        facts
    }

    /// Waits until a call has ended or the run is stopped; serves requests of tools in the
    /// meantime.
    pub(super) async fn next_of_calls(&mut self) -> Result<Input, HostError> {
        let mut served = 0;
        loop {
            if let Some(end) = self.calls.refused.pop_front() {
                return Ok(self.call_ended(end).await);
            }
            // A tool that talks without end must not keep the others from ending.
            if served >= SERVED_MAX
                && let Some(end) = self.calls.jobs.try_join_next()
            {
                self.serve_what_waits().await?;
                return Ok(self.call_ended(job_end(end)).await);
            }
            tokio::select! {
                biased;
                () = self.input.cancel.cancelled(), if !self.stop_told => {
                    self.stop_told = true;
                    return Ok(Input::Stop);
                }
                // Before the ends, so that what a tool said last is not too late.
                Some(message) = self.calls.messages_rx.recv() => {
                    served += 1;
                    self.serve(message).await?;
                }
                Some(end) = self.calls.jobs.join_next() => {
                    return Ok(self.call_ended(job_end(end)).await);
                }
            }
        }
    }

    /// Messages that a tool sent before its end are handled, however many others arrive.
    async fn serve_what_waits(&mut self) -> Result<(), HostError> {
        for _ in 0..MESSAGES_MAX {
            let Ok(message) = self.calls.messages_rx.try_recv() else {
                break;
            };
            self.serve(message).await?;
        }
        Ok(())
    }

    async fn call_ended(&mut self, (call, executed): JobEnd) -> Input {
        self.complete(call, executed).await;
        let result = self.calls.open[call]
            .outcome
            .as_ref()
            .map(Outcome::facts)
            .expect("it was completed just now");
        Input::CallEnded { call, result }
    }

    /// Publishes the result. Its entry follows in the order of the calls.
    pub(super) async fn complete(&mut self, call: usize, executed: Executed) {
        let interrupted = executed.ending == Ending::Cancelled && self.host.is_shutting_down();
        let timeline = self.end_steps(call, &executed, interrupted).await;
        let open = &mut self.calls.open[call];
        let outcome = Outcome {
            result_entry_id: self.host.next_entry_id(),
            duration_ms: open.worked_ms(self.input.clock.monotonic_ms()),
            executed,
            interrupted,
            timeline,
            allowed_by: std::mem::take(&mut open.allowed_by),
        };
        self.host.emit(RunEvent::ToolCompleted(ToolCompleted {
            tool_call_id: open.id.clone(),
            tool_name: open.name.clone(),
            result_entry_id: outcome.result_entry_id.clone(),
            is_error: outcome.executed.output.is_error,
            content: outcome.executed.output.content.clone(),
            details: outcome.details(open),
            duration_ms: outcome.duration_ms,
        }));
        open.ended = true;
        open.outcome = Some(outcome);
    }

    pub(super) async fn append_result(&mut self, call: usize) -> Result<(), HostError> {
        let open = &mut self.calls.open[call];
        let outcome = open
            .outcome
            .take()
            .expect("the machine appends what has ended");
        let id = outcome.result_entry_id.clone();
        let message = result_message(open, outcome, self.input.clock.unix_ms());
        let body = EntryBody::message(&Message::ToolResult(message));
        self.host.append(Some(id), body).await?;
        Ok(())
    }
}

fn job_end(joined: Result<JobEnd, tokio::task::JoinError>) -> JobEnd {
    joined.expect("jobs catch panics, and are not aborted while they are waited for")
}
