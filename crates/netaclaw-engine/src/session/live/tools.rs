//! The calls that run, with their output so far and their steps.

use netaclaw_protocol::{
    ApprovalUsed, DeltaEvent, OpenTool, ProcessSource, ProcessTarget, ProcessTimeline,
    ReliableEvent, SkillEnd, SkillStart, ToolCallCompleted, ToolCallStarted, ToolOutput,
    ToolProcessEvent, now_ms,
};
use netaclaw_tools::process::take_in;

/// Output of a running tool that is shown at most, the same to all who look: text has offsets, so
/// that what one has and another has not would be a gap. The result entry carries what counts.
const OUTPUT_CHARS_MAX: u64 = 256 * 1024;
/// Stands behind the last of it.
const OUTPUT_CUT: &str = "\n[后续输出不再实时显示，请查看结果。 Further output is not shown live; \
                          see the result.]\n";

#[derive(Debug, Default)]
pub(crate) struct OpenTools {
    open: Vec<OpenTool>,
}

impl OpenTools {
    pub(crate) fn all(&self) -> &[OpenTool] {
        &self.open
    }

    pub(crate) fn start(&mut self, call: ToolCallStarted) -> Option<ReliableEvent> {
        self.open.push(OpenTool {
            call: call.clone(),
            output: String::new(),
            timeline: ProcessTimeline::default(),
            started_at: now_ms(),
        });
        Some(ReliableEvent::ToolCallStarted(call))
    }

    /// More output of a call; `None` if it is not shown.
    pub(super) fn add_output(&mut self, mut output: ToolOutput) -> Option<DeltaEvent> {
        let room = OUTPUT_CHARS_MAX.checked_sub(output.offset)?;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if let Some((end, _)) = output.text.char_indices().nth(room) {
            output.text.replace_range(end.., OUTPUT_CUT);
        }
        if let Some(tool) = self.call_mut(&output.tool_call_id) {
            tool.output.push_str(&output.text);
        }
        Some(DeltaEvent::ToolResultStreamed(output))
    }

    /// A step of a call. Returns what it means for clients without steps.
    pub(super) fn add_step(&mut self, step: &ToolProcessEvent) -> Option<DeltaEvent> {
        let tool = self.call_mut(&step.tool_call_id)?;
        take_in(&mut tool.timeline, step.event.clone());
        skill_event(step, tool.started_at)
    }

    /// Standing approvals allow a call that began.
    pub(crate) fn allow(&mut self, used: ApprovalUsed) -> Option<ReliableEvent> {
        if let Some(tool) = self.call_mut(&used.tool_call_id) {
            tool.call.allowed_by.clone_from(&used.allowed_by);
        }
        Some(ReliableEvent::ApprovalUsed(used))
    }

    /// The call works from now on: the time before was its user's.
    pub(super) fn restart_clock(&mut self, tool_call_id: &str) {
        if let Some(tool) = self.call_mut(tool_call_id) {
            tool.started_at = now_ms();
        }
    }

    pub(crate) fn complete(&mut self, done: ToolCallCompleted) -> Option<ReliableEvent> {
        let is_other = |tool: &OpenTool| tool.call.tool_call_id != done.tool_call_id;
        self.open.retain(is_other);
        Some(ReliableEvent::ToolCallCompleted(done))
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// The output of all calls from its beginning.
    pub(super) fn outputs(&self) -> impl Iterator<Item = DeltaEvent> {
        self.open.iter().map(|tool| {
            DeltaEvent::ToolResultStreamed(ToolOutput {
                run_id: tool.call.run_id.clone(),
                tool_call_id: tool.call.tool_call_id.clone(),
                offset: 0,
                text: tool.output.clone(),
            })
        })
    }

    /// What is kept of the steps of all calls.
    pub(super) fn steps(&self) -> impl Iterator<Item = DeltaEvent> {
        let steps = self.open.iter().flat_map(|tool| {
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
        steps.map(|step| DeltaEvent::ToolProcessEvent(Box::new(step)))
    }

    fn call_mut(&mut self, tool_call_id: &str) -> Option<&mut OpenTool> {
        let mut open = self.open.iter_mut();
        open.find(|tool| tool.call.tool_call_id == tool_call_id)
    }
}

/// The beginning or the end of a skill, if the step is one.
fn skill_event(step: &ToolProcessEvent, started_at: i64) -> Option<DeltaEvent> {
    let event = &step.event;
    let is_of_server = event.source == ProcessSource::Runtime;
    if event.target_type != ProcessTarget::Skill || (event.stage.is_some() && !is_of_server) {
        return None;
    }
    let (run_id, tool_call_id) = (step.run_id.clone(), step.tool_call_id.clone());
    let operation_id = event.operation_id.clone();
    match (event.sequence, event.source) {
        (1, _) => Some(DeltaEvent::SkillStart(SkillStart {
            run_id,
            tool_call_id,
            operation_id,
            skill_name: event.message.clone(),
        })),
        (_, ProcessSource::Runtime) => Some(DeltaEvent::SkillEnd(SkillEnd {
            run_id,
            tool_call_id,
            operation_id,
            status: event.status,
            duration_ms: u64::try_from(now_ms() - started_at).unwrap_or_default(),
        })),
        _ => None,
    }
}
