//! The snapshot for a client that opens the session.

use crate::events::wire::wire_entries;
use crate::session::durable::PersistedState;
use crate::session::live::TransientFields;
use netaclaw_protocol::{LiveSnapshot, LocalizedError, ModelRef, RunTrouble, SessionMeta};
use netaclaw_session::{NavigationTree, SessionTree, build_session_context};

/// Entries of the active path that a snapshot brings along; older ones are asked for by cursor.
const ENTRIES_MAX: usize = 200;

/// Builds the snapshot. `live` must be read under its lock, so that it fits the `seq` that the
/// client receives.
pub(crate) fn build(
    tree: &SessionTree,
    session: SessionMeta,
    live: &TransientFields,
    durable: &PersistedState,
    model_in_use: Option<ModelRef>,
) -> LiveSnapshot {
    let path = tree.active_path().unwrap_or_default();
    let from = path.len().saturating_sub(ENTRIES_MAX);
    let context = build_session_context(tree, tree.leaf());
    let (thinking_level, broken) = match &context {
        Ok(context) => (
            context.thinking_level.to_string(),
            context.broken_compaction.clone(),
        ),
        Err(_) => ("off".to_owned(), None),
    };
    let warnings = broken
        .map(|compaction| RunTrouble::SummaryOnly { compaction })
        .into_iter()
        .chain(context.err().map(|error| RunTrouble::SessionDamaged {
            damage: error.damage(),
        }))
        .map(LocalizedError::from)
        .chain(live.warnings.lasting().iter().cloned())
        .collect();
    LiveSnapshot {
        entries: wire_entries(tree, &path[from..]),
        cursor: (from > 0).then(|| path[from].id().clone()),
        active_path: path.iter().map(|entry| entry.id().clone()).collect(),
        children_by_parent_id: NavigationTree::new(tree).children().into_iter().collect(),
        labels_by_entry_id: tree
            .labels()
            .iter()
            .map(|(target, label)| (target.clone(), label.shown()))
            .collect(),
        thinking_level,
        model: model_in_use,
        run: live.run.status().clone(),
        streaming: live.streaming(),
        tools: live.tools.all().to_vec(),
        queue: durable.queue.state(),
        questions: live.questions.all().to_vec(),
        approvals: live.approvals.all().to_vec(),
        standing_approvals: durable.standing.clone(),
        todo: live.todo().clone(),
        tokens: live.tokens.clone().unwrap_or_default(),
        compaction: live.compaction.running().cloned(),
        compaction_failed: live.compaction.failed().cloned(),
        skipped_lines: tree.skipped_lines(),
        warnings,
        session: session.into(),
    }
}
