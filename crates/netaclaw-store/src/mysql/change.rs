//! Changes to a session that are not entries: its leaf, its status and its metadata.

use super::append::Draft;
use super::cache::{Lock, State};
use super::ownership::Fence;
use super::provider::Store;
use super::retry::Failure;
use crate::now_ms;
use netaclaw_session::{
    Entry, EntryBody, EntryId, NewEntry, SessionError, SessionId, SessionPatch, SessionStatus,
    format_timestamp,
};
use serde_json::{Map, Value};
use sqlx::mysql::MySqlConnection;

impl Store {
    pub(super) async fn move_leaf(
        &self,
        session: &SessionId,
        leaf: Option<&EntryId>,
    ) -> Result<(), SessionError> {
        let mut retry = self.retry(format!("cannot move the leaf of session {session}"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        while let Err(failure) = retry
            .attempt(self.try_move_leaf(session, &mut state, leaf))
            .await
        {
            retry.after(failure).await?;
        }
        Ok(())
    }

    /// Changes what the patch names, all of it or nothing.
    pub(super) async fn update(
        &self,
        session: &SessionId,
        patch: &SessionPatch,
    ) -> Result<(), SessionError> {
        let mut retry = self.retry(format!("cannot change session {session}"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        let name = patch
            .title
            .clone()
            .map(|name| EntryBody::SessionInfo { name });
        let mut name = name.map(|body| Draft::new(NewEntry::at_leaf(body)));
        while let Err(failure) = retry
            .attempt(self.try_update(session, &mut state, patch, &mut name))
            .await
        {
            let redrawn = name.as_mut().is_some_and(|draft| draft.redraw(&failure));
            if !redrawn {
                retry.after(failure).await?;
            }
        }
        Ok(())
    }

    async fn try_move_leaf(
        &self,
        session: &SessionId,
        state: &mut State,
        leaf: Option<&EntryId>,
    ) -> Result<(), Failure> {
        const UPDATE: &str = "UPDATE neta_agent_session \
             SET updatedAt = IF(leafEntryId <=> ?, updatedAt, ?), leafEntryId = ? \
             WHERE sessionId = ? AND status <> 'deleted' AND fence = ?";
        let fence = self.prepare_write(session, state).await?;
        let tree = self.read_tree(session, state).await?;
        if let Some(entry) = leaf.filter(|leaf| !tree.contains(leaf)) {
            return Err(SessionError::EntryNotFound {
                session: session.clone(),
                entry: entry.clone(),
            }
            .into());
        }
        let rest = tree.effective_leaf(leaf.cloned());
        let column = rest.as_ref().map(EntryId::as_str);
        let mut lease = self.connections.lease().await?;
        let done = sqlx::query(UPDATE)
            .bind(column)
            .bind(format_timestamp(now_ms()))
            .bind(column)
            .bind(session.as_str())
            .bind(fence)
            .execute(lease.connection())
            .await?;
        let moved = match done.rows_affected() {
            0 => Err(self.rejected(lease.connection(), session, fence).await?),
            _ => Ok(()),
        };
        lease.return_to_pool();
        moved?;
        if let Some(known) = &mut state.known {
            known.set_leaf(rest);
        }
        Ok(())
    }

    async fn try_update(
        &self,
        session: &SessionId,
        state: &mut State,
        patch: &SessionPatch,
        name: &mut Option<Draft>,
    ) -> Result<(), Failure> {
        let fence = self.prepare_write(session, state).await?;
        let mut transaction = self.connections.begin().await?;
        let result = self
            .update_within(
                transaction.connection(),
                session,
                state,
                (patch, name),
                fence,
            )
            .await;
        let named = transaction.end(result).await?;
        if let Some(entry) = named {
            state.add_entry(&entry);
        }
        Ok(())
    }

    async fn update_within(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        state: &mut State,
        (patch, name): (&SessionPatch, &mut Option<Draft>),
        fence: Fence,
    ) -> Result<Option<Entry>, Failure> {
        const UPDATE: &str = "UPDATE neta_agent_session SET status = COALESCE(?, status), \
             agentId = COALESCE(?, agentId), metadata = COALESCE(?, metadata), \
             updatedAt = COALESCE(?, updatedAt) WHERE sessionId = ? AND fence = ?";
        let SessionPatch {
            status, agent_id, ..
        } = patch;
        let is_news = status.is_some() || agent_id.is_some();
        let metadata = changed_metadata(connection, session, state, patch).await?;
        if is_news || metadata.is_some() {
            let done = sqlx::query(UPDATE)
                .bind(status.map(SessionStatus::as_str))
                .bind(agent_id)
                .bind(metadata.map(|metadata| Value::Object(metadata).to_string()))
                .bind(is_news.then(|| format_timestamp(now_ms())))
                .bind(session.as_str())
                .bind(fence)
                .execute(&mut *connection)
                .await?;
            if done.rows_affected() == 0 {
                return Err(self.rejected(connection, session, fence).await?);
            }
            // What is known must have the new status before the name is judged by it.
            state.refresh(connection, session, Lock::Row).await?;
        }
        match name {
            Some(draft) => self
                .append_within(connection, session, state, draft, fence)
                .await
                .map(Some),
            None => Ok(None),
        }
    }
}

/// The metadata after the patch, or `None` if the patch does not touch it. Changes of single
/// members are applied to the content of the row, which is locked for it.
async fn changed_metadata(
    connection: &mut MySqlConnection,
    session: &SessionId,
    state: &mut State,
    patch: &SessionPatch,
) -> Result<Option<Map<String, Value>>, Failure> {
    if patch.metadata_changes.is_empty() {
        return Ok(patch.metadata.clone());
    }
    let mut metadata = match &patch.metadata {
        Some(metadata) => metadata.clone(),
        None => {
            let known = state.refresh(connection, session, Lock::Row).await?;
            let stored = known.tree.meta().metadata.as_deref();
            // The header has it if it never changed.
            let in_header = || known.tree.header().metadata();
            stored.cloned().unwrap_or_else(in_header)
        }
    };
    for change in &patch.metadata_changes {
        change.clone().apply(&mut metadata);
    }
    Ok(Some(metadata))
}
