//! One writer per session file, across processes.

use super::error::io_error;
use super::layout::sidecar;
use crate::private;
use netaclaw_session::{SessionError, SessionId, format_timestamp};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SWEEP_PATIENCE_MS: u32 = 20;

/// The right to write a session. The lock is the kernel's, on a file next to the session, so that
/// it ends with its holder in any case; the text in the file only names the holder.
#[derive(Debug)]
pub(super) struct SessionLock {
    path: PathBuf,
    _file: File,
}

impl SessionLock {
    pub(super) fn acquire(session_file: &Path, session: &SessionId) -> Result<Self, SessionError> {
        let path = sidecar(session_file, ".lock");
        let fail = || io_error("lock", session);
        loop {
            let mut file = private::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(fail())?;
            match try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SessionError::Busy {
                        session: session.clone(),
                        owner: owner(&mut file),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(fail()(source)),
            }
            // The last holder removes the file; a lock on a removed file guards nothing.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0).map_err(fail())?;
            let (process, since) = (std::process::id(), format_timestamp(crate::now_ms()));
            let owner = format!("process {process}, since {since}\n");
            file.write_all(owner.as_bytes()).map_err(fail())?;
            return Ok(Self { path, _file: file });
        }
    }
}

/// Takes the lock. A process that sweeps leftovers holds one for a moment to test whether it is in
/// use, which must not look as if the session were open elsewhere.
#[expect(
    clippy::disallowed_methods,
    reason = "file locks cannot be awaited, and this runs on a thread for blocking calls"
)]
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..SWEEP_PATIENCE_MS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            done => return done,
        }
    }
    file.try_lock()
}

/// What a lock file was found to be.
pub(super) enum LockFileState {
    /// A dead process had left it.
    Removed,
    Held,
    Gone,
}

/// Removes an unused lock file. Like a holder, it removes the file while it has the lock, so that a
/// process that opened it in the meantime notices and creates a new one.
pub(super) fn remove_if_left(path: &Path) -> io::Result<LockFileState> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LockFileState::Gone),
        opened => opened?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(LockFileState::Held),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    if !is_at(&file, path) {
        return Ok(LockFileState::Gone);
    }
    std::fs::remove_file(path)?;
    Ok(LockFileState::Removed)
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Removed while still locked: a process that has opened it in the meantime notices and
        // creates a new one.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "failed to remove the lock file of a session");
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

fn owner(file: &mut File) -> String {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(200).read_to_string(&mut text));
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}
