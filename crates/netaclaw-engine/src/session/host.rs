//! `RunHost` for a live session: one run's access to it.

use crate::compaction::CompactionState;
use crate::error::EngineError;
use crate::events::executions::status_of;
use crate::metrics::{self, CallClock};
use crate::process_log::StepLog;
use crate::session::approvals::{may_grant_for_agent, seat_of};
use crate::session::durable::{Queued, StoredApproval, StoredQuestion};
use crate::session::expiry::{ExpiryOutcome, expire, expired, expiry};
use crate::session::live::TransientState;
use crate::session::meter::Meter;
use crate::session::partial::{PartialAnswer, PartialSlot};
use crate::session::pending_replies::PendingReplies;
use crate::session::trace::RunTrace;
use crate::session::user_message::UserMark;
use crate::session::writer::{SessionWriter, Writing};
use crate::source::AgentSource;
use async_trait::async_trait;
use futures::future::BoxFuture;
use netaclaw_governance::{Approval, ApprovalRequest, Consent, covering, offers};
use netaclaw_models::{ModelError, StreamPart};
use netaclaw_protocol::{
    ApprovalQuestion, EntryId, PartKind, ProcessSource, Question, RetryNotice, RunId, RunPhase,
    StopReason, StreamEnd, StreamStart, StreamingPart, ThinkingDone, ToolCallCompleted,
    ToolCallStarted, ToolProcessEvent, now_ms,
};
use netaclaw_runtime::{
    AnswerSoFar, HostError, ModelCall, OpenApproval, Overflow, RunContext, RunEvent, RunHost,
    ToolStep, todo_on_path,
};
use netaclaw_session::{
    Entry, EntryBody, Flush, NewEntry, PathError, SessionTree, build_session_context,
};
use netaclaw_tools::{ClarifyAnswer, ClarifyQuestion};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Ids drawn for one turn: an answer and the results of its tool calls, if these are not very many.
const IDS_AHEAD: usize = 16;

/// One run's view of its session. It writes along a chain of its own and publishes what happens.
pub(crate) struct SessionHost {
    pub(crate) run_id: RunId,
    pub(crate) writer: Arc<SessionWriter>,
    pub(crate) live: TransientState,
    pub(crate) pending_replies: PendingReplies<ClarifyAnswer>,
    pub(crate) consents: PendingReplies<Approval>,
    pub(crate) meter: Meter,
    pub(crate) clock: CallClock,
    pub(crate) trace: RunTrace,
    pub(crate) steps: StepLog,
    /// Ids that no entry had when they were drawn.
    pub(crate) free_ids: Vec<EntryId>,
    /// For the background job of the run that keeps partial answers.
    pub(crate) partial: Arc<PartialSlot<PartialAnswer>>,
    pub(crate) source: Arc<dyn AgentSource>,
    pub(crate) compaction_state: Arc<CompactionState>,
    /// Cancelled when the server stops.
    pub(crate) shutdown: CancellationToken,
    /// The percentage of the window at which the context is compacted.
    pub(crate) threshold_percent: Option<u8>,
    /// The context that was read to be measured, for the call it was measured for.
    pub(crate) measured: Option<MeasuredContext>,
}

/// A context, and the entry for which it was read. Entries do not change, so it is valid for as
/// long as the chain ends there.
pub(crate) struct MeasuredContext {
    pub(crate) tip: Option<EntryId>,
    pub(crate) entries: usize,
    pub(crate) context: RunContext,
}

#[async_trait]
impl RunHost for SessionHost {
    async fn context(&mut self) -> Result<RunContext, HostError> {
        let tip = self.writer.run_tip();
        let tree = self.writer.tree().await.map_err(unavailable)?;
        self.draw_ids(&tree);
        let entries = tree.entries().len();
        match self.measured.take() {
            Some(known) if known.tip == tip && known.entries == entries => Ok(known.context),
            _ => read_context(&self.writer, &tree, tip.as_ref()),
        }
    }

