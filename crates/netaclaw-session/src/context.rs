//! What a model sees at a leaf: the projection of a path.

use crate::error::PathError;
use crate::json;
use crate::time::parse_timestamp;
use crate::tree::SessionTree;
use crate::{Entry, EntryKind, Role};
use netaclaw_protocol::{EntryId, ModelRef};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// The context at a leaf. Messages borrow the entries they come from; nothing is copied.
#[derive(Debug)]
pub struct SessionContext<'a> {
    pub messages: Vec<ContextMessage<'a>>,
    pub thinking_level: Cow<'a, str>,
    pub model: Option<ModelRef>,
    /// A compaction whose first kept entry is not on the path before it: nothing before it is
    /// kept, which somebody should know.
    pub broken_compaction: Option<EntryId>,
}

/// One message of a context and the entry it was made from.
#[derive(Clone, Copy, Debug)]
pub enum ContextMessage<'a> {
    /// The stored message, unchanged.
    Stored(&'a Entry),
    /// The stored message with `null` content shown as empty.
    Mended(&'a Entry),
    /// The stored message with the content a later `context_edit` gave it.
    Edited {
        entry: &'a Entry,
        edit: &'a Entry,
    },
    Custom(&'a Entry),
    BranchSummary(&'a Entry),
    CompactionSummary(&'a Entry),
    /// The system message that a compaction carries on.
    CompactionSystem(&'a Entry),
}

/// Builds the context at `leaf`; `None` is the place before the first entry.
pub fn build_session_context<'a>(
    tree: &'a SessionTree,
    leaf: Option<&EntryId>,
) -> Result<SessionContext<'a>, PathError> {
    let path = match leaf {
        Some(leaf) => tree.positions(leaf)?,
        None => Vec::new(),
    };
    let at = |position: u32| &tree.entries()[position as usize];
    let kind = |position: u32| tree.index().kind(position);
    let compaction = path
        .iter()
        .rposition(|position| kind(*position) == EntryKind::Compaction);
    let kept = compaction.map(|c| kept_from(tree, &path[..c], at(path[c])));

    let mut messages = Vec::with_capacity(path.len());
    if let Some(c) = compaction {
        let entry = at(path[c]);
        if entry.field("systemMessage").is_some_and(json::is_truthy) {
            messages.push(ContextMessage::CompactionSystem(entry));
        }
        messages.push(ContextMessage::CompactionSummary(entry));
    }
    // The entries that may speak: all of them, or those a compaction kept and those after it.
    let before = match (compaction, &kept) {
        (Some(c), Some(kept)) => &path[kept.unwrap_or(c)..c],
        _ => &[],
    };
    let after = &path[compaction.map_or(0, |c| c + 1)..];
    let edits = edits_among(tree, before.iter().chain(after));
    for position in before {
        let carried_on =
            kind(*position) == EntryKind::Message && at(*position).role() == Role::System;
        if !carried_on {
            messages.extend(message_of(kind(*position), at(*position), &edits));
        }
    }
    for position in after {
        messages.extend(message_of(kind(*position), at(*position), &edits));
    }

    Ok(SessionContext {
        messages,
        thinking_level: thinking_level(tree, &path),
        model: model(tree, &path),
        broken_compaction: match (compaction, kept) {
            (Some(c), Some(None)) if !keeps_nothing(at(path[c])) => Some(at(path[c]).id().clone()),
            _ => None,
        },
    })
}

/// Where on the path before a compaction its kept range begins.
fn kept_from(tree: &SessionTree, before: &[u32], compaction: &Entry) -> Option<usize> {
    let first = compaction.text_field("firstKeptEntryId")?;
    before
        .iter()
        .position(|position| tree.entries()[*position as usize].id().as_str() == first)
}

/// A compaction that names itself keeps nothing on purpose.
fn keeps_nothing(compaction: &Entry) -> bool {
    compaction
        .text_field("firstKeptEntryId")
        .is_some_and(|id| id == compaction.id().as_str())
}

type Edits<'a> = HashMap<Cow<'a, str>, &'a Entry>;

/// The last edit for each target among the selected entries. Edits elsewhere have no effect.
fn edits_among<'a, 'p>(
    tree: &'a SessionTree,
    selected: impl Iterator<Item = &'p u32>,
) -> Edits<'a> {
    selected
        .filter(|position| tree.index().kind(**position) == EntryKind::ContextEdit)
        .map(|position| &tree.entries()[*position as usize])
        .filter_map(|edit| Some((edit.text_field("targetId")?, edit)))
        .collect()
}

fn message_of<'a>(
    kind: EntryKind,
    entry: &'a Entry,
    edits: &Edits<'a>,
) -> Option<ContextMessage<'a>> {
    let message = match kind {
        EntryKind::Message => {
            entry.message_json()?;
            match entry.has_null_content() {
                true => ContextMessage::Mended(entry),
                false => ContextMessage::Stored(entry),
            }
        }
        EntryKind::CustomMessage => ContextMessage::Custom(entry),
        EntryKind::BranchSummary => {
            return entry
                .field("summary")
                .is_some_and(json::is_truthy)
                .then_some(ContextMessage::BranchSummary(entry));
        }
        _ => return None,
    };
    if edits.is_empty() {
        return Some(message);
    }
    match edits.get(entry.id().as_str()) {
        None => Some(message),
        Some(edit) if edit.field("replacement").is_none_or(|r| r == "null") => None,
        Some(edit) => Some(ContextMessage::Edited { entry, edit }),
    }
}

