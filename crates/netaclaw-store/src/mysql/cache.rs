//! The cache of sessions, and how it catches up with the database.

use super::in_flight::InFlight;
use super::retry::Failure;
use super::rows::read_rows;
use super::session_row::{metadata_in, opening_text, status_in};
use netaclaw_cluster::NodeId;
use netaclaw_session::{
    Entry, EntryId, FORMAT_VERSION, Header, MetaRecord, SessionDamage, SessionError, SessionId,
    SessionLog, SessionTree,
};
use sqlx::Row;
use sqlx::mysql::{MySqlConnection, MySqlRow};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions remembered at most; beyond it the ones longest unused are forgotten, and read again
/// when they are needed.
const SESSIONS_MAX: usize = 128;

#[derive(Default)]
pub(super) struct Cache {
    slots: Mutex<HashMap<SessionId, Arc<Slot>>>,
    clock: AtomicU64,
}

/// A session's place in memory. Its lock makes the writers of this process wait for each other
/// here instead of in the database.
#[derive(Default)]
pub(super) struct Slot {
    state: tokio::sync::Mutex<State>,
    used: AtomicU64,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) known: Option<CachedSession>,
    pub(super) in_flight: Option<InFlight>,
}

/// A session as the database showed it last. It is true as long as the session's row has the
/// same `nextSeq` and leaf, because entries never change.
pub(super) struct CachedSession {
    pub(super) tree: Arc<SessionTree>,
    pub(super) next_seq: i64,
    pub(super) has_first_message: bool,
    /// The fence that the session's row had.
    pub(super) fence: u64,
    /// The owner that the session's row had.
    pub(super) owner: Option<NodeId>,
    /// Columns that can change without an entry.
    data: Data,
}

#[derive(Clone, PartialEq)]
struct Data {
    status: String,
    agent_id: Option<String>,
    metadata: String,
}

/// Whether to keep others from writing the session until the transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    None,
    Row,
}

impl Cache {
    pub(super) fn slot(&self, session: &SessionId) -> Result<Arc<Slot>, SessionError> {
        check_id(session)?;
        let mut slots = self.slots();
        let slot = Arc::clone(slots.entry(session.clone()).or_default());
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        slot.used.store(now, Ordering::Relaxed);
        if slots.len() > SESSIONS_MAX {
            forget_longest_unused(&mut slots);
        }
        Ok(slot)
    }

    pub(super) fn remove(&self, session: &SessionId) -> Option<Arc<Slot>> {
        self.slots().remove(session)
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Slot>>> {
        // It is a cache; whatever a panic left in it was read from the database.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ids that no session can have are not looked for: the index would ignore a space at their end.
pub(super) fn check_id(session: &SessionId) -> Result<(), SessionError> {
    match session.is_safe() {
        true => Ok(()),
        false => Err(SessionError::NotFound(session.clone())),
    }
}

fn forget_longest_unused(slots: &mut HashMap<SessionId, Arc<Slot>>) {
    let idle = slots.iter().filter(|(_, slot)| {
        Arc::strong_count(slot) == 1
            && slot
                .state
                .try_lock()
                .is_ok_and(|state| state.in_flight.is_none())
    });
    let oldest = idle.min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed));
    if let Some(session) = oldest.map(|(session, _)| session.clone()) {
        slots.remove(&session);
    }
}

impl Slot {
    pub(super) async fn lock(&self) -> tokio::sync::MutexGuard<'_, State> {
        self.state.lock().await
    }
}

impl State {
    /// Brings what is known up to date and gives it.
    pub(super) async fn refresh(
        &mut self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        lock: Lock,
    ) -> Result<&mut CachedSession, Failure> {
        let known = catch_up(connection, session, self.known.take(), lock).await?;
        Ok(self.known.insert(known))
    }
}

impl CachedSession {
    /// Takes in an entry that has been committed.
    pub(super) fn push(&mut self, entry: Entry, leaf: Option<EntryId>) {
        self.next_seq += 1;
        self.has_first_message = self.has_first_message || opening_text(&entry).is_some();
        let tree = Arc::make_mut(&mut self.tree);
        tree.push(entry);
        tree.set_leaf(leaf);
    }