    fn next_entry_id(&mut self) -> EntryId {
        // A turn with more calls than ids drawn in advance gets unchecked ids; one that is taken
        // after all is refused by the provider, and the run ends with an error instead of a mix-up.
        self.free_ids.pop().unwrap_or_else(random_id)
    }

    async fn append(&mut self, id: Option<EntryId>, body: EntryBody) -> Result<Entry, HostError> {
        let mut writing = self.writer.begin().await;
        let mut new = NewEntry::below(self.writer.run_tip(), body);
        new.id = id;
        let appended = writing.append(new).await.map_err(unavailable)?;
        self.live.progress().made("entry");
        Ok(appended)
    }

    fn emit(&mut self, event: RunEvent) {
        self.notify_watchdog(&event);
        match event {
            RunEvent::Phase { phase, detail } => {
                if phase == RunPhase::WaitingForModel {
                    self.clock.model_asked();
                    self.trace.model_asked();
                }
                self.live.phase(phase, detail);
            }
            RunEvent::Retrying {
                after_ms, reason, ..
            } => {
                metrics::retried(reason.kind());
                self.trace.retried(reason.kind());
                let detail = format!("{reason}; trying again in {} s", after_ms.div_ceil(1000));
                let retry = RetryNotice {
                    trouble: reason.notice(),
                    at: Some(now_ms() + i64::try_from(after_ms).unwrap_or(i64::MAX / 2)),
                    fallback: None,
                };
                let retry = Some(Box::new(retry));
                let phase = RunPhase::Retrying;
                self.live
                    .change(|state| state.run.enter(phase, Some(detail), retry));
            }
            RunEvent::FallingBack { from, to, reason } => {
                metrics::fell_back(reason.kind());
                let detail = format!("{from} failed ({reason}); going on with {to}");
                let retry = RetryNotice {
                    trouble: reason.notice(),
                    at: None,
                    fallback: Some(to),
                };
                let retry = Some(Box::new(retry));
                let phase = RunPhase::WaitingForModel;
                self.live
                    .change(|state| state.run.enter(phase, Some(detail), retry));
            }
            RunEvent::Todo(todo) => self.live.change(|state| state.set_todo(todo)),
            RunEvent::Tools { names, changed } => self
                .live
                .change(|state| state.announce_tools(names, changed)),
            RunEvent::Warning(warning) => self
                .live
                .change(|state| state.warnings.raise(&self.run_id, warning)),
            answer_or_tool => self.emit_progress(answer_or_tool),
        }
    }

    fn is_shutting_down(&self) -> bool {
        self.shutdown.is_cancelled()
    }

    async fn tool_step(&mut self, step: ToolStep) {
        self.live.progress().made("step of a tool");
        self.steps.add(&step.event).await;
        if step.event.source == ProcessSource::Runtime {
            // The last one: a client that receives it finds all of them in the log.
            self.steps.write().await;
        }
        self.live.tool_step(ToolProcessEvent {
            event: step.event,
            run_id: self.run_id.clone(),
            tool_call_id: step.tool_call_id,
            assistant_entry_id: Some(step.entry_id),
            tool_name: step.tool_name,
            tool_label: Some(step.tool_label),
        });
    }

    fn answer_progress(&mut self, so_far: &AnswerSoFar) {
        self.partial.put(PartialAnswer {
            so_far: so_far.clone(),
            parent_id: self.writer.run_tip(),
        });
    }

    async fn insert_steering(&mut self) -> Result<usize, HostError> {
        let mut writing = self.writer.begin().await;
        let steering: Vec<_> = writing
            .state
            .durable
            .queue
            .iter()
            .filter(|queued| queued.steers())
            .cloned()
            .collect();
        let mut put_in = Ok(());
        for queued in &steering {
            put_in = self.put_in(queued, &mut writing).await;
            if put_in.is_err() {
                break;
            }
            self.compaction_state.on_user_message();
        }
        // The logged steps are flushed now, also if the next one could not be queued.
        if !steering.is_empty() {
            let saved = writing.persist_then_publish(Flush::Now).await;
            put_in.and(saved).map_err(unavailable)?;
        }
        Ok(steering.len())
    }

