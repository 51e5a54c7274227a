//! An answer on its way to the people who watch.

use crate::answer::AnswerSoFar;
use crate::clock::Clock;
use crate::event::RunEvent;
use crate::host::RunHost;
use netaclaw_models::ModelEvent;
use netaclaw_protocol::{AssistantMessage, RunPhase};

/// Passes the pieces of an answer on as they come, and keeps them for the case that no more do.
pub(super) struct LiveAnswer {
    so_far: AnswerSoFar,
    frame: AssistantMessage,
    started: bool,
    /// More has come than the host was offered to keep.
    grown: bool,
    part_started_ms: Vec<u64>,
}

impl LiveAnswer {
    pub(super) fn new(so_far: AnswerSoFar, frame: AssistantMessage) -> Self {
        Self {
            so_far,
            frame,
            started: false,
            grown: false,
            part_started_ms: Vec::new(),
        }
    }

    pub(super) fn so_far(&self) -> &AnswerSoFar {
        &self.so_far
    }

    /// Whether people know that there is an answer.
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
        });
    }

    pub(super) fn show(&mut self, event: ModelEvent, host: &mut dyn RunHost, clock: &dyn Clock) {
        match event {
            ModelEvent::PartStart { part: kind, .. } => {
                if !self.started {
                    self.start(host);
                    host.emit(RunEvent::Phase {
                        phase: RunPhase::Streaming,
                        detail: None,
                    });
                }
                let part = self.part_started_ms.len() as u32;
                self.part_started_ms.push(clock.monotonic_ms());
                self.so_far.start_part(kind.clone());
                host.emit(RunEvent::PartStarted {
                    entry_id: self.so_far.id().clone(),
                    part,
                    kind,
                });
            }
            ModelEvent::PartDelta { index, delta } => {
                if let Some((kind, offset)) = self.so_far.grow(index, &delta) {
                    host.emit(RunEvent::PartDelta {
                        entry_id: self.so_far.id().clone(),
                        part: index as u32,
                        kind,
                        offset,
                        text: delta,
                    });
                    self.grown = true;
                }
            }
            ModelEvent::PartEnd { index, block } => {
                let now_ms = clock.monotonic_ms();
                let started_ms = self.part_started_ms.get(index).copied();
                let duration_ms = now_ms.saturating_sub(started_ms.unwrap_or(now_ms));
                if let Some(kind) = self.so_far.end_part(index, block, duration_ms) {
                    host.emit(RunEvent::PartEnded {
                        entry_id: self.so_far.id().clone(),
                        part: index as u32,
                        kind,
                        duration_ms,
                    });
                }
            }
            ModelEvent::Usage(usage) => self.so_far.set_usage(usage),
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
