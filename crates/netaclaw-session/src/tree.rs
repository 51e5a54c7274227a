//! A session in memory: what both providers load into, and what every view is made from.

use crate::context::{SessionContext, build_session_context};
use crate::error::PathError;
use crate::log::{MetaRecord, SessionLog};
use crate::path::{
    EntryIndex, apply_label, build_entry_index, latest_labels, name_in, session_name,
};
use crate::{Entry, EntryKind, FORMAT_VERSION, Header};
use indexmap::IndexMap;
use netaclaw_protocol::{EntryId, EntryLabel};

/// A label in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub text: String,
    /// The entry that set it.
    pub entry: Entry,
}

impl Label {
    /// As clients get it.
    pub fn shown(&self) -> EntryLabel {
        EntryLabel {
            label: self.text.clone(),
            timestamp: self.entry.timestamp().into_owned(),
        }
    }
}

/// A header, the entries in the order they were appended, and a leaf.
#[derive(Clone, Debug)]
pub struct SessionTree {
    header: Header,
    entries: Vec<Entry>,
    index: EntryIndex,
    leaf: Option<EntryId>,
    labels: IndexMap<EntryId, Label>,
    name: Option<String>,
    meta: MetaRecord,
    skipped_lines: u32,
}

impl SessionTree {
    pub fn new(log: SessionLog) -> Self {
        let SessionLog {
            header,
            entries,
            last,
            meta,
            skipped_lines,
            ..
        } = log;
        let index = build_entry_index(&entries);
        let leaf = effective_leaf(&entries, &index, last);
        let labels = latest_labels(&entries);
        let name = session_name(&entries);
        Self {
            header,
            entries,
            index,
            leaf,
            labels,
            name,
            meta,
            skipped_lines,
        }
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn index(&self) -> &EntryIndex {
        &self.index
    }

    pub fn get(&self, id: &EntryId) -> Option<&Entry> {
        self.index.position(id).map(|at| &self.entries[at])
    }

    pub fn contains(&self, id: &EntryId) -> bool {
        self.index.contains(id)
    }

    /// The parent of the next append.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    pub fn labels(&self) -> &IndexMap<EntryId, Label> {
        &self.labels
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn meta(&self) -> &MetaRecord {
        &self.meta
    }

    /// Lines of the file that could not be read.
    pub fn skipped_lines(&self) -> u32 {
        self.skipped_lines
    }

    /// Entries from a root to the leaf. A missing parent begins a path, as in Pi; a circle of
    /// parents is an error.
    pub fn active_path(&self) -> Result<Vec<&Entry>, PathError> {
        match &self.leaf {
            Some(leaf) => self.path(leaf),
            None => Ok(Vec::new()),
        }
    }

    /// Entries from a root to `leaf`, read as forgivingly as [`Self::active_path`].
    pub fn path(&self, leaf: &EntryId) -> Result<Vec<&Entry>, PathError> {
        let positions = self.positions(leaf)?;
        Ok(positions
            .into_iter()
            .map(|at| &self.entries[at as usize])
            .collect())
    }

    /// What a model sees at the leaf.
    pub fn context(&self) -> Result<SessionContext<'_>, PathError> {
        build_session_context(self, self.leaf.as_ref())
    }

    pub(crate) fn positions(&self, leaf: &EntryId) -> Result<Vec<u32>, PathError> {
        let at = self
            .index
            .position(leaf)
            .ok_or_else(|| PathError::MissingLeaf(leaf.clone()))?;
        self.index.path(&self.entries, at as u32)
    }

    /// Takes in an entry that was appended and has an id of its own. Labels and names leave the
    /// leaf where it is.
    pub fn push(&mut self, entry: Entry) {
        apply_label(&mut self.labels, &entry);
        if entry.kind() == EntryKind::SessionInfo {
            self.name = name_in(&entry);
        }
        if entry.kind().moves_leaf() {
            self.leaf = Some(entry.id().clone());
        }
        self.index.push(&entry, self.entries.last());
        self.entries.push(entry);
    }

    /// Moves the leaf. On a label or a name it cannot rest, and rests above it.
    pub fn set_leaf(&mut self, leaf: Option<EntryId>) {
        self.leaf = self.effective_leaf(leaf);
    }

    /// Where the leaf would rest if it were moved to `leaf`.
    pub fn effective_leaf(&self, leaf: Option<EntryId>) -> Option<EntryId> {
        effective_leaf(&self.entries, &self.index, leaf)
    }

    pub fn merge_meta(&mut self, record: MetaRecord) {
        self.meta.merge(record, &self.header);
    }

    /// The whole as a log again, for writing a copy.
    pub fn to_log(&self) -> SessionLog {
        SessionLog {
            header: self.header.clone(),
            entries: self.entries.clone(),
            last: self.leaf.clone(),
            meta: self.meta.clone(),
            declared_version: FORMAT_VERSION,
            skipped_lines: 0,
            needs_migration: false,
        }
    }
}

/// Where the leaf rests if `last` was written last: the nearest entry upwards that is neither a
/// label nor a name.
fn effective_leaf(entries: &[Entry], index: &EntryIndex, last: Option<EntryId>) -> Option<EntryId> {
    let mut at = last?;
    // A chain of labels cannot be longer than the file; a longer walk is a circle of labels.
    for _ in 0..=entries.len() {
        let entry = &entries[index.position(&at)?];
        match entry.kind().moves_leaf() {
            true => return Some(at),
            false => at = entry.parent_id()?.clone(),
        }
    }
    None
}
