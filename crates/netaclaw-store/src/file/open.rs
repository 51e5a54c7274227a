//! One session in memory: its tree, and its file if this process may write it.

use super::Fsync;
use super::error::{ReadFileError, io_error};
use super::journal::Journal;
use super::layout::id_in_name;
use super::lock::SessionLock;
use super::read::read_log;
use super::summary::Summary;
use super::writer::{
    Durability, LogWriter, SessionText, create_file, migrate_file, remove_backups,
};
use crate::{new_entry_id, now_ms};
use netaclaw_session::{
    Entry, EntryId, Flush, Header, LogError, MetaRecord, NewEntry, NewHeader, NewParent,
    SessionError, SessionId, SessionLog, SessionMeta, SessionStatus, SessionTree, check_append,
    check_format, encode_entry, encode_header, encode_leaf_marker, encode_meta_record,
    format_timestamp, is_purgeable,
};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::task::JoinHandle;

/// A session this process has looked at.
pub(super) struct Slot {
    pub(super) id: SessionId,
    pub(super) path: PathBuf,
    pub(super) journal: Journal,
    /// Held while the state is being loaded or made writable, which can take long.
    pub(super) gate: tokio::sync::Mutex<()>,
    /// `None` until loaded, and while the gate's holder works on it. Held for microseconds.
    state: Mutex<Option<State>>,
    pub(super) used: AtomicU64,
}

/// What a caller is going to do with the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

pub(super) struct State {
    pub(super) tree: Arc<SessionTree>,
    summary: Summary,
    /// Length of the file that the tree was read from.
    len: u64,
    /// Set if the file has to be rewritten before anything can be appended.
    migrate_from: Option<u32>,
    writer: Option<LogWriter>,
    /// Set while the file's name is not known to be on the disk.
    is_new: bool,
    pub(super) in_flight: Option<InFlight>,
}

/// An answer that is being streamed.
pub(super) struct InFlight {
    pub(super) entry: Entry,
    /// When it was last journalled.
    pub(super) journalled: Instant,
    /// Journals the newest state when it is due; ends with the entry.
    pub(super) job: Option<JoinHandle<()>>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            job.abort();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The state, and with it the lock, goes after this.
        self.journal.tidy();
    }
}

impl Slot {
    pub(super) fn new(id: SessionId, path: PathBuf) -> Self {
        let journal = Journal::sidecar(&path);
        let (gate, state, used) = (
            tokio::sync::Mutex::new(()),
            Mutex::new(None),
            AtomicU64::new(0),
        );
        Self {
            id,
            path,
            journal,
            gate,
            state,
            used,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, Option<State>> {
        // A panic in the short sections leaves at worst a state that differs from the file, and the
        // file's length shows it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all that was written is on the disk, the name of a new file included. Blocks.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        let (file, is_new) = match self.state().as_ref() {
            Some(state) => (state.writer.as_ref().map(LogWriter::file), state.is_new),
            None => return Ok(()),
        };
        match file {
            Some(file) => file.sync_data()?,
            None if is_new => File::open(&self.path)?.sync_data()?,
            None => {}
        }
        if is_new {
            Durability::Yes.sync_name(&self.path)?;
            if let Some(state) = self.state().as_mut() {
                state.is_new = false;
            }
        }
        Ok(())
    }

    /// Removes the session if it is still deleted, under its lock, which is removed last. Blocks;
    /// the caller holds the gate and has taken the state out.
    pub(super) fn purge(
        &self,
        state: Option<State>,
        deleted_before: Option<&str>,
    ) -> Result<bool, SessionError> {
        let state = self.prepare(state, Access::Write)?;
        if !is_purgeable(&state.meta(&self.path), deleted_before) {
            *self.state() = Some(state);
            return Ok(false);
        }
        self.remove_files().map_err(io_error("purge", &self.id))?;
        Ok(true)
    }

    /// The session file goes last: a purge that was interrupted is repeated.
    fn remove_files(&self) -> std::io::Result<()> {
        self.journal.remove()?;
        remove_backups(&self.path)?;
        std::fs::remove_file(&self.path)?;
        Durability::Yes.sync_name(&self.path)
    }

    /// Loads the session or brings it up to date, and takes the lock if it is to be written.
    /// Blocks; the caller holds the gate and has taken the state out.
    pub(super) fn prepare(
        &self,
        state: Option<State>,
        access: Access,
    ) -> Result<State, SessionError> {
        let mut state = match state {
            Some(state) => state,
            None => State::load(&self.path, &self.id)?,
        };
        if state.is_stale(&self.path) {
            state.leave_lost_file();
            state.reload(&self.path, &self.id)?;
        }
        if access == Access::Write && state.writer.is_none() {
            check_format(state.tree.header())?;
            let lock = SessionLock::acquire(&self.path, &self.id)?;
            // Another process may have written between our reading and our lock.
            if state.is_stale(&self.path) {
                state.reload(&self.path, &self.id)?;
                check_format(state.tree.header())?;
            }
            state.open_writer(&self.path, &self.id, lock)?;
            state.close_interrupted(&self.journal, &self.id)?;
        }
        Ok(state)
    }
}

impl State {
    fn load(path: &Path, id: &SessionId) -> Result<Self, SessionError> {
        let (log, len) = read(path, id)?;
        let migrate_from = log.needs_migration.then_some(log.declared_version);
        let tree = SessionTree::new(log);
        let summary = Summary::of(&tree);
        Ok(Self {
            tree: Arc::new(tree),
            summary,
            len,
            migrate_from,
            writer: None,
            is_new: false,
            in_flight: None,
        })
    }

