//! The steps of calls that take long: shown soon, known to a snapshot at once.

use super::{Live, LiveState};
use crate::events::feed::{Feed, now_ms};
use netaclaw_protocol::{
    DeltaEvent, ProcessSource, ProcessTarget, SkillEnd, SkillStart, ToolProcessEvent,
};
use netaclaw_tools::process::take_in;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::time::Instant;

impl Live {
    /// A step of a call. Whoever watches is told soon; a snapshot knows of it at once.
    pub(crate) fn tool_step(&self, step: ToolProcessEvent) {
        let mut state = self.lock();
        let mut tools = state.tools.iter_mut();
        let open = tools.find(|tool| tool.call.tool_call_id == step.tool_call_id);
        if let Some(tool) = open {
            take_in(&mut tool.timeline, step.event.clone());
            let started_at = tool.started_at;
            self.tell_skill(&step, started_at);
        }
        for step in state.steps.push(step, Instant::now()) {
            self.feed.emit_step(step);
        }
        self.send_steps_later(&mut state);
    }

    /// The beginning and the end of a skill, for clients that want no more.
    fn tell_skill(&self, step: &ToolProcessEvent, started_at: i64) {
        let event = &step.event;
        if event.target_type != ProcessTarget::Skill || event.stage.is_some() {
            return;
        }
        let (run_id, tool_call_id) = (step.run_id.clone(), step.tool_call_id.clone());
        let operation_id = event.operation_id.clone();
        let told = match (event.sequence, event.source) {
            (1, _) => DeltaEvent::SkillStart(SkillStart {
                run_id,
                tool_call_id,
                operation_id,
                skill_name: event.message.clone(),
            }),
            (_, ProcessSource::Runtime) => DeltaEvent::SkillEnd(SkillEnd {
                run_id,
                tool_call_id,
                operation_id,
                status: event.status,
                duration_ms: u64::try_from(now_ms() - started_at).unwrap_or_default(),
            }),
            _ => return,
        };
        self.feed.emit_delta(&told);
    }

    fn send_steps_later(&self, state: &mut LiveState) {
        let Some(due) = state.steps.next_due().filter(|_| !state.steps_timer) else {
            return;
        };
        state.steps_timer = true;
        // Owned by nobody but short: it ends when nothing waits, and does not keep the session.
        tokio::spawn(send_due(
            self.feed.clone(),
            Arc::downgrade(&self.state),
            due,
        ));
    }
}

impl LiveState {
    /// What is kept of the steps of calls that run.
    pub(super) fn open_steps(&self) -> Vec<ToolProcessEvent> {
        let tools = self.tools.iter();
        let steps = tools.flat_map(|tool| {
            let call = &tool.call;
            let events = tool.timeline.process_events.iter();
            events.map(|event| ToolProcessEvent {
                event: event.clone(),
                run_id: call.run_id.clone(),
                tool_call_id: call.tool_call_id.clone(),
                assistant_entry_id: Some(call.entry_id.clone()),
                tool_name: call.tool_name.clone(),
                tool_label: Some(call.tool_label.clone()),
            })
        });
        steps.collect()
    }
}

/// Sends steps when they are due, until none waits.
async fn send_due(feed: Feed, state: Weak<Mutex<LiveState>>, first: Instant) {
    let mut due = Some(first);
    while let Some(at) = due {
        tokio::time::sleep_until(at).await;
        let Some(state) = state.upgrade() else {
            return;
        };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        for step in state.steps.due(Instant::now()) {
            feed.emit_step(step);
        }
        due = state.steps.next_due();
        state.steps_timer = due.is_some();
    }
}
