//! The provider: sessions found, opened, written and closed.

use super::FileSettings;
use super::created::NewFiles;
use super::error::io_error;
use super::ids::Ids;
use super::in_flight::{Due, stream};
use super::index::{Index, ids_in_names};
use super::layout::{directory_name, file_name};
use super::open::{Access, Appended, Slot, State};
use super::slots::Slots;
use super::writer::{Durability, SessionText, create_file};
use crate::blocking;
use crate::new_log::new_log;
use crate::{new_entry_id, new_session_id, now_ms};
use async_trait::async_trait;
use netaclaw_session::{
    Claim, Entry, EntryBody, EntryId, Flush, ImportSession, InFlightEntry, MetaRecord, NewEntry,
    NewHeader, NewSession, PageRequest, ProviderKind, RequestKey, SessionError, SessionFilter,
    SessionId, SessionLog, SessionMeta, SessionPage, SessionPatch, SessionStatus, SessionTree,
    SessionTreeProvider, check_format, encode_entry, encode_header, encode_leaf_marker,
    encode_meta_record, fork_entries, format_timestamp, is_purgeable,
};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Result<T> = std::result::Result<T, SessionError>;

/// Keeps each session in a file of its own. See the module for the files.
pub struct FileProvider {
    settings: FileSettings,
    slots: Slots,
    index: Arc<Mutex<Index>>,
    ids: Ids,
    created: Arc<NewFiles>,
}

impl FileProvider {
    pub fn new(settings: FileSettings) -> Self {
        let index = Arc::new(Mutex::new(Index::new(settings.dir.clone())));
        let created = Arc::new(NewFiles::new(settings.dir.clone()));
        Self {
            settings,
            slots: Slots::new(),
            index,
            ids: Ids::default(),
            created,
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.settings.dir
    }

    /// Whether this process has the session in memory.
    pub(super) fn has_open(&self, session: &SessionId) -> bool {
        self.slots.get(session).is_some()
    }

    /// The session's slot, which is created from the disk if it is not in memory yet.
    async fn slot(&self, session: &SessionId) -> Result<Arc<Slot>> {
        match self.slots.get(session) {
            Some(slot) => Ok(slot),
            // What happens seldom is boxed, so that the future of an append stays small.
            None => Box::pin(self.find(session)).await,
        }
    }

    async fn find(&self, session: &SessionId) -> Result<Arc<Slot>> {
        let (index, wanted) = (Arc::clone(&self.index), session.clone());
        let path = blocking(move || lock(&index).locate(&wanted))
            .await
            .map_err(io_error("find", session))?
            .ok_or_else(|| SessionError::NotFound(session.clone()))?;
        Ok(self.slots.add(session, path))
    }

    /// Runs `work` on the session's state once it is ready for `access`.
    async fn with<T>(
        &self,
        session: &SessionId,
        access: Access,
        mut work: impl FnMut(&Slot, &mut State) -> Result<T> + Send,
    ) -> Result<T> {
        let mut slot = self.slot(session).await?;
        let mut is_moved = false;
        loop {
            if let Some(state) = slot.state().as_mut() {
                let ready = match access {
                    Access::Read => !state.is_stale(&slot.path),
                    Access::Write => state.is_writable(),
                };
                if ready {
                    return work(&slot, state);
                }
            }
            match Box::pin(make_ready(&slot, access)).await {
                // Its file is gone: moved, or purged, and perhaps there is a new one.
                Err(SessionError::NotFound(_)) if !is_moved => {
                    is_moved = true;
                    self.slots.forget(&slot);
                    slot = self.slot(session).await?;
                }
                ready => ready?,
            }
        }
    }

    async fn create_file(
        &self,
        tree: SessionTree,
        trailer: Vec<String>,
        flush: Flush,
    ) -> Result<SessionMeta> {
        let header = tree.header();
        let session = header.id().clone();
        if !session.is_safe() {
            return Err(SessionError::InvalidId(session));
        }
        let dir = self
            .settings
            .dir
            .join(directory_name(&header.cwd().unwrap_or_default()));
        let path = dir.join(file_name(&header.timestamp(), &session));
        let durable = match self.settings.fsync.wants(flush) {
            true => Durability::Yes,
            false => Durability::No,
        };
        self.ids.add(&session);
        let (target, created, id) = (path.clone(), Arc::clone(&self.created), session.clone());
        let created: io::Result<State> = blocking(move || {
            let (header, entries) = (tree.header(), tree.entries());
            let text = SessionText {
                header,
                entries,
                trailer: &trailer,
            };
            let publish = |rename: &dyn Fn() -> io::Result<()>| created.publish(&id, rename);
            let len = create_file(&target, &text, durable, publish)?;
            Ok(State::written(tree, len, durable))
        })
        .await;
        let state = match created {
            Ok(state) => state,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let taken = match RequestKey::of(&session) {
                    Some(request) => self.made_by(&request).await?,
                    None => None,
                };
                return Err(SessionError::AlreadyExists(taken.unwrap_or(session)));
            }
            Err(error) => return Err(io_error("create", &session)(error)),
        };
        let meta = state.meta(&path);
        *self.slots.add(&session, path).state() = Some(state);
        Ok(meta)
    }

