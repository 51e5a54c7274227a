//! What an earlier owner left in flight, closed by the next one together with its claim.

use super::append::advance;
use super::cache::CachedSession;
use super::ownership::Fence;
use super::provider::Store;
use super::retry::Failure;
use super::rows::{NewRow, entry_in, in_flight_seq, insert_rows};
use netaclaw_session::{Entry, EntryId, SessionError, SessionId, SessionStatus};
use sqlx::mysql::MySqlConnection;

impl Store {
    pub(super) async fn take_over(&self, session: &SessionId) -> Result<(), SessionError> {
        let mut retry = self.retry(format!("cannot take over session {session}"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        while let Err(failure) = retry.attempt(self.prepare_write(session, &mut state)).await {
            retry.after(failure).await?;
        }
        Ok(())
    }

    /// Closes what is in flight as answers that were cut off.
    pub(super) async fn close_in_flight(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        known: &mut CachedSession,
    ) -> Result<(), Failure> {
        if known.tree.meta().status == Some(SessionStatus::Deleted) {
            // It accepts no entries until it is restored. The earlier owner must not write there
            // either.
            return refence_in_flight(connection, session, known.fence).await;
        }
        for left in left_in_flight(connection, session).await? {
            delete_row(connection, session, left.id()).await?;
            let is_known = |parent: &EntryId| known.tree.contains(parent);
            if known.tree.contains(left.id()) || !left.parent_id().is_none_or(is_known) {
                tracing::warn!(
                    session.id = %session,
                    entry.id = %left.id(),
                    "discarded a partial answer, because its parent entry no longer exists"
                );
                continue;
            }
            let entry = left.aborted();
            // A leaf that was moved to another branch since stays there.
            let leaf = match known.tree.leaf() == entry.parent_id() {
                true => Some(entry.id().clone()),
                false => known.tree.leaf().cloned(),
            };
            let fence = known.fence;
            advance(connection, session, known, &entry, leaf.as_ref(), fence).await?;
            let rows = [NewRow::completed(known.next_seq, &entry)];
            insert_rows(connection, session, self.by(fence), &rows).await?;
            known.push(entry, leaf);
        }
        Ok(())
    }
}

async fn left_in_flight(
    connection: &mut MySqlConnection,
    session: &SessionId,
) -> Result<Vec<Entry>, Failure> {
    const SELECT: &str = "SELECT envelope, messageAt, message FROM neta_agent_session_entry \
         WHERE sessionId = ? AND entrySeq < 0";
    let rows = sqlx::query(SELECT)
        .bind(session.as_str())
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| entry_in(session, row)).collect()
}

/// Moves what is in flight under this claim, so that the statements of an earlier one find nothing.
async fn refence_in_flight(
    connection: &mut MySqlConnection,
    session: &SessionId,
    fence: Fence,
) -> Result<(), Failure> {
    const UPDATE: &str = "UPDATE neta_agent_session_entry SET fence = ? \
         WHERE sessionId = ? AND entrySeq < 0";
    sqlx::query(UPDATE)
        .bind(fence)
        .bind(session.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

async fn delete_row(
    connection: &mut MySqlConnection,
    session: &SessionId,
    entry: &EntryId,
) -> Result<(), Failure> {
    const DELETE: &str =
        "DELETE FROM neta_agent_session_entry WHERE sessionId = ? AND entrySeq = ?";
    sqlx::query(DELETE)
        .bind(session.as_str())
        .bind(in_flight_seq(entry))
        .execute(connection)
        .await?;
    Ok(())
}
