//! The context of a model at a leaf: the projection of a path.

use crate::error::PathError;
use crate::json;
use crate::path::ContextRole;
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
    /// The position of the last model change, and the names in it.
    model: Option<(&'a str, [&'static str; 2])>,
    /// Messages from here on came after the last compaction or edit on the path. The context size
    /// in earlier answers is obsolete.
    pub fresh_from: usize,
    /// A compaction whose first kept entry is not on the path before it: nothing before it is kept,
    /// which callers report.
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
    let walk = PathWalk { tree, path: &path };
    let selected = walk.select();
    let mut messages = Vec::with_capacity(path.len());
    if let Some(compaction) = selected.compaction {
        if compaction
            .field("systemMessage")
            .is_some_and(json::is_truthy)
        {
            messages.push(ContextMessage::CompactionSystem(compaction));
        }
        messages.push(ContextMessage::CompactionSummary(compaction));
    }
    let edits = walk.edits(&selected);
    // A compaction carries the system message on, so those it kept are not said again.
    let kept = selected
        .kept
        .iter()
        .filter(|at| walk.context_role(**at) != ContextRole::SystemMessage);
    for at in kept {
        messages.extend(walk.message(*at, &edits));
    }
    let mut fresh_from = messages.len();
    for at in selected.after {
        messages.extend(walk.message(*at, &edits));
        if walk.context_role(*at) == ContextRole::ContextEdit {
            fresh_from = messages.len();
        }
    }
    Ok(SessionContext {
        messages,
        thinking_level: walk.thinking_level(),
        model: walk.model(),
        fresh_from,
        broken_compaction: selected.broken_compaction(),
    })
}

/// How many entries of a path, from its root on, the last compaction on it stands in for.
pub fn folded_count(path: &[&Entry]) -> usize {
    let last = path
        .iter()
        .rposition(|entry| entry.kind() == EntryKind::Compaction);
    let Some(at) = last else { return 0 };
    let first = path[at].text_field("firstKeptEntryId");
    let kept = first.and_then(|first| {
        let mut before = path[..at].iter();
        before.position(|entry| entry.id().as_str() == first)
    });
    kept.unwrap_or(at)
}

/// A path through a tree, by positions.
struct PathWalk<'a, 'p> {
    tree: &'a SessionTree,
    path: &'p [u32],
}

/// The entries of a path that contribute to the context: all of them, or what the last compaction
/// kept and what came after it.
struct Selected<'a, 'p> {
    compaction: Option<&'a Entry>,
    kept: &'p [u32],
    found_first_kept: bool,
    after: &'p [u32],
}

type Edits<'a> = HashMap<Cow<'a, str>, &'a Entry>;

