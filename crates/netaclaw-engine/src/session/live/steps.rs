//! The steps of running calls: throttled for events, complete in snapshots.

use super::{TransientFields, TransientState};
use crate::events::feed::now_ms;
use netaclaw_protocol::{
    DeltaEvent, ProcessSource, ProcessTarget, SkillEnd, SkillStart, ToolProcessEvent,
};
use netaclaw_tools::process::take_in;

impl TransientState {
    /// A step of a call. Clients receive it soon; a snapshot has it at once.
    pub(crate) fn tool_step(&self, step: ToolProcessEvent) {
        let mut state = self.lock();
        let mut tools = state.tools.iter_mut();
        let open = tools.find(|tool| tool.call.tool_call_id == step.tool_call_id);
        if let Some(tool) = open {
            take_in(&mut tool.timeline, step.event.clone());
            let started_at = tool.started_at;
            self.publish_skill(&step, started_at);
        }
        self.feed.emit_step(step);
    }

    /// The beginning and the end of a skill, for clients without steps.
    fn publish_skill(&self, step: &ToolProcessEvent, started_at: i64) {
        let event = &step.event;
        let is_of_server = event.source == ProcessSource::Runtime;
        if event.target_type != ProcessTarget::Skill || (event.stage.is_some() && !is_of_server) {
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
        self.feed.emit_delta(told);
    }
}

impl TransientFields {
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
