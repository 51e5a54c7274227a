use crate::{ids, session};
use netaclaw_session::{Entry, EntryId, SessionTree};

fn leaf(lines: &[&str]) -> Option<String> {
    session(lines).leaf().map(|leaf| leaf.as_str().to_owned())
}

#[test]
fn the_leaf_is_the_last_entry_that_is_no_label_and_no_name() {
    assert_eq!(leaf(&[]), None);
    assert_eq!(leaf(&["a . user a", "b a user b"]).as_deref(), Some("b"));
    assert_eq!(
        leaf(&["a . user a", "b a user b", "l b label a x", "n l name x"]).as_deref(),
        Some("b")
    );
    assert_eq!(
        leaf(&["a . user a", "b a user b", "l a label b x"]).as_deref(),
        Some("a")
    );
    assert_eq!(leaf(&["l . label a x"]), None);
    assert_eq!(leaf(&["l m label a x", "m l label a x"]), None);
    assert_eq!(leaf(&["l gone label a x"]), None);
}

#[test]
fn a_leaf_cannot_be_set_on_a_label() {
    let mut tree = session(&["a . user a", "b a user b", "l b label a x"]);
    let mut rest = |at: Option<&str>| {
        tree.set_leaf(at.map(EntryId::new));
        tree.leaf().map(|leaf| leaf.as_str().to_owned())
    };
    assert_eq!(rest(Some("a")).as_deref(), Some("a"));
    assert_eq!(rest(Some("l")).as_deref(), Some("b"));
    assert_eq!(rest(None), None);
}

#[test]
fn pushing_entries_gives_the_tree_that_reading_them_gives() {
    let lines = [
        "a . user a",
        "l a label a x",
        "b a user b",
        "n b name first",
        "c a user c",
        "m c label a",
        "k c label b y",
        "r . user r",
    ];
    let whole = session(&lines);
    let mut grown = session(&[]);
    for entry in whole.entries() {
        grown.push(entry.clone());
    }
    let view = |tree: &SessionTree| {
        let path = tree.active_path().unwrap();
        (
            tree.leaf().cloned(),
            tree.name().map(str::to_owned),
            tree.labels().clone(),
            ids(path.into_iter().map(Entry::id)),
        )
    };
    assert_eq!(view(&grown), view(&whole));
}

#[test]
fn a_tree_written_out_reads_as_the_same_tree() {
    let tree = session(&["a . user a", "b a user b", "m a leaf", "l a label b x"]);
    let again = SessionTree::new(tree.to_log());
    assert_eq!(again.entries(), tree.entries());
    assert_eq!(again.leaf(), tree.leaf());
    assert_eq!(again.labels(), tree.labels());
}
