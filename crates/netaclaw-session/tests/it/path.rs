use crate::{ids, session};
use netaclaw_session::{
    Entry, PathError, build_entry_index, common_ancestor, group_children_by_parent, latest_labels,
    path_to_leaf, session_name,
};

const TREE: &[&str] = &[
    "a . user one",
    "b a user two",
    "c b user three",
    "d b user four",
    "e . user five",
    "o gone user orphan",
    "p o user below it",
];

fn path(lines: &[&str], leaf: &str) -> Result<String, PathError> {
    let tree = session(lines);
    let path = path_to_leaf(tree.entries(), tree.index(), &leaf.into())?;
    Ok(ids(path.into_iter().map(Entry::id)))
}

#[test]
fn a_path_runs_from_a_root_to_the_leaf() {
    assert_eq!(path(TREE, "d"), Ok("a b d".to_owned()));
    assert_eq!(path(TREE, "e"), Ok("e".to_owned()));
    assert_eq!(path(TREE, "z"), Err(PathError::MissingLeaf("z".into())));
}

#[test]
fn a_missing_parent_is_an_error_to_the_strict_and_a_root_to_the_forgiving() {
    let missing = PathError::MissingParent {
        entry: "o".into(),
        parent: "gone".into(),
    };
    assert_eq!(path(TREE, "p"), Err(missing));
    let tree = session(TREE);
    let path = tree.path(&"p".into()).unwrap();
    assert_eq!(ids(path.into_iter().map(Entry::id)), "o p");
}

#[test]
fn ids_that_look_like_the_same_number_are_not_the_same() {
    let alike = [
        "0000000a",
        "0000000A",
        "a",
        "00000000a",
        "0000000g",
        "+000000a",
    ];
    let lines = alike.map(|id| format!("{id} . user hello"));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let tree = session(&lines);
    assert_eq!(tree.index().len(), alike.len());
    for (at, id) in alike.into_iter().enumerate() {
        assert_eq!(tree.index().position(&id.into()), Some(at), "{id}");
    }
    assert!(!tree.contains(&"0000000b".into()));
    assert!(!tree.contains(&"0000000B".into()));
}

#[test]
fn circles_and_entries_that_are_their_own_parents_end_in_errors() {
    for (lines, leaf) in [
        (&["s s user me"][..], "s"),
        (&["x y user x", "y x user y"], "y"),
        (&["x y user x", "y x user y", "z y user below"], "z"),
        (&["s s user me", "t s user below"], "t"),
    ] {
        assert_eq!(path(lines, leaf), Err(PathError::Cycle(leaf.into())));
        let tree = session(lines);
        assert_eq!(
            tree.path(&leaf.into()).unwrap_err(),
            PathError::Cycle(leaf.into())
        );
        assert_eq!(
            tree.context().unwrap_err(),
            PathError::Cycle(tree.leaf().unwrap().clone())
        );
    }
}

#[test]
fn a_parent_may_stand_below_its_child() {
    assert_eq!(
        path(&["b a user b", "a . user a"], "b"),
        Ok("a b".to_owned())
    );
}

#[test]
fn of_a_repeated_id_the_last_entry_counts() {
    let lines = ["a . user first", "b a user b", "a . user second"];
    let tree = session(&lines);
    let index = build_entry_index(tree.entries());
    assert_eq!((index.len(), index.position(&"a".into())), (2, Some(2)));
    assert_eq!(tree.entries().len(), 3);
    let path = tree.path(&"b".into()).unwrap();
    assert_eq!(path, [&tree.entries()[2], &tree.entries()[1]]);
}

#[test]
fn the_common_ancestor_is_the_deepest_shared_entry() {
    let tree = session(TREE);
    let common = |a: &str, b: &str| {
        let found = common_ancestor(tree.entries(), tree.index(), &a.into(), &b.into());
        found.map(|entry| entry.map(|entry| entry.id().as_str().to_owned()))
    };
    assert_eq!(common("c", "d"), Ok(Some("b".to_owned())));
    assert_eq!(common("b", "d"), Ok(Some("b".to_owned())));
    assert_eq!(common("c", "e"), Ok(None));
    assert_eq!(common("c", "z"), Err(PathError::MissingLeaf("z".into())));
}

#[test]
fn children_are_in_append_order_and_orphans_are_roots() {
    let mut lines = TREE.to_vec();
    lines.push("s s user its own parent");
    let tree = session(&lines);
    let children: Vec<String> = group_children_by_parent(tree.entries(), tree.index())
        .iter()
        .map(|(parent, children)| format!("{parent}: {}", ids(children)))
        .collect();
    assert_eq!(children, ["__root__: a e o s", "a: b", "b: c d", "o: p"]);
}

#[test]
fn labels_count_in_file_order_over_all_branches() {
    let labels = |lines: &[&str]| -> Vec<String> {
        latest_labels(session(lines).entries())
            .iter()
            .map(|(target, label)| format!("{target}={}", label.text))
            .collect()
    };
    let set = ["a . user a", "l a label a one", "m . label b two"];
    assert_eq!(labels(&set), ["a=one", "b=two"]);
    let replaced = [&set[..], &["n a label a three"]].concat();
    assert_eq!(labels(&replaced), ["a=three", "b=two"]);
    let cleared = [&set[..], &["n a label a", "o a label a again"]].concat();
    assert_eq!(labels(&cleared), ["b=two", "a=again"]);
    let nulled = r#"{"type":"label","id":"n","parentId":null,"targetId":"b","label":null}"#;
    assert_eq!(labels(&[&set[..], &[nulled]].concat()), ["a=one"]);
}

#[test]
fn the_last_name_counts_trimmed_and_an_empty_one_clears() {
    let name = |lines: &[&str]| session_name(session(lines).entries());
    assert_eq!(name(&["a . user a"]), None);
    assert_eq!(
        name(&["a . name first", "b . name  second "]).as_deref(),
        Some("second")
    );
    assert_eq!(name(&["a . name first", "b . name"]), None);
    let nameless = r#"{"type":"session_info","id":"n","parentId":null}"#;
    assert_eq!(name(&["a . name first", nameless]), None);
}
