//! The provider: sessions found, opened, written and let go.

use super::FileSettings;
use super::error::io_error;
use super::index::Index;
use super::journal::JOURNAL_INTERVAL;
use super::layout::{directory_name, file_name};
use super::open::{Access, InFlight, Slot, State};
use super::writer::{create_file, file_text};
use crate::{new_entry_id, new_session_id, now_ms};
use async_trait::async_trait;
use netaclaw_session::{
    Entry, EntryBody, EntryId, Flush, Header, ImportSession, InFlightEntry, MetaRecord, NewEntry,
    NewHeader, NewSession, PageRequest, ProviderKind, SessionError, SessionFilter, SessionId,
    SessionLog, SessionMeta, SessionPage, SessionPatch, SessionStatus, SessionTree,
    SessionTreeProvider, encode_entry, encode_header, encode_leaf_marker, encode_meta_record,
    fork_entries, format_timestamp,
};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Result<T> = std::result::Result<T, SessionError>;

/// Sessions kept open at most; beyond it the ones longest unused are let go and are opened again
/// when they are needed.
const OPEN_SESSIONS_MAX: usize = 128;
/// Text kept in memory at most, with the same behaviour beyond it.
const OPEN_BYTES_MAX: u64 = 256 << 20;

/// Keeps each session in a file of its own. See the module for the files.
pub struct FileProvider {
    settings: FileSettings,
    slots: Mutex<HashMap<SessionId, Arc<Slot>>>,
    index: Arc<Mutex<Index>>,
    clock: AtomicU64,
}

impl FileProvider {
    pub fn new(settings: FileSettings) -> Self {
        let index = Arc::new(Mutex::new(Index::new(settings.dir.clone())));
        Self {
            settings,
            slots: Mutex::new(HashMap::new()),
            index,
            clock: AtomicU64::new(0),
        }
    }

    /// The session's slot, which is found on disk if nobody has asked for it yet.
    async fn slot(&self, session: &SessionId) -> Result<Arc<Slot>> {
        if let Some(slot) = self.slots().get(session) {
            slot.used.store(
                self.clock.fetch_add(1, Ordering::Relaxed),
                Ordering::Relaxed,
            );
            return Ok(Arc::clone(slot));
        }
        let (index, wanted) = (Arc::clone(&self.index), session.clone());
        let path = blocking(move || lock(&index).locate(&wanted))
            .await
            .map_err(io_error("find", session))?
            .ok_or_else(|| SessionError::NotFound(session.clone()))?;
        Ok(self.add_slot(session, path))
    }

    fn add_slot(&self, session: &SessionId, path: PathBuf) -> Arc<Slot> {
        let mut slots = self.slots();
        let slot = slots
            .entry(session.clone())
            .or_insert_with(|| Arc::new(Slot::new(session.clone(), path)));
        slot.used.store(
            self.clock.fetch_add(1, Ordering::Relaxed),
            Ordering::Relaxed,
        );
        let slot = Arc::clone(slot);
        let_go_of_unused(&mut slots);
        slot
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Slot>>> {
        lock(&self.slots)
    }

    /// Runs `work` on the session's state once it is ready for `access`.
    async fn with<T>(
        &self,
        session: &SessionId,
        access: Access,
        mut work: impl FnMut(&Slot, &mut State) -> Result<T> + Send,
    ) -> Result<T> {
        let slot = self.slot(session).await?;
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
            let gate = slot.gate.lock().await;
            let (preparing, state) = (Arc::clone(&slot), slot.state().take());
            let state = blocking(move || preparing.prepare(state, access)).await?;
            *slot.state() = Some(state);
            drop(gate);
        }
    }