impl<'a, 'p> PathWalk<'a, 'p> {
    fn entry(&self, at: u32) -> &'a Entry {
        &self.tree.entries()[at as usize]
    }

    fn context_role(&self, at: u32) -> ContextRole {
        self.tree.index().context_role(at)
    }

    fn select(&self) -> Selected<'a, 'p> {
        let Some(c) = self
            .path
            .iter()
            .rposition(|at| self.context_role(*at) == ContextRole::Compaction)
        else {
            return Selected {
                compaction: None,
                kept: &[],
                found_first_kept: true,
                after: self.path,
            };
        };
        let compaction = self.entry(self.path[c]);
        let first = compaction.text_field("firstKeptEntryId");
        let from = first.and_then(|first| {
            self.path[..c]
                .iter()
                .position(|at| self.entry(*at).id().as_str() == first)
        });
        Selected {
            compaction: Some(compaction),
            kept: &self.path[from.unwrap_or(c)..c],
            found_first_kept: from.is_some(),
            after: &self.path[c + 1..],
        }
    }

    /// The last edit for each target among the selected entries. Edits elsewhere have no effect.
    fn edits(&self, selected: &Selected<'a, 'p>) -> Edits<'a> {
        let all = selected.kept.iter().chain(selected.after);
        all.filter(|at| self.context_role(**at) == ContextRole::ContextEdit)
            .map(|at| self.entry(*at))
            .filter_map(|edit| Some((edit.text_field("targetId")?, edit)))
            .collect()
    }

    fn message(&self, at: u32, edits: &Edits<'a>) -> Option<ContextMessage<'a>> {
        let entry = self.entry(at);
        let message = match self.context_role(at) {
            ContextRole::Message => ContextMessage::Stored(entry),
            ContextRole::SystemMessage if !entry.has_null_content() => {
                ContextMessage::Stored(entry)
            }
            ContextRole::SystemMessage | ContextRole::EmptyMessage => ContextMessage::Mended(entry),
            ContextRole::CustomMessage => ContextMessage::Custom(entry),
            ContextRole::BranchSummary => {
                let summary = entry.field("summary")?;
                return json::is_truthy(summary).then_some(ContextMessage::BranchSummary(entry));
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

    fn thinking_level(&self) -> Cow<'a, str> {
        let last = self
            .path
            .iter()
            .rev()
            .find(|at| self.context_role(**at) == ContextRole::ThinkingLevel);
        last.and_then(|at| self.entry(*at).text_field("thinkingLevel"))
            .unwrap_or(Cow::Borrowed("off"))
    }

    /// The model named last, by a change of model or by an answer.
    fn model(&self) -> Option<(&'a str, [&'static str; 2])> {
        self.path.iter().rev().find_map(|at| {
            let entry = self.entry(*at);
            match self.context_role(*at) {
                ContextRole::Model => Some((entry.json(), ["provider", "modelId"])),
                ContextRole::Message | ContextRole::EmptyMessage
                    if entry.role() == Role::Assistant =>
                {
                    Some((entry.message_json()?, ["provider", "model"]))
                }
                _ => None,
            }
        })
    }
}

impl Selected<'_, '_> {
    /// A compaction that means to keep something and does not find it. One that names itself
    /// keeps nothing on purpose.
    fn broken_compaction(&self) -> Option<EntryId> {
        let compaction = self.compaction.filter(|_| !self.found_first_kept)?;
        let first = compaction.text_field("firstKeptEntryId");
        (first.as_deref() != Some(compaction.id().as_str())).then(|| compaction.id().clone())
    }
}

impl SessionContext<'_> {
    /// The model that was named last, by a change of model or by an answer.
    pub fn model(&self) -> Option<ModelRef> {
        let (object, names) = self.model?;
        let [provider, model_id] = json::pick(object, names).map(|value| {
            value
                .and_then(json::string)
                .unwrap_or_default()
                .into_owned()
        });
        Some(ModelRef { provider, model_id })
    }
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

    /// The message for clients: without what tools and subagents noted for people beside their
    /// results.
    pub fn shown(&self) -> Cow<'a, str> {
        without_asides(self.json())
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

/// What tools and subagents leave in the details of a result for people. It is in the entry; a
/// model does not receive it, and so it is not part of the context.
const ASIDES: [&str; 7] = [
    "latestProcessEvent",
    "processEvents",
    "processEventCount",
    "processEventsDropped",
    "processLogRef",
    "subagentProjection",
    "evidenceSummaries",
];

/// A message without [`ASIDES`]; every other byte stays as it is.
fn without_asides(message: Cow<'_, str>) -> Cow<'_, str> {
    if !ASIDES.iter().any(|name| message.contains(name)) {
        return message;
    }
    let holders = ["details", "metadata"];
    holders.into_iter().fold(message, |message, holder| {
        let Some(held) = json::member(&message, holder) else {
            return message;
        };
        let names = ASIDES.into_iter();
        let names = names.filter(|name| json::member(held, name).is_some());
        let kept = names.fold(Cow::Borrowed(held), |held, name| {
            Cow::Owned(json::with_member(&held, name, None))
        });
        match kept {
            Cow::Borrowed(_) => message,
            Cow::Owned(kept) => Cow::Owned(json::with_member(&message, holder, Some(&kept))),
        }
    })
}

impl Serialize for ContextMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.shown();
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
        struct MessageFields<'c> {
            messages: &'c [ContextMessage<'c>],
            thinking_level: &'c str,
            model: Option<ModelRef>,
            source_entry_ids: Ids<'c>,
        }
        MessageFields {
            messages: &self.messages,
            thinking_level: &self.thinking_level,
            model: self.model(),
            source_entry_ids: Ids(self),
        }
        .serialize(serializer)
    }
}
