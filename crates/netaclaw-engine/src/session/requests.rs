//! Answered requests: a repeated request gets the same answer and has no second effect.
//!
//! A message stores its request itself, in the log or in the queue; other requests are stored with
//! the session's state. Both outlive the process.

use crate::error::EngineError;
use crate::session::durable::{PersistedState, Queued};
use crate::session::user_message::marked;
use crate::session::writer::Writing;
use netaclaw_protocol::{
    Chat, ChatAck, Command, CompactStatus, Conflict, Disposition, RunId, SessionId, now_ms,
};
use netaclaw_session::{Flush, RequestKey, SessionTree};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// How long a request is remembered.
pub(crate) const KEPT_FOR_MS: i64 = 24 * 60 * 60 * 1000;
/// Remembered at most; the oldest is forgotten first.
const REQUESTS_MAX: usize = 1000;

/// A client's own name for a command, and what it asked for under that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub(crate) id: String,
    pub(crate) fingerprint: String,
}

impl Request {
    /// `content` is what the same request says again, and another one does not.
    pub fn new(id: impl Into<String>, content: &str) -> Self {
        let id = id.into();
        let fingerprint = fingerprint([content.as_bytes()]);
        Self { id, fingerprint }
    }

    /// What names a session that this request makes out of another: the same whenever it is asked.
    pub(crate) fn names_session(&self, source: &SessionId) -> RequestKey {
        let texts = [source.as_str(), self.id.as_str(), self.fingerprint.as_str()];
        RequestKey::new(hash(texts.map(str::as_bytes)))
    }

    /// What a command asks for, if it has a name.
    pub fn of<C: Command>(command: &C) -> Option<Self> {
        let id = command.request_id()?;
        let content = serde_json::to_string(command).expect("commands are plain data");
        Some(Self::new(id, &format!("{} {content}", C::NAME)))
    }

    /// What a message asks for, if it has a name.
    pub fn of_chat(chat: &Chat) -> Option<Self> {
        let id = chat.request_id.clone()?;
        let leaf = chat.leaf_entry_id.as_ref();
        let leaf = leaf.map_or("", |leaf| leaf.as_str());
        let files = chat.attachments.iter().flat_map(|file| {
            let texts = [
                file.id.as_deref(),
                Some(file.name.as_str()),
                file.data.as_deref(),
            ];
            texts.map(|text| text.unwrap_or_default().as_bytes())
        });
        let texts = [chat.content.as_bytes(), leaf.as_bytes()];
        let fingerprint = fingerprint(texts.into_iter().chain(files));
        Some(Self { id, fingerprint })
    }
}

/// A request and its answer, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnsweredRequest {
    pub(crate) id: String,
    pub(crate) fingerprint: String,
    /// Unix time in milliseconds.
    pub(crate) at: i64,
    #[serde(default, skip_serializing_if = "Outcome::is_done")]
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    #[default]
    Done,
    Forked(SessionId),
    Started(RunId),
    Chat(ChatAck),
    Compact(CompactStatus),
}

impl Outcome {
    fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

impl AnsweredRequest {
    pub(crate) fn new(request: Request, at: i64, outcome: Outcome) -> Self {
        let Request { id, fingerprint } = request;
        Self {
            id,
            fingerprint,
            at,
            outcome,
        }
    }

    /// For a message that waited in the queue and is taken out of it.
    pub(crate) fn queued(session: &SessionId, queued: &Queued) -> Option<Self> {
        let ack = ChatAck {
            session_id: session.clone(),
            entry_id: None,
            run_id: None,
            item_id: Some(queued.item.item_id.clone()),
            disposition: queued.disposition(),
            compaction: None,
            feed: None,
        };
        Some(Self {
            id: queued.request_id.clone()?,
            fingerprint: queued.fingerprint.clone()?,
            at: queued.item.queued_at,
            outcome: Outcome::Chat(ack),
        })
    }

