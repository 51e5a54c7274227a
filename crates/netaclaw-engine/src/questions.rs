//! Questions that wait for a person.

use netaclaw_tools::ClarifyAnswer;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Who waits for which answer. Shared by the session, which takes answers, and the run, which
/// waits for them.
#[derive(Clone, Default)]
pub(crate) struct Waiters {
    by_request: Arc<Mutex<HashMap<String, oneshot::Sender<ClarifyAnswer>>>>,
}

impl Waiters {
    pub(crate) fn wait_for(&self, request_id: String) -> oneshot::Receiver<ClarifyAnswer> {
        let (answer, waiting) = oneshot::channel();
        self.lock().insert(request_id, answer);
        waiting
    }

    /// Hands over an answer; gives it back if nobody waits for it any more.
    pub(crate) fn answer(
        &self,
        request_id: &str,
        answer: ClarifyAnswer,
    ) -> Result<(), ClarifyAnswer> {
        match self.lock().remove(request_id) {
            Some(waiting) => waiting.send(answer),
            None => Err(answer),
        }
    }

    /// The run has ended; whoever still waits is told by the closed end.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<ClarifyAnswer>>> {
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
