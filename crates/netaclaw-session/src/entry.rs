//! One entry: an immutable node of the tree, kept as the text it was read from.

use crate::json::{self, LineHead};
use bytestring::ByteString;
use memchr::memmem::Finder;
use netaclaw_protocol::EntryId;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// An entry of a session.
///
/// Cloning is cheap: the text is shared with the file or row it came from.
#[derive(Clone)]
pub struct Entry {
    raw: ByteString,
    id: EntryId,
    parent_id: Option<EntryId>,
    kind: EntryKind,
    role: Role,
    /// Set when the message's content is `null`, which a context must show as empty.
    null_content: bool,
    message_start: u32,
    message_end: u32,
}

/// What an entry is. Types of later releases and other programs are `Unknown`: ordinary nodes
/// that give no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    Message,
    ThinkingLevelChange,
    ModelChange,
    Compaction,
    BranchSummary,
    Custom,
    CustomMessage,
    Label,
    SessionInfo,
    Usage,
    ContextEdit,
    SubagentBatch,
    SubagentResult,
    Unknown,
}

impl EntryKind {
    pub fn from_type(name: &str) -> Self {
        match name {
            "message" => Self::Message,
            "thinking_level_change" => Self::ThinkingLevelChange,
            "model_change" => Self::ModelChange,
            "compaction" => Self::Compaction,
            "branch_summary" => Self::BranchSummary,
            "custom" => Self::Custom,
            "custom_message" => Self::CustomMessage,
            "label" => Self::Label,
            "session_info" => Self::SessionInfo,
            "usage" => Self::Usage,
            "context_edit" => Self::ContextEdit,
            "subagent_batch" => Self::SubagentBatch,
            "subagent_result" => Self::SubagentResult,
            _ => Self::Unknown,
        }
    }

    /// Labels and names describe the session; they are not a place to continue from.
    pub fn moves_leaf(self) -> bool {
        !matches!(self, Self::Label | Self::SessionInfo)
    }
}

/// The role of a `message` entry's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    User,
    Assistant,
    ToolResult,
    System,
    /// Any other role, or no message at all.
    Other,
}

impl Role {
    fn from_name(name: &str) -> Self {
        match name {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "toolResult" => Self::ToolResult,
            "system" => Self::System,
            _ => Self::Other,
        }
    }
}

impl Entry {
    /// Reads one line of a session file. `None` if it is not a JSON object with an id.
    pub fn parse(raw: impl Into<ByteString>) -> Option<Self> {
        let raw = raw.into();
        let head: LineHead<'_> = serde_json::from_str(&raw).ok()?;
        let id = EntryId::new(json::string(head.id?)?);
        Some(Self::from_head(&raw, &head, id, parent_of(&head)))
    }

    pub(crate) fn from_head(
        raw: &ByteString,
        head: &LineHead<'_>,
        id: EntryId,
        parent_id: Option<EntryId>,
    ) -> Self {
        let type_name = head.kind.and_then(json::string).unwrap_or_default();
        let message = head.message.map(|message| json::range_within(raw, message));
        Self::from_parts(
            raw.clone(),
            EntryKind::from_type(&type_name),
            id,
            parent_id,
            message,
        )
    }

    /// Puts an entry together from what is known about its text. `message` is where the text has
    /// its `message` value.
    pub(crate) fn from_parts(
        raw: ByteString,
        kind: EntryKind,
        id: EntryId,
        parent_id: Option<EntryId>,
        message: Option<Range<usize>>,
    ) -> Self {
        let at = message
            .filter(|at| kind == EntryKind::Message && raw[at.clone()].starts_with('{'))
            .unwrap_or(0..0);
        let (role, null_content) = match at.is_empty() {
            true => (Role::Other, false),
            false => role_of(&raw[at.clone()]),
        };
        Self {
            role,
            null_content,
            message_start: u32::try_from(at.start).expect("a line is below 4 GiB"),
            message_end: u32::try_from(at.end).expect("a line is below 4 GiB"),
            raw,
            id,
            parent_id,
            kind,
        }
    }

    pub fn id(&self) -> &EntryId {
        &self.id
    }

    pub fn parent_id(&self) -> Option<&EntryId> {
        self.parent_id.as_ref()
    }

    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// The whole entry as JSON, byte for byte as it is stored.
    pub fn json(&self) -> &str {
        &self.raw
    }

