//! The transient state of a session, as snapshots contain it.
//!
//! Each part is a type that owns its fields and returns the event about each of its changes; this
//! module makes the change and sends the event under one lock.

mod answer;
mod approvals;
mod compaction;
mod questions;
mod run;
mod tools;
mod warnings;

use crate::events::feed::{Feed, Joined, MissedEvents, Subscriber};
use crate::events::text::part_event;
use crate::session::watchdog::Progress;
use answer::OpenAnswer;
use approvals::OpenApprovals;
use compaction::CompactionView;
use netaclaw_models::GrowingAnswer;
use netaclaw_protocol::{
    ApprovalOutcome, CompactionProgress, DeltaEvent, LocalizedError, PartDelta, PartKind,
    ReliableEvent, RunId, RunOutcome, RunPhase, RunState, StreamEnd, StreamStart, StreamingAnswer,
    StreamingPart, ThinkingDone, TodoList, TokenUpdate, ToolOutput, ToolProcessEvent, ToolsChanged,
};
use netaclaw_tools::ClarifyAnswer;
use questions::OpenQuestions;
use run::RunClock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tools::OpenTools;
use warnings::Warnings;

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
    pub(crate) run: RunClock,
    streaming: Option<OpenAnswer>,
    pub(crate) tools: OpenTools,
    pub(crate) questions: OpenQuestions,
    pub(crate) approvals: OpenApprovals,
    pub(crate) compaction: CompactionView,
    pub(crate) warnings: Warnings,
    todo: TodoList,
    /// As last published, or shown to the first client; `None` before that.
    pub(crate) tokens: Option<TokenUpdate>,
    /// The tools that were announced to the model of the current run.
    told_tools: Option<Vec<String>>,
}

