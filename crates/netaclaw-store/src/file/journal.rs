//! What has been streamed of an answer, kept beside the session until the answer is complete.

use super::layout::beside;
use netaclaw_session::{Entry, EntryId};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A crash loses at most this much of what was streamed.
pub(super) const JOURNAL_INTERVAL: Duration = Duration::from_millis(250);

/// The journal of one session. Calls block and belong on a blocking thread.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// The entry in flight. A write that comes after its completion must not bring it back.
    open: Mutex<Option<EntryId>>,
}

impl Journal {
    pub(super) fn beside(session_file: &Path) -> Self {
        Self {
            path: beside(session_file, ".inflight"),
            open: Mutex::new(None),
        }
    }

    pub(super) fn begin(&self, entry: EntryId) {
        *self.lock() = Some(entry);
    }

    /// Replaces the journal by `entry`, as a whole, if it is still in flight.
    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        let open = self.lock();
        if open.as_ref() != Some(entry.id()) {
            return Ok(());
        }
        let temporary = beside(&self.path, ".tmp");
        std::fs::write(&temporary, entry.json())?;
        std::fs::rename(&temporary, &self.path)
    }

    /// Ends the entry in flight. From here on only the session file tells of it.
    pub(super) fn finish(&self) -> io::Result<()> {
        let mut open = self.lock();
        *open = None;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// What a writer left behind. A damaged journal is none: it was never acknowledged.
    pub(super) fn read(&self) -> Option<Entry> {
        Entry::parse(std::fs::read_to_string(&self.path).ok()?)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<EntryId>> {
        // The guarded value is one assignment; a panic cannot leave it half done.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
