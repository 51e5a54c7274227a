//! Walking the tree by its places.

use crate::session;
use netaclaw_session::{EntryId, LastVisited, NavigationTree, SessionTree};

/// Two forks: at `a` into `b` and `c`, and below `b` into `d` and `e`. A label hangs between.
fn forked() -> SessionTree {
    session(&[
        "a . user root",
        "b a assistant first",
        "c a assistant second",
        "l a label b mark",
        "d b user one",
        "e b user two",
        "f e assistant end",
    ])
}

fn follow(tree: &SessionTree, from: &str, visits: &LastVisited) -> String {
    let places = NavigationTree::new(tree);
    places.follow(&EntryId::new(from), visits).to_string()
}

#[test]
fn a_branch_is_followed_to_where_it_was_written_last() {
    let none = LastVisited::new();
    let tree = forked();
    assert_eq!(follow(&tree, "a", &none), "f");
    assert_eq!(follow(&tree, "d", &none), "d");
    assert_eq!(follow(&tree, "c", &none), "c");
    assert_eq!(follow(&tree, "nowhere", &none), "nowhere");
}

#[test]
fn each_fork_remembers_its_own_visit() {
    let tree = forked();
    let places = NavigationTree::new(&tree);
    let mut visits = LastVisited::new();
    places.remember(Some(&"d".into()), &mut visits);
    assert_eq!(visits, LastVisited::from([("b".to_owned(), "d".into())]));
    assert_eq!(follow(&tree, "b", &visits), "d");
    // Another choice at the upper fork leaves the lower one alone.
    places.remember(Some(&"c".into()), &mut visits);
    assert_eq!(follow(&tree, "a", &visits), "c");
    assert_eq!(follow(&tree, "b", &visits), "d");
    // The default way back leaves no trace.
    places.remember(Some(&"f".into()), &mut visits);
    assert_eq!(visits, LastVisited::new());
}

#[test]
fn a_new_answer_counts_once_it_has_been_left() {
    let mut visits = LastVisited::new();
    let tree = forked();
    NavigationTree::new(&tree).remember(Some(&"c".into()), &mut visits);
    let grown = session(&[
        "a . user root",
        "b a assistant first",
        "c a assistant second",
        "g a assistant third",
    ]);
    NavigationTree::new(&grown).remember(Some(&"g".into()), &mut visits);
    assert_eq!(follow(&grown, "a", &visits), "g");
}

#[test]
fn labels_and_names_are_looked_through() {
    let tree = session(&[
        "a . user root",
        "l a label a mark",
        "b l assistant below-a-label",
        "n b name x",
    ]);
    let places = NavigationTree::new(&tree);
    let children = places.children();
    assert_eq!(children["__root__"], [EntryId::new("a")]);
    assert_eq!(children["a"], [EntryId::new("b")]);
    assert_eq!(children.len(), 2);
    let above: Vec<_> = places.iter().map(|(_, above)| above).collect();
    assert_eq!(above, [None, Some(&EntryId::new("a"))]);
    assert_eq!(follow(&tree, "a", &LastVisited::new()), "b");
}

#[test]
fn a_circle_of_parents_ends() {
    let tree = session(&["a b user x", "b a user y"]);
    assert!(["a", "b"].contains(&follow(&tree, "a", &LastVisited::new()).as_str()));
    NavigationTree::new(&tree).remember(Some(&"a".into()), &mut LastVisited::new());
}
