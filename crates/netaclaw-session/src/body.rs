//! New entries, before they have an id and a place, and their form on disk.

use crate::json::push_string;
use crate::{Entry, EntryKind};
use bytestring::ByteString;
use netaclaw_protocol::EntryId;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::ops::Range;

/// JSON text that is known to be well formed.
pub type RawJson = Box<RawValue>;

/// Turns plain data into JSON text.
pub fn raw_json(value: &impl Serialize) -> RawJson {
    serde_json::value::to_raw_value(value).expect("plain data with text keys")
}

/// What a new entry says.
#[derive(Clone, Debug)]
pub enum EntryBody {
    Message {
        message: RawJson,
    },
    ThinkingLevelChange {
        thinking_level: String,
    },
    ModelChange {
        provider: String,
        model_id: String,
    },
    Compaction {
        summary: String,
        /// `None` keeps nothing; the entry then names itself, as Pi writes it.
        first_kept_entry_id: Option<EntryId>,
        tokens_before: u64,
        details: Option<RawJson>,
    },
    BranchSummary {
        from_id: Option<EntryId>,
        summary: String,
        details: Option<RawJson>,
    },
    Custom {
        custom_type: String,
        data: Option<RawJson>,
    },
    CustomMessage {
        custom_type: String,
        content: RawJson,
        display: bool,
        details: Option<RawJson>,
    },
    /// `None` clears the label.
    Label {
        target_id: EntryId,
        label: Option<String>,
    },
    /// An empty name clears it.
    SessionInfo {
        name: String,
    },
    /// Types this module has no fields for, such as NetaClaw's `subagent_batch`.
    Other {
        type_name: String,
        fields: Map<String, Value>,
    },
}

impl EntryBody {
    pub fn message(message: &impl Serialize) -> Self {
        Self::Message {
            message: raw_json(message),
        }
    }

    pub fn kind(&self) -> EntryKind {
        EntryKind::from_type(self.type_name())
    }

    fn type_name(&self) -> &str {
        match self {
            Self::Message { .. } => "message",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::ModelChange { .. } => "model_change",
            Self::Compaction { .. } => "compaction",
            Self::BranchSummary { .. } => "branch_summary",
            Self::Custom { .. } => "custom",
            Self::CustomMessage { .. } => "custom_message",
            Self::Label { .. } => "label",
            Self::SessionInfo { .. } => "session_info",
            Self::Other { type_name, .. } => type_name,
        }
    }
}

/// Makes the entry: one line of JSON in Pi's form. Fields without a value are left out.
pub fn encode_entry(
    body: &EntryBody,
    id: &EntryId,
    parent_id: Option<&EntryId>,
    timestamp: &str,
) -> Entry {
    let mut line = Line(String::with_capacity(capacity(
        body, id, parent_id, timestamp,
    )));
    line.head(body.type_name(), id, parent_id, timestamp);
    let mut message_at = None;
    match body {
        EntryBody::Message { message } => {
            message_at = Some(line.raw("message", message.get()));
        }
        EntryBody::ThinkingLevelChange { thinking_level } => {
            line.text("thinkingLevel", thinking_level)
        }
        EntryBody::ModelChange { provider, model_id } => {
            line.text("provider", provider);
            line.text("modelId", model_id);
        }
        EntryBody::Compaction {
            summary,
            first_kept_entry_id,
            tokens_before,
            details,
        } => {
            line.text("summary", summary);
            line.text(
                "firstKeptEntryId",
                first_kept_entry_id.as_ref().unwrap_or(id).as_str(),
            );
            line.raw("tokensBefore", &tokens_before.to_string());
            line.optional("details", details);
        }
        EntryBody::BranchSummary {
            from_id,
            summary,
            details,
        } => {
            line.text("fromId", from_id.as_ref().map_or("root", EntryId::as_str));
            line.text("summary", summary);
            line.optional("details", details);
        }
        EntryBody::Custom { custom_type, data } => {
            line.text("customType", custom_type);
            line.optional("data", data);
        }
        EntryBody::CustomMessage {
            custom_type,
            content,
            display,
            details,
        } => {
            line.text("customType", custom_type);
            line.raw("content", content.get());
            line.raw("display", if *display { "true" } else { "false" });
            line.optional("details", details);
        }
        EntryBody::Label { target_id, label } => {
            line.text("targetId", target_id.as_str());
            if let Some(label) = label {
                line.text("label", label);
            }
        }
        EntryBody::SessionInfo { name } => line.text("name", &one_line(name)),
        EntryBody::Other { fields, .. } => {
            for (name, value) in fields {
                line.foreign(name, value);
            }
        }
    }
    line.0.push('}');
    let (raw, parent_id) = (ByteString::from(line.0), parent_id.cloned());
    Entry::from_parts(raw, body.kind(), id.clone(), parent_id, message_at)
}

