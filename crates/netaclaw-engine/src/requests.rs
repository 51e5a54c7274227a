//! Requests that were answered: asking again gives the same answer and has no second effect.

use crate::durable::Durable;
use crate::error::EngineError;
use crate::user_message::mark_of;
use netaclaw_protocol::{Chat, ChatAck, ChatMode, Disposition};
use netaclaw_session::SessionTree;
use std::collections::{HashMap, VecDeque};

/// Remembered at most; the oldest is forgotten first.
const REQUESTS_MAX: usize = 1000;

/// The answered requests of one session.
#[derive(Default)]
pub(crate) struct Requests {
    answers: HashMap<String, Answer>,
    order: VecDeque<String>,
}

struct Answer {
    /// Of what was asked; `None` if it was not kept, and then nothing is compared.
    fingerprint: Option<String>,
    ack: ChatAck,
}

impl Requests {
    /// Finds what earlier processes took in: the log tells, and what is kept beside it.
    pub(crate) fn read(tree: &SessionTree, durable: &Durable) -> Self {
        let mut requests = Self::default();
        let ack = |disposition| ChatAck {
            session_id: tree.header().id().clone(),
            entry_id: None,
            run_id: None,
            item_id: None,
            disposition,
            deduped: false,
        };
        for entry in tree.entries() {
            let Some(mark) = mark_of(entry) else { continue };
            let ack = ChatAck {
                entry_id: Some(entry.id().clone()),
                ..ack(Disposition::Started)
            };
            requests.found(mark.request_id, mark.fingerprint, ack);
        }
        for queued in &durable.queue {
            let ack = ChatAck {
                item_id: Some(queued.item.item_id.clone()),
                ..ack(waiting_as(queued.item.mode))
            };
            requests.found(queued.request_id.clone(), queued.fingerprint.clone(), ack);
        }
        for answered in &durable.answered {
            let request_id = Some(answered.request_id.clone());
            let fingerprint = Some(answered.fingerprint.clone());
            requests.found(request_id, fingerprint, ack(Disposition::AnsweredClarify));
        }
        requests
    }

    fn found(&mut self, request_id: Option<String>, fingerprint: Option<String>, ack: ChatAck) {
        if let Some(request_id) = request_id {
            self.insert(request_id, Answer { fingerprint, ack });
        }
    }

    /// The answer given before, if this is the same request again. The same id with another
    /// content is a conflict.
    pub(crate) fn repeat(&self, chat: &Chat) -> Result<Option<ChatAck>, EngineError> {
        let Some(known) = chat.request_id.as_ref().and_then(|id| self.answers.get(id)) else {
            return Ok(None);
        };
        if known
            .fingerprint
            .as_ref()
            .is_some_and(|known| *known != fingerprint(chat))
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
                fingerprint: Some(fingerprint(chat)),
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

/// How a message that waits was taken in.
pub(crate) fn waiting_as(mode: ChatMode) -> Disposition {
    match mode {
        ChatMode::Steer => Disposition::Steered,
        ChatMode::Auto | ChatMode::Queue => Disposition::Queued,
    }
}

/// Tells one content from another, also for the next process: FNV-1a, which never changes. It
/// finds mistakes of a client, not forgeries.
pub(crate) fn fingerprint(chat: &Chat) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        // No text holds this byte, so that "a" + "bc" and "ab" + "c" stay apart.
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(&chat.content);
    add(chat.leaf_entry_id.as_ref().map_or("", |leaf| leaf.as_str()));
    for file in &chat.attachments {
        add(file.id.as_deref().unwrap_or_default());
        add(&file.name);
        add(file.data.as_deref().unwrap_or_default());
    }
    format!("{hash:016x}")
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