    /// The state of a session whose file was just written from `tree`.
    pub(super) fn written(tree: SessionTree, len: u64, durable: Durability) -> Self {
        let summary = Summary::of(&tree);
        Self {
            tree: Arc::new(tree),
            summary,
            len,
            migrate_from: None,
            writer: None,
            is_new: durable == Durability::No,
            in_flight: None,
        }
    }

    fn reload(&mut self, path: &Path, id: &SessionId) -> Result<(), SessionError> {
        let fresh = Self::load(path, id)?;
        self.tree = fresh.tree;
        self.summary = fresh.summary;
        self.len = fresh.len;
        self.migrate_from = fresh.migrate_from;
        Ok(())
    }

    /// Whether another program has written to the file since, or removed it. A writer has the file
    /// open and asks the descriptor: a lookup by name takes ten times as long.
    pub(super) fn is_stale(&self, path: &Path) -> bool {
        let found = match &self.writer {
            Some(writer) => writer.found(),
            None => std::fs::metadata(path),
        };
        found.map_or(true, |file| file.len() != self.len || file.nlink() == 0)
    }

    /// Closes a file that has no name any longer: its name belongs to another file, and what is
    /// appended to this one would be lost.
    fn leave_lost_file(&mut self) {
        let found = self.writer.as_ref().map(LogWriter::found);
        if found.is_some_and(|found| found.map_or(true, |file| file.nlink() == 0)) {
            self.writer = None;
        }
    }

    pub(super) fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.len
    }

    pub(super) fn meta(&self, path: &Path) -> SessionMeta {
        self.summary.meta(&self.tree, path)
    }

    fn open_writer(
        &mut self,
        path: &Path,
        id: &SessionId,
        lock: SessionLock,
    ) -> Result<(), SessionError> {
        if let Some(version) = self.migrate_from {
            let timestamp = format_timestamp(now_ms());
            let marker = encode_leaf_marker(&self.free_id(), self.tree.leaf(), &timestamp);
            let (header, entries) = (self.tree.header(), self.tree.entries());
            let text = SessionText {
                header,
                entries,
                trailer: &[marker],
            };
            self.len = migrate_file(path, version, &text).map_err(io_error("migrate", id))?;
            self.migrate_from = None;
        }
        let writer = LogWriter::open(path, id, lock)?;
        self.len = writer.len();
        self.writer = Some(writer);
        Ok(())
    }

    /// Appends what a dead writer left in flight as an answer that was cut off. The leaf goes
    /// there only if the answer continues it.
    fn close_interrupted(&mut self, journal: &Journal, id: &SessionId) -> Result<(), SessionError> {
        let Some(entry) = journal.read() else {
            // Empty or damaged, if there is one at all.
            return journal.remove().map_err(io_error("recover", id));
        };
        let parent_known = entry
            .parent_id()
            .is_none_or(|parent| self.tree.contains(parent));
        if parent_known && !self.tree.contains(entry.id()) {
            let leaf = match entry.parent_id() == self.tree.leaf() {
                true => Some(entry.id().clone()),
                false => self.tree.leaf().cloned(),
            };
            let timestamp = entry.timestamp().into_owned();
            self.write(id, entry.aborted(), leaf, &timestamp)?;
        }
        journal.remove().map_err(io_error("recover", id))
    }

    /// Appends an entry; nothing is changed if it returns an error.
    pub(super) fn append(
        &mut self,
        id: &SessionId,
        new: &NewEntry,
    ) -> Result<Appended, SessionError> {
        check_append(&self.tree, id, new)?;
        let entry_id = match &new.id {
            Some(entry) => entry.clone(),
            None => self.free_id(),
        };
        let parent = match &new.parent {
            NewParent::Leaf => self.tree.leaf(),
            NewParent::Entry(parent) => parent.as_ref(),
        };
        let timestamp = format_timestamp(now_ms());
        let entry = encode_entry(&new.body, &entry_id, parent, &timestamp);
        let leaf = match entry.kind().moves_leaf() {
            true => Some(entry_id.clone()),
            false => self.tree.leaf().cloned(),
        };
        self.write(id, entry.clone(), leaf, &timestamp)?;
        let completed = self
            .in_flight
            .as_ref()
            .is_some_and(|f| *f.entry.id() == entry_id);
        if completed {
            self.in_flight = None;
        }
        Ok(Appended { entry, completed })
    }

