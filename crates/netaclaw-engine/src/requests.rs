//! Requests that were answered: asking again gives the same answer and has no second effect.

use crate::error::EngineError;
use crate::user_message::mark_of;
use netaclaw_protocol::{Chat, ChatAck, Disposition};
use netaclaw_session::SessionTree;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Remembered at most; the oldest is forgotten first.
const REQUESTS_MAX: usize = 1000;

/// The answered requests of one session.
#[derive(Default)]
pub(crate) struct Requests {
    answers: HashMap<String, Answer>,
    order: VecDeque<String>,
}

struct Answer {
    /// Of what was asked; `None` for requests found in the log, whose text is not compared.
    content: Option<u64>,
    ack: ChatAck,
}

impl Requests {
    /// Finds what earlier processes took in: the log tells.
    pub(crate) fn read(tree: &SessionTree) -> Self {
        let mut requests = Self::default();
        for entry in tree.entries() {
            if let Some(request_id) = mark_of(entry).and_then(|mark| mark.request_id) {
                let ack = ChatAck {
                    session_id: tree.header().id().clone(),
                    entry_id: Some(entry.id().clone()),
                    run_id: None,
                    item_id: None,
                    disposition: Disposition::Started,
                    deduped: false,
                };
                requests.insert(request_id, Answer { content: None, ack });
            }
        }
        requests
    }

    /// The answer given before, if this is the same request again. The same id with another
    /// content is a conflict.
    pub(crate) fn repeat(&self, chat: &Chat) -> Result<Option<ChatAck>, EngineError> {
        let Some(known) = chat.request_id.as_ref().and_then(|id| self.answers.get(id)) else {
            return Ok(None);
        };
        if known
            .content
            .is_some_and(|content| content != fingerprint(chat))
        {
            let message = "this request id was used for another message".to_owned();
            return Err(EngineError::Conflict(message));
        }
        Ok(Some(ChatAck {
            deduped: true,
            ..known.ack.clone()
        }))
    }

    pub(crate) fn remember(&mut self, chat: &Chat, ack: &ChatAck) {
        if let Some(request_id) = &chat.request_id {
            let answer = Answer {
                content: Some(fingerprint(chat)),
                ack: ack.clone(),
            };
            self.insert(request_id.clone(), answer);
        }
    }

    fn insert(&mut self, request_id: String, answer: Answer) {
        if self.answers.insert(request_id.clone(), answer).is_none() {
            self.order.push_back(request_id);
        }
        while self.order.len() > REQUESTS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.answers.remove(&oldest);
            }
        }
    }
}

fn fingerprint(chat: &Chat) -> u64 {
    let mut hasher = DefaultHasher::new();
    chat.content.hash(&mut hasher);
    chat.leaf_entry_id.hash(&mut hasher);
    for file in &chat.attachments {
        (&file.id, &file.name, &file.data).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_gets_the_same_answer_and_another_text_a_conflict() {
        let mut requests = Requests::default();
        let chat = |text: &str| Chat {
            content: text.to_owned(),
            request_id: Some("q1".to_owned()),
            ..Chat::default()
        };
        let ack = ChatAck {
            session_id: "s".into(),
            entry_id: Some("e".into()),
            run_id: None,
            item_id: None,
            disposition: Disposition::Started,
            deduped: false,
        };
        assert!(requests.repeat(&chat("a")).unwrap().is_none());
        requests.remember(&chat("a"), &ack);
        assert_eq!(
            requests.repeat(&chat("a")).unwrap(),
            Some(ChatAck {
                deduped: true,
                ..ack
            })
        );
        assert!(matches!(
            requests.repeat(&chat("b")),
            Err(EngineError::Conflict(_))
        ));
    }
}
