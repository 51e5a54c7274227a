//! Appending: one transaction that takes the session's row, and inserts.

use super::cache::{CachedSession, Lock, State};
use super::in_flight;
use super::ownership::Fence;
use super::provider::Store;
use super::retry::{Failure, Retry, is_duplicate, is_duplicate_of};
use super::rows::{NewRow, WrittenBy, insert_rows};
use super::session_row::opening_text;
use crate::{new_entry_id, now_ms};
use netaclaw_session::{
    Entry, EntryId, EntryKind, NewEntry, NewParent, SessionDamage, SessionError, SessionId,
    SessionTree, check_append, encode_entry, format_timestamp,
};
use sqlx::mysql::MySqlConnection;

/// The key that keeps the request of a message from being stored twice.
const REQUEST_KEY: &str = "neta_agent_session_entry_request";

/// Whether appends name their fence: always, except in a debug build with this variable in its
/// environment, by which the tests prove that they would fail.
const FENCED: bool = !(cfg!(debug_assertions) && option_env!("NETACLAW_TEST_UNFENCED").is_some());

/// An entry on its way into the log. Every attempt writes the same id and time, so that an attempt
/// with an unknown outcome can be recognized.
pub(super) struct Draft {
    new: NewEntry,
    /// The id, if the caller gave none.
    drawn: EntryId,
    timestamp: String,
    sent: Option<Entry>,
}

impl Draft {
    pub(super) fn new(new: NewEntry) -> Self {
        Self {
            new,
            drawn: new_entry_id(),
            timestamp: format_timestamp(now_ms()),
            sent: None,
        }
    }

    /// The entry as it would be appended to this tree.
    fn entry(&mut self, session: &SessionId, tree: &SessionTree) -> Result<Entry, SessionError> {
        check_append(tree, session, &self.new)?;
        while self.new.id.is_none() && tree.contains(&self.drawn) {
            self.drawn = new_entry_id();
        }
        let parent = match &self.new.parent {
            NewParent::Leaf => tree.leaf(),
            NewParent::Entry(parent) => parent.as_ref(),
        };
        let id = self.new.id.as_ref().unwrap_or(&self.drawn);
        Ok(encode_entry(&self.new.body, id, parent, &self.timestamp))
    }

    /// The entry, if an earlier attempt has written it after all.
    pub(super) fn written_in(&self, tree: &SessionTree) -> Option<Entry> {
        let sent = self.sent.as_ref()?;
        tree.get(sent.id()).filter(|there| *there == sent).cloned()
    }

    /// Takes another id after the drawn one turned out to be taken.
    pub(super) fn redraw(&mut self, failure: &Failure) -> bool {
        let taken = is_duplicate(failure) && self.new.id.is_none();
        if taken {
            self.drawn = new_entry_id();
        }
        taken
    }
}

