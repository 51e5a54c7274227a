//! Recently created sessions, shared by all processes of a directory.
//!
//! The id of a session that a request names is looked up in memory, and other processes create
//! sessions too. Each creation appends its id to one small file under a lock, and each process
//! finds the others' sessions by reading what was appended.

use super::index::ids_in_names;
use crate::private;
use netaclaw_session::{RequestKey, SessionId};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const FILE: &str = "created.ids";
/// A longer file starts again; readers detect that and scan the directory.
const BYTES_MAX: u64 = 1 << 20;

/// Calls block.
pub(super) struct NewFiles {
    dir: PathBuf,
    read: Mutex<Option<Read>>,
}

/// The open file and how much of it this process has read.
struct Read {
    file: File,
    end: u64,
}

impl NewFiles {
    pub(super) fn new(dir: PathBuf) -> Self {
        let read = Mutex::new(None);
        Self { dir, read }
    }

    /// Starts to follow the file. What is created from now on is seen by [`NewFiles::publish`], so
    /// the names of all files have to be read after this.
    pub(super) fn follow(&self) -> io::Result<()> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.is_none() {
            *read = Some(self.open()?);
        }
        Ok(())
    }

    /// Gives a new session its name with `publish`, unless another process has created one with
    /// the same id since this process last looked.
    pub(super) fn publish(
        &self,
        session: &SessionId,
        publish: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match &mut *read {
            Some(read) => read,
            none => none.insert(self.open()?),
        };
        read.file.lock()?;
        let published = self.publish_locked(read, session, publish);
        // Closing the file would unlock it as well; it stays open.
        let unlocked = read.file.unlock();
        published.and(unlocked)
    }

    fn publish_locked(
        &self,
        read: &mut Read,
        session: &SessionId,
        publish: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let len = read.file.metadata()?.len();
        let may_exist = match len.checked_sub(read.end) {
            Some(0) => false,
            Some(news) => read.mentions(news, session)?,
            None => true,
        };
        // Its creator may have died before the session had its name.
        let is_taken = || -> io::Result<bool> {
            let mut ids = ids_in_names(&self.dir)?.into_iter();
            Ok(ids.any(|id| are_same(&id, session)))
        };
        if may_exist && is_taken()? {
            read.end = len;
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if len > BYTES_MAX {
            read.file.set_len(0)?;
        }
        let line = format!("{session}\n");
        read.file.write_all(line.as_bytes())?;
        read.end = read.file.metadata()?.len();
        publish()
    }

    fn open(&self) -> io::Result<Read> {
        private::create_dir_all(&self.dir)?;
        let mut options = private::options();
        let file = options.read(true).append(true).create(true);
        let file = file.open(self.path())?;
        let end = file.metadata()?.len();
        Ok(Read { file, end })
    }

    fn path(&self) -> PathBuf {
        Path::new(&self.dir).join(FILE)
    }
}

impl Read {
    fn mentions(&self, bytes: u64, session: &SessionId) -> io::Result<bool> {
        let mut news = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut news, self.end)?;
        let mut lines = news.split(|byte| *byte == b'\n');
        let names = |line: &[u8]| {
            let id = str::from_utf8(line).map(SessionId::new);
            id.is_ok_and(|id| are_same(&id, session))
        };
        Ok(lines.any(names))
    }
}

/// Whether two ids name one session: they are equal, or one request made both.
fn are_same(a: &SessionId, b: &SessionId) -> bool {
    let request = RequestKey::of(a);
    a == b || (request.is_some() && request == RequestKey::of(b))
}
