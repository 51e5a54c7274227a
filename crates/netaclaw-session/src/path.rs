//! Walking the tree: paths, children, common ancestors, labels and names.

use crate::error::PathError;
use crate::tree::Label;
use crate::{Entry, EntryKind, Role};
use indexmap::IndexMap;
use netaclaw_protocol::EntryId;
use std::collections::HashMap;

/// Key of the roots in a map of children by parent.
pub(crate) const ROOT_KEY: &str = "__root__";

const ROOT: u32 = u32::MAX;
const MISSING: u32 = u32::MAX - 1;

/// Positions of entries by id, and of each entry's parent. Where an id is repeated, the last
/// entry with it counts.
#[derive(Clone, Debug, Default)]
pub struct EntryIndex {
    by_id: Positions,
    parents: Vec<u32>,
    voices: Vec<ContextRole>,
}

/// Numbers by id. Nearly all ids are eight hex digits and are kept as the number they spell: a
/// quarter of the memory, and at every append a look-up that is likely to hit the cache.
#[derive(Clone, Debug, Default)]
struct Positions {
    short: HashMap<u32, u32, foldhash::fast::RandomState>,
    other: HashMap<EntryId, u32, foldhash::fast::RandomState>,
}

impl Positions {
    fn with_capacity(ids: usize) -> Self {
        let mut positions = Self::default();
        positions.short.reserve(ids);
        positions
    }

    fn len(&self) -> usize {
        self.short.len() + self.other.len()
    }

    fn get(&self, id: &EntryId) -> Option<u32> {
        match short(id) {
            Some(number) => self.short.get(&number).copied(),
            None => self.other.get(id).copied(),
        }
    }

    fn insert(&mut self, id: &EntryId, at: u32) {
        match short(id) {
            Some(number) => self.short.insert(number, at),
            None => self.other.insert(id.clone(), at),
        };
    }
}

/// The number that eight lower-case hex digits spell. No other text spells the same.
fn short(id: &EntryId) -> Option<u32> {
    let digits: &[u8; 8] = id.as_str().as_bytes().try_into().ok()?;
    digits.iter().try_fold(0, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u32::from(value))
    })
}

/// What an entry contributes to a context. Stored next to the entries, so that building a context
/// reads one byte for each entry and not the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextRole {
    Silent,
    Message,
    /// A message whose content is `null`.
    EmptyMessage,
    SystemMessage,
    CustomMessage,
    BranchSummary,
    Compaction,
    ContextEdit,
    ThinkingLevel,
    Model,
}

impl ContextRole {
    fn of(entry: &Entry) -> Self {
        match entry.kind() {
            EntryKind::Message if entry.message_json().is_none() => Self::Silent,
            EntryKind::Message if entry.role() == Role::System => Self::SystemMessage,
            EntryKind::Message if entry.has_null_content() => Self::EmptyMessage,
            EntryKind::Message => Self::Message,
            EntryKind::CustomMessage => Self::CustomMessage,
            EntryKind::BranchSummary => Self::BranchSummary,
            EntryKind::Compaction => Self::Compaction,
            EntryKind::ContextEdit => Self::ContextEdit,
            EntryKind::ThinkingLevelChange => Self::ThinkingLevel,
            EntryKind::ModelChange => Self::Model,
            _ => Self::Silent,
        }
    }
}

/// Builds the index of a list of entries.
pub fn build_entry_index(entries: &[Entry]) -> EntryIndex {
    let mut index = EntryIndex {
        by_id: Positions::with_capacity(entries.len()),
        parents: Vec::with_capacity(entries.len()),
        voices: Vec::with_capacity(entries.len()),
    };
    for (at, entry) in entries.iter().enumerate() {
        index.by_id.insert(entry.id(), position(at));
        index.voices.push(ContextRole::of(entry));
    }
    // In damaged files parents may follow their children, so this needs all ids first. The parent
    // of most entries is the entry before them, which saves a lookup.
    for (at, entry) in entries.iter().enumerate() {
        let link = match (
            entry.parent_id(),
            at.checked_sub(1).map(|before| &entries[before]),
        ) {
            (Some(id), Some(before)) if before.id() == id && index.len() == entries.len() => {
                position(at - 1)
            }
            (Some(id), _) => index.by_id.get(id).unwrap_or(MISSING),
            (None, _) => ROOT,
        };
        index.parents.push(link);
    }
    index
}

