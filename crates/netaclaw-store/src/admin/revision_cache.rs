//! A cache of values of one revision of the store.
//!
//! Each area of the store has a revision, a row that every change increases in its own transaction,
//! whichever process makes it. A value counts while its area is at the revision it was read at. The
//! row is read again at most every [`CONFIRMED_FOR`], and always after a change that was made
//! through this store. If it cannot be read, neither can the value.

use super::SqlAdminStore;
use super::database::Database;
use super::fault::Result;
use super::record::number;
use sqlx::{AnyConnection, Connection};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long a revision that was read is taken for the current one. Together with the time that
/// files of a workspace are taken for unchanged, this keeps the promise that a change of another
/// process takes effect within a second.
const CONFIRMED_FOR: Duration = Duration::from_millis(500);

/// What changes together, and is read again together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    /// Agents, channels, tools, MCP servers, dictionary and settings.
    Configuration,
    /// Users and their tokens.
    Accounts,
    /// Agents' memories. Never cached.
    Memories,
    /// Standing approvals. Never cached, so that a revoked one is in force nowhere.
    Approvals,
}

impl Area {
    /// Its row; `None` for an area that is not cached.
    pub(super) fn row(self) -> Option<&'static str> {
        match self {
            Self::Configuration => Some("configuration"),
            Self::Accounts => Some("accounts"),
            Self::Memories | Self::Approvals => None,
        }
    }
}

/// What can be kept while its area is unchanged.
pub(super) trait Cacheable: Sized + Send + Sync {
    const AREA: Area;

    /// Reads the value; the connection sees one state of the store throughout.
    fn read(
        store: &SqlAdminStore,
        reader: &mut AnyConnection,
        revision: u64,
    ) -> impl Future<Output = Result<Self>> + Send;
}

/// The latest value that was read.
#[derive(Debug)]
pub(super) struct RevisionCache<T>(Mutex<Option<CachedValue<T>>>);

#[derive(Debug)]
struct CachedValue<T> {
    value: Arc<T>,
    revision: u64,
    /// Before its revision was last read.
    confirmed: Instant,
    /// How many changes this store had made by then.
    own_changes: u64,
}

impl<T> Default for RevisionCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Cacheable> RevisionCache<T> {
    /// The value as it is now, or was half a second ago at most.
    pub(super) async fn get(&self, store: &SqlAdminStore) -> Result<Arc<T>> {
        let database = &store.database;
        if let Some(value) = self.fresh(database) {
            return Ok(value);
        }
        let mut reader = database.connection().await?;
        // The first of many who waited for a connection has confirmed it for all.
        if let Some(value) = self.fresh(database) {
            return Ok(value);
        }
        let (now, own_changes) = (Instant::now(), database.own_changes(T::AREA));
        let revision = read_revision(&mut reader, T::AREA).await?;
        if let Some(value) = self.confirm(revision, now, own_changes) {
            return Ok(value);
        }
        let mut reader = reader.begin().await?;
        let revision = read_revision(&mut reader, T::AREA).await?;
        let value = Arc::new(T::read(store, &mut reader, revision).await?);
        // Dropped, it would end with the next use of its connection.
        reader.rollback().await?;
        Ok(self.keep(CachedValue {
            value,
            revision,
            confirmed: now,
            own_changes,
        }))
    }

    fn fresh(&self, database: &Database) -> Option<Arc<T>> {
        let known = self.lock();
        let known = known.as_ref()?;
        let is_fresh = known.own_changes == database.own_changes(T::AREA)
            && known.confirmed.elapsed() < CONFIRMED_FOR;
        is_fresh.then(|| Arc::clone(&known.value))
    }

    fn confirm(&self, revision: u64, now: Instant, own_changes: u64) -> Option<Arc<T>> {
        let mut known = self.lock();
        let known = known.as_mut().filter(|known| known.revision == revision)?;
        known.confirmed = known.confirmed.max(now);
        known.own_changes = known.own_changes.max(own_changes);
        Some(Arc::clone(&known.value))
    }

    /// Values of one revision are one value, so that what was derived from it counts as well.
    fn keep(&self, new: CachedValue<T>) -> Arc<T> {
        let mut known = self.lock();
        match &*known {
            Some(known) if known.revision == new.revision => Arc::clone(&known.value),
            Some(known) if known.revision > new.revision => new.value,
            _ => Arc::clone(&known.insert(new).value),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<CachedValue<T>>> {
        // It is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read_revision(reader: &mut AnyConnection, area: Area) -> Result<u64> {
    const SELECT: &str = "SELECT revision FROM netaclaw_admin_revision WHERE area = ?";
    let revision: i64 = sqlx::query_scalar(SELECT)
        .bind(area.row())
        .fetch_one(reader)
        .await?;
    Ok(number(revision))
}
