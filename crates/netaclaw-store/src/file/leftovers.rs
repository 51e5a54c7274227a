//! Files that killed processes left next to sessions: locks, journals and temporary files.

use super::index::Index;
use super::layout::{id_in_name, sidecar};
use super::lock::{LockFileState, remove_if_left};
use super::provider::FileProvider;
use crate::instance::is_old;
use netaclaw_session::{SessionError, SessionId, SessionTreeProvider};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

impl FileProvider {
    /// Removes what killed processes left, and touches nothing that a live process uses. A journal
    /// whose session does not have the answer yet is recovered as usual, by opening the session.
    pub(super) async fn sweep_leftovers(&self) -> Result<(), SessionError> {
        let dir = self.dir().to_owned();
        let found = crate::blocking(move || clear(&dir)).await;
        let found = found.map_err(|error| {
            SessionError::store("cannot look for files that dead processes left", error)
        })?;
        for session_file in found {
            let Some(session) = id_in_name(&session_file) else {
                continue;
            };
            if !self.has_open(&session)
                && let Err(error) = self.settle_journal(&session).await
            {
                tracing::debug!(
                    session.id = %session,
                    %error,
                    "failed to recover the journal of a session"
                );
            }
        }
        Ok(())
    }

    async fn settle_journal(&self, session: &SessionId) -> Result<(), SessionError> {
        self.take_over(session).await?;
        self.release(session).await
    }
}

/// Removes unused locks, journals without a session and old temporary files, and returns the
/// sessions whose journals dead writers left. Blocks.
fn clear(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut journals = Vec::new();
    for dir in Index::directories(dir)? {
        for item in fs::read_dir(&dir)? {
            let path = item?.path();
            let Some(name) = path.to_str() else {
                continue;
            };
            if name.ends_with(".jsonl.lock") {
                clear_lock(&path);
            } else if name.ends_with(".tmp") {
                clear_temporary(&path);
            } else if let Some(session_file) = name.strip_suffix(".inflight") {
                journals.push(PathBuf::from(session_file));
            }
        }
    }
    // After the locks: the lock of a journal's writer is there if the writer lives.
    journals.retain(|session_file| is_left(session_file));
    Ok(journals)
}

fn clear_lock(path: &Path) {
    match remove_if_left(path) {
        Ok(LockFileState::Removed | LockFileState::Held | LockFileState::Gone) => {}
        Err(error) => tracing::debug!(%error, "failed to remove a lock file"),
    }
}

/// Every live process is done with a temporary file within moments.
fn clear_temporary(path: &Path) {
    if is_old(path) && fs::remove_file(path).is_err() {
        tracing::debug!("failed to remove a temporary file");
    }
}

/// Whether a session's journal was left by a dead writer. One without a session goes at once.
fn is_left(session_file: &Path) -> bool {
    if session_file.exists() {
        return !sidecar(session_file, ".lock").exists();
    }
    let journal = sidecar(session_file, ".inflight");
    if is_old(&journal) && fs::remove_file(&journal).is_err() {
        tracing::debug!("failed to remove a journal without a session");
    }
    false
}
