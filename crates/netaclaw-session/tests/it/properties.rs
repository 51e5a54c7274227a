//! Random sessions, and what must hold for every one of them.

use crate::read;
use netaclaw_session::contract::{Step, random_log};
use netaclaw_session::{
    Entry, EntryId, EntryKind, SessionTree, build_session_context, fork_entries,
    group_children_by_parent, path_to_leaf,
};
use proptest::prelude::*;
use std::collections::HashSet;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (any::<u8>(), any::<u16>(), any::<u16>());
    let step = step.prop_map(|(kind, parent, other)| Step {
        kind,
        parent,
        other,
    });
    prop::collection::vec(step, 0..60)
}

fn tree_of(steps: &[Step]) -> SessionTree {
    SessionTree::new(read(&random_log("s", steps)))
}

fn ids(tree: &SessionTree) -> Vec<EntryId> {
    tree.entries()
        .iter()
        .map(|entry| entry.id().clone())
        .collect()
}

/// The messages at a leaf, without the entries they came from.
fn messages(tree: &SessionTree, leaf: Option<&EntryId>) -> Vec<String> {
    let context = build_session_context(tree, leaf).unwrap();
    context
        .messages
        .iter()
        .map(|message| message.json().into_owned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_path_is_a_chain_from_a_root_to_its_leaf(steps in steps()) {
        let tree = tree_of(&steps);
        for id in ids(&tree) {
            let path = tree.path(&id).unwrap();
            prop_assert_eq!(path.last().unwrap().id(), &id);
            for pair in path.windows(2) {
                prop_assert_eq!(pair[1].parent_id(), Some(pair[0].id()));
            }
            let root_parent = path[0].parent_id();
            prop_assert!(root_parent.is_none_or(|parent| !tree.contains(parent)));
            let strict = path_to_leaf(tree.entries(), tree.index(), &id);
            prop_assert_eq!(strict.is_ok(), root_parent.is_none());
        }
        let active: Vec<&Entry> = tree.active_path().unwrap();
        prop_assert_eq!(active.last().map(|entry| entry.id()), tree.leaf());
        prop_assert!(active.last().is_none_or(|leaf| leaf.kind().moves_leaf()));
    }

    #[test]
    fn every_entry_is_the_child_of_one_parent(steps in steps()) {
        let tree = tree_of(&steps);
        let groups = group_children_by_parent(tree.entries(), tree.index());
        let children: usize = groups.values().map(Vec::len).sum();
        prop_assert_eq!(children, tree.entries().len());
    }

    #[test]
    fn a_context_holds_entries_of_its_path_only_and_in_order(steps in steps()) {
        let tree = tree_of(&steps);
        for id in ids(&tree) {
            let path = tree.path(&id).unwrap();
            let context = build_session_context(&tree, Some(&id)).unwrap();
            let sources: Vec<&EntryId> = context.source_entry_ids().collect();
            let is_summary = |source: &&&EntryId| tree.get(source).unwrap().kind() == EntryKind::Compaction;
            // At most one compaction contributes, the last on the path, and it comes first.
            let last = path.iter().rev().find(|entry| entry.kind() == EntryKind::Compaction);
            let summaries: Vec<&EntryId> = sources.iter().filter(is_summary).copied().collect();
            prop_assert_eq!(summaries, last.map(|entry| entry.id()).into_iter().collect::<Vec<_>>());
            let mut rest = path.iter();
            let others = sources.iter().filter(|source| !is_summary(source));
            for source in others {
                prop_assert!(rest.any(|entry| entry.id() == *source), "{source} is not on the path in order");
            }
        }
    }

    #[test]
    fn a_fork_of_a_leaf_gives_the_same_context_and_labels(steps in steps()) {
        let tree = tree_of(&steps);
        for id in ids(&tree) {
            let mut number = 0;
            let forked = fork_entries(&tree, &id, || {
                number += 1;
                EntryId::new(format!("new-{number}"))
            }).unwrap();
            let log = netaclaw_session::SessionLog {
                last: forked.entries.last().map(|entry| entry.id().clone()),
                entries: forked.entries,
                ..tree.to_log()
            };
            let fork = SessionTree::new(log);
            prop_assert_eq!(fork.leaf().cloned(), fork.effective_leaf(forked.leaf));
            let last = fork.entries().iter().rev().find(|entry| entry.kind() != EntryKind::Label);
            prop_assert_eq!(
                messages(&fork, last.map(|entry| entry.id())),
                messages(&tree, Some(&id))
            );
            let path: HashSet<&EntryId> = tree.path(&id).unwrap().into_iter()
                .filter(|entry| entry.kind() != EntryKind::Label).map(Entry::id).collect();
            let labels = |tree: &SessionTree, on: &HashSet<&EntryId>| -> Vec<(EntryId, String)> {
                tree.labels().iter().filter(|(target, _)| on.contains(target))
                    .map(|(target, label)| (target.clone(), label.text.clone())).collect()
            };
            prop_assert_eq!(labels(&fork, &path), labels(&tree, &path));
            prop_assert_eq!(fork.labels().len(), labels(&tree, &path).len());
        }
    }

    #[test]
    fn pushing_entry_by_entry_gives_the_tree_that_reading_gives(steps in steps()) {
        let whole = tree_of(&steps);
        let ids = ids(&whole);
        let unique: HashSet<&EntryId> = ids.iter().collect();
        prop_assume!(unique.len() == ids.len());
        let mut grown = tree_of(&[]);
        for entry in whole.entries() {
            grown.push(entry.clone());
        }
        prop_assert_eq!(grown.labels(), whole.labels());
        prop_assert_eq!(grown.name(), whole.name());
        for id in &ids {
            prop_assert_eq!(messages(&grown, Some(id)), messages(&whole, Some(id)));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_but_never_a_panic(text in "\\PC{0,40}", cut in any::<prop::sample::Index>()) {
        let whole = random_log("s", &netaclaw_session::contract::random_steps(7, 8));
        let at = (0..=cut.index(whole.len() + 1)).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        let damaged = [&whole[..at], &text, &whole[at..]].concat();
        let lines = netaclaw_session::SessionLog::parse(damaged.clone().into_bytes());
        if let Ok(log) = lines {
            let tree = SessionTree::new(log);
            for id in ids(&tree) {
                // A damaged parent may close a circle, which is an error and not a hang.
                let _checked = tree.path(&id).is_ok();
            }
        }
    }
}