impl EntryIndex {
    /// Number of different ids.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.len() == 0
    }

    pub fn contains(&self, id: &EntryId) -> bool {
        self.by_id.get(id).is_some()
    }

    pub fn position(&self, id: &EntryId) -> Option<usize> {
        self.by_id.get(id).map(|at| at as usize)
    }

    pub(crate) fn context_role(&self, at: u32) -> ContextRole {
        self.voices[at as usize]
    }

    /// Takes in an entry with a new id that was appended to the list after `before`.
    pub(crate) fn push(&mut self, entry: &Entry, before: Option<&Entry>) {
        let at = self.parents.len();
        let parent = match (entry.parent_id(), before) {
            (Some(id), Some(before)) if before.id() == id => position(at - 1),
            (Some(id), _) => self.by_id.get(id).unwrap_or(MISSING),
            (None, _) => ROOT,
        };
        self.by_id.insert(entry.id(), position(at));
        self.parents.push(parent);
        self.voices.push(ContextRole::of(entry));
    }

    /// The positions from a root to `at`. A missing parent ends the walk, as in Pi.
    pub(crate) fn path(&self, entries: &[Entry], at: u32) -> Result<Vec<u32>, PathError> {
        let mut path = Vec::with_capacity(at as usize + 1);
        let mut here = at;
        while here < MISSING {
            if path.len() > self.parents.len() {
                return Err(PathError::Cycle(entries[at as usize].id().clone()));
            }
            path.push(here);
            here = self.parents[here as usize];
        }
        path.reverse();
        Ok(path)
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("a session has fewer than four billion entries")
}

/// The entries from a root to `leaf`, root first. Strict: a missing parent is an error.
pub fn path_to_leaf<'a>(
    entries: &'a [Entry],
    index: &EntryIndex,
    leaf: &EntryId,
) -> Result<Vec<&'a Entry>, PathError> {
    let at = index
        .position(leaf)
        .ok_or_else(|| PathError::MissingLeaf(leaf.clone()))?;
    let path = index.path(entries, position(at))?;
    let root = &entries[path[0] as usize];
    match root.parent_id() {
        Some(parent) => Err(PathError::MissingParent {
            entry: root.id().clone(),
            parent: parent.clone(),
        }),
        None => Ok(path.into_iter().map(|at| &entries[at as usize]).collect()),
    }
}

/// The deepest entry on both paths; `None` if they have no root in common.
pub fn common_ancestor<'a>(
    entries: &'a [Entry],
    index: &EntryIndex,
    a: &EntryId,
    b: &EntryId,
) -> Result<Option<&'a Entry>, PathError> {
    let (a, b) = (
        path_to_leaf(entries, index, a)?,
        path_to_leaf(entries, index, b)?,
    );
    Ok(a.iter()
        .zip(&b)
        .take_while(|(a, b)| a.id() == b.id())
        .last()
        .map(|(entry, _)| *entry))
}

/// Children of each entry in the order they were appended; the roots under `__root__`. An entry
/// whose parent is missing or itself is a root.
pub fn group_children_by_parent(
    entries: &[Entry],
    index: &EntryIndex,
) -> IndexMap<String, Vec<EntryId>> {
    let mut groups: IndexMap<String, Vec<EntryId>> = IndexMap::new();
    for entry in entries {
        let parent = entry
            .parent_id()
            .filter(|id| *id != entry.id() && index.contains(id));
        let key = parent.map_or(ROOT_KEY, EntryId::as_str);
        match groups.get_mut(key) {
            Some(children) => children.push(entry.id().clone()),
            None => {
                groups.insert(key.to_owned(), vec![entry.id().clone()]);
            }
        }
    }
    groups
}

/// The labels in force. They belong to the session, not to a branch: the last one in file order
/// counts, and an empty one clears.
pub fn latest_labels(entries: &[Entry]) -> IndexMap<EntryId, Label> {
    let mut labels = IndexMap::new();
    for entry in entries {
        apply_label(&mut labels, entry);
    }
    labels
}

pub(crate) fn apply_label(labels: &mut IndexMap<EntryId, Label>, entry: &Entry) {
    if entry.kind() != EntryKind::Label {
        return;
    }
    let Some(target) = entry.text_field("targetId").map(EntryId::new) else {
        return;
    };
    match entry.text_field("label").filter(|label| !label.is_empty()) {
        Some(text) => {
            let label = Label {
                text: text.into_owned(),
                entry: entry.clone(),
            };
            labels.insert(target, label);
        }
        None => {
            labels.shift_remove(&target);
        }
    }
}

/// The name in force: the last one in file order, trimmed; an empty one clears.
pub fn session_name(entries: &[Entry]) -> Option<String> {
    entries
        .iter()
        .rev()
        .find(|entry| entry.kind() == EntryKind::SessionInfo)
        .and_then(name_in)
}

pub(crate) fn name_in(entry: &Entry) -> Option<String> {
    let name = entry.text_field("name")?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