    async fn open_question(
        &mut self,
        question: ClarifyQuestion,
    ) -> Result<BoxFuture<'static, ClarifyAnswer>, HostError> {
        let timeout = self.source.question_timeout().await;
        let question = Question {
            request_id: Uuid::now_v7().to_string(),
            run_id: self.run_id.clone(),
            tool_call_id: question.tool_call_id,
            question: question.question,
            options: question.options,
            multi: question.multi,
            expires_at: timeout.map(|timeout| expiry(now_ms(), timeout)),
            read_only: false,
        };
        let waiting = self.pending_replies.wait_for(question.request_id.clone());
        let mut writing = self.writer.begin().await;
        let asked = StoredQuestion {
            question: question.clone(),
            answer: None,
        };
        writing.state.durable.questions.push(asked);
        writing
            .persist_then_publish(Flush::Now)
            .await
            .map_err(unavailable)?;
        drop(writing);
        let request_id = question.request_id.clone();
        let expires_at = question.expires_at;
        self.live.change(|state| state.questions.open(question));
        let (writer, live) = (Arc::clone(&self.writer), self.live.clone());
        // The sender is dropped only with the run, whose own token ends the wait first.
        Ok(Box::pin(async move {
            let mut waiting = waiting;
            let answer = tokio::select! {
                biased;
                answer = &mut waiting => answer,
                () = expired(expires_at) => match expire(&writer, &live, &request_id).await {
                    ExpiryOutcome::Now => return ClarifyAnswer::TimedOut,
                    // An answer came a moment earlier.
                    ExpiryOutcome::Answered => waiting.await,
                },
            };
            answer.unwrap_or(ClarifyAnswer::Dismissed)
        }))
    }

    async fn open_approval(&mut self, request: ApprovalRequest) -> Result<OpenApproval, HostError> {
        let session = self.writer.meta().await.map_err(unavailable)?;
        let of_agent = match self.source.standing_approvals(&session).await {
            Ok(approvals) => approvals,
            Err(error) => {
                tracing::warn!(
                    session.id = %self.writer.id,
                    %error,
                    "failed to read standing approvals; the user is asked"
                );
                Vec::new()
            }
        };
        let seat = seat_of(&session);
        let mut writing = self.writer.begin().await;
        let hash = request.hash.as_str();
        let durable = &mut writing.state.durable;
        if durable.take_approval(&self.run_id, &request.tool_call_id, hash) {
            writing
                .persist_then_publish(Flush::Now)
                .await
                .map_err(unavailable)?;
            return Ok(OpenApproval::Remembered(Approval {
                hash: request.hash,
                consent: Consent::Given,
            }));
        }
        let standing: Vec<_> = durable.standing.iter().cloned().chain(of_agent).collect();
        if let Some(covering) = covering(&standing, &seat, &request) {
            let approvals = covering.into_iter().cloned().collect();
            return Ok(OpenApproval::Remembered(Approval {
                hash: request.hash,
                consent: Consent::Standing { seat, approvals },
            }));
        }
        let offers = offers(&request, may_grant_for_agent(&session));
        let asked = ApprovalQuestion {
            approval_id: Uuid::now_v7().to_string(),
            run_id: self.run_id.clone(),
            tool_call_id: request.tool_call_id,
            tool_name: request.tool_name,
            tool_label: request.tool_label,
            risk: request.risk,
            args: request.args,
            reason: request.reason,
            foreign: request.foreign,
            hash: request.hash.as_str().to_owned(),
            offers,
            asked_at: now_ms(),
        };
        let waiting = self.consents.wait_for(asked.approval_id.clone());
        let approvals = &mut writing.state.durable.approvals;
        approvals.push(StoredApproval {
            asked: asked.clone(),
            outcome: None,
            words: None,
            facts: request.facts,
        });
        writing
            .persist_then_publish(Flush::Now)
            .await
            .map_err(unavailable)?;
        drop(writing);
        self.live.change(|state| state.approvals.open(asked));
        let hash = request.hash;
        // The sender is dropped only with the run, whose own token ends the wait first. In any
        // case, silence is not an approval.
        let provider = Arc::clone(&self.writer.provider);
        Ok(OpenApproval::Asked(Box::pin(async move {
            let approval = waiting.await.unwrap_or(Approval {
                hash,
                consent: Consent::Refused { reason: None },
            });
            // The approved call begins with this answer.
            provider.resumed().await;
            approval
        })))
    }

    async fn before_model_call(&mut self, call: &ModelCall<'_>) -> Result<(), HostError> {
        self.until_active(call.cancel).await;
        self.compact_if_due(call).await
    }

    async fn before_tool_call(&mut self, cancel: &CancellationToken) {
        self.until_active(cancel).await;
    }

    async fn on_overflow(
        &mut self,
        call: &ModelCall<'_>,
        _error: &ModelError,
    ) -> Result<Overflow, HostError> {
        self.compact_overflow(call).await
    }
}

