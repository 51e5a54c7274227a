//! Requests that were answered: asking again gives the same answer and has no second effect.
//!
//! The engine does this for messages, durably. Here it is done for the other commands, for as long
//! as the server lives.

use super::frame::refused;
use netaclaw_protocol::{ErrorCode, Refusal, SessionId};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Remembered at most; when there are more, the older half is forgotten.
const REQUESTS_MAX: usize = 20_000;

pub(super) type Body = Map<String, Value>;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) user_id: String,
    pub(super) session_id: SessionId,
    pub(super) request_id: String,
}

#[derive(Default)]
pub(crate) struct Requests {
    known: Mutex<HashMap<Key, Known>>,
}

struct Known {
    content: String,
    since: Instant,
    answer: Arc<OnceCell<Body>>,
}

impl Requests {
    /// Carries a command out unless it was. Whoever asks while it is being carried out waits for
    /// the same answer. A refusal is not kept: the next try may be luckier.
    pub(super) async fn once(
        &self,
        key: Key,
        content: &str,
        run: impl Future<Output = Result<Body, Refusal>>,
    ) -> Result<Body, Refusal> {
        let answer = self.answer(key, content)?;
        let mut first = false;
        let body = answer
            .get_or_try_init(|| {
                first = true;
                run
            })
            .await?;
        let mut body = body.clone();
        if !first {
            body.insert("deduped".to_owned(), Value::Bool(true));
        }
        Ok(body)
    }

    fn answer(&self, key: Key, content: &str) -> Result<Arc<OnceCell<Body>>, Refusal> {
        let now = Instant::now();
        // Whole between any two operations.
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REQUESTS_MAX {
            let mut times: Vec<Instant> = all.values().map(|known| known.since).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            all.retain(|_, known| known.since > middle && now - known.since < KEPT_FOR);
        }
        let known = all.entry(key).or_insert_with(|| Known {
            content: content.to_owned(),
            since: now,
            answer: Arc::default(),
        });
        if now - known.since >= KEPT_FOR {
            *known = Known {
                content: content.to_owned(),
                since: now,
                answer: Arc::default(),
            };
        }
        if known.content != content {
            let message = "this request id was used for another command";
            return Err(refused(ErrorCode::Conflict, message));
        }
        Ok(Arc::clone(&known.answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;

    fn key() -> Key {
        Key {
            user_id: "u".to_owned(),
            session_id: "s".into(),
            request_id: "q".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_request_has_one_effect_for_a_day() {
        let requests = Requests::default();
        let runs = Cell::new(0);
        let run = || async {
            runs.set(runs.get() + 1);
            Ok(json!({"n": runs.get()}).as_object().unwrap().clone())
        };
        let first = requests.once(key(), "a", run()).await.unwrap();
        let again = requests.once(key(), "a", run()).await.unwrap();
        assert_eq!(
            (&first["n"], &again["n"], runs.get()),
            (&json!(1), &json!(1), 1)
        );
        assert_eq!(again["deduped"], true);
        let other = requests.once(key(), "b", run()).await.unwrap_err();
        assert_eq!(other.code, ErrorCode::Conflict);
        tokio::time::advance(KEPT_FOR).await;
        let later = requests.once(key(), "b", run()).await.unwrap();
        assert_eq!(later["n"], 2);
    }

    #[tokio::test]
    async fn a_refusal_is_not_kept() {
        let requests = Requests::default();
        let fail = async { Err(refused(ErrorCode::SessionBusy, "busy")) };
        assert!(requests.once(key(), "a", fail).await.is_err());
        let works = async { Ok(Body::new()) };
        assert!(requests.once(key(), "a", works).await.is_ok());
    }
}
