//! The shape of a session for drawing it: every entry on exactly one branch, branches hanging from
//! entries of other branches.
//!
//! The active path is one branch. Everywhere else a fork continues with its largest side, so that
//! branches nest at most logarithmically deep. Nothing here recurses, and circles of parents in
//! damaged files are cut open at the entry that comes first.

use netaclaw_session::{EntryId, SessionTree};
use std::collections::HashSet;

/// Positions of entries in the session.
pub(crate) type At = usize;

#[derive(Debug)]
pub(crate) struct Forest {
    /// Each after its parent branch; the branches of one root are adjacent.
    pub(crate) branches: Vec<Branch>,
    /// The branch and the place on it of each entry; `None` for entries that are not shown.
    places: Vec<Option<(usize, usize)>>,
}

#[derive(Debug)]
pub(crate) struct Branch {
    /// Root or first entry first.
    pub(crate) entries: Vec<At>,
    /// The entry this branch hangs from; `None` for a root.
    pub(crate) fork: Option<At>,
    pub(crate) depth: usize,
    /// Branches that hang from entries of this one: place of the entry, number of the branch.
    pub(crate) sides: Vec<(usize, usize)>,
    pub(crate) is_active: bool,
}

/// Which entries to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// All of them.
    Full,
    /// Without labels and names at the end of a branch: they are shown where they belong, and
    /// would make every entry that carries one look like a fork.
    Readable,
}

impl Forest {
    pub(crate) fn new(tree: &SessionTree, detail: Detail) -> Self {
        let links = Links::new(tree);
        let order = links.preorder();
        let shown = shown(tree, &links, &order, detail);
        let sizes = sizes(&links, &order, &shown);
        let active: HashSet<At> = active_positions(tree).into_iter().collect();
        let leaf = tree.leaf().and_then(|leaf| tree.index().position(leaf));
        let main_child = |at: At| -> Option<At> {
            // What lies beyond the leaf is not on the active path, however large it is.
            let children = links.children[at]
                .iter()
                .copied()
                .filter(|child| shown[*child]);
            match leaf == Some(at) {
                true => None,
                false => {
                    children.max_by_key(|child| (active.contains(child), sizes[*child], *child))
                }
            }
        };

        let mut forest = Self {
            branches: Vec::new(),
            places: vec![None; tree.entries().len()],
        };
        // Branches yet to be made: first entry, branch it hangs from.
        let mut waiting: Vec<(At, Option<usize>)> = Vec::new();
        for root in links.roots.iter().copied().filter(|root| shown[*root]) {
            waiting.push((root, None));
            while let Some((first, parent)) = waiting.pop() {
                let number = forest.start_branch(first, parent, &links, active.contains(&first));
                let mut next = Some(first);
                while let Some(at) = next {
                    next = main_child(at);
                    let place = forest.branches[number].entries.len();
                    forest.branches[number].entries.push(at);
                    forest.places[at] = Some((number, place));
                }
                let sides: Vec<At> = forest.branches[number]
                    .entries
                    .iter()
                    .flat_map(|at| {
                        let main = main_child(*at);
                        let sides = links.children[*at].iter().copied();
                        sides.filter(move |side| Some(*side) != main)
                    })
                    .filter(|side| shown[*side])
                    .collect();
                waiting.extend(sides.into_iter().rev().map(|side| (side, Some(number))));
            }
        }
        forest
    }

    fn start_branch(
        &mut self,
        first: At,
        parent: Option<usize>,
        links: &Links,
        is_active: bool,
    ) -> usize {
        let number = self.branches.len();
        let fork = parent.and(links.parents[first]);
        if let (Some(parent), Some((_, place))) = (parent, fork.and_then(|fork| self.places[fork]))
        {
            self.branches[parent].sides.push((place, number));
        }
        self.branches.push(Branch {
            entries: Vec::new(),
            fork,
            depth: parent.map_or(0, |parent| self.branches[parent].depth + 1),
            sides: Vec::new(),
            is_active,
        });
        number
    }

