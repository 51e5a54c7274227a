//! Expands a Landlock rule with exclusions into the paths that it has to name.
//!
//! Landlock knows only what is allowed. "Everything below A but not A/B" is therefore written as
//! every entry of A but B, and so on down to what is hidden. What appears next to B later is not
//! covered; for writable directories this means that nothing new can be created directly in A.

use std::path::{Path, PathBuf};

/// What to allow, so that everything below `root` is allowed except what is hidden.
pub(super) fn around(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    // A directory that the configuration names although it is in a hidden one is included.
    let hidden: Vec<&Path> = hidden
        .iter()
        .map(PathBuf::as_path)
        .filter(|path| !(root.starts_with(path) && root != *path))
        .collect();
    let mut places = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(place) = waiting.pop() {
        if hidden.contains(&place.as_path()) {
            continue;
        }
        if !hidden.iter().any(|path| path.starts_with(&place)) {
            places.push(place);
            continue;
        }
        let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
        // A link would be followed to what it points at, and that may be what is hidden. What it
        // points at is allowed or not in its own place.
        let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        waiting.extend(real.map(|entry| entry.path()));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_left_out_and_links_to_it_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a", "b/c/secret", "b/c/open", "b/d"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("b/file"), "").unwrap();
        std::os::unix::fs::symlink(root.join("b/c/secret"), root.join("b/link")).unwrap();
        let check = |from: &str, hidden: &str, expected: &[&str]| {
            let mut places = around(&root.join(from), &[root.join(hidden)]);
            places.sort();
            let expected: Vec<PathBuf> = expected.iter().map(|name| root.join(name)).collect();
            assert_eq!(places, expected);
        };
        check("a", "b", &["a"]);
        check("", "b/c/secret", &["a", "b/c/open", "b/d", "b/file"]);
        check("b", "b", &[]);
        check("b/c/open", "b", &["b/c/open"]);
    }
}
