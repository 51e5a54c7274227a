//! Whole sessions: created, imported, or forked from another.

use super::cache::{Lock, catch_up};
use super::provider::Store;
use super::retry::{Failure, is_duplicate};
use super::rows::{NewRow, id_column, insert_rows};
use super::session_row::{insert_session, read_made, read_meta};
use netaclaw_session::{
    Entry, EntryId, RequestKey, SessionError, SessionId, SessionMeta, SessionTree,
};
use sqlx::mysql::MySqlConnection;
use std::collections::HashMap;

impl Store {
    /// Stores a session that is not there yet, in one transaction.
    pub(super) async fn store_session(
        &self,
        tree: &SessionTree,
    ) -> Result<SessionMeta, SessionError> {
        let session = tree.header().id();
        if !session.is_safe() {
            return Err(SessionError::InvalidId(session.clone()));
        }
        let mut retry = self.retry(format!("cannot create session {session}"));
        // Set when an attempt may have succeeded without our knowing.
        let mut in_doubt = false;
        loop {
            match retry.long_attempt(self.try_store(tree, in_doubt)).await {
                Ok(meta) => return Ok(meta),
                Err(failure) => retry.after(failure).await?,
            }
            in_doubt = true;
        }
    }

    pub(super) async fn made_by(&self, request: &RequestKey) -> Result<Option<SessionId>, Failure> {
        let mut lease = self.connections.lease().await?;
        let made = read_made(lease.connection(), request).await?;
        lease.return_to_pool();
        Ok(made)
    }

    async fn try_store(&self, tree: &SessionTree, in_doubt: bool) -> Result<SessionMeta, Failure> {
        let session = tree.header().id();
        let mut transaction = self.connections.begin().await?;
        let result = self
            .insert_all(transaction.connection(), tree, in_doubt)
            .await;
        transaction.end(result).await?;
        let mut lease = self.connections.lease().await?;
        let meta = read_meta(lease.connection(), session).await?;
        lease.return_to_pool();
        Ok(meta.ok_or_else(|| SessionError::NotFound(session.clone()))?)
    }

    async fn insert_all(
        &self,
        connection: &mut MySqlConnection,
        tree: &SessionTree,
        in_doubt: bool,
    ) -> Result<(), Failure> {
        let session = tree.header().id();
        match insert_session(connection, tree).await {
            Err(failure) if is_duplicate(&failure) => {
                return match in_doubt && is_stored(connection, tree).await? {
                    true => Ok(()),
                    false => {
                        let made = match RequestKey::of(session) {
                            Some(request) => read_made(connection, &request).await?,
                            None => None,
                        };
                        let taken = made.unwrap_or_else(|| session.clone());
                        Err(SessionError::AlreadyExists(taken).into())
                    }
                };
            }
            result => result?,
        }
        let rows = rows_of(tree.entries());
        insert_rows(connection, session, self.by(0), &rows).await
    }
}

/// Whether the stored session is this one, so that an earlier attempt must have stored it.
async fn is_stored(connection: &mut MySqlConnection, tree: &SessionTree) -> Result<bool, Failure> {
    let stored = catch_up(connection, tree.header().id(), None, Lock::None).await?;
    let stored = stored.tree;
    Ok(stored.header() == tree.header()
        && stored.entries() == tree.entries()
        && stored.leaf() == tree.leaf())
}

/// Rows for a whole log. Of entries with the same id the last one has it in its column, as it is
/// the one that counts; the others get numbers.
fn rows_of(entries: &[Entry]) -> Vec<NewRow<'_>> {
    let mut seen: HashMap<&EntryId, u32> = HashMap::with_capacity(entries.len());
    let mut rows: Vec<NewRow<'_>> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate().rev() {
        let count = seen.entry(entry.id()).or_default();
        *count += 1;
        let mut row = NewRow::completed(at as i64 + 1, entry);
        if *count > 1 {
            row.id = format!("{}#{count}", id_column(entry.id())).into();
        }
        rows.push(row);
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_repeated_ids_the_last_keeps_its_column() {
        let entry = |id: &str| Entry::parse(format!(r#"{{"id":"{id}"}}"#)).unwrap();
        let entries: Vec<Entry> = ["a", "b", "a", "a#2", "a"].map(entry).into();
        let rows = rows_of(&entries);
        let columns: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.seq, row.id))
            .collect();
        let marked = id_column(entries[3].id());
        assert_eq!(
            columns,
            ["1 a#3", "2 b", "3 a#2", &format!("4 {marked}"), "5 a"]
        );
    }
}
