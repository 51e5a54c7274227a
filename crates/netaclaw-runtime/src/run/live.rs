//! Forwards a streaming answer to the host.

use crate::answer::AnswerSoFar;
use crate::clock::Clock;
use crate::event::RunEvent;
use crate::host::RunHost;
use netaclaw_models::ModelEvent;
use netaclaw_protocol::{AssistantMessage, EntryId, RunId, RunPhase};

/// Passes the pieces of an answer on as they come, and keeps them for the case that no more do.
pub(super) struct LiveAnswer {
    so_far: AnswerSoFar,
    frame: AssistantMessage,
    started: bool,
    /// More has arrived than the host was offered to store.
    grown: bool,
}

impl LiveAnswer {
    pub(super) fn new(run_id: RunId, id: EntryId, frame: AssistantMessage) -> Self {
        Self {
            so_far: AnswerSoFar::new(run_id, id, frame.clone()),
            frame,
            started: false,
            grown: false,
        }
    }

    pub(super) fn so_far(&self) -> &AnswerSoFar {
        &self.so_far
    }

    /// Whether the start of the answer was published.
    pub(super) fn has_started(&self) -> bool {
        self.started
    }

    pub(super) fn has_grown(&self) -> bool {
        self.grown
    }

    /// Offers what there is to be kept.
    pub(super) fn keep(&mut self, host: &mut dyn RunHost) {
        self.grown = false;
        host.answer_progress(&self.so_far);
    }

    fn start(&mut self, host: &mut dyn RunHost) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        host.emit(RunEvent::AnswerStarted {
            entry_id: self.so_far.id().clone(),
            provider: self.frame.provider.clone(),
            model: self.frame.model.clone(),
            text: self.so_far.text().clone(),
        });
        host.emit(RunEvent::Phase {
            phase: RunPhase::Streaming,
            detail: None,
        });
    }

    pub(super) fn show(&mut self, event: ModelEvent, host: &mut dyn RunHost, clock: &dyn Clock) {
        match event {
            ModelEvent::AnswerStart(text) => self.so_far.set_text(text),
            ModelEvent::PartStart { part: kind, .. } => {
                self.start(host);
                let part = self.so_far.start_part(kind.clone(), clock.monotonic_ms());
                host.emit(RunEvent::PartStarted {
                    entry_id: self.so_far.id().clone(),
                    part,
                    kind,
                });
            }
            ModelEvent::PartDelta { index, delta } => {
                if let Some(delta) = self.so_far.delta(index, delta) {
                    host.emit(RunEvent::PartDelta(delta));
                    self.grown = true;
                }
            }
            ModelEvent::PartEnd { index, .. } => {
                let ended = self.so_far.end_part(index, clock.monotonic_ms());
                if let Some((kind, duration_ms)) = ended {
                    host.emit(RunEvent::PartEnded {
                        entry_id: self.so_far.id().clone(),
                        part: index as u32,
                        kind,
                        duration_ms,
                    });
                }
            }
            // The stream counts them itself.
            ModelEvent::Usage(_) => {}
            ModelEvent::Retrying {
                attempt,
                after_ms,
                reason,
            } => host.emit(RunEvent::Retrying {
                attempt,
                after_ms,
                reason,
            }),
            ModelEvent::FallingBack { from, to, reason } => {
                host.emit(RunEvent::FallingBack { from, to, reason });
            }
            // The last event is the caller's.
            ModelEvent::Done(_) | ModelEvent::Failed { .. } => {}
        }
    }
}
