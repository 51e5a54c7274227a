//! Whether a session is at rest, judged by its events.

use serde_json::Value;

/// At rest is a session with no run and nothing that waits for one. Between two runs it is idle for
/// a moment, in which the chat must not prompt for a line.
#[derive(Debug, Default)]
pub(super) struct Activity {
    runs: bool,
    /// Messages that will run by themselves.
    waiting: usize,
}

impl Activity {
    pub(super) fn of_snapshot(snapshot: &Value) -> Self {
        Self {
            runs: snapshot["run"]["status"] != "idle",
            waiting: waiting(&snapshot["queue"]),
        }
    }

    pub(super) fn on_event(&mut self, event: &Value) {
        let data = &event["data"];
        match event["type"].as_str() {
            Some("run_status") => self.runs = data["status"] != "idle",
            Some("queue_update") => self.waiting = waiting(data),
            _ => {}
        }
    }

    /// A message was accepted that starts a run, of which no event has arrived yet.
    pub(super) fn begins(&mut self) {
        self.runs = true;
    }

    pub(super) fn is_running(&self) -> bool {
        self.runs || self.waiting > 0
    }
}

fn waiting(queue: &Value) -> usize {
    let items = queue["items"].as_array().into_iter().flatten();
    items.filter(|item| item["held"] != true).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_session_rests_when_nothing_runs_and_nothing_waits() {
        let status = |status| json!({"type": "run_status", "data": {"status": status}});
        let queue = |items| json!({"type": "queue_update", "data": {"items": items}});
        let mut activity = Activity::default();
        let mut after = |event| {
            activity.on_event(&event);
            activity.is_running()
        };
        assert!(after(status("running")));
        assert!(after(queue(json!([{"content": "next"}]))));
        assert!(after(status("idle")), "the next one begins");
        assert!(after(status("running")));
        assert!(after(queue(json!([]))));
        assert!(after(status("stopping")));
        assert!(!after(status("idle")));
        assert!(!after(queue(json!([{"content": "held", "held": true}]))));
        assert!(!after(json!({"type": "done", "data": {}})));
    }
}
