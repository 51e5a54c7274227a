//! Words of an idiom that this project has given up, counted so that it does not return.
//! `docs/style.md` says what to write instead.

use crate::repository::Repository;

/// Lower case. Each is a fault of style, not of grammar, so a few are tolerated.
const WORDS: [&str; 16] = [
    "anybody",
    "everybody",
    "nobody",
    "somebody",
    "whoever",
    "is told",
    "are told",
    "was told",
    "were told",
    "hears",
    "is said",
    "let go",
    "lets go",
    "any more",
    "by itself",
    "for ever",
];
/// Lines that may contain one of them: the name of a system user, or a quotation.
const BUDGET: usize = 25;
/// Texts that people write and read. Snapshots and recordings of others are JSON.
const KINDS: [&str; 9] = [
    ".rs", ".ts", ".vue", ".css", ".md", ".mjs", ".py", ".sh", ".toml",
];
/// They name the words, quote the past, or are generated from Rust.
const EXEMPT: [&str; 5] = [
    "CHANGELOG.md",
    "docs/style.md",
    "docs/glossary.md",
    "xtask/src/idiom.rs",
    "web/src/protocol/",
];

/// Nothing within the budget; above it every line, since any of them may be the new one.
pub(crate) fn faults(repository: &Repository) -> Vec<String> {
    let found: Vec<String> = repository
        .files
        .keys()
        .flat_map(|path| in_file(repository, path))
        .collect();
    match found.len() > BUDGET {
        true => found,
        false => Vec::new(),
    }
}

fn in_file(repository: &Repository, path: &str) -> Vec<String> {
    let is_text = KINDS.iter().any(|kind| path.ends_with(kind));
    if !is_text || EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
        return Vec::new();
    }
    let text = repository.text(path).unwrap_or_default();
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(number, line)| Some((number, word_in(line)?)));
    found
        .map(|(number, word)| {
            format!(
                "{path}:{}: `{word}`; name the subject and use the usual term (docs/style.md); {BUDGET} lines with such words are tolerated",
                number + 1
            )
        })
        .collect()
}

/// The first of the words that the line contains as a whole.
fn word_in(line: &str) -> Option<&'static str> {
    let line = line.to_lowercase().replace('_', " ");
    let is_whole = |start: usize, word: &str| {
        !line[..start].ends_with(char::is_alphanumeric)
            && !line[start + word.len()..].starts_with(char::is_alphanumeric)
    };
    let contains = |word: &&&str| {
        let mut places = line.match_indices(**word);
        places.any(|(start, word)| is_whole(start, word))
    };
    WORDS.iter().find(contains).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_as_a_whole_and_in_any_case() {
        assert_eq!(word_in("// Nobody answers."), Some("nobody"));
        assert_eq!(word_in("the client is told: no"), Some("is told"));
        assert_eq!(word_in("the list told them, the fortunate hearsay"), None);
        assert_eq!(word_in("fn is_nobody_here() {"), Some("nobody"));
        assert_eq!(word_in("没有 nobody 在"), Some("nobody"));
    }

    #[test]
    fn above_the_budget_every_line_is_a_fault() {
        let check = |path: &str, lines: usize| {
            let text = "// Whoever asks.\n".repeat(lines);
            faults(&Repository::of(&[(path, &text)]))
        };
        assert_eq!(check("web/src/a.ts", BUDGET), [""; 0]);
        let found = check("web/src/a.ts", BUDGET + 1);
        assert_eq!(found.len(), BUDGET + 1);
        assert!(
            found[1].starts_with("web/src/a.ts:2: `whoever`"),
            "{found:?}"
        );
        for exempt in ["docs/style.md", "web/src/protocol/index.ts", "a.jsonl"] {
            assert_eq!(check(exempt, BUDGET + 1), [""; 0]);
        }
    }
}
