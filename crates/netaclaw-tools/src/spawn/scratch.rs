//! A directory for what children leave behind and models may want to read on in.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

const PREFIX: &str = "netaclaw-scratch-";
/// Kept files; the oldest goes when there is one more.
const FILES_MAX: usize = 64;
/// A directory is locked as soon as it is made; a younger one may not be yet.
const LOCKED_AFTER: Duration = Duration::from_secs(60);

/// Files that live as long as the server does, and only the last of them.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    files: Mutex<VecDeque<PathBuf>>,
    /// Tells other processes that somebody uses the directory.
    _lock: File,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(temp: &Path) -> io::Result<Self> {
        remove_left_behind(temp);
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(temp)?;
        let lock = File::open(dir.path())?;
        lock.try_lock()?;
        Ok(Self {
            dir,
            files: Mutex::default(),
            _lock: lock,
        })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A new file with a name of its own. Blocks.
    pub fn create(&self, stem: &str) -> io::Result<(File, PathBuf)> {
        let named = tempfile::Builder::new()
            .prefix(&format!("{stem}-"))
            .suffix(".txt")
            .tempfile_in(self.dir())?;
        let (file, path) = named.keep().map_err(|error| error.error)?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push_back(path.clone());
        if files.len() > FILES_MAX
            && let Some(oldest) = files.pop_front()
        {
            // Whoever removed it before us wanted the same.
            std::fs::remove_file(oldest).unwrap_or_default();
        }
        Ok((file, path))
    }
}

/// Removes the directories of processes that were killed: what commands printed is nobody's any
/// more. What cannot be removed is somebody else's.
fn remove_left_behind(temp: &Path) {
    let entries = std::fs::read_dir(temp).into_iter().flatten().flatten();
    for entry in entries {
        let is_scratch = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes());
        if is_scratch && is_left_behind(&entry.path()).unwrap_or(false) {
            std::fs::remove_dir_all(entry.path()).unwrap_or_default();
        }
    }
}

fn is_left_behind(dir: &Path) -> io::Result<bool> {
    let age = dir.symlink_metadata()?.modified()?.elapsed();
    if age.unwrap_or_default() < LOCKED_AFTER {
        return Ok(false);
    }
    Ok(File::open(dir)?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_the_last_files_are_kept() {
        let scratch = Scratch::new().unwrap();
        let (_, first) = scratch.create("bash").unwrap();
        for _ in 0..FILES_MAX {
            assert!(first.exists());
            scratch.create("bash").unwrap();
        }
        assert!(!first.exists());
        let dir = scratch.dir().to_owned();
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), FILES_MAX);
        drop(scratch);
        assert!(!dir.exists());
    }

    #[test]
    fn what_the_killed_left_behind_is_removed_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LOCKED_AFTER;
        let aged = |dir: &Path| File::open(dir).unwrap().set_modified(long_ago).unwrap();
        let in_use = Scratch::new_in(temp.path()).unwrap();
        let [left, young, other] = [(PREFIX, "left"), (PREFIX, "young"), ("", "other")]
            .map(|(prefix, name)| temp.path().join(format!("{prefix}{name}")));
        for dir in [&left, &young, &other] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("output.txt"), "words").unwrap();
        }
        [in_use.dir(), &left, &other].into_iter().for_each(aged);
        let next = Scratch::new_in(temp.path()).unwrap();
        let there = [in_use.dir(), &left, &young, &other, next.dir()].map(Path::exists);
        assert_eq!(there, [true, false, true, true, true]);
    }
}