    /// Number of entries that are the last of their branch.
    pub(crate) fn tips(&self) -> usize {
        self.branches.len()
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        let roots = self.branches.iter().enumerate();
        roots
            .filter(|(_, branch)| branch.fork.is_none())
            .map(|(number, _)| number)
    }
}

/// Positions on the active path; nothing if it runs in a circle.
pub(crate) fn active_positions(tree: &SessionTree) -> Vec<At> {
    let path = tree.active_path().unwrap_or_default();
    path.into_iter()
        .filter_map(|entry| tree.index().position(entry.id()))
        .collect()
}

/// Parents and children by position. Of entries with the same id only the last is linked.
pub(crate) struct Links {
    pub(crate) parents: Vec<Option<At>>,
    pub(crate) children: Vec<Vec<At>>,
    pub(crate) roots: Vec<At>,
    /// Entries whose parents run in a circle.
    pub(crate) circular: Vec<At>,
}

impl Links {
    pub(crate) fn new(tree: &SessionTree) -> Self {
        let entries = tree.entries();
        let position = |id: &EntryId| tree.index().position(id);
        let linked = |at: At| position(entries[at].id()) == Some(at);
        let mut links = Self {
            parents: vec![None; entries.len()],
            children: vec![Vec::new(); entries.len()],
            roots: Vec::new(),
            circular: Vec::new(),
        };
        for at in (0..entries.len()).filter(|at| linked(*at)) {
            match entries[at].parent_id().and_then(position) {
                Some(parent) if parent != at => {
                    links.parents[at] = Some(parent);
                    links.children[parent].push(at);
                }
                Some(_) => {
                    links.circular.push(at);
                    links.roots.push(at);
                }
                None => links.roots.push(at),
            }
        }
        links.cut_circles(linked);
        links
    }

    /// Makes every entry reachable from a root: of each circle the entry that comes first in the
    /// file becomes one.
    fn cut_circles(&mut self, linked: impl Fn(At) -> bool) {
        let mut reached = vec![false; self.parents.len()];
        for at in self.preorder() {
            reached[at] = true;
        }
        for start in 0..self.parents.len() {
            if reached[start] || !linked(start) {
                continue;
            }
            let circle = self.circle_above(start);
            let first = circle.iter().copied().min().unwrap_or(start);
            self.circular.extend(circle);
            if let Some(parent) = self.parents[first].take() {
                self.children[parent].retain(|child| *child != first);
            }
            self.roots.push(first);
            let mut waiting = vec![first];
            while let Some(at) = waiting.pop() {
                reached[at] = true;
                waiting.extend(&self.children[at]);
            }
        }
        self.roots.sort_unstable();
        self.circular.sort_unstable();
        self.circular.dedup();
    }

    /// The entries of the circle that the parents of `start` end in.
    fn circle_above(&self, start: At) -> Vec<At> {
        let mut seen = HashSet::new();
        let mut at = start;
        while seen.insert(at) {
            at = self.parents[at].expect("an entry that no root reaches has a parent");
        }
        let mut circle = vec![at];
        let mut next = self.parents[at];
        while let Some(other) = next.filter(|other| *other != at) {
            circle.push(other);
            next = self.parents[other];
        }
        circle
    }

    /// All linked entries, each before its children.
    pub(crate) fn preorder(&self) -> Vec<At> {
        let mut order = Vec::with_capacity(self.parents.len());
        let mut waiting: Vec<At> = self.roots.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            order.push(at);
            waiting.extend(self.children[at].iter().rev());
        }
        order
    }
}

fn shown(tree: &SessionTree, links: &Links, order: &[At], detail: Detail) -> Vec<bool> {
    let mut shown = vec![false; tree.entries().len()];
    for at in order.iter().rev().copied() {
        shown[at] = detail == Detail::Full
            || tree.entries()[at].kind().moves_leaf()
            || links.children[at].iter().any(|child| shown[*child]);
    }
    shown
}

