//! One writer per session file, across processes.

use super::error::io_error;
use super::layout::beside;
use netaclaw_session::{SessionError, SessionId, format_timestamp};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Held by whoever may write a session. The lock is the kernel's, on a file beside the session,
/// so that it ends with its holder however that ends; the text in the file only tells who it is.
#[derive(Debug)]
pub(super) struct SessionLock {
    path: PathBuf,
    _file: File,
}

impl SessionLock {
    pub(super) fn acquire(session_file: &Path, session: &SessionId) -> Result<Self, SessionError> {
        let path = beside(session_file, ".lock");
        let fail = || io_error("lock", session);
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(fail())?;
            match file.try_lock() {
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

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Removed while still locked: whoever opened it meanwhile notices and makes a new one.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "a session's lock file could not be removed");
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
