//! A user's message as an entry.

use crate::attachments::{LoadedFile, content_with};
use crate::session::durable::Queued;
use netaclaw_protocol::{
    ContentBlock, Disposition, RunId, SentAttachment, UserContent, UserMessage,
};
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
    /// The answer to the sender, unless it started a run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disposition: Option<Disposition>,
    /// The run it started at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<RunId>,
    /// It starts with a slash and is no command all the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) literal: bool,
}

impl UserMark {
    /// Of a message that came out of the queue.
    pub(crate) fn of_queued(queued: &Queued) -> Self {
        let request_id = queued.request_id.clone();
        Self {
            disposition: request_id.is_some().then(|| queued.disposition()),
            request_id,
            item_id: Some(queued.item.item_id.clone()),
            fingerprint: queued.fingerprint.clone(),
            run_id: None,
            attachments: Vec::new(),
            literal: false,
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

/// The role comes first, where readers look for it.
#[derive(Serialize)]
struct MarkedMessage<'a> {
    role: &'static str,
    content: Value,
    timestamp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    netaclaw: Option<&'a UserMark>,
}

/// A user's message with its mark and time, if it has a mark.
pub(crate) fn marked(entry: &Entry) -> Option<(&Entry, UserMark, i64)> {
    if entry.role() != Role::User {
        return None;
    }
    #[derive(Deserialize)]
    struct Marked {
        netaclaw: Option<UserMark>,
        #[serde(default)]
        timestamp: i64,
    }
    // Most messages carry no mark; a look at the text saves reading them.
    let message = entry
        .message_json()
        .filter(|json| json.contains("\"netaclaw\""))?;
    let marked = serde_json::from_str::<Marked>(message).ok()?;
    Some((entry, marked.netaclaw?, marked.timestamp))
}

/// Whether a user's message starts with a slash that is not that of a command.
pub(crate) fn is_literal(entry: &Entry) -> bool {
    marked(entry).is_some_and(|(_, mark, _)| mark.literal)
}

/// What a user's message says, without its files.
pub(crate) fn user_text(entry: &Entry) -> Option<String> {
    let message: UserMessage = serde_json::from_str(entry.message_json()?).ok()?;
    match message.content {
        UserContent::Text(text) => Some(text),
        UserContent::Blocks(blocks) => blocks.into_iter().find_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::encode_entry;

    #[test]
    fn a_message_remembers_how_it_came_in() {
        let mark = UserMark {
            request_id: Some("q".to_owned()),
            ..UserMark::default()
        };
        let body = user_message("hello", &[], mark.clone(), 5);
        let entry = encode_entry(&body, &"a".into(), None, "T");
        assert_eq!(marked(&entry), Some((&entry, mark, 5)));
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
        assert_eq!(marked(&plain), None);
    }
}