/// How many shown entries hang below each, itself included.
fn sizes(links: &Links, order: &[At], shown: &[bool]) -> Vec<usize> {
    let mut sizes = vec![0; shown.len()];
    for at in order.iter().rev().copied() {
        let below: usize = links.children[at].iter().map(|child| sizes[*child]).sum();
        sizes[at] = below + usize::from(shown[at]);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use netaclaw_session::SessionLog;

    /// `a<-b` makes b a child of a; a bare name is a root. The last one is the leaf.
    fn tree(entries: &[(&str, &str)]) -> SessionTree {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        for (id, parent) in entries {
            let parent = match *parent {
                "" => "null".to_owned(),
                parent => format!("\"{parent}\""),
            };
            let kind = if id.starts_with("label") {
                "label"
            } else {
                "x"
            };
            text.push_str(&format!(
                "{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":{parent}}}\n"
            ));
        }
        SessionTree::new(SessionLog::parse(text.into_bytes()).unwrap())
    }

    fn drawn(tree: &SessionTree) -> Vec<(usize, bool, String)> {
        let name = |at: &At| tree.entries()[*at].id().to_string();
        let forest = Forest::new(tree, Detail::Readable);
        let branches = forest.branches.iter().map(|branch| {
            let entries: Vec<String> = branch.entries.iter().map(name).collect();
            (branch.depth, branch.is_active, entries.join(" "))
        });
        branches.collect()
    }

    fn branch(depth: usize, is_active: bool, entries: &str) -> (usize, bool, String) {
        (depth, is_active, entries.to_owned())
    }

    #[test]
    fn the_active_path_is_one_branch_and_ends_at_the_leaf() {
        let mut tree = tree(&[
            ("a", ""),
            ("b", "a"),
            ("c", "b"),
            ("d", "b"),
            ("e", "d"),
            ("f", "e"),
        ]);
        assert_eq!(
            drawn(&tree),
            [branch(0, true, "a b d e f"), branch(1, false, "c")]
        );
        tree.set_leaf(Some("d".into()));
        assert_eq!(
            drawn(&tree),
            [
                branch(0, true, "a b d"),
                branch(1, false, "c"),
                branch(1, false, "e f")
            ]
        );
        tree.set_leaf(None);
        assert_eq!(
            drawn(&tree),
            [branch(0, false, "a b d e f"), branch(1, false, "c")]
        );
    }

    #[test]
    fn labels_at_the_end_of_a_branch_make_no_fork() {
        let tree = tree(&[
            ("a", ""),
            ("label1", "a"),
            ("b", "a"),
            ("label2", "b"),
            ("c", "label2"),
            ("label3", "c"),
        ]);
        assert_eq!(drawn(&tree), [branch(0, true, "a b label2 c")]);
        assert_eq!(Forest::new(&tree, Detail::Full).branches.len(), 3);
    }

    #[test]
    fn circles_orphans_and_doubles_are_shown_once() {
        let tree = tree(&[
            ("a", ""),
            ("x", "z"),
            ("y", "x"),
            ("z", "y"),
            ("own", "own"),
            ("o", "gone"),
            ("b", "x"),
            ("a", ""),
            ("c", "a"),
        ]);
        let forest = Forest::new(&tree, Detail::Full);
        let mut seen: Vec<At> = forest
            .branches
            .iter()
            .flat_map(|b| b.entries.clone())
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Links::new(&tree).circular, [1, 2, 3, 4]);
    }

    #[test]
    fn a_long_chain_and_a_long_comb_need_no_stack() {
        let ids: Vec<String> = (0..50_000).map(|n| format!("n{n}")).collect();
        let mut entries: Vec<(&str, &str)> = vec![(&ids[0], "")];
        for at in 1..ids.len() {
            // Every even entry carries an odd one as a side branch.
            let parent = if at % 2 == 0 { at - 2 } else { at - 1 };
            entries.push((&ids[at], &ids[parent]));
        }
        let forest = Forest::new(&tree(&entries), Detail::Full);
        assert_eq!(forest.branches.len(), 25_000);
        assert_eq!(forest.branches.iter().map(|b| b.depth).max(), Some(1));
    }
}
