//! What a session is doing right now, as a joining client must see it.

mod compaction;
mod people;
mod steps;

use crate::events::feed::{Feed, Joined, Missed, Subscriber, now_ms};
use crate::events::text::part_event;
use crate::session::watchdog::Progress;
use netaclaw_protocol::{
    ApprovalQuestion, CompactionFailed, CompactionUnderWay, DeltaEvent, EntryId, ErrorCode,
    OpenTool, PartDelta, PartKind, ProcessTimeline, Question, ReliableEvent, RunError, RunId,
    RunOutcome, RunPhase, RunState, RunStatus, Severity, StreamEnd, StreamStart, StreamingAnswer,
    StreamingPart, ThinkingDone, TodoList, TokenUpdate, ToolCallCompleted, ToolCallStarted,
    ToolOutput, ToolsChanged, Trouble, TroubleKind,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Output of a running tool that is shown at most, the same to all who look: text has offsets, so
/// that what one has and another has not would be a gap. The result entry carries what counts.
const OUTPUT_CHARS_MAX: u64 = 256 * 1024;
/// Stands behind the last of it.
const OUTPUT_CUT: &str = "\n[后续输出不再实时显示，请看结果。 Further output is not shown live; see the \
                          result.]\n";

/// The moving part of a session. Every change and its event happen under one lock, so that a
/// snapshot and the events after it never overlap or leave a gap.
#[derive(Clone)]
pub(crate) struct Live {
    feed: Feed,
    progress: Progress,
    state: Arc<Mutex<LiveState>>,
}

#[derive(Debug)]
pub(crate) struct LiveState {
    pub(crate) run: RunStatus,
    pub(crate) streaming: Option<StreamingAnswer>,
    pub(crate) tools: Vec<OpenTool>,
    pub(crate) questions: Vec<Question>,
    pub(crate) approvals: Vec<ApprovalQuestion>,
    pub(crate) todo: TodoList,
    /// As last told, or shown to whoever joined first; `None` before that.
    pub(crate) tokens: Option<TokenUpdate>,
    pub(crate) compaction: Option<CompactionUnderWay>,
    pub(crate) compaction_failed: Option<CompactionFailed>,
    /// What people were told about the setting of this session. Told again only when it changes.
    pub(crate) warnings: Vec<Trouble>,
    /// What the model of the run under way was told it has.
    told_tools: Option<Vec<String>>,
    /// The warnings of the run under way.
    raised: Vec<TroubleKind>,
}

impl Live {
    pub(crate) fn new(feed: Feed, warnings: Vec<Trouble>) -> Self {
        let state = LiveState {
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

    /// The signs of life of the run under way.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether a person or a tool is waited for.
    pub(crate) fn waits_or_works(&self) -> bool {
        let state = self.lock();
        state.waiting() > 0 || !state.tools.is_empty()
    }

    /// The phase of the run under way, in the words of the protocol.
    pub(crate) fn phase_name(&self) -> String {
        let phase = self.lock().run.phase;
        let name = phase.and_then(|phase| serde_json::to_value(phase).ok());
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_else(|| "stopping".to_owned())
    }

    /// Adds a subscriber and shows the state as it is at that moment: what `look` sees and the
    /// events after [`Joined::seq`] fit together without a seam.
    pub(crate) fn join<T>(
        &self,
        subscriber: Arc<dyn Subscriber>,
        look: impl FnOnce(&LiveState, Joined) -> T,
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
    ) -> Option<(Joined, Missed)> {
        let state = self.lock();
        let resumed = self.feed.resume(epoch, last_seq, subscriber)?;
        let steps = state.open_steps().into_iter().map(Box::new);
        let steps = steps.map(DeltaEvent::ToolProcessEvent);
        let thought = state.thought().into_iter().map(DeltaEvent::ThinkingDone);
        for event in state.open_text().into_iter().chain(steps).chain(thought) {
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
            since: now_ms(),
        };
        self.set_run(&mut self.lock(), run);
    }

    /// The run goes on in another phase, unless it is being stopped.
    pub(crate) fn phase(&self, phase: RunPhase, detail: Option<String>) {
        let mut state = self.lock();
        if state.run.status != RunState::Running {
            return;
        }
        let run = RunStatus {
            phase: Some(phase),
            detail,
            since: now_ms(),
            ..state.run.clone()
        };
        self.set_run(&mut state, run);
    }

    fn set_run(&self, state: &mut LiveState, run: RunStatus) {
        let same = (&state.run.status, &state.run.phase, &state.run.detail)
            == (&run.status, &run.phase, &run.detail);
        if same {
            return;
        }
        state.run = run.clone();
        self.feed.emit(&ReliableEvent::RunStatus(run));
    }

    pub(crate) fn stream_started(&self, start: StreamStart) {
        let mut state = self.lock();
        state.streaming = Some(StreamingAnswer {
            run_id: start.run_id.clone(),
            entry_id: start.entry_id.clone(),
            parent_id: start.parent_id.clone(),
            provider: start.provider.clone(),
            model: start.model.clone(),
            parts: Vec::new(),
        });
        self.feed.emit(&ReliableEvent::AssistantStreamStart(start));
    }

    pub(crate) fn part_started(&self, part: StreamingPart) {
        let mut state = self.lock();
        if let Some(streaming) = &mut state.streaming {
            streaming.parts.push(part);
        }
    }

    /// More text of a part. Whose arguments they are is told with every piece: which of them a
    /// client hears first nobody knows.
    pub(crate) fn part_delta(&self, mut delta: PartDelta) {
        let mut state = self.lock();
        if let Some(part) = state.part_mut(&delta.entry_id, delta.part) {
            part.text.push_str(&delta.text);
            delta.tool_call_id = part.tool_call_id.clone();
            delta.tool_name = part.tool_name.clone();
        }
        self.feed.emit_text(part_event(delta));
    }

    pub(crate) fn part_ended(&self, done: ThinkingDone, kind: PartKind) {
        let mut state = self.lock();
        if let Some(part) = state.part_mut(&done.entry_id, done.part) {
            part.done = true;
            part.duration_ms = Some(done.duration_ms);
        }
        if kind == PartKind::Thinking {
            self.feed.emit_delta(DeltaEvent::ThinkingDone(done));
        }
    }

    /// The answer is stored; from here on its entry tells of it.
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

    pub(crate) fn tools_told(&self, names: Vec<String>, changed: Option<ToolsChanged>) {
        let mut state = self.lock();
        state.told_tools = Some(names);
        if let Some(changed) = changed {
            self.feed.emit(&ReliableEvent::ToolsChanged(changed));
        }
    }

    /// What was told, if anything was since this was asked last.
    pub(crate) fn take_told_tools(&self) -> Option<Vec<String>> {
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

    /// The numbers that everybody has who looks; `None` if nobody has looked yet.
    pub(crate) fn tokens_shown(&self) -> Option<TokenUpdate> {
        self.lock().tokens.clone()
    }

    /// Shows numbers to whoever looks first. A run that has told of newer ones meanwhile wins.
    pub(crate) fn show_tokens(&self, first: TokenUpdate) {
        self.lock().tokens.get_or_insert(first);
    }

    /// A warning of a run. One about the session's setting is told once; every run meets it.
    pub(crate) fn warned(&self, run_id: &RunId, warning: Trouble) {
        let mut state = self.lock();
        if is_standing(warning.kind) {
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
    pub(crate) fn clear_run(&self, outcome: RunOutcome) -> Vec<Trouble> {
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

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        // A panic under this lock ends its run; what it left half done is cleared with the run.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveState {
    fn waiting(&self) -> usize {
        self.questions.len() + self.approvals.len()
    }

    /// Everything that has been streamed of what is not stored yet.
    fn open_text(&self) -> Vec<DeltaEvent> {
        let parts = self.streaming.iter().flat_map(|answer| {
            answer.parts.iter().map(|part| {
                part_event(PartDelta {
                    run_id: answer.run_id.clone(),
                    entry_id: answer.entry_id.clone(),
                    part: part.part,
                    kind: part.kind,
                    tool_call_id: part.tool_call_id.clone(),
                    tool_name: part.tool_name.clone(),
                    offset: 0,
                    text: part.text.clone(),
                })
            })
        });
        let outputs = self.tools.iter().map(|tool| {
            DeltaEvent::ToolResultStreamed(ToolOutput {
                run_id: tool.call.run_id.clone(),
                tool_call_id: tool.call.tool_call_id.clone(),
                offset: 0,
                text: tool.output.clone(),
            })
        });
        parts.chain(outputs).collect()
    }

    /// Thinking of the open answer that is over.
    fn thought(&self) -> Vec<ThinkingDone> {
        let answer = self.streaming.iter();
        answer
            .flat_map(|answer| {
                let thinking = answer.parts.iter().filter(|p| p.kind == PartKind::Thinking);
                thinking.filter_map(|part| {
                    Some(ThinkingDone {
                        run_id: answer.run_id.clone(),
                        entry_id: answer.entry_id.clone(),
                        part: part.part,
                        duration_ms: part.duration_ms?,
                    })
                })
            })
            .collect()
    }

    fn part_mut(&mut self, entry: &EntryId, part: u32) -> Option<&mut StreamingPart> {
        let streaming = self.streaming.as_mut().filter(|s| s.entry_id == *entry)?;
        streaming.parts.iter_mut().find(|known| known.part == part)
    }
}

/// Whether a warning is about how things are, and not about what has just happened.
fn is_standing(kind: TroubleKind) -> bool {
    matches!(
        kind,
        TroubleKind::NoToolSupport
            | TroubleKind::UnknownTools
            | TroubleKind::NoSandbox
            | TroubleKind::UnreadableMessages
            | TroubleKind::CompactionPaused
            | TroubleKind::NewerVersion
    )
}

fn idle() -> RunStatus {
    RunStatus {
        status: RunState::Idle,
        run_id: None,
        phase: None,
        detail: None,
        since: now_ms(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::event::{EventGroup, ServerEvent};
    use netaclaw_protocol::SessionId;
    use serde_json::{Value, json};

    /// Keeps what it hears.
    #[derive(Default)]
    struct Ear(Mutex<Vec<Value>>);

    impl Subscriber for Ear {
        fn deliver(&self, event: &ServerEvent) {
            let event = serde_json::from_str(event.json.get()).unwrap();
            self.0.lock().unwrap().push(event);
        }

        fn wants(&self, group: EventGroup) -> bool {
            group == EventGroup::Current
        }
    }

    fn part(part: u32, kind: PartKind) -> StreamingPart {
        let called = (kind == PartKind::ToolCall).then(|| "call_1".to_owned());
        StreamingPart {
            part,
            kind,
            text: String::new(),
            tool_name: called.as_ref().map(|_| "ls".to_owned()),
            tool_call_id: called,
            done: false,
            started_at: 0,
            duration_ms: None,
        }
    }

    #[test]
    fn a_run_that_is_being_stopped_does_not_look_as_if_it_ran() {
        let live = Live::new(
            Feed::new(SessionId::new("s"), "epoch".to_owned()),
            Vec::new(),
        );
        let run = Some(RunId::new("r"));
        for _ in 0..5000 {
            let phase = Some(RunPhase::Preparing);
            live.run_status(RunState::Running, run.clone(), phase, None);
            let meet = std::sync::Barrier::new(2);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    meet.wait();
                    live.phase(RunPhase::RunningTools, None);
                });
                meet.wait();
                live.run_status(RunState::Stopping, run.clone(), None, None);
            });
            assert_eq!(live.lock().run.status, RunState::Stopping);
        }
    }

    #[tokio::test]
    async fn a_client_that_comes_back_hears_whose_arguments_and_how_long_it_thought() {
        let feed = Feed::new(SessionId::new("s"), "epoch".to_owned());
        let live = Live::new(feed.clone(), Vec::new());
        let (run_id, entry_id) = (RunId::new("r"), EntryId::new("e"));
        live.stream_started(StreamStart {
            run_id: run_id.clone(),
            entry_id: entry_id.clone(),
            parent_id: None,
            provider: "p".to_owned(),
            model: "m".to_owned(),
        });
        live.part_started(part(0, PartKind::Thinking));
        let done = ThinkingDone {
            run_id: run_id.clone(),
            entry_id: entry_id.clone(),
            part: 0,
            duration_ms: 7,
        };
        live.part_ended(done, PartKind::Thinking);
        live.part_started(part(1, PartKind::ToolCall));
        live.part_delta(PartDelta {
            run_id,
            entry_id,
            part: 1,
            kind: PartKind::ToolCall,
            tool_call_id: None,
            tool_name: None,
            offset: 0,
            text: "{".to_owned(),
        });

        let ear = Arc::new(Ear::default());
        let subscriber: Arc<dyn Subscriber> = ear.clone();
        let joined = live.join(Arc::new(Ear::default()), |_, joined| joined);
        live.resume("epoch", joined.seq, &subscriber).unwrap();
        let heard = ear.0.lock().unwrap();
        let of = |name: &str| heard.iter().find(|event| event["type"] == name);
        let delta = &heard
            .iter()
            .find(|event| event["data"]["part"] == 1)
            .unwrap()["data"];
        assert_eq!(
            (&delta["toolCallId"], &delta["toolName"]),
            (&json!("call_1"), &json!("ls"))
        );
        assert_eq!(of("thinking_done").unwrap()["data"]["durationMs"], 7);
    }
}
