//! A new session made of one path.

use crate::error::PathError;
use crate::tree::SessionTree;
use crate::{Entry, EntryKind};
use netaclaw_protocol::EntryId;
use std::collections::HashSet;

/// Entries for a session of its own; the source is not touched.
#[derive(Debug)]
pub struct ForkedEntries {
    pub entries: Vec<Entry>,
    /// The last entry of the path.
    pub leaf: Option<EntryId>,
}

/// Copies the path to `leaf`. Labels are taken off the path, what hung below one is chained to
/// the entry above it, and the labels in force for what remains are set again at the end with
/// their original times. `new_id` is asked for ids until it gives one that is free.
pub fn fork_entries(
    tree: &SessionTree,
    leaf: &EntryId,
    mut new_id: impl FnMut() -> EntryId,
) -> Result<ForkedEntries, PathError> {
    let path = tree.path(leaf)?;
    let mut entries: Vec<Entry> = Vec::with_capacity(path.len());
    for (at, entry) in path.iter().enumerate() {
        if entry.kind() == EntryKind::Label {
            continue;
        }
        let parent = entries.last().map(|last| last.id().clone());
        let entry = match entry.parent_id() == parent.as_ref() {
            true => (*entry).clone(),
            false => entry.below(parent.as_ref()),
        };
        entries.push(keep_range(entry, &path[..at]));
    }
    let leaf = entries.last().map(|last| last.id().clone());
    let mut taken: HashSet<EntryId> = entries.iter().map(|entry| entry.id().clone()).collect();
    let mut parent = leaf.clone();
    for (target, label) in tree.labels() {
        if !taken.contains(target) {
            continue;
        }
        let id = std::iter::repeat_with(&mut new_id)
            .find(|id| !taken.contains(id))
            .expect("the source of ids does not end");
        let label = label
            .entry
            .with_field("id", &serde_json::Value::from(id.as_str()).to_string())
            .below(parent.as_ref());
        taken.insert(id.clone());
        parent = Some(id);
        entries.push(label);
    }
    Ok(ForkedEntries { entries, leaf })
}

/// A compaction that keeps from a removed label on keeps from the entry after it.
fn keep_range(entry: Entry, before: &[&Entry]) -> Entry {
    if entry.kind() != EntryKind::Compaction {
        return entry;
    }
    let Some(first) = entry.text_field("firstKeptEntryId") else {
        return entry.clone();
    };
    let Some(at) = before.iter().position(|e| e.id().as_str() == first) else {
        return entry.clone();
    };
    if before[at].kind() != EntryKind::Label {
        return entry.clone();
    }
    let next = before[at..].iter().find(|e| e.kind() != EntryKind::Label);
    // With nothing but labels up to the compaction it keeps nothing, which its own id says.
    let next = next.map_or(entry.id(), |e| e.id());
    entry.with_field(
        "firstKeptEntryId",
        &serde_json::Value::from(next.as_str()).to_string(),
    )
}
