//! What runs are made from, read again only when it has changed.
//!
//! A run needs a handful of rows of three small tables, and people wait for its first word. So what
//! was read is kept as long as the database is unchanged; where that cannot be told without asking it,
//! one small statement tells whether these tables are, whichever process has changed something.

use super::SqlAdminStore;
use super::agent::read_agents_apart;
use super::channel::read_channels_and_keys;
use super::fault::Result;
use super::tool::read_tools;
use super::unchanged::Unchanged;
use netaclaw_admin::Configured;
use sqlx::AnyConnection;
use std::sync::{Arc, Mutex, PoisonError};

/// Count, revisions and times of every table. Whatever is added, changed or deleted changes one of
/// them.
const REVISIONS: &str = "SELECT 'agent', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_agent \
     UNION ALL SELECT 'channel', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_channel \
     UNION ALL SELECT 'tool', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_tool";

type Revisions = Vec<(String, i64, i64, i64, i64)>;

/// What was read last.
#[derive(Default)]
pub(super) struct Kept {
    unchanged: Unchanged<(), Arc<Configured>>,
    last: Mutex<Option<(Revisions, Arc<Configured>)>>,
}

impl Kept {
    fn of(&self, revisions: &Revisions) -> Option<Arc<Configured>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, configured) = last.as_ref()?;
        (of == revisions).then(|| Arc::clone(configured))
    }

    fn keep(&self, revisions: Revisions, configured: Arc<Configured>) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((revisions, configured));
    }
}

impl SqlAdminStore {
    pub(super) async fn read_configured(&self) -> Result<Arc<Configured>> {
        let mark = self.database.mark();
        if let Some(configured) = self.kept.unchanged.get(mark, &()) {
            return Ok(configured);
        }
        let configured = self.read_if_changed().await?;
        let kept = Arc::clone(&configured);
        self.kept.unchanged.keep(mark, (), kept);
        Ok(configured)
    }

    async fn read_if_changed(&self) -> Result<Arc<Configured>> {
        let mut reader = self.database.connection().await?;
        // These come first: what changes meanwhile is newer than they are, and read again next time.
        let revisions: Revisions = sqlx::query_as(REVISIONS).fetch_all(&mut *reader).await?;
        if let Some(configured) = self.kept.of(&revisions) {
            return Ok(configured);
        }
        let configured = Arc::new(self.read_all(&mut reader).await?);
        self.kept.keep(revisions, Arc::clone(&configured));
        Ok(configured)
    }

    async fn read_all(&self, reader: &mut AnyConnection) -> Result<Configured> {
        let (agents, unreadable) = read_agents_apart(reader).await?;
        let (channels, keys) = read_channels_and_keys(reader, &self.sealer).await?;
        Ok(Configured {
            agents,
            unreadable,
            channels,
            keys,
            tools: read_tools(reader).await?,
        })
    }
}