/// Room for the line. Exact for messages of plain ids, which are nearly all lines: the text then
/// becomes the entry without being moved.
fn capacity(body: &EntryBody, id: &EntryId, parent_id: Option<&EntryId>, timestamp: &str) -> usize {
    const FRAME: usize =
        r#"{"type":"message","id":"","parentId":"","timestamp":"","message":}"#.len();
    let parent = parent_id.map_or(r#"null"#.len() - 2, |id| id.as_str().len());
    let message = match body {
        EntryBody::Message { message } => message.get().len(),
        _ => 128,
    };
    FRAME + id.as_str().len() + parent + timestamp.len() + message
}

/// A name on one line, without space around it.
fn one_line(name: &str) -> String {
    name.split(['\r', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

struct Line(String);

impl Line {
    /// What every line begins with.
    fn head(&mut self, type_name: &str, id: &EntryId, parent_id: Option<&EntryId>, time: &str) {
        self.0.push_str(r#"{"type":"#);
        push_string(&mut self.0, type_name);
        self.text("id", id.as_str());
        match parent_id {
            Some(parent) => self.text("parentId", parent.as_str()),
            None => self.name("parentId").push_str("null"),
        }
        self.text("timestamp", time);
    }

    /// Adds the name of a field, which is a plain word, and says where its value goes.
    fn name(&mut self, name: &'static str) -> &mut String {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
        &mut self.0
    }

    /// Adds a value as it is, and returns its position.
    fn raw(&mut self, name: &'static str, json: &str) -> Range<usize> {
        let line = self.name(name);
        let start = line.len();
        // A raw value may hold line breaks between its tokens; a line must not. Inside strings
        // they are always escaped.
        match memchr::memchr2(b'\n', b'\r', json.as_bytes()) {
            None => line.push_str(json),
            Some(_) => line.extend(json.chars().filter(|c| !matches!(c, '\n' | '\r'))),
        }
        start..line.len()
    }

    fn text(&mut self, name: &'static str, text: &str) {
        push_string(self.name(name), text);
    }

    fn optional(&mut self, name: &'static str, value: &Option<RawJson>) {
        if let Some(value) = value {
            self.raw(name, value.get());
        }
    }

    /// Adds a field that came with its name from elsewhere.
    fn foreign(&mut self, name: &str, value: &Value) {
        self.0.push(',');
        push_string(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(&value.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(body: EntryBody, expected: &str) {
        let entry = encode_entry(&body, &"a1".into(), Some(&"r".into()), "T");
        let prefix = format!(
            r#"{{"type":"{}","id":"a1","parentId":"r","timestamp":"T""#,
            entry.type_name()
        );
        assert_eq!(entry.json(), prefix + expected + "}");
    }

    #[test]
    fn entries_are_written_in_pis_form() {
        check(
            EntryBody::message(&json!({"role": "user"})),
            r#","message":{"role":"user"}"#,
        );
        check(
            EntryBody::Compaction {
                summary: "s\n".into(),
                first_kept_entry_id: None,
                tokens_before: 7,
                details: None,
            },
            r#","summary":"s\n","firstKeptEntryId":"a1","tokensBefore":7"#,
        );
        check(
            EntryBody::Label {
                target_id: "t".into(),
                label: None,
            },
            r#","targetId":"t""#,
        );
        check(
            EntryBody::SessionInfo {
                name: " a \r\n b ".into(),
            },
            r#","name":"a b""#,
        );
        check(
            EntryBody::BranchSummary {
                from_id: None,
                summary: "x".into(),
                details: None,
            },
            r#","fromId":"root","summary":"x""#,
        );
    }

    #[test]
    fn an_entry_is_one_line_even_if_its_json_came_in_many() {
        let pretty = RawValue::from_string("{\n \"a\":\r\n 1\n}".to_owned()).unwrap();
        check(
            EntryBody::Message { message: pretty },
            r#","message":{ "a": 1}"#,
        );
    }
}
