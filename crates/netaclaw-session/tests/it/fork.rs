use crate::session;
use netaclaw_session::{EntryId, PathError, fork_entries};

/// Forks at `leaf` and shows each entry as `id<parent`, labels with what they say.
fn fork(lines: &[&str], leaf: &str) -> Result<Vec<String>, PathError> {
    let tree = session(lines);
    let mut number = 0;
    let new_id = || {
        number += 1;
        // The first is taken, so that the second has to be asked for.
        EntryId::new(if number == 1 {
            "a".to_owned()
        } else {
            format!("n{number}")
        })
    };
    let forked = fork_entries(&tree, &leaf.into(), new_id)?;
    let shown = forked.entries.iter().map(|entry| {
        let parent = entry.parent_id().map_or(".", EntryId::as_str);
        let label = entry
            .text_field("label")
            .map(|l| format!(" {l}"))
            .unwrap_or_default();
        format!("{}<{parent}{label}", entry.id())
    });
    let shown = shown.collect();
    let last = forked
        .entries
        .iter()
        .rev()
        .find(|entry| entry.kind().moves_leaf());
    assert_eq!(forked.leaf.as_ref(), last.map(|entry| entry.id()));
    Ok(shown)
}

#[test]
fn a_fork_is_the_path_and_its_labels_at_the_end() {
    let lines = [
        "a . user a",
        "b a user b",
        "x a user x",
        "l b label a one",
        "m b label x elsewhere",
        "c b user c",
        "n c label b two",
        "o c label a uno",
    ];
    assert_eq!(
        fork(&lines, "c").unwrap(),
        ["a<.", "b<a", "c<b", "n2<c uno", "n3<n2 two"]
    );
    assert_eq!(fork(&lines, "a").unwrap(), ["a<.", "n2<a uno"]);
    assert_eq!(fork(&lines, "z"), Err(PathError::MissingLeaf("z".into())));
}

#[test]
fn a_fork_is_chained_over_labels_on_the_path() {
    let lines = [
        "a . user a",
        "l a label a one",
        "m l label a",
        "b m user b",
        "c b user c",
    ];
    assert_eq!(fork(&lines, "c").unwrap(), ["a<.", "b<a", "c<b"]);
    assert_eq!(
        fork(&["l . label x y", "a l user a"], "a").unwrap(),
        ["a<."]
    );
    // At a label the fork ends with the entry above it.
    assert_eq!(fork(&lines, "m").unwrap(), ["a<."]);
}

#[test]
fn a_fork_at_an_orphan_begins_there() {
    assert_eq!(
        fork(&["o gone user o", "p o user p"], "p").unwrap(),
        ["o<.", "p<o"]
    );
    assert_eq!(
        fork(&["s s user s"], "s"),
        Err(PathError::Cycle("s".into()))
    );
}

#[test]
fn a_compaction_that_kept_from_a_removed_label_keeps_from_the_next_entry() {
    let kept = |lines: &[&str]| {
        let tree = session(lines);
        let forked = fork_entries(&tree, &"k".into(), || unreachable!("nothing is labelled"));
        let compaction = forked.unwrap().entries.pop().unwrap();
        compaction
            .text_field("firstKeptEntryId")
            .unwrap()
            .into_owned()
    };
    let from_label = [
        "a . user a",
        "l a label x y",
        "m l label x",
        "b m user b",
        "k b compaction l sum",
    ];
    assert_eq!(kept(&from_label), "b");
    let only_labels = ["a . user a", "l a label x", "k l compaction l sum"];
    assert_eq!(kept(&only_labels), "k");
    let from_entry = ["a . user a", "k a compaction a sum"];
    assert_eq!(kept(&from_entry), "a");
    let from_nowhere = ["a . user a", "k a compaction gone sum"];
    assert_eq!(kept(&from_nowhere), "gone");
}

#[test]
fn labels_keep_their_time_and_unknown_fields() {
    let label = r#"{"type":"label","id":"l","parentId":"b","timestamp":"2025-05-05T05:05:05.000Z","targetId":"a","label":"x","more":1.0}"#;
    let tree = session(&["a . user a", "b a user b", label]);
    let forked = fork_entries(&tree, &"a".into(), || "new".into()).unwrap();
    assert_eq!(forked.entries[0], tree.entries()[0]);
    assert_eq!(
        forked.entries[1].json(),
        label
            .replace(r#""id":"l""#, r#""id":"new""#)
            .replace(r#""parentId":"b""#, r#""parentId":"a""#)
    );
}