impl SessionHost {
    /// A process that the others may be about to declare dead calls no model and no tool. Also
    /// ready when the run is stopped.
    async fn until_active(&self, cancel: &CancellationToken) {
        tokio::select! {
            () = self.writer.provider.resumed() => {}
            () = cancel.cancelled() => {}
        }
    }

    fn notify_watchdog(&self, event: &RunEvent) {
        let progress = self.live.progress();
        match event {
            RunEvent::Retrying { after_ms, .. } => {
                progress.pauses("retry", Duration::from_millis(*after_ms));
            }
            RunEvent::Phase { .. } => progress.made("phase"),
            RunEvent::PartDelta(_) => progress.made("text"),
            RunEvent::ToolOutput(_) => progress.made("output of a tool"),
            RunEvent::ToolCompleted(_) => progress.made("end of a tool"),
            _ => progress.made("event"),
        }
    }

    /// Draws ids that no entry has.
    pub(crate) fn draw_ids(&mut self, tree: &SessionTree) {
        let free = std::iter::repeat_with(random_id).filter(|id| !tree.contains(id));
        self.free_ids = free.take(IDS_AHEAD).collect();
    }

    /// Moves a message from the queue to the end of the run's chain.
    async fn put_in(&self, queued: &Queued, writing: &mut Writing<'_>) -> Result<(), EngineError> {
        let (item, mark) = (&queued.item, UserMark::of_queued(queued));
        let body = self
            .writer
            .user_message(&item.content, &item.attachments, mark)
            .await?;
        writing.append_here(body).await?;
        writing.state.durable.forget_queued(&item.item_id);
        Ok(())
    }

