//! Pending replies: questions and approval requests that wait for a user.

use netaclaw_tools::ClarifyAnswer;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Who waits for which answer. Shared by the session, which takes answers, and the run, which
/// waits for them.
pub(crate) struct PendingReplies<A> {
    by_request: Arc<Mutex<HashMap<String, oneshot::Sender<A>>>>,
}

/// Where an answer went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipient {
    Run,
    /// Its run died with an earlier process, or is just being stopped: a new one continues from the
    /// answer, once nothing else is open.
    NoRun,
}

// Derived, these would ask the same of the answers.
impl<A> Clone for PendingReplies<A> {
    fn clone(&self) -> Self {
        Self {
            by_request: Arc::clone(&self.by_request),
        }
    }
}

impl<A> Default for PendingReplies<A> {
    fn default() -> Self {
        Self {
            by_request: Arc::default(),
        }
    }
}

impl<A> PendingReplies<A> {
    pub(crate) fn wait_for(&self, request_id: String) -> oneshot::Receiver<A> {
        let (answer, waiting) = oneshot::channel();
        self.lock().insert(request_id, answer);
        waiting
    }

    /// Delivers an answer.
    pub(crate) fn answer(&self, request_id: &str, answer: A) -> Recipient {
        let waiting = self.lock().remove(request_id);
        match waiting.map(|waiting| waiting.send(answer)) {
            Some(Ok(())) => Recipient::Run,
            Some(Err(_)) | None => Recipient::NoRun,
        }
    }

    /// The run has ended; the closed channel notifies those that still wait.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<A>>> {
        self.by_request
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client sent as an answer: a text, or a list of texts.
pub(crate) fn read_answer(answer: &Value) -> Option<ClarifyAnswer> {
    let texts = match answer {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()?,
        Value::Null => return Some(ClarifyAnswer::Dismissed),
        _ => return None,
    };
    (!texts.is_empty()).then_some(ClarifyAnswer::Answered(texts))
}
