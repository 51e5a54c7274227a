//! The steps of calls: numbered in order of arrival, published, and ended once.

use super::Driver;
use crate::event::ToolStep;
use netaclaw_protocol::{CallEnd, ProcessTimeline, RuntimeProcessEvent};
use netaclaw_tools::process::{EndStatus, Operation, ProcessEnd, Redactor};
use netaclaw_tools::{Ending, Executed, ProcessUpdate};
use std::sync::atomic::Ordering;

impl Driver<'_> {
    pub(super) async fn show_step(&mut self, call: usize, update: ProcessUpdate) {
        let now = self.now();
        let open = &mut self.calls.open[call];
        let operation = open.operation.get_or_insert_with(|| {
            let redactor = Redactor::new(self.input.workspace.roots());
            Operation::of_call(&open.id, redactor)
        });
        if let Some(event) = operation.step(update, &now) {
            self.emit_step(call, event).await;
        }
    }

    /// The last step of a call with steps, and what is stored of all of them.
    pub(super) async fn end_steps(
        &mut self,
        call: usize,
        executed: &Executed,
        interrupted: bool,
    ) -> Option<ProcessTimeline> {
        let now = self.now();
        let operation = self.calls.open[call].operation.as_mut()?;
        let last = operation.end(process_end(executed, interrupted), &now);
        if let Some(event) = last {
            self.emit_step(call, event).await;
        }
        let open = &self.calls.open[call];
        let dropped = open.dropped.load(Ordering::Relaxed);
        let operation = open.operation.as_ref()?;
        Some(operation.timeline(Some(&self.input.session_id), dropped))
    }

    async fn emit_step(&mut self, call: usize, event: RuntimeProcessEvent) {
        let open = &self.calls.open[call];
        let step = ToolStep {
            entry_id: self.calls.entry_id.clone(),
            tool_call_id: open.id.clone(),
            tool_name: open.name.clone(),
            tool_label: open.label.clone(),
            event,
        };
        self.host.tool_step(step).await;
    }

    fn now(&self) -> String {
        let now = jiff::Timestamp::from_millisecond(self.input.clock.unix_ms());
        now.map_or_else(|_| String::new(), |now| format!("{now:.3}"))
    }
}

/// The status that the tool reports, unless it was stopped.
fn process_end(executed: &Executed, interrupted: bool) -> ProcessEnd {
    let (status, reason) = match (executed.ending, &executed.output.process_end) {
        (Ending::Cancelled, _) if interrupted => (EndStatus::Cancelled, CallEnd::Interrupted),
        (Ending::Cancelled, _) => (EndStatus::Cancelled, CallEnd::Stopped),
        (Ending::TimedOut, _) => (EndStatus::Failed, CallEnd::TimedOut),
        (Ending::Panicked, _) => (EndStatus::Failed, CallEnd::Internal),
        (Ending::Blocked | Ending::Denied | Ending::Undecided | Ending::NotStarted, _) => {
            (EndStatus::Cancelled, CallEnd::NotRun)
        }
        (Ending::Finished | Ending::InvalidArguments, Some(end)) => return end.clone(),
        (Ending::Finished | Ending::InvalidArguments, None) => match executed.output.is_error {
            true => (EndStatus::Failed, CallEnd::Failed),
            false => (EndStatus::Completed, CallEnd::Done),
        },
    };
    ProcessEnd::new(status, reason)
}
