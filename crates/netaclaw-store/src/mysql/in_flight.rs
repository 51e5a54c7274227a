//! The entry that is being streamed: a row outside the log until it is complete.

use super::cache::{Lock, Slot, State};
use super::ownership::Fence;
use super::provider::Store;
use super::retry::{Failure, is_duplicate};
use super::rows::{NewRow, Split, entry_in, in_flight_seq, insert_rows};
use crate::now_ms;
use netaclaw_session::{
    Entry, EntryBody, EntryId, InFlightEntry, SessionError, SessionId, SessionStatus, encode_entry,
    format_timestamp,
};
use sqlx::mysql::MySqlConnection;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// A crash loses at most this much of what was streamed.
const WRITE_INTERVAL: Duration = Duration::from_millis(250);

/// An entry that this process is streaming.
pub(super) struct InFlight {
    entry: Entry,
    written_at: Instant,
    /// Writes an update that came too soon after the last write, when it is due. Ends with the
    /// entry.
    later: Option<JoinHandle<()>>,
}

impl InFlight {
    pub(super) fn id(&self) -> &EntryId {
        self.entry.id()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(job) = self.later.take() {
            job.abort();
        }
    }
}

impl Store {
    pub(super) async fn update_in_flight(
        self: &Arc<Self>,
        session: &SessionId,
        in_flight: InFlightEntry,
    ) -> Result<(), SessionError> {
        let mut retry = self.retry(format!(
            "cannot store the partial answer in session {session}"
        ));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        let InFlightEntry {
            id,
            parent_id,
            message,
        } = in_flight;
        let body = EntryBody::Message { message };
        let entry = encode_entry(&body, &id, parent_id.as_ref(), &format_timestamp(now_ms()));
        if let Some(open) = state.in_flight.as_mut().filter(|open| *open.id() == id)
            && open.written_at.elapsed() < WRITE_INTERVAL
        {
            open.entry = entry;
            if open.later.is_none() {
                open.later = Some(self.write_later(session, &slot, open.written_at));
            }
            return Ok(());
        }
        while let Err(failure) = retry
            .attempt(self.write_in_flight(session, &mut state, &entry))
            .await
        {
            retry.after(failure).await?;
        }
        state.in_flight = Some(InFlight {
            entry,
            written_at: Instant::now(),
            later: None,
        });
        Ok(())
    }

    fn write_later(
        self: &Arc<Self>,
        session: &SessionId,
        slot: &Arc<Slot>,
        written_at: Instant,
    ) -> JoinHandle<()> {
        // Weak, because the job must not keep alive what ends it.
        let (store, slot, session) = (Arc::downgrade(self), Arc::downgrade(slot), session.clone());
        tokio::spawn(async move {
            tokio::time::sleep_until(written_at + WRITE_INTERVAL).await;
            if let (Some(store), Some(slot)) = (store.upgrade(), slot.upgrade()) {
                store.heart.active().await;
                store.write_pending(&session, &mut *slot.lock().await).await;
            }
        })
    }

    /// Writes what was streamed since the last write.
    pub(super) async fn write_pending(&self, session: &SessionId, state: &mut State) {
        let Some(open) = &mut state.in_flight else {
            return;
        };
        // Without a job for later there is nothing that was not written.
        if open.later.take().is_none() {
            return;
        }
        let entry = open.entry.clone();
        match self.write_in_flight(session, state, &entry).await {
            Ok(()) => {
                if let Some(open) = &mut state.in_flight {
                    open.written_at = Instant::now();
                }
            }
            // The next update writes again.
            Err(error) => tracing::warn!(?error, "failed to store a partial answer"),
        }
    }

    async fn write_in_flight(
        &self,
        session: &SessionId,
        state: &mut State,
        entry: &Entry,
    ) -> Result<(), Failure> {
        let open = state.in_flight.as_ref().map(|open| open.id().clone());
        let fence = self.prepare_write(session, state).await?;
        if open.as_ref() == Some(entry.id()) {
            let mut lease = self.connections.lease().await?;
            let kept = self
                .update_row(lease.connection(), session, entry, fence)
                .await?;
            lease.return_to_pool();
            return match kept {
                true => Ok(()),
                // Who claims a session closes what was in flight under an earlier claim.
                false => Err(self.deposed(session, fence)),
            };
        }
        let mut transaction = self.connections.begin().await?;
        let result = self
            .open_in_flight(
                transaction.connection(),
                session,
                state,
                (entry, open),
                fence,
            )
            .await;
        transaction.end(result).await
    }

