//! The files a run has read, so that it does not overwrite what another process has changed since.

use cap_std::fs::Metadata;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How a file looked: another stamp, another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// A file that was put in the place of another has a number of its own.
    inode: u64,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = cap_std::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self {
            inode,
            bytes: metadata.len(),
            modified: metadata.modified().ok().map(|time| time.into_std()),
        }
    }
}

/// Files by the paths they were asked for, and how they looked then.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadStamps(Arc<Mutex<HashMap<PathBuf, FileStamp>>>);

impl ReadStamps {
    pub(super) fn note(&self, path: PathBuf, stamp: FileStamp) {
        self.lock().insert(path, stamp);
    }

    pub(super) fn stamp(&self, path: &PathBuf) -> Option<FileStamp> {
        self.lock().get(path).copied()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, FileStamp>> {
        // Stamps are put in whole, so a panic elsewhere cannot have left half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
