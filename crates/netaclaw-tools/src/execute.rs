//! The only way to run a tool: with a ticket, and with the safeguards that keep one bad call from
//! doing more harm than failing.

use crate::cap::cap;
use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::registry::{ToolRegistry, not_installed};
use netaclaw_governance::ApprovedCall;
use netaclaw_protocol::ContentBlock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How long a tool may take to end itself after it was cancelled. Then it is abandoned.
pub const STOP_GRACE: Duration = Duration::from_millis(500);

/// A call that has ended, with any outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    pub output: ToolOutput,
    pub ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The tool itself ended the call, well or with an error.
    Finished,
    /// Never started: the arguments do not fit.
    InvalidArguments,
    /// Never started: a policy does not allow it.
    Blocked,
    /// Never started: a user denied approval.
    Denied,
    /// Never started: the run was stopped while the call waited for approval.
    Undecided,
    /// Never started: the run was stopped before.
    NotStarted,
    Cancelled,
    TimedOut,
    Panicked,
}

/// Runs an approved call and always comes back: a panic is caught, a hang ends with the tool's
/// time or the context's token, and a tool that ignores both is abandoned.
pub async fn execute(
    registry: &ToolRegistry,
    call: ApprovedCall,
    context: ToolContext,
) -> Executed {
    let Some(registered) = registry.find(call.tool_name()) else {
        return Executed {
            output: ToolOutput::error(not_installed(call.tool_name())),
            ending: Ending::InvalidArguments,
        };
    };
    if let Err(problem) = registered.check_args(call.args()) {
        return Executed {
            output: ToolOutput::error(problem),
            ending: Ending::InvalidArguments,
        };
    }
    let (timeout, output_cap) = (call.manifest().timeout, call.manifest().output_cap);
    let stop = context.cancel.clone();
    // The call's own token: its time running out must not stop the others.
    let own = stop.child_token();
    let context = ToolContext {
        cancel: own.clone(),
        ..context
    };
    let tool = registered.tool.clone();
    let job = async move { tool.execute(call, context).await };
    let mut executed = guard(job, timeout, &stop, &own).await;
    cap(&mut executed.output, output_cap);
    executed
}

async fn guard(
    job: impl Future<Output = ToolOutput> + Send + 'static,
    timeout: Option<Duration>,
    stop: &CancellationToken,
    own: &CancellationToken,
) -> Executed {
    // A task of its own, because a panic must end there, and because a tool that never yields must
    // not block the caller.
    let mut job = AbortOnDropHandle::new(tokio::spawn(job));
    let deadline = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let ending = tokio::select! {
        biased;
        ended = &mut job => {
            let executed = finished(ended);
            // A tool that ends because of the cancellation has not failed.
            let gave_up = executed.output.is_error && stop.is_cancelled();
            return if gave_up { ended_early(executed.output, Ending::Cancelled, timeout) } else { executed };
        }
        () = stop.cancelled() => Ending::Cancelled,
        () = deadline => Ending::TimedOut,
    };
    own.cancel();
    let last_words = match tokio::time::timeout(STOP_GRACE, &mut job).await {
        Ok(ended) => finished(ended).output,
        Err(_) => ToolOutput {
            content: Vec::new(),
            details: None,
            is_error: true,
            process_end: None,
        },
    };
    ended_early(last_words, ending, timeout)
}

/// What the tool had to say, and why it says no more.
fn ended_early(mut output: ToolOutput, ending: Ending, timeout: Option<Duration>) -> Executed {
    let text = match (ending, timeout) {
        (Ending::TimedOut, Some(timeout)) => {
            let seconds = timeout.as_secs_f64();
            format!("[Timed out: the tool did not finish within {seconds} s and was ended.]")
        }
        _ => "[Cancelled: the run was stopped while the tool was running.]".to_owned(),
    };
    output.is_error = true;
    output.content.push(ContentBlock::Text { text });
    Executed { output, ending }
}

fn finished(ended: Result<ToolOutput, tokio::task::JoinError>) -> Executed {
    match ended {
        Ok(output) => Executed {
            output,
            ending: Ending::Finished,
        },
        // The message of a panic may hold anything, so it goes to the log and not to the model.
        Err(error) => {
            tracing::error!(%error, "a tool panicked");
            Executed {
                output: ToolOutput::error("The tool failed because of an internal error."),
                ending: Ending::Panicked,
            }
        }
    }
}

/// Runs blocking work where it may block. A panic is propagated.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and with it the caller.
            Err(_) => std::future::pending().await,
        },
    }
}
