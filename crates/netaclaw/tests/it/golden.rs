//! What people read, compared with files that people reviewed. `UPDATE_GOLDEN=1` writes them.

use crate::support::Workspace;
use std::path::Path;

pub(crate) fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs; look at the difference, then run with UPDATE_GOLDEN=1\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

#[test]
fn the_forms_for_people() {
    let workspace = Workspace::with_sample();
    for (name, arguments) in [
        ("show.txt", "session show sample.jsonl"),
        ("show.zh.txt", "session show sample.jsonl --lang zh"),
        ("tree.txt", "session tree sample.jsonl"),
        ("tree.full.txt", "session tree sample.jsonl --full"),
        ("tree.zh.txt", "session tree sample.jsonl --lang zh"),
        (
            "context.txt",
            "session context sample.jsonl --leaf a000000a --leaf null",
        ),
        ("export.md", "session export sample.jsonl --format md"),
        ("verify.txt", "session verify sample.jsonl"),
    ] {
        check(name, &workspace.out(arguments));
    }
}

#[test]
fn the_forms_for_programs() {
    let workspace = Workspace::with_sample();
    for (name, arguments) in [
        ("show.json", "session show sample.jsonl --json"),
        ("tree.json", "session tree sample.jsonl --json"),
        (
            "context.jsonl",
            "session context sample.jsonl --json --leaf a0000005 --leaf a0000017",
        ),
        ("export.jsonl", "session export sample.jsonl --format jsonl"),
        ("verify.json", "session verify sample.jsonl --json"),
    ] {
        check(name, &workspace.out(arguments));
    }
}

/// The style sheet is a file of its own and need not be reviewed twice.
#[test]
fn the_page() {
    let workspace = Workspace::with_sample();
    for (name, language) in [("export.html", "en"), ("export.zh.html", "zh")] {
        let page = workspace.out(&format!(
            "session export sample.jsonl --format html --lang {language}"
        ));
        let (before, rest) = page.split_once("<style>").unwrap();
        let (_, after) = rest.split_once("</style>").unwrap();
        check(name, &format!("{before}<style>…</style>{after}"));
    }
}
