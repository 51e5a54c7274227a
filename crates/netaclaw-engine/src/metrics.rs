//! The metrics about runs. Names are spelled here and nowhere else in this crate; the program that
//! exports them installs a recorder, and without one nothing is counted.
//!
//! Nothing here is touched for a piece of text: a run counts at its beginning, at the first piece
//! of an answer, and when something has ended.

use metrics::{Histogram, counter, gauge, histogram};
use netaclaw_protocol::{
    CompactionFault, CompactionReason, LocalizedErrorKind, ProviderKind, RunOutcome, StopReason,
    ToolRoute, Usage,
};
use netaclaw_session::SessionError;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Calls of tools that do not exist or may not be used share a name: models make names up, and
/// each would be a series of its own.
const UNAVAILABLE_TOOL: &str = "(unavailable)";

/// A running run, counted for as long as the value lives.
pub(crate) struct RunningRun;

impl RunningRun {
    pub(crate) fn begin() -> Self {
        counter!("netaclaw_runs_started_total").increment(1);
        gauge!("netaclaw_runs").increment(1.0);
        Self
    }
}

impl Drop for RunningRun {
    fn drop(&mut self) {
        gauge!("netaclaw_runs").decrement(1.0);
    }
}

pub(crate) fn run_ended(outcome: RunOutcome, reason: Option<LocalizedErrorKind>, took: Duration) {
    let outcome = outcome.as_str();
    let reason = reason.map_or("", LocalizedErrorKind::as_str);
    counter!("netaclaw_runs_total", "outcome" => outcome, "reason" => reason).increment(1);
    histogram!("netaclaw_run_seconds", "outcome" => outcome).record(took);
}

/// The start of the current model call, and the running tool calls.
#[derive(Default)]
pub(crate) struct CallClock {
    model: [(&'static str, String); 2],
    asked_at: Option<Instant>,
    first_token_came: bool,
    /// Calls of tools that may be used, by their ids.
    tools: HashSet<String>,
}

impl CallClock {
    pub(crate) fn model_asked(&mut self) {
        self.asked_at = Some(Instant::now());
        self.first_token_came = false;
    }

    /// Channels and models are configured, so there are few of these labels.
    pub(crate) fn answer_started(&mut self, channel: &str, model: &str) {
        self.model = [("channel", channel.to_owned()), ("model", model.to_owned())];
    }

    pub(crate) fn part_started(&mut self) {
        if let Some(asked_at) = self.asked_at
            && !std::mem::replace(&mut self.first_token_came, true)
        {
            histogram!("netaclaw_model_first_token_seconds", &self.model)
                .record(asked_at.elapsed());
        }
    }

    pub(crate) fn answered(
        &mut self,
        stop: StopReason,
        kind: Option<LocalizedErrorKind>,
        usage: &Usage,
    ) {
        let took = self.asked_at.take().map(|at| at.elapsed());
        let kind = match (kind, stop) {
            (Some(kind), _) => kind,
            (None, StopReason::Aborted) => LocalizedErrorKind::Cancelled,
            (None, _) => {
                histogram!("netaclaw_model_answer_seconds", &self.model)
                    .record(took.unwrap_or_default());
                return self.count_tokens(usage);
            }
        };
        let labels = self.labels("kind", kind.as_str());
        counter!("netaclaw_model_errors_total", &labels).increment(1);
    }

    fn count_tokens(&self, usage: &Usage) {
        for (kind, tokens) in [
            ("input", usage.input),
            ("output", usage.output),
            ("cache_read", usage.cache_read),
            ("cache_write", usage.cache_write),
        ] {
            counter!("netaclaw_tokens_total", &self.labels("type", kind)).increment(tokens);
        }
    }

    fn labels(&self, name: &'static str, value: &str) -> [(&'static str, String); 3] {
        let [channel, model] = self.model.clone();
        [channel, model, (name, value.to_owned())]
    }

    pub(crate) fn tool_started(&mut self, call: &str, route: ToolRoute) {
        if route != ToolRoute::Disabled {
            self.tools.insert(call.to_owned());
        }
    }

    pub(crate) fn tool_ended(&mut self, call: &str, name: &str, took: Duration, is_error: bool) {
        let tool = match self.tools.remove(call) {
            true => name.to_owned(),
            false => UNAVAILABLE_TOOL.to_owned(),
        };
        histogram!("netaclaw_tool_seconds", "tool" => tool.clone()).record(took);
        if is_error {
            counter!("netaclaw_tool_errors_total", "tool" => tool).increment(1);
        }
    }
}

/// What is asked of where sessions are kept, and worth to be timed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreCall {
    Append,
    Update,
    Load,
    /// Makes what was written safe from a power cut.
    Sync,
}