    /// The `type` as written, also for unknown types.
    pub fn type_name(&self) -> Cow<'_, str> {
        json::member(&self.raw, "type")
            .and_then(json::string)
            .unwrap_or_default()
    }

    /// ISO timestamp as written; empty if there is none.
    pub fn timestamp(&self) -> Cow<'_, str> {
        json::member(&self.raw, "timestamp")
            .and_then(json::string)
            .unwrap_or_default()
    }

    /// The message payload as JSON; `None` for other kinds and damaged entries.
    pub fn message_json(&self) -> Option<&str> {
        (self.message_end > 0)
            .then(|| &self.raw[self.message_start as usize..self.message_end as usize])
    }

    /// One own field of the entry as JSON.
    pub fn field(&self, name: &str) -> Option<&str> {
        json::member(&self.raw, name)
    }

    /// One own field of the entry as text.
    pub fn text_field(&self, name: &str) -> Option<Cow<'_, str>> {
        self.field(name).and_then(json::string)
    }

    pub(crate) fn has_null_content(&self) -> bool {
        self.null_content
    }

    /// The same entry below another parent; every other byte stays.
    pub(crate) fn below(&self, parent: Option<&EntryId>) -> Self {
        let mut parent_json = String::new();
        match parent {
            Some(id) => json::push_string(&mut parent_json, id.as_str()),
            None => parent_json.push_str("null"),
        }
        let raw = json::with_member(&self.raw, "parentId", Some(&parent_json));
        Self::parse(raw).expect("replacing the parent keeps an entry readable")
    }

    /// The same answer, closed because its writer is gone.
    pub fn aborted(&self) -> Self {
        let Some(message) = self.message_json() else {
            return self.clone();
        };
        self.with_field(
            "message",
            &json::with_member(message, "stopReason", Some(r#""aborted""#)),
        )
    }

    /// The same entry with one field changed; every other byte stays.
    pub(crate) fn with_field(&self, name: &str, value: &str) -> Self {
        Self::parse(json::with_member(&self.raw, name, Some(value)))
            .expect("replacing a field keeps an entry readable")
    }
}

/// The parent as Pi sees it: an empty or absent id means a root.
pub(crate) fn parent_of(head: &LineHead<'_>) -> Option<EntryId> {
    let parent = json::string(head.parent_id?)?;
    (!parent.is_empty()).then(|| EntryId::new(parent))
}

/// The role of a message and whether its content is `null`.
fn role_of(message: &str) -> (Role, bool) {
    // Pi and NetaClaw put the role first and the content second; the scans are for the rest.
    let plain = message.strip_prefix(r#"{"role":""#).and_then(|rest| {
        let end = rest.bytes().position(|b| matches!(b, b'"' | b'\\'))?;
        Some((&rest[..end], rest[end..].strip_prefix('"')?))
    });
    match plain {
        Some((role, rest)) => (Role::from_name(role), has_null_content(message, rest)),
        None => {
            let role = json::member(message, "role").and_then(json::string);
            let role = role.map_or(Role::Other, |role| Role::from_name(&role));
            (role, has_null_content(message, message))
        }
    }
}

/// Looks for the content of `message` in `rest`, which leaves out what is known not to hold it.
fn has_null_content(message: &str, rest: &str) -> bool {
    // Content is near the beginning, so this seldom reads more than a few bytes. Only what looks
    // like a null there is parsed.
    const KEY: &str = r#""content":"#;
    static CONTENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));
    let value = match rest
        .strip_prefix(',')
        .and_then(|rest| rest.strip_prefix(KEY))
    {
        Some(value) => Some(value),
        None => CONTENT
            .find(rest.as_bytes())
            .map(|at| &rest[at + KEY.len()..]),
    };
    value.is_some_and(|value| {
        value.trim_start().starts_with("null") && json::member(message, "content") == Some("null")
    })
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Entry {}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.raw)
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.raw).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_text_and_knows_its_place() {
        let text = r#"{"type":"message","id":"a1","parentId":"r","x":1.0,"message":{"role":"user","content":null}}"#;
        let entry = Entry::parse(text).unwrap();
        assert_eq!(entry.json(), text);
        assert_eq!(
            (entry.kind(), entry.role()),
            (EntryKind::Message, Role::User)
        );
        assert_eq!(
            entry.message_json(),
            Some(r#"{"role":"user","content":null}"#)
        );
        assert!(entry.has_null_content());
        assert_eq!(entry.below(None).parent_id(), None);
        assert_eq!(entry.below(None).json(), text.replace(r#""r""#, "null"));
    }

    #[test]
    fn the_role_is_found_wherever_it_stands() {
        let role = |message: &str| {
            Entry::parse(format!(
                r#"{{"type":"message","id":"a","message":{message}}}"#
            ))
            .unwrap()
            .role()
        };
        assert_eq!(
            role(r#"{"role":"assistant","content":[]}"#),
            Role::Assistant
        );
        assert_eq!(
            role(r#"{"content":"\"role\":\"user\"","role":"toolResult"}"#),
            Role::ToolResult
        );
        assert_eq!(role(r#"{"content":""}"#), Role::Other);
    }

    #[test]
    fn lines_without_an_id_or_an_object_are_no_entries() {
        for line in [
            "",
            "null",
            "1",
            "[]",
            "{",
            r#"{"type":"message"}"#,
            r#"{"id":5}"#,
        ] {
            assert!(Entry::parse(line).is_none(), "{line}");
        }
    }
}
