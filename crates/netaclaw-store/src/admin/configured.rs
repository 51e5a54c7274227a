//! What runs are made from, read again only when it has changed.
//!
//! A run needs a handful of rows of three small tables, and people wait for its first word. So what
//! was read is kept, with a mark of the tables it came from: one small statement tells whether it is
//! still true, whichever process has changed something.

use super::SqlAdminStore;
use super::agent::read_agents_apart;
use super::channel::read_channels_and_keys;
use super::fault::Result;
use super::tool::read_tools;
use netaclaw_admin::Configured;
use sqlx::AnyConnection;
use std::sync::{Arc, Mutex, PoisonError};

/// Count, revisions and times of every table. Whatever is added, changed or deleted changes one of
/// them.
const MARK: &str = "SELECT 'agent', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_agent \
     UNION ALL SELECT 'channel', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_channel \
     UNION ALL SELECT 'tool', COUNT(*), CAST(COALESCE(SUM(rev), 0) AS SIGNED), \
         CAST(COALESCE(SUM(createdAt), 0) AS SIGNED), CAST(COALESCE(SUM(updatedAt), 0) AS SIGNED) \
         FROM netaclaw_tool";

type Mark = Vec<(String, i64, i64, i64, i64)>;

/// What was read last.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<(Mark, Arc<Configured>)>>);

impl Kept {
    fn with_mark(&self, mark: &Mark) -> Option<Arc<Configured>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, configured) = kept.as_ref()?;
        (of == mark).then(|| Arc::clone(configured))
    }

    fn keep(&self, mark: Mark, configured: Arc<Configured>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark, configured));
    }
}

impl SqlAdminStore {
    pub(super) async fn read_configured(&self) -> Result<Arc<Configured>> {
        let mut reader = self.database.connection().await?;
        // The mark comes first: what changes meanwhile is newer than it, and read again next time.
        let mark: Mark = sqlx::query_as(MARK).fetch_all(&mut *reader).await?;
        if let Some(configured) = self.kept.with_mark(&mark) {
            return Ok(configured);
        }
        let configured = Arc::new(self.read_all(&mut reader).await?);
        self.kept.keep(mark, Arc::clone(&configured));
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
