//! Retries failed requests with backoff, if a retry can help.
//!
//! Only before anything of the answer has arrived: what the user has seen is not taken back, and
//! a stream that breaks later is an error that keeps the text.

use crate::client::{ModelClient, ModelEvent, ModelStream};
use crate::error::ModelError;
use crate::request::ModelRequest;
use futures::StreamExt;
use futures::stream;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The first one counts.
    pub attempts: u32,
    /// The wait after the first attempt; it doubles with every further one.
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// A longer wait that a supplier asks for is not made: the user sees the time instead.
    pub longest_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(20),
            longest_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after a failed attempt; `None` is to give up.
    ///
    /// `chance` in 0..1 spreads the waits, so that clients that failed together do not come back
    /// together.
    fn wait(&self, attempt: u32, error: &ModelError, chance: f64) -> Option<Duration> {
        if attempt >= self.attempts || !error.is_retryable() {
            return None;
        }
        let doubled = self
            .first_wait
            .saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
        let spread = doubled.min(self.longest_wait).mul_f64(0.5 + chance / 2.0);
        match error.retry_after() {
            Some(wish) if wish > self.longest_retry_after => None,
            // Never earlier than the server asks, and with jitter.
            Some(wish) => Some(wish + spread.mul_f64(0.1)),
            None => Some(spread),
        }
    }
}

/// A client that retries.
pub struct RetryClient {
    inner: Arc<dyn ModelClient>,
    policy: RetryPolicy,
}

impl RetryClient {
    pub fn new(inner: Arc<dyn ModelClient>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

impl ModelClient for RetryClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let attempts = Attempts {
            stream: self.inner.stream(request.clone(), cancel.clone()),
            inner: self.inner.clone(),
            policy: self.policy,
            request,
            cancel,
            attempt: 1,
            committed: false,
            waiting: None,
        };
        stream::unfold(Box::new(attempts), |mut attempts| async move {
            let event = attempts.next().await?;
            Some((event, attempts))
        })
        .boxed()
    }
}

struct Attempts {
    inner: Arc<dyn ModelClient>,
    policy: RetryPolicy,
    request: Arc<ModelRequest>,
    cancel: CancellationToken,
    stream: ModelStream,
    attempt: u32,
    /// A part of the answer has arrived; from here on nothing is retried.
    committed: bool,
    /// A wait that was announced, and the failure to return if it is cut short.
    waiting: Option<(Duration, ModelEvent)>,
}

impl Attempts {
    async fn next(&mut self) -> Option<ModelEvent> {
        if let Some((wait, failed)) = self.waiting.take() {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Some(cancelled(failed)),
                () = tokio::time::sleep(wait) => {}
            }
            self.attempt += 1;
            self.stream = self.inner.stream(self.request.clone(), self.cancel.clone());
        }
        let event = self.stream.next().await?;
        self.committed |= event.is_content();
        let ModelEvent::Failed { error, .. } = &event else {
            return Some(event);
        };
        let wait = self.policy.wait(self.attempt, error, fastrand::f64());
        let Some(wait) = wait.filter(|_| !self.committed) else {
            return Some(event);
        };
        let reason = error.clone();
        tracing::info!(
            attempt = self.attempt,
            after_ms = wait.as_millis() as u64,
            reason = reason.code(),
            "a model request failed; retrying"
        );
        self.waiting = Some((wait, event));
        Some(ModelEvent::Retrying {
            attempt: self.attempt,
            after_ms: wait.as_millis() as u64,
            reason,
        })
    }
}

/// The failure of an attempt, reported as the user's stop.
fn cancelled(failed: ModelEvent) -> ModelEvent {
    match failed {
        ModelEvent::Failed { mut partial, .. } => {
            partial.stop_reason = netaclaw_protocol::StopReason::Aborted;
            partial.error_message = Some(ModelError::Cancelled.to_string());
            ModelEvent::Failed {
                error: ModelError::Cancelled,
                partial,
            }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
