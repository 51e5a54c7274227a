//! The few steps that are kept of many.

use netaclaw_protocol::{ProcessTimeline, RuntimeProcessEvent};

const FIRST: usize = 10;
const KEPT: usize = 50;

/// Takes the next step in. How it began and how it ended stays: all steps up to 50, and of more
/// the first 10 and the last 40.
pub fn take_in(timeline: &mut ProcessTimeline, event: RuntimeProcessEvent) {
    if timeline.process_events.len() == KEPT {
        timeline.process_events.remove(FIRST);
    }
    timeline.process_event_count = event.sequence;
    timeline.process_events.push(event.clone());
    timeline.latest_process_event = Some(event);
}