    async fn create_file(
        &self,
        header: &Header,
        entries: &[Entry],
        trailer: &[String],
    ) -> Result<SessionMeta> {
        let session = header.id().clone();
        if !session.is_safe() {
            return Err(SessionError::Invalid(format!(
                "{session:?} cannot be a session id: letters and digits at both ends, with . _ - between"
            )));
        }
        if self.slot(&session).await.is_ok() {
            return Err(SessionError::AlreadyExists(session));
        }
        let dir = self
            .settings
            .dir
            .join(directory_name(&header.cwd().unwrap_or_default()));
        let path = dir.join(file_name(&header.timestamp(), &session));
        let text = file_text(header, entries, trailer);
        let (target, durable) = (path.clone(), self.settings.fsync.durable());
        blocking(move || create_file(&target, &text, durable))
            .await
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => SessionError::AlreadyExists(session.clone()),
                _ => io_error("create", &session)(error),
            })?;
        self.add_slot(&session, path);
        self.get_session(&session).await
    }

    async fn flush(&self, session: &SessionId, flush: Flush) -> Result<()> {
        if !self.settings.fsync.wants(flush) {
            return Ok(());
        }
        let slot = self.slot(session).await?;
        let file = slot.state().as_ref().and_then(State::file);
        match file {
            Some(file) => blocking(move || file.sync_data())
                .await
                .map_err(io_error("sync", session)),
            None => Ok(()),
        }
    }
}

fn let_go_of_unused(slots: &mut HashMap<SessionId, Arc<Slot>>) {
    let bytes = |slot: &Slot| slot.state().as_ref().map_or(0, State::bytes);
    let mut total: u64 = slots.values().map(|slot| bytes(slot)).sum();
    if slots.len() <= OPEN_SESSIONS_MAX && total <= OPEN_BYTES_MAX {
        return;
    }
    let mut idle: Vec<(u64, SessionId)> = slots
        .values()
        .filter(|slot| Arc::strong_count(slot) == 1)
        .filter(|slot| {
            slot.state()
                .as_ref()
                .is_none_or(|state| state.in_flight.is_none())
        })
        .map(|slot| (slot.used.load(Ordering::Relaxed), slot.id.clone()))
        .collect();
    idle.sort_unstable();
    for (_, session) in idle {
        if slots.len() <= OPEN_SESSIONS_MAX && total <= OPEN_BYTES_MAX {
            return;
        }
        if let Some(slot) = slots.remove(&session) {
            total -= bytes(&slot);
        }
    }
}

