//! What git and editors execute outside of the sandbox is read-only inside of it. Commits, branches
//! and merges need none of it.

use super::make_read_only;
use crate::workspace::EXECUTED;
use rustix::mount::mount_bind;
use std::io;
use std::path::{Path, PathBuf};

/// Directories directly below a root that are looked at for repositories of their own.
const BELOW_MAX: usize = 512;
/// Repositories of submodules lie this deep below `modules`.
const MODULES_DEPTH: usize = 4;
const MODULES_MAX: usize = 256;

/// Protects the repositories of a root and of the directories in it.
pub(super) fn protect(root: &Path) -> io::Result<()> {
    let Ok(root) = root.canonicalize() else {
        return Ok(());
    };
    let below = std::fs::read_dir(&root).into_iter().flatten().flatten();
    let dirs = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let dirs: Vec<PathBuf> = dirs.take(BELOW_MAX).map(|entry| entry.path()).collect();
    for dir in std::iter::once(&root).chain(&dirs) {
        protect_repository(&dir.join(".git"))?;
    }
    for name in EXECUTED {
        make_read_only_if_there(&root.join(name))?;
    }
    Ok(())
}

fn protect_repository(git: &Path) -> io::Result<()> {
    let Ok(metadata) = git.symlink_metadata() else {
        return Ok(());
    };
    if metadata.is_file() {
        // The file of a work tree or a submodule says where its repository is.
        return Ok(make_read_only(git)?);
    }
    // A link leads to a repository that is protected at its own path, if the child may write there.
    if !metadata.is_dir() || !git.join("HEAD").exists() {
        return Ok(());
    }
    // Over itself, so that it can be neither renamed nor replaced as a whole.
    mount_bind(git, git)?;
    protect_files(git)?;
    for repository in modules(&git.join("modules")) {
        protect_files(&repository)?;
    }
    for worktree in children(&git.join("worktrees")) {
        make_read_only_if_there(&worktree.join("config.worktree"))?;
    }
    Ok(())
}

fn protect_files(git: &Path) -> io::Result<()> {
    let hooks = git.join("hooks");
    if !hooks.exists() {
        // It may be made, or the repository may be read-only already.
        std::fs::create_dir(&hooks).unwrap_or_default();
    }
    for name in ["hooks", "config", "config.worktree"] {
        make_read_only_if_there(&git.join(name))?;
    }
    Ok(())
}

fn make_read_only_if_there(path: &Path) -> io::Result<()> {
    let there = path.symlink_metadata();
    match there.is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()) {
        true => Ok(make_read_only(path)?),
        false => Ok(()),
    }
}

fn modules(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: Vec<(PathBuf, usize)> = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = waiting.pop() {
        for child in children(&dir) {
            if found.len() >= MODULES_MAX {
                return found;
            }
            if child.join("HEAD").exists() {
                waiting.push((child.join("modules"), depth));
                found.push(child);
            } else if depth < MODULES_DEPTH {
                waiting.push((child, depth + 1));
            }
        }
    }
    found
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|entry| entry.path()).collect()
}
