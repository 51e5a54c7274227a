//! A directory for what children leave behind and models may want to read on in.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Kept files; the oldest goes when there is one more.
const FILES_MAX: usize = 64;

/// Files that live as long as the server does, and only the last of them.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    files: Mutex<VecDeque<PathBuf>>,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            dir: tempfile::Builder::new().prefix("netaclaw-").tempdir()?,
            files: Mutex::default(),
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