    fn emit_progress(&mut self, event: RunEvent) {
        let run_id = self.run_id.clone();
        match event {
            RunEvent::AnswerStarted {
                entry_id,
                provider,
                model,
                text,
            } => {
                self.clock.answer_started(&provider, &model);
                self.trace.answer_started(&provider, &model);
                let parent_id = self.writer.run_tip();
                let start = StreamStart {
                    run_id,
                    entry_id,
                    parent_id,
                    provider,
                    model,
                };
                self.live.stream_started(start, text);
            }
            RunEvent::PartStarted { part, kind, .. } => {
                self.clock.part_started();
                if part == 0 {
                    self.trace.first_part_started();
                }
                self.live.part_started(streaming_part(part, kind));
            }
            RunEvent::PartDelta(delta) => self.live.part_delta(delta),
            RunEvent::PartEnded {
                entry_id,
                part,
                kind,
                duration_ms,
            } => {
                self.live.part_ended(
                    ThinkingDone {
                        run_id,
                        entry_id,
                        part,
                        duration_ms,
                    },
                    kind,
                );
            }
            RunEvent::AnswerFinished {
                entry_id,
                stop_reason,
                error_message,
                trouble,
                usage,
            } => {
                self.partial.forget();
                if !matches!(stop_reason, StopReason::Error | StopReason::Aborted) {
                    self.compaction_state.answered();
                }
                let kind = trouble.as_ref().map(|why| why.kind);
                self.clock.answered(stop_reason, kind, &usage);
                self.trace.answered(stop_reason, kind, &usage);
                self.live.stream_ended(StreamEnd {
                    run_id,
                    entry_id,
                    stop_reason,
                    error_message,
                    trouble,
                });
                self.meter.count(&usage);
                let shown = self.live.read(|state| state.tokens.clone());
                let shown = shown.as_ref().map(|tokens| &tokens.context);
                if let Some(tokens) = self.meter.update_after(&usage, shown) {
                    self.live.change(|state| state.set_tokens(tokens));
                }
            }
            RunEvent::ToolStarted(started) => {
                let (id, name) = (&started.tool_call_id, &started.tool_name);
                self.clock.tool_started(id, started.route);
                self.trace.tool_started(id, name, started.route);
                let started = ToolCallStarted {
                    run_id,
                    entry_id: started.entry_id,
                    tool_call_id: started.tool_call_id,
                    tool_name: started.tool_name,
                    tool_label: started.tool_label,
                    args: started.args,
                    route: started.route,
                    runtime_route: started.route,
                    worker_routing_hint: started.worker_hint,
                    blocked_reason: started.blocked_reason,
                    policy_sources: started.policy_sources,
                    allowed_by: Vec::new(),
                };
                self.live.change(|state| state.tools.start(started));
            }
            RunEvent::ApprovalUsed(used) => self.live.change(|state| state.tools.allow(used)),
            RunEvent::ToolOutput(output) => self.live.tool_output(output),
            RunEvent::ToolCompleted(done) => {
                let took = Duration::from_millis(done.duration_ms);
                let (id, name) = (&done.tool_call_id, &done.tool_name);
                self.clock.tool_ended(id, name, took, done.is_error);
                self.trace.tool_ended(id, done.is_error);
                let done = ToolCallCompleted {
                    run_id,
                    tool_call_id: done.tool_call_id,
                    status: status_of(&done.tool_name, done.is_error, done.details.as_ref()),
                    tool_name: done.tool_name,
                    is_error: done.is_error,
                    content: serde_json::to_value(done.content).unwrap_or_default(),
                    details: done.details,
                    duration_ms: done.duration_ms,
                    result_entry_id: done.result_entry_id,
                };
                self.live.change(|state| state.tools.complete(done));
            }
            // All other cases were handled by the caller.
            _ => {}
        }
    }
}

fn streaming_part(part: u32, kind: StreamPart) -> StreamingPart {
    let (kind, tool_call_id, tool_name) = match kind {
        StreamPart::Text => (PartKind::Text, None, None),
        StreamPart::Thinking => (PartKind::Thinking, None, None),
        StreamPart::ToolCall { id, name } => (PartKind::ToolCall, Some(id), Some(name)),
    };
    StreamingPart {
        part,
        kind,
        text: String::new(),
        tool_call_id,
        tool_name,
        done: false,
        started_at: now_ms(),
        duration_ms: None,
    }
}

/// What the model sees at the end of a chain.
pub(crate) fn read_context(
    writer: &SessionWriter,
    tree: &SessionTree,
    tip: Option<&EntryId>,
) -> Result<RunContext, HostError> {
    let context = build_session_context(tree, tip).map_err(damaged)?;
    let path = tip.map_or(Ok(Vec::new()), |tip| tree.path(tip));
    let todo = todo_on_path(path.map_err(damaged)?.into_iter());
    let foreign = writer.foreign(tree, tip);
    Ok(RunContext::read(&context, todo, foreign))
}

fn random_id() -> EntryId {
    let mut digits = Uuid::encode_buffer();
    let digits = Uuid::new_v4().simple().encode_lower(&mut digits);
    EntryId::new(&digits[..8])
}

pub(crate) fn unavailable(error: EngineError) -> HostError {
    HostError::Unavailable(Box::new(error))
}

fn damaged(error: PathError) -> HostError {
    HostError::Damaged(Box::new(error))
}