impl Store {
    pub(super) async fn append(
        &self,
        session: &SessionId,
        new: NewEntry,
    ) -> Result<Entry, SessionError> {
        let mut retry = self.retry(format!("cannot append to session {session}"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        let mut draft = Draft::new(new);
        loop {
            let attempt = self.try_append(session, &mut state, &mut draft);
            match retry.attempt(attempt).await {
                Ok(entry) => return Ok(entry),
                Err(failure) if draft.redraw(&failure) => {}
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn try_append(
        &self,
        session: &SessionId,
        state: &mut State,
        draft: &mut Draft,
    ) -> Result<Entry, Failure> {
        let fence = self.prepare_write(session, state).await?;
        let mut transaction = self.connections.begin().await?;
        let result = self
            .append_within(transaction.connection(), session, state, draft, fence)
            .await;
        let entry = transaction.end(result).await?;
        state.add_entry(&entry);
        Ok(entry)
    }

    /// Appends within a transaction. What is known of the session is most likely still true, and
    /// the first statement finds out; only if it is not, the row is locked and read.
    pub(super) async fn append_within(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        state: &mut State,
        draft: &mut Draft,
        fence: Fence,
    ) -> Result<Entry, Failure> {
        let mut claimed = None;
        if let Some(known) = &state.known
            && let Ok(entry) = draft.entry(session, &known.tree)
            && take_place(connection, session, known, &entry, fence).await?
        {
            claimed = Some((known.next_seq, entry));
        }
        let (seq, entry) = match claimed {
            Some(claimed) => claimed,
            None => {
                let known = state.refresh(connection, session, Lock::Row).await?;
                if let Some(entry) = draft.written_in(&known.tree) {
                    return Ok(entry);
                }
                if FENCED && known.fence != fence {
                    return Err(self.deposed(session, fence));
                }
                let entry = draft.entry(session, &known.tree)?;
                if !take_place(connection, session, known, &entry, fence).await? {
                    let reason = SessionDamage::RowChanged;
                    let session = session.clone();
                    return Err(SessionError::Unreadable { session, reason }.into());
                }
                (known.next_seq, entry)
            }
        };
        if state.is_in_flight(entry.id()) {
            in_flight::delete(connection, session, entry.id(), fence).await?;
        }
        draft.sent = Some(entry.clone());
        let row = NewRow::completed(seq, &entry).with_request();
        self.insert(connection, session, row, draft, fence).await?;
        Ok(entry)
    }

    async fn insert(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        row: NewRow<'_>,
        draft: &Draft,
        fence: Fence,
    ) -> Result<(), Failure> {
        let entry = row.entry;
        let rows = [row];
        let inserted = insert_rows(connection, session, self.by(fence), &rows).await;
        let Err(failure) = inserted else {
            return Ok(());
        };
        if is_duplicate_of(&failure, REQUEST_KEY) {
            return Err(SessionError::RepeatedRequest(session.clone()).into());
        }
        if !is_duplicate(&failure) || draft.new.id.is_none() {
            return Err(failure);
        }
        // The id is not in the log, so it is in flight: here, but forgotten since, or elsewhere.
        if in_flight::delete(connection, session, entry.id(), fence).await? {
            return insert_rows(connection, session, self.by(fence), &rows).await;
        }
        Err(SessionError::DuplicateEntry {
            session: session.clone(),
            entry: entry.id().clone(),
        }
        .into())
    }

    pub(super) fn by(&self, fence: Fence) -> WrittenBy<'_> {
        WrittenBy {
            runtime: &self.runtime,
            fence,
        }
    }

    pub(super) fn retry(&self, what: String) -> Retry<'_> {
        Retry::new(&self.connections, what)
    }
}

impl State {
    fn is_in_flight(&self, entry: &EntryId) -> bool {
        self.in_flight
            .as_ref()
            .is_some_and(|in_flight| in_flight.id() == entry)
    }

    /// Takes in an entry that was committed here.
    pub(super) fn add_entry(&mut self, entry: &Entry) {
        if self.is_in_flight(entry.id()) {
            self.in_flight = None;
        }
        let known = self
            .known
            .as_mut()
            .filter(|known| !known.tree.contains(entry.id()));
        if let Some(known) = known {
            let leaf = leaf_after(known, entry);
            known.push(entry.clone(), leaf);
        }
    }
}

fn leaf_after(known: &CachedSession, entry: &Entry) -> Option<EntryId> {
    match entry.kind().moves_leaf() {
        true => Some(entry.id().clone()),
        false => known.tree.leaf().cloned(),
    }
}

/// Advances the session's row to have `entry`, and so keeps others from writing the session until
/// the transaction ends. False if the session differs from the cache, or if it has been claimed
/// anew.
async fn take_place(
    connection: &mut MySqlConnection,
    session: &SessionId,
    known: &CachedSession,
    entry: &Entry,
    fence: Fence,
) -> Result<bool, Failure> {
    let leaf = leaf_after(known, entry);
    advance(connection, session, known, entry, leaf.as_ref(), fence).await
}

macro_rules! update {
    ($condition:literal) => {
        concat!(
            "UPDATE neta_agent_session SET leafEntryId = ?, nextSeq = nextSeq + 1, ",
            "updatedAt = ?, title = ?, messageCount = messageCount + ?, ",
            "rootEntryId = COALESCE(rootEntryId, ?), firstMessage = COALESCE(firstMessage, ?) ",
            "WHERE sessionId = ? AND nextSeq = ? AND leafEntryId <=> ? AND status <> 'deleted' AND ",
            $condition
        )
    };
}

pub(super) async fn advance(
    connection: &mut MySqlConnection,
    session: &SessionId,
    known: &CachedSession,
    entry: &Entry,
    leaf: Option<&EntryId>,
    fence: Fence,
) -> Result<bool, Failure> {
    const UPDATE: &str = match FENCED {
        true => update!("fence = ?"),
        false => update!("fence >= ?"),
    };
    let is_root = entry.parent_id().is_none();
    let first_message = match known.has_first_message {
        true => None,
        false => opening_text(entry),
    };
    let name = match entry.kind() {
        EntryKind::SessionInfo => netaclaw_session::session_name(std::slice::from_ref(entry)),
        _ => known.tree.name().map(str::to_owned),
    };
    let done = sqlx::query(UPDATE)
        .bind(leaf.map(EntryId::as_str))
        .bind(entry.timestamp().as_ref())
        .bind(name)
        .bind(i64::from(entry.kind() == EntryKind::Message))
        .bind(is_root.then(|| entry.id().as_str()))
        .bind(first_message)
        .bind(session.as_str())
        .bind(known.next_seq)
        .bind(known.tree.leaf().map(EntryId::as_str))
        .bind(fence)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}
