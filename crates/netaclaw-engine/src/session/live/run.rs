//! The status of the current run, with its clock.

use netaclaw_protocol::{ReliableEvent, RetryNotice, RunId, RunPhase, RunState, RunStatus, now_ms};

#[derive(Debug)]
pub(crate) struct RunClock {
    status: RunStatus,
}

impl Default for RunClock {
    fn default() -> Self {
        Self { status: idle() }
    }
}

impl RunClock {
    pub(crate) fn status(&self) -> &RunStatus {
        &self.status
    }

    /// The phase of the current run, as in the protocol.
    pub(crate) fn phase_name(&self) -> String {
        let phase = self.status.phase;
        let name = phase.and_then(|phase| serde_json::to_value(phase).ok());
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_else(|| "stopping".to_owned())
    }

    pub(super) fn set(
        &mut self,
        status: RunState,
        run_id: Option<RunId>,
        phase: Option<RunPhase>,
        detail: Option<String>,
    ) -> Option<ReliableEvent> {
        self.change(RunStatus {
            status,
            run_id,
            phase,
            detail,
            ..idle()
        })
    }

    /// The run enters another phase, unless it is being stopped.
    pub(crate) fn enter(
        &mut self,
        phase: RunPhase,
        detail: Option<String>,
        retry: Option<Box<RetryNotice>>,
    ) -> Option<ReliableEvent> {
        if self.status.status != RunState::Running {
            return None;
        }
        self.change(RunStatus {
            phase: Some(phase),
            detail,
            retry,
            since: now_ms(),
            ..self.status.clone()
        })
    }

    fn change(&mut self, status: RunStatus) -> Option<ReliableEvent> {
        let before = &self.status;
        let is_same = (&before.status, &before.phase, &before.detail)
            == (&status.status, &status.phase, &status.detail);
        if is_same {
            return None;
        }
        self.status = timed(status, before);
        Some(ReliableEvent::RunStatus(self.status.clone()))
    }
}

/// The status with the clock of its run, which goes on from the status before.
fn timed(run: RunStatus, before: &RunStatus) -> RunStatus {
    let is_same = before.status != RunState::Idle && before.run_id == run.run_id;
    let (started_at, waited_ms) = match (run.status, is_same) {
        (RunState::Idle, _) => (None, 0),
        (_, false) => (Some(run.since), 0),
        (_, true) => {
            let waited = match before.phase {
                Some(RunPhase::WaitingForUser | RunPhase::Retrying) => run.since - before.since,
                _ => 0,
            };
            let waited = u64::try_from(waited).unwrap_or_default();
            (before.started_at, before.waited_ms + waited)
        }
    };
    RunStatus {
        started_at,
        waited_ms,
        ..run
    }
}

fn idle() -> RunStatus {
    RunStatus {
        status: RunState::Idle,
        run_id: None,
        phase: None,
        detail: None,
        retry: None,
        since: now_ms(),
        started_at: None,
        waited_ms: 0,
    }
}
