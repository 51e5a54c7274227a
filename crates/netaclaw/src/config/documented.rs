//! `docs/configuration.md` beside the code: every key, variable and setting is documented, and
//! everything that is documented exists.

use super::file::FileConfig;
use super::var;
use netaclaw_admin::SETTINGS;
use std::collections::BTreeSet;
use std::path::Path;

fn document() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    std::fs::read_to_string(root).unwrap()
}

/// The cells of the tables, by row.
fn rows(document: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = document.lines().filter(|line| line.starts_with("| "));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

/// What stands between backticks in a cell.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The names that serde accepts in place of an unknown one, from its own error.
fn accepted(file: &str) -> BTreeSet<String> {
    let error = toml::from_str::<FileConfig>(file).unwrap_err();
    let (_, expected) = error.message().split_once(", expected ").unwrap();
    quoted(expected).map(str::to_owned).collect()
}

#[test]
fn every_key_of_the_file_is_documented_and_exists() {
    let document = document();
    let first_cells = rows(&document).filter_map(|row| quoted(row[0]).next());
    let documented: BTreeSet<String> = first_cells
        .filter(|key| key.starts_with('[') || *key == "data_dir")
        .map(str::to_owned)
        .collect();

    let mut known = BTreeSet::new();
    for name in accepted("unknown = 1") {
        // What is not a section is a key of its own.
        match toml::from_str::<FileConfig>(&format!("{name} = 1")) {
            Err(error) if error.message().contains("expected struct") => {
                let keys = accepted(&format!("[{name}]\nunknown = 1"));
                known.extend(keys.iter().map(|key| format!("[{name}] {key}")));
            }
            _ => drop(known.insert(name)),
        }
    }
    assert!(known.len() > 15, "{known:?}");
    assert_eq!(documented, known);
}

#[test]
fn every_variable_is_documented_and_exists() {
    let document = document();
    let cells = rows(&document).flat_map(|row| row.into_iter().take(2));
    let is_variable = |name: &&str| {
        let letters = |letter: char| letter.is_ascii_uppercase() || letter == '_';
        name.len() > 3 && name.chars().all(letters)
    };
    let documented: BTreeSet<&str> = cells.flat_map(quoted).filter(is_variable).collect();

    let mut known = BTreeSet::from(var::OWN);
    known.extend(var::EDITOR);
    known.extend(var::LANGUAGE);
    known.extend(var::SUPPLIER_KEYS.map(|(_, name)| name));
    known.extend([
        var::HOME,
        var::PATH,
        var::NO_COLOR,
        var::OLLAMA_HOST,
        var::OTEL_ENDPOINT,
    ]);
    assert_eq!(documented, known);
}

#[test]
fn every_setting_is_documented_and_exists() {
    let document = document();
    let (_, settings) = document.split_once("\n## Settings\n").unwrap();
    let names = rows(settings).filter_map(|row| quoted(row[0]).next());
    let documented: BTreeSet<&str> = names.collect();
    assert_eq!(documented, SETTINGS.iter().copied().collect());
}
