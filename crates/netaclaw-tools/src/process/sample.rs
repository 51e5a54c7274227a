//! Keeps the first and the last steps of an operation.

use netaclaw_protocol::{
    ProcessSource, ProcessStatus, ProcessTimeline, RuntimeProcessEvent, STEPS_FIRST, STEPS_LAST,
};

/// Takes the next step in. How it began and how it ended stays. The latest one is the last that
/// says something about the work: that all went well is the status of the call.
pub fn take_in(timeline: &mut ProcessTimeline, event: RuntimeProcessEvent) {
    if timeline.process_events.len() == STEPS_FIRST + STEPS_LAST {
        timeline.process_events.remove(STEPS_FIRST);
    }
    timeline.process_event_count = event.sequence;
    timeline.process_events.push(event.clone());
    if !is_mere_success(&event) || timeline.latest_process_event.is_none() {
        timeline.latest_process_event = Some(event);
    }
}

/// The server's own note that an operation has completed.
fn is_mere_success(event: &RuntimeProcessEvent) -> bool {
    event.source == ProcessSource::Runtime && event.status == ProcessStatus::Completed
}
