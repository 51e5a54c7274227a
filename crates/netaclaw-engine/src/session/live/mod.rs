//! The transient state of a session, as snapshots contain it.

mod answer;
mod compaction;
mod people;
mod steps;

use crate::events::feed::{Feed, Joined, MissedEvents, Subscriber, now_ms};
use crate::events::text::part_event;
use crate::session::watchdog::Progress;
use answer::OpenAnswer;
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    ApprovalQuestion, CompactionFailed, CompactionUnderWay, DeltaEvent, ErrorCode, LocalizedError,
    LocalizedErrorKind, OpenTool, PartDelta, PartKind, ProcessTimeline, Question, ReliableEvent,
    RetryNotice, RunError, RunId, RunOutcome, RunPhase, RunState, RunStatus, Severity, StreamEnd,
    StreamStart, StreamingAnswer, StreamingPart, ThinkingDone, TodoList, TokenUpdate,
    ToolCallCompleted, ToolCallStarted, ToolOutput, ToolsChanged,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Output of a running tool that is shown at most, the same to all who look: text has offsets, so
/// that what one has and another has not would be a gap. The result entry carries what counts.
const OUTPUT_CHARS_MAX: u64 = 256 * 1024;
/// Stands behind the last of it.
const OUTPUT_CUT: &str = "\n[后续输出不再实时显示，请查看结果。 Further output is not shown live; \
                          see the result.]\n";

/// The moving part of a session. Every change and its event happen under one lock, so that a
/// snapshot and the events after it never overlap or leave a gap.
#[derive(Clone)]
pub(crate) struct TransientState {
    feed: Feed,
    progress: Progress,
    state: Arc<Mutex<TransientFields>>,
}

#[derive(Debug)]
pub(crate) struct TransientFields {
    pub(crate) run: RunStatus,
    streaming: Option<OpenAnswer>,
    pub(crate) tools: Vec<OpenTool>,
    pub(crate) questions: Vec<Question>,
    pub(crate) approvals: Vec<ApprovalQuestion>,
    pub(crate) todo: TodoList,
    /// As last published, or shown to the first client; `None` before that.
    pub(crate) tokens: Option<TokenUpdate>,
    pub(crate) compaction: Option<CompactionUnderWay>,
    pub(crate) compaction_failed: Option<CompactionFailed>,
    /// Warnings about the setting of this session that were published. Published again only when
    /// they change.
    pub(crate) warnings: Vec<LocalizedError>,
    /// The tools that were announced to the model of the current run.
    told_tools: Option<Vec<String>>,
    /// The warnings of the current run.
    raised: Vec<LocalizedErrorKind>,
}

