//! Migrates old session files, one version at a time.
//!
//! Only what a step is about changes; every other byte of a line stays. Ids given to lines that
//! had none are counted from the top of the file, so that looking twice shows the same ids.

use crate::json;
use crate::{Entry, EntryKind};
use bytestring::ByteString;
use netaclaw_protocol::EntryId;

/// A readable line of a session file after the header.
pub(crate) enum Line {
    Entry(Entry),
    /// NetaClaw's own bookkeeping.
    Marker(Entry),
    /// The header, or a repeated one, which says nothing but counts in old indexes.
    Header(ByteString),
    /// An object without an id.
    Nameless(ByteString),
}

pub(crate) fn to_current(version: u32, lines: Vec<Line>) -> Vec<Line> {
    let lines = match version {
        0 | 1 => v1_to_v2(lines),
        _ => name_the_nameless(lines),
    };
    match version {
        0..=2 => v2_to_v3(lines),
        _ => lines,
    }
}

/// Version 1 was a list: every entry gets an id and becomes a child of the one before it, whatever
/// ids it may have had. Compactions named their first kept entry by its position among all readable
/// lines, the header being number 0.
fn v1_to_v2(lines: Vec<Line>) -> Vec<Line> {
    let mut ids: Vec<Option<EntryId>> = Vec::new();
    let mut previous: Option<EntryId> = None;
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let raw = match line {
            Line::Header(raw) => {
                ids.push(None);
                out.push(Line::Header(raw));
                continue;
            }
            Line::Nameless(raw) => raw,
            Line::Entry(entry) | Line::Marker(entry) => entry.json().to_owned().into(),
        };
        let id = EntryId::new(format!("{:08x}", ids.len()));
        ids.push(Some(id.clone()));
        let mut entry = named(&raw, &id, previous.as_ref());
        if entry.kind() == EntryKind::Compaction {
            entry = keep_by_id(&entry, &ids);
        }
        previous = Some(id);
        out.push(Line::Entry(entry));
    }
    out
}

fn keep_by_id(compaction: &Entry, ids: &[Option<EntryId>]) -> Entry {
    let Some(index) = compaction
        .field("firstKeptEntryIndex")
        .and_then(|i| i.parse::<f64>().ok())
    else {
        return compaction.clone();
    };
    let target = ids
        .get(index as usize)
        .filter(|_| index >= 0.0 && index.fract() == 0.0);
    let id = target
        .cloned()
        .flatten()
        .map(|id| serde_json::Value::from(id.as_str()).to_string());
    let raw = json::with_member(compaction.json(), "firstKeptEntryIndex", None);
    let raw = match id {
        Some(id) => json::with_member(&raw, "firstKeptEntryId", Some(&id)),
        None => raw,
    };
    Entry::parse(raw).expect("a compaction stays readable")
}

/// Version 3 called hook messages custom messages.
fn v2_to_v3(lines: Vec<Line>) -> Vec<Line> {
    let rename = |entry: Entry| {
        let message = entry.message_json()?;
        let role = json::member(message, "role")?;
        (role == r#""hookMessage""#).then(|| {
            entry.with_field(
                "message",
                &json::with_member(message, "role", Some(r#""custom""#)),
            )
        })
    };
    let upgrade = |line| match line {
        Line::Entry(entry) => Line::Entry(rename(entry.clone()).unwrap_or(entry)),
        other => other,
    };
    lines.into_iter().map(upgrade).collect()
}

/// A copy made of a version 1 file by some releases of Pi says version 3 and has no ids.
fn name_the_nameless(lines: Vec<Line>) -> Vec<Line> {
    let mut previous: Option<EntryId> = None;
    let mut out = Vec::with_capacity(lines.len());
    for (at, line) in lines.into_iter().enumerate() {
        let line = match line {
            Line::Nameless(raw) => Line::Entry(named(
                &raw,
                &EntryId::new(format!("line-{}", at + 1)),
                previous.as_ref(),
            )),
            other => other,
        };
        if let Line::Entry(entry) = &line {
            previous = Some(entry.id().clone());
        }
        out.push(line);
    }
    out
}

fn named(raw: &str, id: &EntryId, parent: Option<&EntryId>) -> Entry {
    let parent = serde_json::Value::from(parent.map(EntryId::as_str)).to_string();
    let id = serde_json::Value::from(id.as_str()).to_string();
    let raw = json::with_member(raw, "id", Some(&id));
    let raw = json::with_member(&raw, "parentId", Some(&parent));
    Entry::parse(raw).expect("a line with an id is an entry")
}
