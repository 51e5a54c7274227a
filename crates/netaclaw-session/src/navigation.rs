//! The tree as users navigate it. Labels and names describe a session and are not navigable: their
//! children belong to the entry above them.

use crate::path::ROOT_KEY;
use crate::tree::SessionTree;
use crate::{Entry, EntryId};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// For each fork that was left by another child than the usual one: the child. Roots fork at
/// `__root__`.
pub type LastVisited = BTreeMap<String, EntryId>;

/// The entries one can be at, each with its place in the tree.
#[derive(Debug)]
pub struct NavigationTree<'t> {
    tree: &'t SessionTree,
    /// By position: the navigable parent; none for a root and for entries that are not navigable.
    above: Vec<Option<usize>>,
    /// By position of the navigable parent; the roots come last.
    below: Vec<Vec<usize>>,
    /// By position: the last entry that was appended at or below it.
    latest: Vec<usize>,
}

impl<'t> NavigationTree<'t> {
    pub fn new(tree: &'t SessionTree) -> Self {
        let entries = tree.entries();
        let count = entries.len();
        let mut places = Self {
            tree,
            above: vec![None; count],
            below: vec![Vec::new(); count + 1],
            latest: (0..count).collect(),
        };
        for (at, _) in places.iter_positions() {
            let above = place_above(tree, at);
            places.above[at] = above;
            places.below[above.unwrap_or(count)].push(at);
        }
        // Children follow their parents, so that one pass from the end visits all of them.
        for at in (0..count).rev() {
            if let Some(above) = places.above[at] {
                places.latest[above] = places.latest[above].max(places.latest[at]);
            }
        }
        places
    }

    /// Every place in the order of appending, with the one above it.
    pub fn iter(&self) -> impl Iterator<Item = (&'t Entry, Option<&'t EntryId>)> {
        let id = |at: usize| self.tree.entries()[at].id();
        self.iter_positions()
            .map(move |(at, entry)| (entry, self.above[at].map(id)))
    }

    /// Children in the order of appending; the roots under `__root__`.
    pub fn children(&self) -> IndexMap<String, Vec<EntryId>> {
        let ids = |children: &Vec<usize>| children.iter().map(|at| self.id(*at).clone()).collect();
        let forks = self.below.iter().enumerate().rev();
        forks
            .filter(|(_, children)| !children.is_empty())
            .map(|(at, children)| (self.key(at), ids(children)))
            .collect()
    }

    /// From an entry down to where its branch was last left: at every fork the child that was
    /// visited last, or the one that was written to last.
    pub fn follow(&self, from: &EntryId, visits: &LastVisited) -> EntryId {
        let Some(mut at) = self.tree.index().position(from) else {
            return from.clone();
        };
        // Not longer than the session, even if it holds a circle.
        for _ in 0..self.below.len() {
            let children = &self.below[at];
            let visited = visits.get(&self.key(at));
            let visited = visited.and_then(|id| children.iter().find(|at| self.id(**at) == id));
            match visited.copied().or_else(|| self.usual(children)) {
                Some(next) => at = next,
                None => break,
            }
        }
        self.id(at).clone()
    }

    /// Stores which child the path to a leaf takes at every fork.
    pub fn remember(&self, leaf: Option<&EntryId>, visits: &mut LastVisited) {
        let mut here = leaf.and_then(|leaf| self.tree.index().position(leaf));
        for _ in 0..self.below.len() {
            let Some(at) = here else { break };
            here = self.above[at];
            let fork = here.unwrap_or(self.above.len());
            let children = &self.below[fork];
            match children.len() < 2 || self.usual(children) == Some(at) {
                true => visits.remove(&self.key(fork)),
                false => visits.insert(self.key(fork), self.id(at).clone()),
            };
        }
    }

    /// The child below which was written last.
    fn usual(&self, children: &[usize]) -> Option<usize> {
        children.iter().copied().max_by_key(|at| self.latest[*at])
    }

    fn iter_positions(&self) -> impl Iterator<Item = (usize, &'t Entry)> + use<'t> {
        let entries = self.tree.entries().iter().enumerate();
        entries.filter(|(_, entry)| entry.kind().moves_leaf())
    }

    fn id(&self, at: usize) -> &'t EntryId {
        self.tree.entries()[at].id()
    }

    fn key(&self, at: usize) -> String {
        match self.tree.entries().get(at) {
            Some(entry) => entry.id().as_str().to_owned(),
            None => ROOT_KEY.to_owned(),
        }
    }
}

fn place_above(tree: &SessionTree, at: usize) -> Option<usize> {
    let entries = tree.entries();
    let mut entry = &entries[at];
    for _ in 0..entries.len() {
        let above = tree.index().position(entry.parent_id()?)?;
        entry = &entries[above];
        if entry.kind().moves_leaf() {
            return (above != at).then_some(above);
        }
    }
    None
}
