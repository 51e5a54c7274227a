//! Decides on a call and starts it.

use super::Driver;
use super::calls::Governed;
use super::services::{BatchServices, ToolRequest};
use crate::event::{RunEvent, ToolStarted};
use futures::FutureExt;
use netaclaw_governance::{
    ApprovedCall, Consent, CurrentTools, Decision, PendingCall, ProposedCall, ResolvedTools,
    Undecided, WorkerUse, decide,
};
use netaclaw_protocol::{
    AssistantMessage, CallMark, ContentBlock, RunPhase, StopReason, ToolRoute,
};
use netaclaw_tools::{
    Ending, Executed, ImageUse, ServiceError, ToolContext, ToolOutput, ToolUpdate, Updates, execute,
};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const CUT: &str = "The answer was truncated at the output limit, so this call may be incomplete \
                   and was not run. Make it again, in smaller steps.";
const NOT_STARTED: &str = "[Cancelled: the run was stopped before the tool started.]";
const UNDECIDED: &str = "The call was not run, because preparing it failed.";
/// How long it may take to learn which tools the agent has. Then the call is denied.
const DECIDE_TIMEOUT: Duration = Duration::from_secs(10);

impl Driver<'_> {
    pub(super) async fn start_call(&mut self, call: usize) {
        if !std::mem::replace(&mut self.calls.started, true) {
            self.host.emit(RunEvent::Phase {
                phase: RunPhase::RunningTools,
                detail: None,
            });
        }
        let decision = match self.calls.open[call].cut {
            true => Decision::Deny {
                reason: CUT.to_owned(),
            },
            false => {
                self.host.before_tool_call(&self.input.cancel).await;
                let deciding = current(&*self.input.current_tools);
                let current = tokio::select! {
                    biased;
                    () = self.input.cancel.cancelled() => return self.cancel_before_start(call),
                    current = deciding => current,
                };
                let open = &self.calls.open[call];
                let proposed = ProposedCall {
                    tool_call_id: open.id.clone(),
                    tool_name: open.name.clone(),
                    args: open.args.clone(),
                };
                decide(&self.input.tools, current.as_ref(), &self.foreign, proposed)
            }
        };
        let blocked_reason = match &decision {
            Decision::Deny { reason } => Some(reason.clone()),
            Decision::Allow(_) | Decision::Ask(_) => None,
        };
        self.announce(call, blocked_reason);
        match decision {
            Decision::Allow(approved) => self.run_tool(call, approved),
            Decision::Deny { reason } => self.refuse(call, reason, Ending::Blocked),
            Decision::Ask(asked) => self.ask_consent(call, asked),
        }
    }

    /// A call that a stop has overtaken.
    pub(super) async fn skip_call(&mut self, call: usize) {
        self.announce(call, None);
        let executed = Executed {
            output: ToolOutput::error(NOT_STARTED),
            ending: Ending::NotStarted,
        };
        self.complete(call, executed).await;
    }

    /// The same for a call that was about to start: its end is published as that of any other.
    fn cancel_before_start(&mut self, call: usize) {
        self.announce(call, None);
        self.refuse(call, NOT_STARTED.to_owned(), Ending::NotStarted);
    }

    fn announce(&mut self, call: usize, blocked_reason: Option<String>) {
        let open = &mut self.calls.open[call];
        open.started_ms = self.input.clock.monotonic_ms();
        let mark = call_mark(&self.input.tools, &open.id, &open.name);
        let route = mark.runtime_route;
        open.label = mark.tool_label;
        open.governed = Governed {
            route: Some(route),
            worker_hint: mark.worker_routing_hint,
            policy_sources: mark.policy_sources,
            blocked_reason,
        };
        let governed = open.governed.clone();
        let started = ToolStarted {
            entry_id: self.calls.entry_id.clone(),
            tool_call_id: open.id.clone(),
            tool_name: open.name.clone(),
            tool_label: open.label.clone(),
            args: open.args.clone(),
            route,
            worker_hint: governed.worker_hint,
            blocked_reason: governed.blocked_reason,
            policy_sources: governed.policy_sources,
        };
        self.host.emit(RunEvent::ToolStarted(started));
    }

    fn refuse(&mut self, call: usize, reason: String, ending: Ending) {
        let output = ToolOutput::error(reason);
        self.calls
            .refused
            .push_back((call, Executed { output, ending }));
    }

    fn run_tool(&mut self, call: usize, approved: ApprovedCall) {
        let registry = self.input.registry.clone();
        let context = self.tool_context(call);
        self.spawn(
            call,
            async move { execute(&registry, approved, context).await },
        );
    }

    /// A tool's panic ends in the tool; this is for the code around it. A failure there has decided
    /// nothing, and what is not decided is denied.
    fn spawn(&mut self, call: usize, job: impl Future<Output = Executed> + Send + 'static) {
        self.calls.jobs.spawn(async move {
            let executed = AssertUnwindSafe(job).catch_unwind().await;
            (
                call,
                executed.unwrap_or_else(|_| refused(UNDECIDED.to_owned(), Ending::Panicked)),
            )
        });
    }

    /// No approval is requested for a call that could not run anyway.
    fn ask_consent(&mut self, call: usize, asked: PendingCall) {
        let request = asked.request();
        if let Err(problem) = self
            .input
            .registry
            .check_args(&request.tool_name, &request.args)
        {
            return self.refuse(call, problem, Ending::InvalidArguments);
        }
        let registry = self.input.registry.clone();
        let tools = self.input.current_tools.clone();
        let services = self.services(call);
        let context = self.tool_context(call);
        self.spawn(call, async move {
            let asked = placed(asked, &context).await;
            let request = asked.request().clone();
            let approval = tokio::select! {
                approval = services.approve(request) => approval,
                () = context.cancel.cancelled() => Err(ServiceError::Stopped),
            };
            let approval = match approval {
                Ok(approval) => approval,
                Err(ServiceError::Stopped) => {
                    let output = ToolOutput::error(NOT_STARTED);
                    return Executed {
                        output,
                        ending: Ending::Undecided,
                    };
                }
                Err(ServiceError::Unavailable) => {
                    return refused(UNDECIDED.to_owned(), Ending::Blocked);
                }
            };
            // A user takes minutes or days, in which tools can be disabled.
            let current = current(&*tools).await;
            match asked.answer(&approval, current.as_ref()) {
                Decision::Allow(approved) => {
                    services.allowed(call, approved.allowed_by()).await;
                    execute(&registry, approved, context).await
                }
                Decision::Deny { reason } => {
                    let denied = matches!(approval.consent, Consent::Refused { .. });
                    let ending = if denied {
                        Ending::Denied
                    } else {
                        Ending::Blocked
                    };
                    refused(reason, ending)
                }
                Decision::Ask(_) => refused(UNDECIDED.to_owned(), Ending::Blocked),
            }
        });
    }

    fn services(&self, call: usize) -> Arc<BatchServices> {
        Arc::new(BatchServices {
            call,
            messages_tx: self.calls.messages_tx.clone(),
            todo: self.todo.clone(),
        })
    }

    fn tool_context(&self, call: usize) -> ToolContext {
        let services = self.services(call);
        ToolContext {
            workspace: self.input.workspace.clone(),
            cancel: self.calls.cancel.clone(),
            updates: updates(
                call,
                services.clone(),
                Arc::clone(&self.calls.open[call].dropped),
            ),
            images: match self.input.model.info.vision {
                true => ImageUse::Seen,
                false => ImageUse::Unseen,
            },
            spawner: self.input.spawner.clone(),
            todo: services.clone(),
            clarifier: services,
            memory: self.input.memory.clone(),
            skills: self.input.skills.clone(),
        }
    }
}

