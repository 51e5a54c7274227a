//! The few steps that are kept of many.

use netaclaw_protocol::{ProcessTimeline, RuntimeProcessEvent, STEPS_FIRST, STEPS_LAST};

/// Takes the next step in. How it began and how it ended stays.
pub fn take_in(timeline: &mut ProcessTimeline, event: RuntimeProcessEvent) {
    if timeline.process_events.len() == STEPS_FIRST + STEPS_LAST {
        timeline.process_events.remove(STEPS_FIRST);
    }
    timeline.process_event_count = event.sequence;
    timeline.process_events.push(event.clone());
    timeline.latest_process_event = Some(event);
}