    #[cfg(test)]
    pub(crate) fn done(id: String, at: i64) -> Self {
        let fingerprint = String::new();
        Self::new(Request { id, fingerprint }, at, Outcome::Done)
    }
}

/// The answered requests of one session.
#[derive(Default)]
pub(crate) struct Requests {
    answered: HashMap<String, AnsweredRequest>,
    order: VecDeque<String>,
}

impl Requests {
    /// Finds what earlier processes took in.
    pub(crate) fn read(tree: &SessionTree, durable: &PersistedState) -> Self {
        let mut requests = Self::default();
        let session = tree.header().id();
        for (entry, mark, at) in tree.entries().iter().filter_map(marked) {
            if let (Some(id), Some(fingerprint)) = (mark.request_id, mark.fingerprint) {
                let ack = ChatAck {
                    session_id: session.clone(),
                    entry_id: Some(entry.id().clone()),
                    run_id: mark.run_id,
                    item_id: mark.item_id,
                    disposition: mark.disposition.unwrap_or(Disposition::Started),
                    compaction: None,
                    feed: None,
                };
                let request = Request { id, fingerprint };
                requests.remember(AnsweredRequest::new(request, at, Outcome::Chat(ack)));
            }
        }
        let queued = durable.queue.iter();
        let queued = queued.filter_map(|queued| AnsweredRequest::queued(session, queued));
        for answered in queued.chain(durable.requests.iter().cloned()) {
            requests.remember(answered);
        }
        requests
    }

    /// The earlier outcome of this request, if there is one. The same id with another content is a
    /// conflict.
    pub(crate) fn repeat(
        &self,
        request: Option<&Request>,
        now_ms: i64,
    ) -> Result<Option<&Outcome>, EngineError> {
        let Some(request) = request else {
            return Ok(None);
        };
        let known = self.answered.get(&request.id);
        let Some(known) = known.filter(|known| now_ms - known.at < KEPT_FOR_MS) else {
            return Ok(None);
        };
        match known.fingerprint == request.fingerprint {
            true => Ok(Some(&known.outcome)),
            false => Err(Conflict::RequestIdReused.into()),
        }
    }

    /// Stores that a request was executed. If the server dies just before, the client has received
    /// nothing and retries; the command is then executed once more, with the same result.
    pub(crate) async fn store(
        &mut self,
        writing: &mut Writing<'_>,
        request: Option<Request>,
        outcome: Outcome,
    ) -> Result<(), EngineError> {
        let Some(request) = request else {
            return Ok(());
        };
        let answered = AnsweredRequest::new(request, now_ms(), outcome);
        writing.state.durable.remember(answered.clone(), now_ms());
        writing.persist_then_publish(Flush::Now).await?;
        self.remember(answered);
        Ok(())
    }

    pub(crate) fn remember(&mut self, answered: AnsweredRequest) {
        let id = answered.id.clone();
        if self.answered.insert(id.clone(), answered).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > REQUESTS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.answered.remove(&oldest);
            }
        }
    }
}

fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    format!("{:016x}", hash(texts))
}

/// Tells contents apart, the same in every process (FNV-1a). The lengths keep "a" + "bc" and
/// "ab" + "c" apart.
fn hash<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for text in texts {
        add(&(text.len() as u64).to_le_bytes());
        add(text);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_gets_the_same_answer_and_another_content_a_conflict() {
        let mut requests = Requests::default();
        let chat = |text: &str| {
            Request::of_chat(&Chat {
                content: text.to_owned(),
                request_id: Some("q1".to_owned()),
                ..Chat::default()
            })
        };
        let ack = Outcome::Chat(ChatAck {
            session_id: "s".into(),
            entry_id: Some("e".into()),
            run_id: None,
            item_id: None,
            disposition: Disposition::Started,
            compaction: None,
            feed: None,
        });
        let first = chat("a");
        assert_eq!(requests.repeat(first.as_ref(), 5).unwrap(), None);
        requests.remember(AnsweredRequest::new(first.unwrap(), 5, ack.clone()));
        let again = requests.repeat(chat("a").as_ref(), 6);
        assert_eq!(again.unwrap(), Some(&ack));
        let other = requests.repeat(chat("b").as_ref(), 6);
        assert!(matches!(other, Err(EngineError::Conflict(_))));
        let later = requests.repeat(chat("b").as_ref(), 5 + KEPT_FOR_MS);
        assert_eq!(later.unwrap(), None, "a day later it is a new request");
    }
}
