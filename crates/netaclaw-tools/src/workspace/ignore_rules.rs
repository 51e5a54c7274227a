//! Ignore rules of a project: `.gitignore`, `.ignore`, `.git/info/exclude`.
//!
//! They are read beneath the same handle as everything else, a bounded part of each, and only if
//! they are plain files: one that is a pipe or leads elsewhere counts as missing. Git's settings of
//! the user are outside of the workspace and not read.

use super::do_not_wait;
use cap_std::fs::{Dir, OpenOptions};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More than any such file has that is written by hand.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Which of the files there are in a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IgnoreFilesPresent {
    gitignore: bool,
    ignore: bool,
    git: bool,
}

impl IgnoreFilesPresent {
    pub(super) fn note(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b".gitignore" => self.gitignore = true,
            b".ignore" => self.ignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }

    /// For directories whose names are not all known.
    pub(super) fn assumed() -> Self {
        Self {
            gitignore: true,
            ignore: true,
            git: true,
        }
    }
}

/// The rules of one directory, and of those above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    parent: Option<Arc<IgnoreRules>>,
    stands: RelativeTo,
    git: Gitignore,
    exclude: Gitignore,
    other: Gitignore,
    is_repository: bool,
}

/// How paths of a walk become paths relative to a directory's rules.
#[derive(Debug)]
enum RelativeTo {
    /// The directory is this path above where the walk began.
    Above(PathBuf),
    /// It is below, and this many bytes of each path lead to it.
    Below(usize),
}

impl IgnoreRules {
    /// The rules at `dir`, a directory between a root and where a walk begins; `rest` leads on.
    pub(super) fn above(
        parent: Option<Arc<Self>>,
        root: &Dir,
        dir: &Path,
        rest: &Path,
    ) -> Option<Arc<Self>> {
        let stands = RelativeTo::Above(rest.to_owned());
        Self::read(parent, root, dir, stands, IgnoreFilesPresent::assumed())
    }

    /// The rules at `dir`, a directory of the walk.
    pub(super) fn below(
        parent: Option<Arc<Self>>,
        base: &Dir,
        dir: &Path,
        present: IgnoreFilesPresent,
    ) -> Option<Arc<Self>> {
        let skip = match dir.as_os_str().len() {
            0 => 0,
            length => length + 1,
        };
        Self::read(parent, base, dir, RelativeTo::Below(skip), present)
    }

    fn read(
        parent: Option<Arc<Self>>,
        root: &Dir,
        dir: &Path,
        stands: RelativeTo,
        present: IgnoreFilesPresent,
    ) -> Option<Arc<Self>> {
        let rules = |is_there: bool, name: &str| match is_there {
            true => rules(root, &dir.join(name)),
            false => Gitignore::empty(),
        };
        let is_repository = present.git && root.symlink_metadata(dir.join(".git")).is_ok();
        let level = Self {
            stands,
            git: rules(present.gitignore, ".gitignore"),
            exclude: rules(is_repository, ".git/info/exclude"),
            other: rules(present.ignore, ".ignore"),
            is_repository,
            parent,
        };
        let says_nothing =
            level.git.is_empty() && level.exclude.is_empty() && level.other.is_empty();
        match says_nothing && !is_repository {
            true => level.parent,
            false => Some(Arc::new(level)),
        }
    }

    /// Whether a path of the walk is ignored. The nearest rule counts; `.ignore` before
    /// `.gitignore`; and rules above a repository do not apply.
    pub(super) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let (mut git, mut exclude) = (Match::None, Match::None);
        let mut repository_ended = false;
        let mut level = Some(self);
        while let Some(here) = level {
            let joined;
            let path = match &here.stands {
                RelativeTo::Below(skip) => without_first(path, *skip),
                RelativeTo::Above(rest) => {
                    joined = rest.join(path);
                    &joined
                }
            };
            let other = here.other.matched(path, is_dir);
            if !other.is_none() {
                return other.is_ignore();
            }
            if !repository_ended {
                git = git.or(here.git.matched(path, is_dir));
                exclude = exclude.or(here.exclude.matched(path, is_dir));
            }
            repository_ended |= here.is_repository;
            level = here.parent.as_deref();
        }
        git.or(exclude).is_ignore()
    }
}

fn rules(root: &Dir, path: &Path) -> Gitignore {
    let Some(bytes) = read_plain(root, path) else {
        return Gitignore::empty();
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // An invalid pattern is ignored, as in git.
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%error, "skipped an invalid line of an ignore file");
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn read_plain(root: &Dir, path: &Path) -> Option<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    do_not_wait(&mut options);
    let file = root.open_with(path, &options).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(unix)]
fn without_first(path: &Path, bytes: usize) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(OsStr::from_bytes(&path.as_os_str().as_bytes()[bytes..]))
}

#[cfg(not(unix))]
fn without_first(path: &Path, bytes: usize) -> &Path {
    let mut rest = path.components();
    while path.as_os_str().len() - rest.as_path().as_os_str().len() < bytes {
        rest.next();
    }
    rest.as_path()
}