fn thinking_level<'a>(tree: &'a SessionTree, path: &[u32]) -> Cow<'a, str> {
    path.iter()
        .rev()
        .find(|position| tree.index().kind(**position) == EntryKind::ThinkingLevelChange)
        .and_then(|position| tree.entries()[*position as usize].text_field("thinkingLevel"))
        .unwrap_or(Cow::Borrowed("off"))
}

fn model(tree: &SessionTree, path: &[u32]) -> Option<ModelRef> {
    let named = |object: &str, names: [&str; 2]| {
        let [provider, model] = json::pick(object, names).map(|value| {
            value
                .and_then(json::string)
                .unwrap_or_default()
                .into_owned()
        });
        Some(ModelRef {
            provider,
            model_id: model,
        })
    };
    path.iter().rev().find_map(|position| {
        let entry = &tree.entries()[*position as usize];
        match tree.index().kind(*position) {
            EntryKind::ModelChange => named(entry.json(), ["provider", "modelId"]),
            EntryKind::Message if entry.role() == Role::Assistant => {
                named(entry.message_json()?, ["provider", "model"])
            }
            _ => None,
        }
    })
}

impl<'a> ContextMessage<'a> {
    /// The entry the message was made from.
    pub fn source(&self) -> &'a Entry {
        match self {
            Self::Stored(entry)
            | Self::Mended(entry)
            | Self::Edited { entry, .. }
            | Self::Custom(entry)
            | Self::BranchSummary(entry)
            | Self::CompactionSummary(entry)
            | Self::CompactionSystem(entry) => entry,
        }
    }

    /// The message as JSON.
    pub fn json(&self) -> Cow<'a, str> {
        match self {
            Self::Stored(entry) => Cow::Borrowed(stored(entry)),
            Self::Mended(entry) => {
                let empty = if entry.role() == Role::System {
                    r#""""#
                } else {
                    "[]"
                };
                Cow::Owned(json::with_member(stored(entry), "content", Some(empty)))
            }
            Self::Edited { entry, edit } => {
                let content = edit
                    .field("replacement")
                    .and_then(|r| json::member(r, "content"));
                let plain = match entry.kind() {
                    EntryKind::CustomMessage => Cow::Owned(custom_message(entry)),
                    _ => Cow::Borrowed(stored(entry)),
                };
                Cow::Owned(json::with_member(
                    &plain,
                    "content",
                    Some(content.unwrap_or("[]")),
                ))
            }
            Self::Custom(entry) => Cow::Owned(custom_message(entry)),
            Self::BranchSummary(entry) => {
                Cow::Owned(made_message(entry, "branchSummary", ["summary", "fromId"]))
            }
            Self::CompactionSummary(entry) => Cow::Owned(made_message(
                entry,
                "compactionSummary",
                ["summary", "tokensBefore"],
            )),
            Self::CompactionSystem(entry) => Cow::Borrowed(
                entry
                    .field("systemMessage")
                    .expect("it was there when selected"),
            ),
        }
    }
}

fn stored(entry: &Entry) -> &str {
    entry
        .message_json()
        .expect("only entries with a message are selected")
}

fn custom_message(entry: &Entry) -> String {
    made_message(
        entry,
        "custom",
        ["customType", "content", "display", "details"],
    )
}

/// A message made of fields of its entry, as they are written there.
fn made_message<const N: usize>(entry: &Entry, role: &str, fields: [&str; N]) -> String {
    let mut out = format!(r#"{{"role":"{role}""#);
    for (name, value) in fields.into_iter().zip(json::pick(entry.json(), fields)) {
        if let Some(value) = value {
            out.push_str(&format!(r#","{name}":{value}"#));
        }
    }
    match parse_timestamp(&entry.timestamp()) {
        Some(unix_ms) => out.push_str(&format!(r#","timestamp":{unix_ms}}}"#)),
        None => out.push_str(r#","timestamp":null}"#),
    }
    out
}

impl Serialize for ContextMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.json();
        let raw: &RawValue = serde_json::from_str(&json).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'a> SessionContext<'a> {
    /// The entry each message came from, in the order of the messages.
    pub fn source_entry_ids(&self) -> impl Iterator<Item = &'a EntryId> + '_ {
        self.messages.iter().map(|message| message.source().id())
    }
}

impl Serialize for SessionContext<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Ids<'c>(&'c SessionContext<'c>);
        impl Serialize for Ids<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut seq = serializer.serialize_seq(Some(self.0.messages.len()))?;
                for id in self.0.source_entry_ids() {
                    seq.serialize_element(id)?;
                }
                seq.end()
            }
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Form<'c> {
            messages: &'c [ContextMessage<'c>],
            thinking_level: &'c str,
            model: &'c Option<ModelRef>,
            source_entry_ids: Ids<'c>,
        }
        Form {
            messages: &self.messages,
            thinking_level: &self.thinking_level,
            model: &self.model,
            source_entry_ids: Ids(self),
        }
        .serialize(serializer)
    }
}
