//! Patterns for paths, as users write them.

use globset::{Candidate, GlobBuilder, GlobMatcher};
use std::path::Path;

/// Longer patterns are refused.
const PATTERN_BYTES_MAX: usize = 1_000;
/// Braces in braces. The library takes any number and fails when it compiles them.
const NESTED_MAX: usize = 20;

/// A pattern without a slash matches names, wherever they are; one with a slash matches whole
/// paths.
#[derive(Debug)]
pub(super) struct PathGlob {
    matcher: GlobMatcher,
    speaks_of: MatchTarget,
    wanted: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum MatchTarget {
    Names,
    Paths,
}

impl PathGlob {
    /// `Err` is for the model to read. A `!` in front turns the pattern around.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        check_size(pattern)?;
        let (wanted, positive) = match pattern.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, pattern),
        };
        let plain = positive.strip_prefix("./").unwrap_or(positive);
        let inner = plain.trim_matches('/');
        let speaks_of = match plain.trim_end_matches('/').contains('/') {
            true => MatchTarget::Paths,
            false => MatchTarget::Names,
        };
        let glob = GlobBuilder::new(inner)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| format!("`{pattern}` is not a valid pattern: {}.", error.kind()))?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            speaks_of,
            wanted,
        })
    }

    /// Whether a path fits. It begins where the search began; `prefix` leads there, as patterns
    /// are written from the workspace as well.
    pub(super) fn fits(&self, prefix: &str, path: &Path) -> bool {
        let matches = |path: &Path| self.matcher.is_match_candidate(&Candidate::new(path));
        let fits = match self.speaks_of {
            MatchTarget::Names => path
                .file_name()
                .is_some_and(|name| matches(Path::new(name))),
            MatchTarget::Paths => {
                matches(path) || (!prefix.is_empty() && matches(&Path::new(prefix).join(path)))
            }
        };
        fits == self.wanted
    }
}

fn check_size(pattern: &str) -> Result<(), String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!(
            "The glob pattern is too long: {} bytes, at most {PATTERN_BYTES_MAX}. Use a shorter \
             one, or several calls.",
            pattern.len()
        ));
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    match deepest <= NESTED_MAX {
        true => Ok(()),
        false => Err(format!(
            "The glob pattern nests {deepest} braces, at most {NESTED_MAX} are allowed. Use \
             fewer, or several calls."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, prefix: &str, path: &str, expected: bool) {
        let glob = PathGlob::new(pattern).unwrap();
        assert_eq!(
            glob.fits(prefix, Path::new(path)),
            expected,
            "{pattern} {prefix} {path}"
        );
    }

    #[test]
    fn names_match_anywhere_and_paths_as_a_whole() {
        check("*.rs", "", "src/deep/main.rs", true);
        check("*.rs", "", "src/main.rs.bak", false);
        check("src/*.rs", "", "src/main.rs", true);
        check("src/*.rs", "", "src/deep/main.rs", false);
        check("src/**/*.rs", "", "src/deep/main.rs", true);
        check("**/*.rs", "", "main.rs", true);
        check("/Cargo.toml", "", "Cargo.toml", true);
        check("/Cargo.toml", "", "crates/Cargo.toml", false);
        check("./src/*", "", "src/main.rs", true);
        check("*.{ts,vue}", "", "web/App.vue", true);
        check("!*.md", "", "a.md", false);
        check("!*.md", "", "a.rs", true);
        check("node_modules/", "", "web/node_modules", true);
    }

    #[test]
    fn patterns_may_be_written_from_the_workspace() {
        check("crates/*/src/*.rs", "crates/", "a/src/lib.rs", true);
        check("*/src/*.rs", "crates/", "a/src/lib.rs", true);
    }

    #[test]
    fn a_bad_pattern_is_reported() {
        let error = PathGlob::new("a[").unwrap_err();
        assert!(error.contains("`a[` is not a valid pattern"), "{error}");
    }

    #[test]
    fn large_patterns_are_refused() {
        let nested = format!("{}a,b{}", "{".repeat(300), "}".repeat(300));
        assert!(PathGlob::new(&nested).unwrap_err().contains("braces"));
        let long = "a*".repeat(600);
        assert!(PathGlob::new(&long).unwrap_err().contains("too long"));
        PathGlob::new(&"*a".repeat(500)).unwrap();
        PathGlob::new("{a,{b,{c,d}}}.rs").unwrap();
    }
}
