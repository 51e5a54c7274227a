//! Removing a deleted session for good.

use super::cache::State;
use super::ownership::Fence;
use super::provider::Store;
use super::retry::Failure;
use netaclaw_session::{SessionError, SessionId};
use sqlx::mysql::MySqlConnection;

impl Store {
    /// Claims the session and removes its rows, unless it was restored.
    pub(super) async fn purge(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool, SessionError> {
        let mut retry = self.retry(format!("cannot delete session {session} permanently"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        loop {
            let attempt = self.try_purge(session, &mut state, deleted_before);
            match retry.attempt(attempt).await {
                Ok(purged) => return Ok(purged),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn try_purge(
        &self,
        session: &SessionId,
        state: &mut State,
        deleted_before: Option<&str>,
    ) -> Result<bool, Failure> {
        let fence = self.prepare_write(session, state).await?;
        let mut transaction = self.connections.begin().await?;
        let purged = self
            .purge_within(transaction.connection(), session, deleted_before, fence)
            .await;
        let purged = transaction.end(purged).await?;
        if purged {
            *state = State::default();
        }
        Ok(purged)
    }

    async fn purge_within(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        deleted_before: Option<&str>,
        fence: Fence,
    ) -> Result<bool, Failure> {
        // Locks the row: the session is neither restored nor claimed before the end.
        const DUE: &str = "SELECT fence, status = 'deleted' AND (? IS NULL OR updatedAt <= ?) \
             FROM neta_agent_session WHERE sessionId = ? FOR UPDATE";
        const ENTRIES: &str = "DELETE entry FROM neta_agent_session_entry AS entry \
             JOIN neta_agent_session AS session ON session.sessionId = entry.sessionId \
             WHERE session.sessionId = ? AND session.fence = ?";
        const SESSION: &str = "DELETE FROM neta_agent_session WHERE sessionId = ? AND fence = ?";
        let found: Option<(Fence, i64)> = sqlx::query_as(DUE)
            .bind(deleted_before)
            .bind(deleted_before)
            .bind(session.as_str())
            .fetch_optional(&mut *connection)
            .await?;
        match found {
            // An earlier attempt did it, and its answer was lost.
            None => return Ok(true),
            Some((now, _)) if now != fence => return Err(self.deposed(session, fence)),
            Some((_, 0)) => return Ok(false),
            Some(_) => {}
        }
        for statement in [ENTRIES, SESSION] {
            sqlx::query(statement)
                .bind(session.as_str())
                .bind(fence)
                .execute(&mut *connection)
                .await?;
        }
        Ok(true)
    }
}