impl TransientState {
    pub(crate) fn new(feed: Feed, warnings: Vec<LocalizedError>) -> Self {
        let state = TransientFields {
            run: idle(),
            streaming: None,
            tools: Vec::new(),
            questions: Vec::new(),
            approvals: Vec::new(),
            todo: TodoList::default(),
            tokens: None,
            compaction: None,
            compaction_failed: None,
            warnings,
            told_tools: None,
            raised: Vec::new(),
        };
        Self {
            feed,
            progress: Progress::new(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The last activity of the current run.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether the run waits for a user or a tool.
    pub(crate) fn waits_or_works(&self) -> bool {
        let state = self.lock();
        state.waiting() > 0 || !state.tools.is_empty()
    }

    /// The phase of the current run, as in the protocol.
    pub(crate) fn phase_name(&self) -> String {
        let phase = self.lock().run.phase;
        let name = phase.and_then(|phase| serde_json::to_value(phase).ok());
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_else(|| "stopping".to_owned())
    }

    /// Adds a subscriber and shows the state at that moment: there is no gap between what `look`
    /// sees and the events after [`Joined::seq`].
    pub(crate) fn join<T>(
        &self,
        subscriber: Arc<dyn Subscriber>,
        look: impl FnOnce(&TransientFields, Joined) -> T,
    ) -> T {
        let state = self.lock();
        let joined = self.feed.subscribe(subscriber);
        look(&state, joined)
    }

    /// Adds a subscriber who comes back. Text that streams has no numbers, so what is open is sent
    /// again from its beginning; the client drops what it has.
    pub(crate) fn resume(
        &self,
        epoch: &str,
        last_seq: u64,
        subscriber: &Arc<dyn Subscriber>,
    ) -> Option<(Joined, MissedEvents)> {
        let state = self.lock();
        let resumed = self.feed.resume(epoch, last_seq, subscriber)?;
        for event in state.open_deltas() {
            self.feed.send_to(&**subscriber, event);
        }
        Some(resumed)
    }

    pub(crate) fn run_status(
        &self,
        status: RunState,
        run_id: Option<RunId>,
        phase: Option<RunPhase>,
        detail: Option<String>,
    ) {
        let run = RunStatus {
            status,
            run_id,
            phase,
            detail,
            ..idle()
        };
        self.set_run(&mut self.lock(), run);
    }

    /// The run enters another phase, unless it is being stopped.
    pub(crate) fn phase(&self, phase: RunPhase, detail: Option<String>) {
        self.enter_phase(phase, detail, None);
    }

    /// The model could not be asked, and is asked again.
    pub(crate) fn retrying(&self, phase: RunPhase, detail: String, retry: RetryNotice) {
        self.enter_phase(phase, Some(detail), Some(Box::new(retry)));
    }

    fn enter_phase(
        &self,
        phase: RunPhase,
        detail: Option<String>,
        retry: Option<Box<RetryNotice>>,
    ) {
        let mut state = self.lock();
        if state.run.status != RunState::Running {
            return;
        }
        let run = RunStatus {
            phase: Some(phase),
            detail,
            retry,
            since: now_ms(),
            ..state.run.clone()
        };
        self.set_run(&mut state, run);
    }

    fn set_run(&self, state: &mut TransientFields, run: RunStatus) {
        let same = (&state.run.status, &state.run.phase, &state.run.detail)
            == (&run.status, &run.phase, &run.detail);
        if same {
            return;
        }
        let run = timed(run, &state.run);
        state.run = run.clone();
        self.feed.emit(&ReliableEvent::RunStatus(run));
    }

    pub(crate) fn stream_started(&self, start: StreamStart, text: GrowingAnswer) {
        let mut state = self.lock();
        state.streaming = Some(OpenAnswer::new(start.clone(), text));
        self.feed.emit(&ReliableEvent::AssistantStreamStart(start));
    }

    pub(crate) fn part_started(&self, part: StreamingPart) {
        if let Some(answer) = &mut self.lock().streaming {
            answer.start_part(part);
        }
    }

    /// More text of a part. The answer has it already, so that a snapshot is never behind.
    pub(crate) fn part_delta(&self, delta: PartDelta) {
        self.feed.emit_text(part_event(delta));
    }

    pub(crate) fn part_ended(&self, done: ThinkingDone, kind: PartKind) {
        let mut state = self.lock();
        if let Some(answer) = &mut state.streaming {
            answer.end_part(&done);
        }
        if kind == PartKind::Thinking {
            let answer = state.streaming.as_ref();
            let text = || answer.map_or_else(String::new, |answer| answer.text_of(done.part));
            self.feed.emit_thought(done.clone(), text);
        }
    }

    /// The answer is stored; from here on its entry represents it.
    pub(crate) fn stream_ended(&self, end: StreamEnd) {
        let mut state = self.lock();
        state.streaming = None;
        self.feed.emit(&ReliableEvent::AssistantStreamEnd(end));
    }

    pub(crate) fn tool_started(&self, call: ToolCallStarted) {
        let mut state = self.lock();
        state.tools.push(OpenTool {
            call: call.clone(),
            output: String::new(),
            timeline: ProcessTimeline::default(),
            started_at: now_ms(),
        });
        self.feed.emit(&ReliableEvent::ToolCallStarted(call));
    }

    pub(crate) fn tool_output(&self, mut output: ToolOutput) {
        let Some(room) = OUTPUT_CHARS_MAX.checked_sub(output.offset) else {
            return;
        };
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if let Some((end, _)) = output.text.char_indices().nth(room) {
            output.text.replace_range(end.., OUTPUT_CUT);
        }
        let mut state = self.lock();
        let mut tools = state.tools.iter_mut();
        if let Some(tool) = tools.find(|tool| tool.call.tool_call_id == output.tool_call_id) {
            tool.output.push_str(&output.text);
        }
        self.feed.emit_text(DeltaEvent::ToolResultStreamed(output));
    }

    pub(crate) fn tool_completed(&self, done: ToolCallCompleted) {
        let mut state = self.lock();
        state
            .tools
            .retain(|tool| tool.call.tool_call_id != done.tool_call_id);
        self.feed.emit(&ReliableEvent::ToolCallCompleted(done));
    }

    pub(crate) fn tools_announced(&self, names: Vec<String>, changed: Option<ToolsChanged>) {
        let mut state = self.lock();
        state.told_tools = Some(names);
        if let Some(changed) = changed {
            self.feed.emit(&ReliableEvent::ToolsChanged(changed));
        }
    }

    /// The announced tools, if any were announced since the last call.
    pub(crate) fn take_announced_tools(&self) -> Option<Vec<String>> {
        self.lock().told_tools.take()
    }

    pub(crate) fn todo_changed(&self, todo: TodoList) {
        let mut state = self.lock();
        if state.todo != todo {
            state.todo = todo.clone();
            self.feed.emit(&ReliableEvent::TodoUpdate(todo));
        }
    }

    pub(crate) fn tokens_changed(&self, tokens: TokenUpdate) {
        let mut state = self.lock();
        state.tokens = Some(tokens.clone());
        self.feed.emit(&ReliableEvent::TokenUpdate(tokens));
    }

    /// The numbers that all clients have; `None` if no client has opened the session.
    pub(crate) fn tokens_shown(&self) -> Option<TokenUpdate> {
        self.lock().tokens.clone()
    }

    /// Publishes numbers to the first client. If a run has published newer ones in the meantime,
    /// those win.
    pub(crate) fn show_tokens(&self, first: TokenUpdate) {
        self.lock().tokens.get_or_insert(first);
    }

    /// A warning of a run. One about the session's setting is published once, because every run
    /// meets it.
    pub(crate) fn warned(&self, run_id: &RunId, warning: LocalizedError) {
        let mut state = self.lock();
        if is_lasting(warning.kind) {
            state.raised.push(warning.kind);
            if state.warnings.contains(&warning) {
                return;
            }
            state.warnings.retain(|known| known.kind != warning.kind);
            state.warnings.push(warning.clone());
        }
        let error = RunError {
            run_id: Some(run_id.clone()),
            code: ErrorCode::Unavailable,
            severity: Severity::Warning,
            message: warning.words.en.clone(),
            trouble: Some(Box::new(warning)),
        };
        self.feed.emit(&ReliableEvent::Error(error));
    }

    /// Nothing of a run that ended stays behind but the warnings, which are returned. A run that
    /// came to its end has raised all there are; what it did not raise has been mended.
    pub(crate) fn clear_run(&self, outcome: RunOutcome) -> Vec<LocalizedError> {
        let mut state = self.lock();
        self.feed.finish_steps();
        state.streaming = None;
        state.tools.clear();
        let raised = std::mem::take(&mut state.raised);
        if outcome == RunOutcome::Completed {
            state.warnings.retain(|known| raised.contains(&known.kind));
        }
        state.warnings.clone()
    }

    fn lock(&self) -> MutexGuard<'_, TransientFields> {
        // A panic under this lock ends its run; what it left half done is cleared with the run.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TransientFields {
    fn waiting(&self) -> usize {
        self.questions.len() + self.approvals.len()
    }

    /// The answer that arrives, for a snapshot.
    pub(crate) fn streaming(&self) -> Option<StreamingAnswer> {
        self.streaming.as_ref().map(OpenAnswer::shown)
    }

    /// All unnumbered events about what is not stored yet: text from its beginning, the steps of
    /// calls, and which thinking has ended.
    fn open_deltas(&self) -> Vec<DeltaEvent> {
        let outputs = self.tools.iter().map(|tool| {
            DeltaEvent::ToolResultStreamed(ToolOutput {
                run_id: tool.call.run_id.clone(),
                tool_call_id: tool.call.tool_call_id.clone(),
                offset: 0,
                text: tool.output.clone(),
            })
        });
        let steps = self.open_steps().into_iter().map(Box::new);
        let answer = self.streaming.iter();
        let text = answer.clone().flat_map(OpenAnswer::text);
        let thought = answer.flat_map(OpenAnswer::thought);
        text.chain(outputs)
            .chain(steps.map(DeltaEvent::ToolProcessEvent))
            .chain(thought.map(DeltaEvent::ThinkingDone))
            .collect()
    }
}

/// Whether a warning is about how things are, and not about what has just happened.
fn is_lasting(kind: LocalizedErrorKind) -> bool {
    matches!(
        kind,
        LocalizedErrorKind::NoToolSupport
            | LocalizedErrorKind::UnknownTools
            | LocalizedErrorKind::NoSandbox
            | LocalizedErrorKind::UnreadableMessages
            | LocalizedErrorKind::CompactionPaused
            | LocalizedErrorKind::NewerVersion
    )
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

#[cfg(test)]
mod tests;
