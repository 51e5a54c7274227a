//! Files of a workspace that other programs execute without asking, outside the sandbox: hooks and
//! settings of git, tasks of editors. Tools may read them and never write them.

use std::path::{Component, Path};

/// Directories of version control. Git alone writes into them.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Files and directories that run commands, as paths that may begin in any directory.
pub(crate) const EXECUTED: [&str; 5] = [
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".idea",
    ".husky",
    ".envrc",
];

/// Whether tools must not write `path`, which is relative to a root and has no links.
pub(super) fn is_protected(path: &Path) -> bool {
    let names: Vec<&str> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let begins = |rest: &[&str], wanted: &str| {
        let mut rest = rest.iter();
        wanted.split('/').all(|name| rest.next() == Some(&name))
    };
    (0..names.len()).any(|at| {
        VERSION_CONTROL.contains(&names[at])
            || EXECUTED.iter().any(|wanted| begins(&names[at..], wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_is_protected_at_any_depth() {
        for (path, expected) in [
            (".git", true),
            (".git/hooks/pre-commit", true),
            ("vendor/lib/.git/config", true),
            (".github/workflows/ci.yml", false),
            (".gitignore", false),
            (".vscode/tasks.json", true),
            (".vscode/settings.json", false),
            ("app/.envrc", true),
            (".husky/pre-commit", true),
            ("src/husky.rs", false),
        ] {
            assert_eq!(is_protected(Path::new(path)), expected, "{path}");
        }
    }
}