    pub(super) fn check_alive(&self, id: &SessionId) -> Result<(), SessionError> {
        match self.tree.meta().status {
            Some(SessionStatus::Deleted) => Err(SessionError::NotFound(id.clone())),
            _ => Ok(()),
        }
    }

    /// Writes an entry after which the leaf is `leaf`. If the file alone implies another leaf, a
    /// marker in the same write corrects it.
    fn write(
        &mut self,
        id: &SessionId,
        entry: Entry,
        leaf: Option<EntryId>,
        timestamp: &str,
    ) -> Result<(), SessionError> {
        let implied = match entry.kind().moves_leaf() {
            true => Some(entry.id()),
            false => entry.parent_id(),
        };
        if implied == leaf.as_ref() {
            self.write_line(id, entry.json())?;
        } else {
            let marker = encode_leaf_marker(&self.free_id(), leaf.as_ref(), timestamp);
            self.write_line(id, &format!("{}\n{marker}", entry.json()))?;
        }
        self.summary.push(&entry, timestamp);
        let tree = Arc::make_mut(&mut self.tree);
        tree.push(entry);
        if tree.leaf() != leaf.as_ref() {
            tree.set_leaf(leaf);
        }
        Ok(())
    }

    /// Records a leaf move.
    pub(super) fn move_leaf(
        &mut self,
        id: &SessionId,
        leaf: Option<&EntryId>,
    ) -> Result<(), SessionError> {
        self.check_alive(id)?;
        if let Some(entry) = leaf.filter(|leaf| !self.tree.contains(leaf)) {
            return Err(SessionError::EntryNotFound {
                session: id.clone(),
                entry: entry.clone(),
            });
        }
        let rests_at = self.tree.effective_leaf(leaf.cloned());
        if rests_at.as_ref() == self.tree.leaf() {
            return Ok(());
        }
        let leaf = rests_at.as_ref();
        let timestamp = format_timestamp(now_ms());
        self.write_line(id, &encode_leaf_marker(&self.free_id(), leaf, &timestamp))?;
        self.summary.touch(&timestamp);
        Arc::make_mut(&mut self.tree).set_leaf(leaf.cloned());
        Ok(())
    }

    pub(super) fn record_meta(
        &mut self,
        id: &SessionId,
        record: MetaRecord,
    ) -> Result<(), SessionError> {
        let timestamp = format_timestamp(now_ms());
        let line = encode_meta_record(&self.free_id(), self.tree.leaf(), &timestamp, &record);
        self.write_line(id, &line)?;
        if record.status.is_some() || record.agent_id.is_some() {
            self.summary.touch(&timestamp);
        }
        Arc::make_mut(&mut self.tree).merge_meta(record);
        Ok(())
    }

    fn write_line(&mut self, id: &SessionId, line: &str) -> Result<(), SessionError> {
        let writer = self.writer.as_mut().expect("writing was prepared");
        writer.append(line).map_err(io_error("write", id))?;
        self.len = writer.len();
        Ok(())
    }

    /// An id that no entry of this session has.
    pub(super) fn free_id(&self) -> EntryId {
        std::iter::repeat_with(new_entry_id)
            .find(|id| !self.tree.contains(id))
            .expect("random ids do not end")
    }
}

/// An append that was carried out.
pub(super) struct Appended {
    pub(super) entry: Entry,
    /// Set if the entry had been in flight.
    pub(super) completed: bool,
}

impl Fsync {
    pub(super) fn wants(self, flush: Flush) -> bool {
        match self {
            Self::Always => true,
            Self::Turn => flush == Flush::Now,
            Self::Off => false,
        }
    }
}

fn read(path: &Path, id: &SessionId) -> Result<(SessionLog, u64), SessionError> {
    match read_log(path) {
        // A crash between making a file and writing its header leaves nothing to lose.
        Err(ReadFileError::Log(LogError::Empty)) if id_in_name(path).as_ref() == Some(id) => {
            reread(path, id)
        }
        read => read.map_err(|error| error.of(id)),
    }
}

fn reread(path: &Path, id: &SessionId) -> Result<(SessionLog, u64), SessionError> {
    let fail = || io_error("create", id);
    let log = SessionLog::new(plain_header(id), Vec::new());
    let text = SessionText {
        header: &log.header,
        entries: &[],
        trailer: &[],
    };
    std::fs::remove_file(path).map_err(fail())?;
    let len = create_file(path, &text, Durability::No, |publish| publish()).map_err(fail())?;
    Ok((log, len))
}

fn plain_header(id: &SessionId) -> Header {
    encode_header(&NewHeader {
        id,
        timestamp: &format_timestamp(now_ms()),
        cwd: "",
        parent_session: None,
        parent_session_id: None,
        agent_id: None,
        user_id: None,
        metadata: serde_json::Map::new(),
    })
}
