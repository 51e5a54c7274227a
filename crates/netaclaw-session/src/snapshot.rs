//! An immutable read of a whole session.

use crate::context::build_session_context;
use crate::error::PathError;
use crate::path::group_children_by_parent;
use crate::tree::SessionTree;
use crate::{Entry, RawJson, SessionMeta, raw_json};
use indexmap::IndexMap;
use netaclaw_protocol::{EntryId, EntryLabel};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub session: SessionMeta,
    pub entries: Vec<Entry>,
    /// Ids from root to leaf.
    pub active_path: Vec<EntryId>,
    /// In append order; roots under `__root__`.
    pub children_by_parent_id: IndexMap<String, Vec<EntryId>>,
    pub labels_by_entry_id: IndexMap<EntryId, EntryLabel>,
    /// `messages`, `thinkingLevel`, `model` and `sourceEntryIds` at the leaf.
    pub runtime_context: RawJson,
    /// The entry that is being streamed, if any. It is not in `entries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<Entry>,
    /// Lines of the file that could not be read.
    pub skipped_lines: u32,
    /// Damage that the reader should be warned of, as text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Builds the snapshot of a session.
pub fn build_snapshot(
    tree: &SessionTree,
    session: SessionMeta,
    in_flight: Option<Entry>,
) -> Result<Snapshot, PathError> {
    let context = build_session_context(tree, tree.leaf())?;
    let warnings = context.broken_compaction.iter().map(|id| {
        format!(
            "compaction {id} drops everything before it: its first kept entry is not on its \
                 path"
        )
    });
    Ok(Snapshot {
        entries: tree.entries().to_vec(),
        active_path: tree
            .active_path()?
            .into_iter()
            .map(|entry| entry.id().clone())
            .collect(),
        children_by_parent_id: group_children_by_parent(tree.entries(), tree.index()),
        labels_by_entry_id: tree
            .labels()
            .iter()
            .map(|(target, label)| (target.clone(), label.shown()))
            .collect(),
        runtime_context: raw_json(&context),
        in_flight,
        skipped_lines: tree.skipped_lines(),
        warnings: warnings.collect(),
        session,
    })
}