    /// Refuses an id that was used here before. What other processes create is seen when the new
    /// file gets its name.
    async fn must_be_unused(&self, session: &SessionId) -> Result<()> {
        let used = match self.ids.may_hold(session) {
            Some(used) => used,
            None => {
                let (dir, created) = (self.settings.dir.clone(), Arc::clone(&self.created));
                let ids =
                    blocking(move || created.follow().and_then(|()| ids_in_names(&dir))).await;
                self.ids.add_all(ids.map_err(io_error("find", session))?);
                self.ids.may_hold(session) != Some(false)
            }
        };
        match (used, RequestKey::of(session)) {
            (false, _) => Ok(()),
            (true, None) => self.must_be_free(session).await,
            (true, Some(request)) => match self.made_by(&request).await? {
                Some(taken) => Err(SessionError::AlreadyExists(taken)),
                None => Ok(()),
            },
        }
    }

    /// The session that a request has made, here or in another process.
    async fn made_by(&self, request: &RequestKey) -> Result<Option<SessionId>> {
        let (dir, wanted) = (self.settings.dir.clone(), Some(request.clone()));
        let found = blocking(move || {
            let mut ids = ids_in_names(&dir)?.into_iter();
            Ok(ids.find(|id| RequestKey::of(id) == wanted))
        });
        let failed = |error: io::Error| SessionError::store("cannot look for a session", error);
        found.await.map_err(failed)
    }

