//! The whole session in Pi's format: a file that Pi and NetaClaw open on the same active path.

use netaclaw_session::{
    EntryId, MetaRecord, SessionLog, SessionTree, encode_leaf_marker, encode_meta_record,
};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, tree: &SessionTree) -> io::Result<()> {
    writeln!(out, "{}", tree.header().json().trim())?;
    for entry in tree.entries() {
        writeln!(out, "{}", entry.json().trim())?;
    }
    match last_line(tree) {
        Some(line) => writeln!(out, "{line}"),
        None => Ok(()),
    }
}

/// What has to follow the entries so that a reader ends up at the leaf, and knows what changed
/// after the header was written.
fn last_line(tree: &SessionTree) -> Option<String> {
    let id = free_id(tree);
    // The time of the last entry and not the present: the same session gives the same file.
    let last = tree.entries().last();
    let timestamp = last.map_or(tree.header().timestamp(), |entry| entry.timestamp());
    if *tree.meta() != MetaRecord::default() {
        return Some(encode_meta_record(
            &id,
            tree.leaf(),
            &timestamp,
            tree.meta(),
        ));
    }
    let without = SessionTree::new(SessionLog {
        last: last.map(|entry| entry.id().clone()),
        ..tree.to_log()
    });
    (without.leaf() != tree.leaf()).then(|| encode_leaf_marker(&id, tree.leaf(), &timestamp))
}

fn free_id(tree: &SessionTree) -> EntryId {
    let first = tree.entries().len() as u32;
    (first..=u32::MAX)
        .map(|number| EntryId::new(format!("{number:08x}")))
        .find(|id| !tree.contains(id))
        .expect("there are fewer entries than ids")
}