/// Adds where an edit would put its file. What cannot be found out is asked about.
async fn placed(asked: PendingCall, context: &ToolContext) -> PendingCall {
    let Some(path) = asked.edited_path().map(str::to_owned) else {
        return asked;
    };
    let workspace = context.workspace.clone();
    let place = tokio::task::spawn_blocking(move || workspace.edit_place(&path)).await;
    asked.at(place.ok().flatten())
}

/// The tools at this moment. An error, a panic or a timeout decides nothing.
pub(super) async fn current(tools: &dyn CurrentTools) -> Result<ResolvedTools, Undecided> {
    let deciding = AssertUnwindSafe(tools.current()).catch_unwind();
    match tokio::time::timeout(DECIDE_TIMEOUT, deciding).await {
        Ok(Ok(decided)) => decided,
        Ok(Err(_)) => Err(Undecided::Panicked),
        Err(_) => Err(Undecided::TimedOut),
    }
}

fn refused(reason: String, ending: Ending) -> Executed {
    let output = ToolOutput::error(reason);
    Executed { output, ending }
}

/// Stores with an answer how its calls are going to run. A result stores the same, but a killed
/// server writes none.
pub(super) fn mark_calls(tools: &ResolvedTools, answer: &mut AssistantMessage) {
    // The calls of an answer that failed never run.
    if matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) {
        return;
    }
    let calls = answer.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, name, .. } => Some(call_mark(tools, id, name)),
        _ => None,
    });
    let calls: Vec<CallMark> = calls.collect();
    if !calls.is_empty() {
        answer.netaclaw.get_or_insert_default().calls = calls;
    }
}

fn call_mark(tools: &ResolvedTools, tool_call_id: &str, name: &str) -> CallMark {
    let tool = tools.get(name);
    CallMark {
        tool_call_id: tool_call_id.to_owned(),
        tool_label: tool.map_or_else(|| name.to_owned(), |tool| tool.manifest().label.en.clone()),
        runtime_route: tool.map_or(ToolRoute::Disabled, |tool| tool.route()),
        worker_routing_hint: tool.map(|tool| worker_route(tool.manifest().worker)),
        policy_sources: tool.map_or(Vec::new(), |tool| tool.policy_sources().to_vec()),
    }
}

fn worker_route(worker: WorkerUse) -> ToolRoute {
    match worker {
        WorkerUse::Local => ToolRoute::WorkerLocal,
        WorkerUse::Proxy => ToolRoute::MainProcessProxy,
        WorkerUse::Never => ToolRoute::Disabled,
    }
}

/// Output is dropped if the queue is full: the tool must not wait for clients. Dropped steps are
/// counted.
fn updates(call: usize, services: Arc<BatchServices>, dropped: Arc<AtomicU64>) -> Updates {
    let messages_tx = services.messages_tx.clone();
    let take = move |update: ToolUpdate| {
        let is_step = matches!(update, ToolUpdate::Process(_));
        let message = ToolRequest::Update { call, update };
        if services.messages_tx.try_send(message).is_err() && is_step {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
    };
    Updates::new(take).with_waiting(move |update| {
        let messages_tx = messages_tx.clone();
        Box::pin(async move {
            // After the end of the round there is no receiver.
            let message = ToolRequest::Update { call, update };
            messages_tx.send(message).await.unwrap_or_default();
        })
    })
}