impl TransientState {
    pub(crate) fn new(feed: Feed, warnings: Vec<LocalizedError>) -> Self {
        let state = TransientFields {
            run: RunClock::default(),
            streaming: None,
            tools: OpenTools::default(),
            questions: OpenQuestions::default(),
            approvals: OpenApprovals::default(),
            compaction: CompactionView::default(),
            warnings: Warnings::new(warnings),
            todo: TodoList::default(),
            tokens: None,
            told_tools: None,
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

    pub(crate) fn read<T>(&self, read: impl FnOnce(&TransientFields) -> T) -> T {
        read(&self.lock())
    }

    /// Changes the state, and sends the events about it in the same step.
    pub(crate) fn change<E>(&self, change: impl FnOnce(&mut TransientFields) -> E)
    where
        E: IntoIterator<Item = ReliableEvent>,
    {
        let mut state = self.lock();
        for event in change(&mut state) {
            self.feed.emit(&event);
        }
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

    /// Whether a question or an approval is open.
    pub(crate) fn waits_for_person(&self) -> bool {
        self.read(|state| state.waiting() > 0)
    }

    pub(crate) fn run_status(
        &self,
        status: RunState,
        run_id: Option<RunId>,
        phase: Option<RunPhase>,
        detail: Option<String>,
    ) {
        self.change(|state| state.run.set(status, run_id, phase, detail));
    }

    /// The run enters another phase, unless it is being stopped.
    pub(crate) fn phase(&self, phase: RunPhase, detail: Option<String>) {
        self.change(|state| state.run.enter(phase, detail, None));
    }

    pub(crate) fn stream_started(&self, start: StreamStart, text: GrowingAnswer) {
        self.change(|state| {
            state.streaming = Some(OpenAnswer::new(start.clone(), text));
            Some(ReliableEvent::AssistantStreamStart(start))
        });
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
        self.change(|state| {
            state.streaming = None;
            Some(ReliableEvent::AssistantStreamEnd(end))
        });
    }

    pub(crate) fn tool_output(&self, output: ToolOutput) {
        let mut state = self.lock();
        if let Some(text) = state.tools.add_output(output) {
            self.feed.emit_text(text);
        }
    }

    /// A step of a call. Clients receive it soon; a snapshot has it at once.
    pub(crate) fn tool_step(&self, step: ToolProcessEvent) {
        let mut state = self.lock();
        if let Some(skill) = state.tools.add_step(&step) {
            self.feed.emit_delta(skill);
        }
        self.feed.emit_step(step);
    }

    pub(crate) fn compaction_progress(&self, progress: CompactionProgress) {
        self.progress.made("compaction");
        self.change(|state| state.compaction.progress(progress));
    }

    /// The announced tools, if any were announced since the last call.
    pub(crate) fn take_told_tools(&self) -> Option<Vec<String>> {
        self.lock().told_tools.take()
    }

    /// Nothing of a run that ended stays behind but the warnings, which are returned.
    pub(crate) fn clear_run(&self, outcome: RunOutcome) -> Vec<LocalizedError> {
        let mut state = self.lock();
        self.feed.finish_steps();
        state.streaming = None;
        state.tools.clear();
        state.warnings.end_run(outcome)
    }

    fn lock(&self) -> MutexGuard<'_, TransientFields> {
        // A panic under this lock ends its run; what it left half done is cleared with the run.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TransientFields {
    fn waiting(&self) -> usize {
        self.questions.all().len() + self.approvals.all().len()
    }

    /// Whether the run waits for a user or a tool.
    pub(crate) fn waits_or_works(&self) -> bool {
        self.waiting() > 0 || !self.tools.all().is_empty()
    }

    /// Whether the run can only continue after a user's answer.
    pub(crate) fn only_waits_for_person(&self) -> bool {
        self.waiting() > 0 && self.tools.all().len() <= self.waiting()
    }

    /// The answer that arrives, for a snapshot.
    pub(crate) fn streaming(&self) -> Option<StreamingAnswer> {
        self.streaming.as_ref().map(OpenAnswer::shown)
    }

    pub(crate) fn todo(&self) -> &TodoList {
        &self.todo
    }

    pub(crate) fn set_todo(&mut self, todo: TodoList) -> Option<ReliableEvent> {
        if self.todo == todo {
            return None;
        }
        self.todo.clone_from(&todo);
        Some(ReliableEvent::TodoUpdate(todo))
    }

    pub(crate) fn set_tokens(&mut self, tokens: TokenUpdate) -> Option<ReliableEvent> {
        self.tokens = Some(tokens.clone());
        Some(ReliableEvent::TokenUpdate(tokens))
    }

    pub(crate) fn announce_tools(
        &mut self,
        names: Vec<String>,
        changed: Option<ToolsChanged>,
    ) -> Option<ReliableEvent> {
        self.told_tools = Some(names);
        changed.map(ReliableEvent::ToolsChanged)
    }

    /// A question is closed, and all clients receive the reason.
    pub(crate) fn close_question(
        &mut self,
        request_id: &str,
        answer: &ClarifyAnswer,
    ) -> Option<ReliableEvent> {
        let answered = self.questions.close(request_id, answer)?;
        self.tools.restart_clock(&answered.tool_call_id);
        Some(ReliableEvent::ClarifyAnswered(answered))
    }

    pub(crate) fn close_approval(
        &mut self,
        approval_id: &str,
        outcome: ApprovalOutcome,
    ) -> Option<ReliableEvent> {
        let decided = self.approvals.close(approval_id, outcome)?;
        self.tools.restart_clock(&decided.tool_call_id);
        Some(ReliableEvent::ApprovalDecided(decided))
    }

    /// What waits for a user cannot be answered now.
    pub(crate) fn close_requests(&mut self) -> Vec<ReliableEvent> {
        let mut closed = Vec::new();
        while let Some(request_id) = self.questions.first() {
            closed.extend(self.close_question(&request_id, &ClarifyAnswer::Dismissed));
        }
        for asked in self.approvals.all().to_vec() {
            closed.extend(self.close_approval(&asked.approval_id, ApprovalOutcome::Closed));
        }
        closed
    }

    /// All unnumbered events about what is not stored yet: text from its beginning, the steps of
    /// calls, and which thinking has ended.
    fn open_deltas(&self) -> Vec<DeltaEvent> {
        let answer = self.streaming.iter();
        let text = answer.clone().flat_map(OpenAnswer::text);
        let thought = answer.flat_map(OpenAnswer::thought);
        text.chain(self.tools.outputs())
            .chain(self.tools.steps())
            .chain(thought.map(DeltaEvent::ThinkingDone))
            .collect()
    }
}

#[cfg(test)]
mod tests;