    pub(super) fn set_leaf(&mut self, leaf: Option<EntryId>) {
        if self.tree.leaf() != leaf.as_ref() {
            Arc::make_mut(&mut self.tree).set_leaf(leaf);
        }
    }

    fn set_data(&mut self, data: Data) {
        if self.data == data {
            return;
        }
        Arc::make_mut(&mut self.tree).merge_meta(MetaRecord {
            status: Some(status_in(&data.status)),
            agent_id: data.agent_id.clone(),
            metadata: Some(Arc::new(metadata_in(&data.metadata))),
            changes: Vec::new(),
        });
        self.data = data;
    }
}

/// Reads the session's row, and those entries that are not known yet.
pub(super) async fn catch_up(
    connection: &mut MySqlConnection,
    session: &SessionId,
    known: Option<CachedSession>,
    lock: Lock,
) -> Result<CachedSession, Failure> {
    const SELECT: &str = "SELECT header, leafEntryId, nextSeq, firstMessage IS NOT NULL, status, \
         agentId, metadata, fence, ownerNode FROM neta_agent_session WHERE sessionId = ?";
    const SELECT_AND_LOCK: &str = "SELECT header, leafEntryId, nextSeq, firstMessage IS NOT NULL, \
         status, agentId, metadata, fence, ownerNode FROM neta_agent_session WHERE sessionId = ? \
         FOR UPDATE";
    let select = match lock {
        Lock::None => sqlx::query(SELECT),
        Lock::Row => sqlx::query(SELECT_AND_LOCK),
    };
    let row = select
        .bind(session.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    let row = row.ok_or_else(|| SessionError::NotFound(session.clone()))?;
    let next_seq: i64 = row.try_get(2)?;
    // A log that became shorter is another one: a backup was restored. So is one with another
    // header: the session was purged, and its id is used again.
    let header: &str = row.try_get(0)?;
    let known =
        known.filter(|known| known.next_seq <= next_seq && known.tree.header().json() == header);
    let from = known.as_ref().map_or(1, |known| known.next_seq);
    // Entries below the row's number are all committed, so no transaction is needed to read a
    // consistent state.
    let new = match from < next_seq {
        true => read_rows(connection, session, from, next_seq).await?,
        false => Vec::new(),
    };
    let leaf = row.try_get::<Option<&str>, _>(1)?.map(EntryId::new);
    let mut known = match known {
        Some(mut known) => {
            for entry in new {
                known.push(entry, None);
            }
            known
        }
        None => fresh(session, &row, new, leaf.clone())?,
    };
    known.set_leaf(leaf);
    known.set_data(data_in(&row)?);
    known.fence = row.try_get(7)?;
    known.owner = row.try_get::<Option<String>, _>(8)?.map(NodeId::new);
    Ok(known)
}

fn fresh(
    session: &SessionId,
    row: &MySqlRow,
    entries: Vec<Entry>,
    leaf: Option<EntryId>,
) -> Result<CachedSession, Failure> {
    let header: String = row.try_get(0)?;
    let damaged = || SessionError::Unreadable {
        session: session.clone(),
        reason: SessionDamage::HeaderNotReadable,
    };
    let header = Header::parse(header).ok_or_else(damaged)?;
    let data = Data {
        status: "active".to_owned(),
        agent_id: header.agent_id().map(|id| id.into_owned()),
        metadata: serde_json::Value::Object(header.metadata()).to_string(),
    };
    let tree = SessionTree::new(SessionLog {
        header,
        entries,
        last: leaf,
        meta: MetaRecord::default(),
        declared_version: FORMAT_VERSION,
        skipped_lines: 0,
        needs_migration: false,
    });
    Ok(CachedSession {
        tree: Arc::new(tree),
        next_seq: row.try_get(2)?,
        has_first_message: row.try_get::<i64, _>(3)? != 0,
        fence: 0,
        owner: None,
        data,
    })
}

fn data_in(row: &MySqlRow) -> Result<Data, Failure> {
    Ok(Data {
        status: row.try_get(4)?,
        agent_id: row.try_get(5)?,
        metadata: row.try_get(6)?,
    })
}
