//! A user's message as an entry.

use crate::attachments::{LoadedFile, content_with};
use crate::durable::Queued;
use netaclaw_protocol::SentAttachment;
use netaclaw_session::{Entry, EntryBody, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a message came in. Kept in the message itself, so that after a crash the same request or
/// queue item is known to be there already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct UserMark {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item_id: Option<String>,
    /// Of the request's content, so that the same id with another one is known as a mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// Which of the message's blocks are files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<SentAttachment>,
}

impl UserMark {
    /// Of a message that came out of the queue.
    pub(crate) fn of_queued(queued: &Queued) -> Self {
        Self {
            request_id: queued.request_id.clone(),
            item_id: Some(queued.item.item_id.clone()),
            fingerprint: queued.fingerprint.clone(),
            attachments: Vec::new(),
        }
    }
}

/// The message body: text, and files in the order they were attached.
pub(crate) fn user_message(
    content: &str,
    files: &[LoadedFile],
    mark: UserMark,
    now_ms: i64,
) -> EntryBody {
    let (content, attachments) = content_with(content, files);
    let mark = UserMark {
        attachments,
        ..mark
    };
    EntryBody::message(&MarkedMessage {
        role: "user",
        content,
        timestamp: now_ms,
        netaclaw: (mark != UserMark::default()).then_some(&mark),
    })
}

/// The role stands first, where readers look for it.
#[derive(Serialize)]
struct MarkedMessage<'a> {
    role: &'static str,
    content: Value,
    timestamp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    netaclaw: Option<&'a UserMark>,
}

/// The mark of a user's message, if it has one.
pub(crate) fn mark_of(entry: &Entry) -> Option<UserMark> {
    if entry.role() != Role::User {
        return None;
    }
    #[derive(Deserialize)]
    struct Marked {
        netaclaw: Option<UserMark>,
    }
    // Most messages carry no mark; a look at the text saves reading them.
    let message = entry
        .message_json()
        .filter(|json| json.contains("\"netaclaw\""))?;
    serde_json::from_str::<Marked>(message).ok()?.netaclaw
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::encode_entry;

    #[test]
    fn a_message_remembers_how_it_came_in() {
        let mark = UserMark {
            request_id: Some("q".to_owned()),
            item_id: None,
            attachments: Vec::new(),
            fingerprint: None,
        };
        let body = user_message("hello", &[], mark.clone(), 5);
        let entry = encode_entry(&body, &"a".into(), None, "T");
        assert_eq!(mark_of(&entry), Some(mark));
        assert_eq!(
            entry.message_json(),
            Some(r#"{"role":"user","content":"hello","timestamp":5,"netaclaw":{"requestId":"q"}}"#)
        );
        let plain = encode_entry(
            &user_message("\"netaclaw\"", &[], UserMark::default(), 5),
            &"b".into(),
            None,
            "T",
        );
        assert_eq!(mark_of(&plain), None);
    }
}