/// Times a call of a session store, and counts it if the store failed. A refusal is not a failure.
pub(crate) async fn timed<T>(
    store: ProviderKind,
    call: StoreCall,
    work: impl Future<Output = Result<T, SessionError>>,
) -> Result<T, SessionError> {
    let began = Instant::now();
    let done = work.await;
    store_clock(store, call).record(began.elapsed());
    if let Err(SessionError::Store { .. }) = done {
        let store = match store {
            ProviderKind::File => "file",
            ProviderKind::Mysql => "mysql",
        };
        counter!("netaclaw_store_errors_total", "store" => store).increment(1);
    }
    done
}

/// Every series is spelled out: constant names and labels cost nothing to create, and an append
/// takes a few microseconds.
fn store_clock(store: ProviderKind, call: StoreCall) -> Histogram {
    macro_rules! clock {
        ($store:literal, $call:literal) => {
            histogram!("netaclaw_store_seconds", "store" => $store, "call" => $call)
        };
    }
    match (store, call) {
        (ProviderKind::File, StoreCall::Append) => clock!("file", "append"),
        (ProviderKind::File, StoreCall::Update) => clock!("file", "update"),
        (ProviderKind::File, StoreCall::Load) => clock!("file", "load"),
        (ProviderKind::File, StoreCall::Sync) => clock!("file", "sync"),
        (ProviderKind::Mysql, StoreCall::Append) => clock!("mysql", "append"),
        (ProviderKind::Mysql, StoreCall::Update) => clock!("mysql", "update"),
        (ProviderKind::Mysql, StoreCall::Load) => clock!("mysql", "load"),
        (ProviderKind::Mysql, StoreCall::Sync) => clock!("mysql", "sync"),
    }
}

pub(crate) fn compaction_ended(
    reason: CompactionReason,
    fault: Option<CompactionFault>,
    took: Duration,
) {
    let outcome = fault.map_or("done", CompactionFault::as_str);
    let labels = [("reason", reason.as_str()), ("outcome", outcome)];
    counter!("netaclaw_compactions_total", &labels).increment(1);
    histogram!("netaclaw_compaction_seconds", &labels).record(took);
}

pub(crate) fn retried(kind: LocalizedErrorKind) {
    counter!("netaclaw_model_retries_total", "kind" => kind.as_str()).increment(1);
}

pub(crate) fn fell_back(kind: LocalizedErrorKind) {
    counter!("netaclaw_model_fallbacks_total", "kind" => kind.as_str()).increment(1);
}

/// The messages that wait in live sessions. Counts with its session, and goes with it.
#[derive(Default)]
pub(crate) struct QueueGauge {
    counted: usize,
}

impl QueueGauge {
    pub(crate) fn set(&mut self, length: usize) {
        let change = length as f64 - self.counted as f64;
        if change != 0.0 {
            gauge!("netaclaw_queued_messages").increment(change);
            self.counted = length;
        }
    }
}

impl Drop for QueueGauge {
    fn drop(&mut self) {
        self.set(0);
    }
}