#[async_trait]
impl SessionTreeProvider for FileProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::File
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        let id = new.id.unwrap_or_else(new_session_id);
        let timestamp = format_timestamp(now_ms());
        let header = encode_header(&NewHeader {
            id: &id,
            timestamp: &timestamp,
            cwd: &new.cwd,
            parent_session: None,
            parent_session_id: new.parent_session_id.as_ref(),
            agent_id: new.agent_id.as_deref(),
            user_id: new.user_id.as_deref(),
            metadata: new.metadata,
        });
        let title = new.title.filter(|title| !title.trim().is_empty());
        let name = title.map(|name| {
            encode_entry(
                &EntryBody::SessionInfo { name },
                &new_entry_id(),
                None,
                &timestamp,
            )
        });
        self.create_file(&header, name.as_slice(), &[]).await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        let mut log = import.log;
        if let Some(id) = import.id {
            log.header = log.header.renamed(&id);
        }
        let tree = SessionTree::new(log);
        let trailer = trailer(&tree);
        self.create_file(tree.header(), tree.entries(), &trailer)
            .await
    }

    async fn get_session(&self, session: &SessionId) -> Result<SessionMeta> {
        self.with(session, Access::Read, |slot, state| {
            Ok(state.meta(&slot.path))
        })
        .await
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage> {
        let mut live = HashMap::new();
        for slot in self.slots().values() {
            if let Some(state) = slot.state().as_ref().filter(|state| state.is_writable()) {
                live.insert(slot.path.clone(), state.meta(&slot.path));
            }
        }
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
        } = patch;
        let record = MetaRecord {
            status,
            agent_id,
            metadata,
        };
        self.with(session, Access::Write, |_, state| {
            if record != MetaRecord::default() {
                state.record_meta(session, record.clone())?;
            }
            if let Some(name) = &title {
                let body = EntryBody::SessionInfo { name: name.clone() };
                state.append(session, &NewEntry::at_leaf(body))?;
            }
            Ok(())
        })
        .await?;
        self.flush(session, Flush::Now).await?;
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
        let appended = self
            .with(session, Access::Write, |_, state| {
                state.append(session, &new)
            })
            .await?;
        if appended.completed {
            let slot = self.slot(session).await?;
            blocking(move || slot.journal.finish())
                .await
                .map_err(io_error("write", session))?;
        }
        self.flush(session, new.flush).await?;
        Ok(appended.entry)
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
        let slot = self.slot(session).await?;
        self.with(session, Access::Write, |_, state| {
            if state.tree.contains(&id) {
                return Err(SessionError::DuplicateEntry {
                    session: session.clone(),
                    entry: id.clone(),
                });
            }
            let entry = encode_entry(&body, &id, parent_id.as_ref(), &format_timestamp(now_ms()));
            match &mut state.in_flight {
                Some(known) if known.entry.id() == &id => known.entry = entry,
                other => {
                    slot.journal.begin(id.clone());
                    *other = Some(InFlight {
                        entry,
                        journal_job: None,
                    });
                }
            }
            let in_flight = state.in_flight.as_mut().expect("it was just set");
            if in_flight
                .journal_job
                .as_ref()
                .is_none_or(|job| job.is_finished())
            {
                in_flight.journal_job = Some(tokio::spawn(journal_later(Arc::clone(&slot))));
            }
            Ok(())
        })
        .await
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
    ) -> Result<SessionMeta> {
        let source = self.get_session(session).await?;
        let tree = self.load_tree(session).await?;
        let forked =
            fork_entries(&tree, leaf, new_entry_id).map_err(|_| SessionError::EntryNotFound {
                session: session.clone(),
                entry: leaf.clone(),
            })?;
        let header = encode_header(&NewHeader {
            id: &new_session_id(),
            timestamp: &format_timestamp(now_ms()),
            cwd: &source.cwd,
            parent_session: source.session_file.as_deref(),
            parent_session_id: Some(session),
            agent_id: source.agent_id.as_deref(),
            user_id: source.user_id.as_deref(),
            metadata: source.metadata,
        });
        self.create_file(&header, &forked.entries, &[]).await
    }

    async fn sync(&self, session: &SessionId) -> Result<()> {
        self.flush(session, Flush::Now).await
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        let slot = self.slots().remove(session);
        if let Some(slot) = slot {
            let _gate = slot.gate.lock().await;
            let state = slot.state().take();
            // Closing removes the lock file, which is a call to the file system.
            blocking(move || drop(state)).await;
        }
        Ok(())
    }
}

/// Bookkeeping lines that make a copy rest on the same leaf with the same data.
fn trailer(tree: &SessionTree) -> Vec<String> {
    let timestamp = tree.entries().last().map_or_else(
        || tree.header().timestamp().into_owned(),
        |entry| entry.timestamp().into_owned(),
    );
    let mut lines = Vec::new();
    let rests_at = SessionTree::new(SessionLog {
        last: tree.entries().last().map(|entry| entry.id().clone()),
        ..tree.to_log()
    });
    if *tree.meta() != MetaRecord::default() {
        lines.push(encode_meta_record(
            &new_entry_id(),
            tree.leaf(),
            &timestamp,
            tree.meta(),
        ));
    } else if rests_at.leaf() != tree.leaf() {
        lines.push(encode_leaf_marker(&new_entry_id(), tree.leaf(), &timestamp));
    }
    lines
}

/// Waits its time, then journals what is in flight by then.
async fn journal_later(slot: Arc<Slot>) {
    tokio::time::sleep(JOURNAL_INTERVAL).await;
    let entry = slot
        .state()
        .as_ref()
        .and_then(|s| s.in_flight.as_ref().map(|f| f.entry.clone()));
    if let Some(entry) = entry
        && let Err(error) = blocking(move || slot.journal.write(&entry)).await
    {
        tracing::warn!(%error, "an answer in flight could not be journalled");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Both guarded maps are caches of what is on disk.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs file system work where it does not hold up other sessions.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