    /// Ids that NetaClaw makes are free; one that a caller brings may be taken.
    async fn must_be_free(&self, session: &SessionId) -> Result<()> {
        match self.slot(session).await {
            Ok(_) => Err(SessionError::AlreadyExists(session.clone())),
            Err(SessionError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn flush(&self, session: &SessionId, flush: Flush) -> Result<()> {
        if !self.settings.fsync.wants(flush) {
            return Ok(());
        }
        let slot = self.slot(session).await?;
        blocking(move || slot.sync())
            .await
            .map_err(io_error("sync", session))
    }
}

#[async_trait]
impl SessionTreeProvider for FileProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::File
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        if let Some(id) = &new.id {
            self.must_be_unused(id).await?;
        }
        let id = new.id.clone().unwrap_or_else(new_session_id);
        let flush = new.flush;
        let log = new_log(new, &id);
        self.create_file(SessionTree::new(log), Vec::new(), flush)
            .await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        let mut log = import.log;
        if let Some(id) = import.id {
            log.header = log.header.renamed(&id);
        }
        check_format(&log.header)?;
        self.must_be_free(log.header.id()).await?;
        let tree = SessionTree::new(log);
        let trailer = trailer(&tree);
        self.create_file(tree, trailer, Flush::Now).await
    }

    async fn get_session(&self, session: &SessionId) -> Result<SessionMeta> {
        self.with(session, Access::Read, |slot, state| {
            Ok(state.meta(&slot.path))
        })
        .await
    }

    async fn session_of_request(&self, request: &RequestKey) -> Result<Option<SessionId>> {
        self.made_by(request).await
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage> {
        let live = self.slots.written();
        let (index, filter) = (Arc::clone(&self.index), filter.clone());
        blocking(move || lock(&index).list(&filter, page, &live))
            .await
            .map_err(|error| SessionError::store("cannot list the sessions", error))
    }

    async fn update_session(
        &self,
        session: &SessionId,
        patch: SessionPatch,
    ) -> Result<SessionMeta> {
        let SessionPatch {
            title,
            status,
            agent_id,
            metadata,
            metadata_changes,
            flush,
        } = patch;
        let record = MetaRecord {
            status,
            agent_id,
            metadata: metadata.map(Arc::new),
            changes: metadata_changes,
        };
        // Taken by the first writer: the work is done once.
        let mut record = Some(record).filter(|record| *record != MetaRecord::default());
        self.with(session, Access::Write, |_, state| {
            if let Some(record) = record.take() {
                state.record_meta(session, record)?;
            }
            if let Some(name) = &title {
                let body = EntryBody::SessionInfo { name: name.clone() };
                state.append(session, &NewEntry::at_leaf(body))?;
            }
            Ok(())
        })
        .await?;
        self.flush(session, flush).await?;
        self.get_session(session).await
    }

    async fn delete_session(&self, session: &SessionId) -> Result<()> {
        let status = Some(SessionStatus::Deleted);
        self.update_session(
            session,
            SessionPatch {
                status,
                ..SessionPatch::default()
            },
        )
        .await?;
        self.release(session).await
    }

    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool> {
        // Only what is due is locked.
        if !is_purgeable(&self.get_session(session).await?, deleted_before) {
            return Ok(false);
        }
        let slot = self.slot(session).await?;
        // Callers with the slot wait here in the meantime, and then find no file.
        let _gate = slot.gate.lock().await;
        let (purged, state) = (Arc::clone(&slot), slot.state().take());
        let before = deleted_before.map(str::to_owned);
        let done = blocking(move || purged.purge(state, before.as_deref())).await?;
        if done {
            self.slots.remove(session);
        }
        Ok(done)
    }

    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>> {
        self.with(session, Access::Read, |_, state| {
            Ok(Arc::clone(&state.tree))
        })
        .await
    }

    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>> {
        let slot = self.slot(session).await?;
        let (live, tree) = self
            .with(session, Access::Read, |_, state| {
                let live = state
                    .in_flight
                    .as_ref()
                    .map(|in_flight| in_flight.entry.clone());
                Ok((live, Arc::clone(&state.tree)))
            })
            .await?;
        if live.is_some() {
            return Ok(live);
        }
        let left = blocking(move || slot.journal.read()).await;
        Ok(left.filter(|entry| !tree.contains(entry.id())))
    }

    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry> {
        let entry = self
            .with(session, Access::Write, |slot, state| {
                let Appended { entry, completed } = state.append(session, &new)?;
                if completed {
                    slot.journal.finish();
                }
                Ok(entry)
            })
            .await?;
        self.flush(session, new.flush).await?;
        Ok(entry)
    }

    async fn update_in_flight_entry(
        &self,
        session: &SessionId,
        in_flight: InFlightEntry,
    ) -> Result<()> {
        let InFlightEntry {
            id,
            parent_id,
            message,
        } = in_flight;
        let body = EntryBody::Message { message };
        let entry = encode_entry(&body, &id, parent_id.as_ref(), &format_timestamp(now_ms()));
        let slot = self.slot(session).await?;
        let due = self
            .with(session, Access::Write, |_, state| {
                stream(&slot, state, entry.clone())
            })
            .await?;
        match due {
            Due::Now if !slot.journal.add(&entry) => blocking(move || slot.journal.write(&entry))
                .await
                .map_err(io_error("journal", session)),
            Due::Now | Due::Later => Ok(()),
        }
    }

    async fn take_over(&self, session: &SessionId) -> Result<()> {
        self.with(session, Access::Write, |_, _| Ok(())).await
    }

    /// A file is locked by its first writer, and a kernel lock cannot be taken away.
    async fn claim(&self, session: &SessionId) -> Result<Claim> {
        Ok(Claim::for_good(self.get_session(session).await?))
    }

    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()> {
        self.with(session, Access::Write, |_, state| {
            state.move_leaf(session, leaf)
        })
        .await?;
        self.flush(session, Flush::Now).await
    }

    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta> {
        self.must_be_unused(&id).await?;
        let source = self.get_session(session).await?;
        let tree = self.load_tree(session).await?;
        check_format(tree.header())?;
        let forked =
            fork_entries(&tree, leaf, new_entry_id).map_err(|_| SessionError::EntryNotFound {
                session: session.clone(),
                entry: leaf.clone(),
            })?;
        let header = encode_header(&NewHeader {
            id: &id,
            timestamp: &format_timestamp(now_ms()),
            cwd: &source.cwd,
            parent_session: source.session_file.as_deref(),
            parent_session_id: Some(session),
            agent_id: source.agent_id.as_deref(),
            user_id: source.user_id.as_deref(),
            metadata: Arc::unwrap_or_clone(source.metadata),
        });
        let log = SessionLog::new(header, forked.entries);
        self.create_file(SessionTree::new(log), Vec::new(), Flush::Now)
            .await
    }

    async fn sync(&self, session: &SessionId) -> Result<()> {
        self.flush(session, Flush::Now).await
    }

    async fn remove_leftovers(&self) -> Result<()> {
        self.sweep_leftovers().await
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        if let Some(slot) = self.slots.remove(session) {
            let _gate = slot.gate.lock().await;
            let state = slot.state().take();
            // Closing removes the journal and the lock file, which are calls to the file system.
            let journal = Arc::clone(&slot);
            blocking(move || {
                journal.journal.tidy();
                drop(state);
            })
            .await;
        }
        Ok(())
    }
}

/// Loads the session or makes it writable, unless another caller has done so by now.
async fn make_ready(slot: &Arc<Slot>, access: Access) -> Result<()> {
    let _gate = slot.gate.lock().await;
    let (preparing, state) = (Arc::clone(slot), slot.state().take());
    let state = blocking(move || preparing.prepare(state, access)).await?;
    *slot.state() = Some(state);
    Ok(())
}

/// Bookkeeping that makes a copy rest on the same leaf with the same data.
fn trailer(tree: &SessionTree) -> Vec<String> {
    let last = tree.entries().last();
    let timestamp = last.map_or_else(|| tree.header().timestamp(), Entry::timestamp);
    if *tree.meta() != MetaRecord::default() {
        vec![encode_meta_record(
            &new_entry_id(),
            tree.leaf(),
            &timestamp,
            tree.meta(),
        )]
    } else if last.map(Entry::id) != tree.leaf() {
        vec![encode_leaf_marker(&new_entry_id(), tree.leaf(), &timestamp)]
    } else {
        Vec::new()
    }
}

fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    // The index is a cache of what is on disk.
    index.lock().unwrap_or_else(PoisonError::into_inner)
}
