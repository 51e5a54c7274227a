//! The steps of one call, from what a tool or a skill reports to what users see and what is stored.
//!
//! Pure: times come in as arguments. Numbers are assigned here and nowhere else, so they have no
//! gaps however many steps there are and whatever happens to them later.

mod redact;
mod sample;
#[cfg(test)]
mod tests;

pub use redact::Redactor;
pub use sample::take_in;

use crate::update::ProcessUpdate;
use netaclaw_protocol::{
    CallEnd, LocalizedText, ProcessLevel, ProcessLogKind, ProcessLogRef, ProcessSource,
    ProcessStatus, ProcessTarget, ProcessTimeline, RuntimeProcessEvent, SessionId,
};

/// What a text of a step may have at most, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;
const DETAIL_CHARS_MAX: usize = 4_000;
const STAGE_CHARS_MAX: usize = 100;
const NO_MESSAGE: &str = "…";

/// The steps of one call so far.
#[derive(Clone, Debug)]
pub struct Operation {
    id: String,
    target: ProcessTarget,
    redactor: Redactor,
    sequence: u64,
    timeline: ProcessTimeline,
    /// The stage of the last step that said how far it is, and how far that was.
    reached: Option<(Option<String>, f64)>,
    ended: bool,
}

impl Operation {
    /// The operation that a tool call is.
    pub fn of_call(tool_call_id: &str, redactor: Redactor) -> Self {
        Self {
            id: operation_id(tool_call_id),
            target: ProcessTarget::Tool,
            redactor,
            sequence: 0,
            timeline: ProcessTimeline::default(),
            reached: None,
            ended: false,
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The target is unknown until a step names it.
    pub fn target(&self) -> ProcessTarget {
        self.target
    }

    /// The next step; `None` if the operation has ended. Only the server reports the end of the
    /// whole operation, so an end that the work reports is one step among others.
    pub fn step(&mut self, update: ProcessUpdate, now: &str) -> Option<RuntimeProcessEvent> {
        let status = match update.status {
            ended if is_end(ended) && update.stage.is_none() => ProcessStatus::Running,
            status => status,
        };
        self.event(ProcessUpdate { status, ..update }, None, now)
    }

    /// The last step, once.
    pub fn end(&mut self, end: ProcessEnd, now: &str) -> Option<RuntimeProcessEvent> {
        let (status, level) = match end.status {
            EndStatus::Completed => (ProcessStatus::Completed, ProcessLevel::Info),
            EndStatus::Failed => (ProcessStatus::Failed, ProcessLevel::Error),
            EndStatus::Cancelled => (ProcessStatus::Cancelled, ProcessLevel::Warning),
        };
        let percent = (status == ProcessStatus::Completed).then_some(100.0);
        let update = ProcessUpdate {
            status,
            level,
            source: ProcessSource::Runtime,
            task_id: end.task_id,
            stage: end.stage,
            message: end.message,
            percent: percent.filter(|_| self.reached.is_some()),
            ..ProcessUpdate::default()
        };
        let event = self.event(update, end.reason, now);
        self.ended = true;
        event
    }

    /// The stored form. `dropped` counts steps that were not delivered.
    pub fn timeline(&self, session: Option<&SessionId>, dropped: u64) -> ProcessTimeline {
        let tool_call_id = self.id.strip_prefix(CALL_PREFIX).map(str::to_owned);
        ProcessTimeline {
            process_events_dropped: dropped,
            process_log_ref: session.map(|session_id| ProcessLogRef {
                kind: ProcessLogKind::RuntimeProcessLog,
                session_id: session_id.clone(),
                operation_id: self.id.clone(),
                tool_call_id,
            }),
            ..self.timeline.clone()
        }
    }

    fn event(
        &mut self,
        update: ProcessUpdate,
        reason: Option<CallEnd>,
        now: &str,
    ) -> Option<RuntimeProcessEvent> {
        if self.ended {
            return None;
        }
        if update.source == ProcessSource::Skill {
            self.target = ProcessTarget::Skill;
        }
        self.sequence += 1;
        let stage = update.stage.filter(|stage| !stage.is_empty());
        let stage = stage.map(|stage| cut(&stage, STAGE_CHARS_MAX));
        let percent = self.monotonic(
            &stage,
            percent(&update.percent, update.current, update.total),
        );
        // The runner of a skill has its secrets, and has removed these and the rest.
        let redactor = (update.source != ProcessSource::Skill).then_some(&self.redactor);
        let shown = |text: &str, chars_max: usize| match redactor {
            Some(redactor) => cut(&redactor.text(text), chars_max),
            None => cut(text, chars_max),
        };
        let message = match update.message.trim() {
            "" => NO_MESSAGE.to_owned(),
            message => shown(message, MESSAGE_CHARS_MAX),
        };
        let words = reason.as_ref().map(CallEnd::words);
        let words = words.map(|LocalizedText { zh, en }| LocalizedText {
            zh: shown(&zh, MESSAGE_CHARS_MAX),
            en: shown(&en, MESSAGE_CHARS_MAX),
        });
        let detail = update.detail.filter(|detail| !detail.is_empty());
        let detail = detail.map(|detail| shown(&detail, DETAIL_CHARS_MAX));
        let payload = match redactor {
            Some(redactor) => redactor.payload(update.payload),
            None => update.payload,
        };
        let event = RuntimeProcessEvent {
            version: 1,
            operation_id: self.id.clone(),
            parent_operation_id: None,
            target_type: self.target,
            source: update.source,
            task_id: update.task_id,
            stage,
            status: update.status,
            level: update.level,
            message,
            words: words.map(Box::new),
            reason: reason.map(Box::new),
            detail,
            current: update.current,
            total: update.total,
            percent,
            payload: (!payload.is_empty()).then_some(payload),
            timestamp: update.timestamp.unwrap_or_else(|| now.to_owned()),
            sequence: self.sequence,
        };
        take_in(&mut self.timeline, event.clone());
        Some(event)
    }

    /// Within a stage no bar goes back.
    fn monotonic(&mut self, stage: &Option<String>, percent: Option<f64>) -> Option<f64> {
        let mut percent = percent?;
        if let Some((of, reached)) = &self.reached
            && of == stage
        {
            percent = percent.max(*reached);
        }
        self.reached = Some((stage.clone(), percent));
        Some(percent)
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    pub status: EndStatus,
    /// In English.
    pub message: String,
    /// `None` if the message is not a text of the server.
    pub reason: Option<CallEnd>,
    /// Names the kind of end for programs, such as `skill-timeout`.
    pub stage: Option<String>,
    /// As the input names it.
    pub task_id: Option<String>,
}

impl ProcessEnd {
    pub fn new(status: EndStatus, reason: CallEnd) -> Self {
        Self {
            reason: Some(reason.clone()),
            ..Self::reported(status, reason.to_string())
        }
    }

    /// A program has described its end.
    pub fn reported(status: EndStatus, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            reason: None,
            stage: None,
            task_id: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndStatus {
    Completed,
    Failed,
    Cancelled,
}

impl EndStatus {
    pub fn status(self) -> ProcessStatus {
        match self {
            Self::Completed => ProcessStatus::Completed,
            Self::Failed => ProcessStatus::Failed,
            Self::Cancelled => ProcessStatus::Cancelled,
        }
    }
}

const CALL_PREFIX: &str = "tool-";

/// The operation of a tool call.
pub fn operation_id(tool_call_id: &str) -> String {
    format!("{CALL_PREFIX}{tool_call_id}")
}

/// Whether a step is published at once, because nothing of the kind follows it.
pub fn is_urgent(event: &RuntimeProcessEvent) -> bool {
    is_end(event.status) || event.level == ProcessLevel::Error
}

fn is_end(status: ProcessStatus) -> bool {
    use ProcessStatus::{Cancelled, Completed, Failed, Queued, Running, Skipped, Started};
    match status {
        Completed | Failed | Cancelled | Skipped => true,
        Queued | Started | Running => false,
    }
}

/// As given, else from the numbers; `None` without either.
fn percent(given: &Option<f64>, current: Option<u64>, total: Option<u64>) -> Option<f64> {
    let counted = match (current, total) {
        (Some(current), Some(total @ 1..)) => Some((current as f64 / total as f64 * 100.0).round()),
        _ => None,
    };
    let percent = given.filter(|percent| percent.is_finite()).or(counted)?;
    Some(percent.clamp(0.0, 100.0))
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
