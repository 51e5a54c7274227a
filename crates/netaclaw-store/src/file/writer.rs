//! Appending to a session file. Everything that writes one is here.

use super::error::io_error;
use super::layout::sidecar;
use super::lock::SessionLock;
use crate::private;
use netaclaw_session::{Entry, Header, SessionError, SessionId};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

const WRITE_BUFFER_BYTES: usize = 256 << 10;

/// The open end of a session file.
#[derive(Debug)]
pub(super) struct LogWriter {
    file: Arc<File>,
    /// Length of the file as of this writer's last write.
    len: u64,
    /// Set when the file does not end with a newline, so that the next line would be glued to a
    /// torn one and both be lost.
    torn: bool,
    buffer: Vec<u8>,
    _lock: SessionLock,
}

impl LogWriter {
    /// Opens an existing file for appending. It is not changed yet.
    pub(super) fn open(
        path: &Path,
        session: &SessionId,
        lock: SessionLock,
    ) -> Result<Self, SessionError> {
        let fail = || io_error("open", session);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(fail())?;
        let len = file.seek(SeekFrom::End(0)).map_err(fail())?;
        let mut last = [b'\n'];
        if len > 0 {
            file.seek(SeekFrom::End(-1))
                .and_then(|_| file.read_exact(&mut last))
                .map_err(fail())?;
        }
        Ok(Self {
            file: Arc::new(file),
            len,
            torn: last != *b"\n",
            buffer: Vec::new(),
            _lock: lock,
        })
    }

    /// Writes one line in one call. If that fails, what arrived of it is taken off again, and if
    /// not even that works, the next line begins on a line of its own.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        self.buffer.clear();
        if self.torn {
            self.buffer.push(b'\n');
        }
        self.buffer.extend_from_slice(line.as_bytes());
        self.buffer.push(b'\n');
        // The file was opened for appending, so this appends too; unlike `write` it needs no lock
        // on the position that all threads share.
        match self.file.write_all_at(&self.buffer, self.len) {
            Ok(()) => {
                self.len += self.buffer.len() as u64;
                self.torn = false;
                Ok(())
            }
            Err(error) => {
                let undone = self.file.set_len(self.len);
                self.torn |= undone.is_err();
                Err(error)
            }
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The file as it is now, whichever process has written to it.
    pub(super) fn found(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// A handle for making what was written durable, away from the async threads.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }
}

/// A whole session as it is in a file.
pub(super) struct SessionText<'a> {
    pub(super) header: &'a Header,
    pub(super) entries: &'a [Entry],
    /// Bookkeeping lines after the entries.
    pub(super) trailer: &'a [String],
}

impl SessionText<'_> {
    /// Writes all lines and says how many bytes they are.
    fn write(&self, file: &File) -> io::Result<u64> {
        let mut out = BufWriter::with_capacity(WRITE_BUFFER_BYTES, file);
        let lines = self
            .entries
            .iter()
            .map(Entry::json)
            .chain(self.trailer.iter().map(String::as_str));
        let mut len = 0;
        for line in std::iter::once(self.header.json()).chain(lines) {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
            len += line.len() as u64 + 1;
        }
        out.flush()?;
        Ok(len)
    }
}

/// Creates a whole file that either is there with all its text or not at all, and says how long
/// it is. `publish` runs what gives the file its name, or refuses to.
pub(super) fn create_file(
    path: &Path,
    text: &SessionText<'_>,
    durable: Durability,
    publish: impl FnOnce(&dyn Fn() -> io::Result<()>) -> io::Result<()>,
) -> io::Result<u64> {
    let dir = path.parent().expect("a session file lies in a directory");
    private::create_dir_all(dir)?;
    // Another process may be creating a session of the same name.
    let temporary = sidecar(path, &format!(".{}.tmp", Uuid::now_v7().simple()));
    let written = private::create(&temporary).and_then(|file| {
        let len = text.write(&file)?;
        durable.sync(&file)?;
        publish(&|| match path.exists() {
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => std::fs::rename(&temporary, path),
        })?;
        durable.sync_name(path)?;
        Ok(len)
    });
    written.inspect_err(|_| {
        // Nothing was acknowledged yet; a leftover would only confuse users.
        std::fs::remove_file(&temporary).unwrap_or_default();
    })
}

/// Whether to wait for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    Yes,
    No,
}

impl Durability {
    fn sync(self, file: &File) -> io::Result<()> {
        match self {
            Self::Yes => file.sync_data(),
            Self::No => Ok(()),
        }
    }

    /// The same for the name of a file, which its directory holds.
    pub(super) fn sync_name(self, path: &Path) -> io::Result<()> {
        let dir = path.parent().expect("a session file lies in a directory");
        match self {
            Self::Yes => File::open(dir)?.sync_all(),
            Self::No => Ok(()),
        }
    }
}

/// Replaces a file of an older version by its migrated form and keeps the old one next to it.
///
/// The caller holds the lock. At every moment the session's name holds the whole old or the whole
/// new file.
pub(super) fn migrate_file(
    path: &Path,
    old_version: u32,
    text: &SessionText<'_>,
) -> io::Result<u64> {
    let backup = free_name(path, old_version);
    let temporary = sidecar(path, ".tmp");
    let file = private::create(&temporary)?;
    let len = text.write(&file)?;
    file.sync_data()?;
    if std::fs::hard_link(path, &backup).is_err() {
        std::fs::copy(path, &backup)?;
    }
    std::fs::rename(&temporary, path)?;
    Ok(len)
}

/// Removes what was kept when a file was migrated. Blocks.
pub(super) fn remove_backups(path: &Path) -> io::Result<()> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(());
    };
    let mut prefix = name.to_owned();
    prefix.push(".v");
    for item in std::fs::read_dir(dir)? {
        let item = item?;
        let name = item.file_name();
        if name
            .as_encoded_bytes()
            .starts_with(prefix.as_encoded_bytes())
        {
            std::fs::remove_file(item.path())?;
        }
    }
    Ok(())
}

fn free_name(path: &Path, version: u32) -> std::path::PathBuf {
    let first = sidecar(path, &format!(".v{version}.bak"));
    let others = (2..).map(|n| sidecar(path, &format!(".v{version}.bak{n}")));
    std::iter::once(first)
        .chain(others)
        .find(|name| !name.exists())
        .expect("numbers do not end")
}