    async fn open_in_flight(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        state: &mut State,
        (entry, replaced): (&Entry, Option<EntryId>),
        fence: Fence,
    ) -> Result<(), Failure> {
        let known = state.refresh(connection, session, Lock::Row).await?;
        if known.fence != fence {
            return Err(self.deposed(session, fence));
        }
        let tree = &known.tree;
        let taken = || SessionError::DuplicateEntry {
            session: session.clone(),
            entry: entry.id().clone(),
        };
        if tree.meta().status == Some(SessionStatus::Deleted) {
            return Err(SessionError::NotFound(session.clone()).into());
        }
        if tree.contains(entry.id()) {
            return Err(taken().into());
        }
        if let Some(replaced) = replaced {
            delete(connection, session, &replaced, fence).await?;
        }
        let rows = [NewRow::in_flight(entry)];
        match insert_rows(connection, session, self.by(fence), &rows).await {
            // Opened here before, and forgotten since.
            Err(failure) if is_duplicate(&failure) => {
                match self.update_row(connection, session, entry, fence).await? {
                    true => Ok(()),
                    false => Err(taken().into()),
                }
            }
            result => result,
        }
    }

    /// False if this claim has no such row.
    async fn update_row(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        entry: &Entry,
        fence: Fence,
    ) -> Result<bool, Failure> {
        const UPDATE: &str = "UPDATE neta_agent_session_entry SET envelope = ?, messageAt = ?, message = ? \
             WHERE sessionId = ? AND entrySeq = ? AND fence = ?";
        let text = Split::of(entry);
        let done = sqlx::query(UPDATE)
            .bind(text.envelope.as_ref())
            .bind(text.message_at)
            .bind(text.message)
            .bind(session.as_str())
            .bind(in_flight_seq(entry.id()))
            .bind(fence)
            .execute(connection)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    pub(super) async fn in_flight_entry(
        &self,
        session: &SessionId,
    ) -> Result<Option<Entry>, SessionError> {
        let slot = self.cache.slot(session)?;
        let state = slot.lock().await;
        if let Some(open) = &state.in_flight {
            return Ok(Some(open.entry.clone()));
        }
        drop(state);
        let mut retry = self.retry(format!("cannot read session {session}"));
        loop {
            match retry.attempt(self.read_in_flight(session)).await {
                Ok(entry) => return Ok(entry),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn read_in_flight(&self, session: &SessionId) -> Result<Option<Entry>, Failure> {
        const SELECT: &str = "SELECT e.envelope, e.messageAt, e.message FROM neta_agent_session s \
             LEFT JOIN neta_agent_session_entry e ON e.sessionId = s.sessionId AND e.entrySeq < 0 \
             WHERE s.sessionId = ? LIMIT 1";
        let mut lease = self.connections.lease().await?;
        let row = sqlx::query(SELECT)
            .bind(session.as_str())
            .fetch_optional(lease.connection())
            .await?;
        lease.return_to_pool();
        let row = row.ok_or_else(|| SessionError::NotFound(session.clone()))?;
        match sqlx::Row::try_get::<Option<&str>, _>(&row, 0)? {
            Some(_) => entry_in(session, &row).map(Some),
            None => Ok(None),
        }
    }
}

/// Removes the row of an entry that is in flight under this claim. False if there is none.
pub(super) async fn delete(
    connection: &mut MySqlConnection,
    session: &SessionId,
    entry: &EntryId,
    fence: Fence,
) -> Result<bool, Failure> {
    const DELETE: &str = "DELETE FROM neta_agent_session_entry \
         WHERE sessionId = ? AND entrySeq = ? AND fence = ?";
    let done = sqlx::query(DELETE)
        .bind(session.as_str())
        .bind(in_flight_seq(entry))
        .bind(fence)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}
