//! `SessionTreeProvider`, the port to session storage.

use crate::body::{EntryBody, RawJson};
use crate::error::{PathError, SessionError};
use crate::log::SessionLog;
use crate::metadata::MetadataChange;
use crate::request::RequestKey;
use crate::snapshot::{Snapshot, build_snapshot};
use crate::tree::SessionTree;
use crate::{Entry, EntryId, ProviderKind, SessionId, SessionMeta, SessionPage, SessionStatus};
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SessionError>;

/// Stores sessions. Implementations store the entry log and nothing else: the pure functions of
/// this crate decide what it means.
///
/// Every method takes effect completely or not at all. An append that returned is in the log, in
/// order, once, also if the process is killed right after. Completed entries never change.
#[async_trait]
pub trait SessionTreeProvider: Send + Sync + 'static {
    fn kind(&self) -> ProviderKind;

    /// Fails if the id is taken, and names the session that has it. An id that a request makes is
    /// taken by every session with the same [`RequestKey`].
    async fn create_session(&self, new: NewSession) -> Result<SessionMeta>;

    /// Stores a whole session as it is, ids and all. Fails if the id is taken.
    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta>;

    async fn get_session(&self, session: &SessionId) -> Result<SessionMeta>;

    /// The session that a request has made.
    async fn session_of_request(&self, request: &RequestKey) -> Result<Option<SessionId>>;

    /// Newest first. Deleted sessions appear only if the filter asks for them.
    async fn list_sessions(&self, filter: &SessionFilter, page: PageRequest)
    -> Result<SessionPage>;

    /// Changes what the patch names. A patch of nothing but metadata leaves `updatedAt` unchanged:
    /// bookkeeping does not count as activity.
    async fn update_session(&self, session: &SessionId, patch: SessionPatch)
    -> Result<SessionMeta>;

    /// Marks the session deleted: it leaves the lists and takes no more entries, and a patch to
    /// another status brings it back.
    async fn delete_session(&self, session: &SessionId) -> Result<()>;

    /// Removes a deleted session permanently, with all data that the provider keeps of it. Returns
    /// `false` and changes nothing if it is not deleted, or was deleted after `deleted_before`. A
    /// session that another process owns is busy.
    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool>;

    /// The session as it is now. Later appends do not change what was returned.
    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>>;

    /// The entry being streamed, if a writer left or has one.
    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>>;

    /// The only method that adds to the log. The leaf moves to the new entry, except for labels and
    /// names.
    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry>;

    /// Keeps what has been streamed of an answer so far. Appending an entry with the same id
    /// completes it. If the writer dies, the next writer finds it and closes it as an answer
    /// with `stopReason: "aborted"`.
    async fn update_in_flight_entry(&self, session: &SessionId, entry: InFlightEntry)
    -> Result<()>;

    /// Makes the session this writer's own: acquires what it needs to write, and closes what a dead
    /// writer left in flight. Every write does this implicitly; this is for callers that need the
    /// outcome before they write.
    async fn take_over(&self, session: &SessionId) -> Result<()>;

    /// Begins to serve a session: from now on this process keeps state of it in memory and writes
    /// that. Where several processes can reach a session, it becomes this process's own, with all
    /// that [`SessionTreeProvider::take_over`] does; a session that a living process owns is busy.
    /// Ends with [`SessionTreeProvider::release`].
    async fn claim(&self, session: &SessionId) -> Result<Claim>;

    /// Moves the leaf without appending; `None` moves it before the first entry. Durable.
    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()>;

    /// A new session of this id, made of the path to `leaf`, its labels included. The source is not
    /// touched. Fails if the id is taken, as in [`SessionTreeProvider::create_session`].
    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta>;

    /// Makes everything appended so far durable against a power cut, where the provider's setting
    /// asks for that.
    async fn sync(&self, session: &SessionId) -> Result<()>;

    /// Removes what killed processes left behind, without disturbing live ones.
    async fn remove_leftovers(&self) -> Result<()> {
        Ok(())
    }

    /// Releases everything that is held for the session: memory, file handles, locks.
    async fn release(&self, session: &SessionId) -> Result<()>;

    /// Whether this process must begin nothing new, because the others may be about to claim its
    /// sessions. Writes wait until it is decided.
    fn is_suspended(&self) -> bool {
        false
    }

    /// Waits until the process is not suspended.
    async fn resumed(&self) {}

    /// Waits until a process has died that may have owned sessions here, so that what it left
    /// unfinished can be taken over.
    async fn owner_died(&self) {
        std::future::pending().await
    }

    /// Releases everything. For the end of the process.
    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn switch_leaf(&self, session: &SessionId, leaf: &EntryId) -> Result<()> {
        self.move_leaf(session, Some(leaf)).await
    }

    async fn reset_leaf(&self, session: &SessionId) -> Result<()> {
        self.move_leaf(session, None).await
    }

    async fn list_entries(&self, session: &SessionId) -> Result<Vec<Entry>> {
        Ok(self.load_tree(session).await?.entries().to_vec())
    }

    async fn get_active_path(&self, session: &SessionId) -> Result<Vec<Entry>> {
        let tree = self.load_tree(session).await?;
        let path = tree
            .active_path()
            .map_err(|source| path_error(session, source))?;
        Ok(path.into_iter().cloned().collect())
    }

    async fn get_snapshot(&self, session: &SessionId) -> Result<Snapshot> {
        let tree = self.load_tree(session).await?;
        let meta = self.get_session(session).await?;
        let in_flight = self.in_flight_entry(session).await?;
        build_snapshot(&tree, meta, in_flight).map_err(|source| path_error(session, source))
    }

    async fn append_message(&self, session: &SessionId, message: RawJson) -> Result<Entry> {
        self.append_entry(session, NewEntry::at_leaf(EntryBody::Message { message }))
            .await
    }

    async fn append_thinking_level_change(
        &self,
        session: &SessionId,
        level: &str,
    ) -> Result<Entry> {
        let body = EntryBody::ThinkingLevelChange {
            thinking_level: level.to_owned(),
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    async fn append_model_change(
        &self,
        session: &SessionId,
        provider: &str,
        model_id: &str,
    ) -> Result<Entry> {
        let body = EntryBody::ModelChange {
            provider: provider.to_owned(),
            model_id: model_id.to_owned(),
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    async fn append_compaction(
        &self,
        session: &SessionId,
        summary: &str,
        first_kept_entry_id: Option<EntryId>,
        tokens_before: u64,
        details: Option<RawJson>,
    ) -> Result<Entry> {
        let summary = summary.to_owned();
        let body = EntryBody::Compaction {
            summary,
            first_kept_entry_id,
            tokens_before,
            details,
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    /// Leaves the current branch for `target` with a summary of what is left behind. The summary
    /// becomes a child of the target.
    async fn append_branch_summary(
        &self,
        session: &SessionId,
        target: Option<&EntryId>,
        summary: &str,
        details: Option<RawJson>,
    ) -> Result<Entry> {
        let from_id = self.load_tree(session).await?.leaf().cloned();
        let body = EntryBody::BranchSummary {
            from_id,
            summary: summary.to_owned(),
            details,
        };
        self.append_entry(session, NewEntry::below(target.cloned(), body))
            .await
    }

    /// `None` or an empty text clears the label.
    async fn append_label_change(
        &self,
        session: &SessionId,
        target: &EntryId,
        label: Option<&str>,
    ) -> Result<Entry> {
        let label = label.filter(|label| !label.is_empty()).map(str::to_owned);
        let body = EntryBody::Label {
            target_id: target.clone(),
            label,
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    async fn append_session_info(&self, session: &SessionId, name: &str) -> Result<Entry> {
        let body = EntryBody::SessionInfo {
            name: name.to_owned(),
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    async fn append_custom(
        &self,
        session: &SessionId,
        custom_type: &str,
        data: Option<RawJson>,
    ) -> Result<Entry> {
        let body = EntryBody::Custom {
            custom_type: custom_type.to_owned(),
            data,
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }

    async fn append_custom_message(
        &self,
        session: &SessionId,
        custom_type: &str,
        content: RawJson,
        display: bool,
        details: Option<RawJson>,
    ) -> Result<Entry> {
        let custom_type = custom_type.to_owned();
        let body = EntryBody::CustomMessage {
            custom_type,
            content,
            display,
            details,
        };
        self.append_entry(session, NewEntry::at_leaf(body)).await
    }
}

/// Whether a session is deleted, and was deleted by this time. Nothing is written to a deleted
/// session, so that its last change is its deletion.
pub fn is_purgeable(meta: &SessionMeta, deleted_before: Option<&str>) -> bool {
    meta.status == SessionStatus::Deleted
        && deleted_before.is_none_or(|before| meta.updated_at.as_str() <= before)
}

fn path_error(session: &SessionId, source: PathError) -> SessionError {
    SessionError::Path {
        session: session.clone(),
        source,
    }
}

/// A session that this process serves.
pub struct Claim {
    /// As it was when it was claimed.
    pub meta: SessionMeta,
    /// Ready when the session has been taken away: what is written afterwards is rejected, and what
    /// is remembered of it must be forgotten.
    pub lost: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Claim {
    /// Of a session that no other process can claim.
    pub fn for_good(meta: SessionMeta) -> Self {
        let lost = Box::pin(std::future::pending());
        Self { meta, lost }
    }
}

/// A session to be made.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// `None` lets the provider make a UUID v7.
    pub id: Option<SessionId>,
    pub cwd: String,
    pub agent_id: Option<String>,
    pub user_id: Option<String>,
    pub title: Option<String>,
    pub parent_session_id: Option<SessionId>,
    pub metadata: Map<String, Value>,
    pub flush: Flush,
}

/// A session from elsewhere: a file, or another provider.
#[derive(Clone, Debug)]
pub struct ImportSession {
    pub log: SessionLog,
    /// Another id to store it under; `None` keeps its own.
    pub id: Option<SessionId>,
}

/// An entry to be appended.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// `None` lets the provider draw one. An id that is taken is an error.
    pub id: Option<EntryId>,
    pub parent: NewParent,
    pub expected_leaf: ExpectedLeaf,
    pub flush: Flush,
    pub body: EntryBody,
}

/// Where a new entry hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewParent {
    Leaf,
    /// Below this entry, or as a root: a branch.
    Entry(Option<EntryId>),
}

/// What the writer believes the leaf to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedLeaf {
    Any,
    /// Anything else is a conflict, and nothing is written.
    Is(Option<EntryId>),
}

/// When a change has to be safe against a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// With the next one that asks for it, or at the end of the turn.
    Later,
    /// Before the call returns: the client receives the acknowledgement next.
    #[default]
    Now,
}

impl NewEntry {
    pub fn at_leaf(body: EntryBody) -> Self {
        Self {
            id: None,
            parent: NewParent::Leaf,
            expected_leaf: ExpectedLeaf::Any,
            flush: Flush::Later,
            body,
        }
    }

    pub fn below(parent: Option<EntryId>, body: EntryBody) -> Self {
        Self {
            parent: NewParent::Entry(parent),
            ..Self::at_leaf(body)
        }
    }

    pub fn with_id(self, id: EntryId) -> Self {
        Self {
            id: Some(id),
            ..self
        }
    }

    pub fn expecting(self, leaf: Option<EntryId>) -> Self {
        Self {
            expected_leaf: ExpectedLeaf::Is(leaf),
            ..self
        }
    }

    pub fn flushed(self) -> Self {
        Self {
            flush: Flush::Now,
            ..self
        }
    }
}

/// An answer that is still being streamed.
#[derive(Clone, Debug)]
pub struct InFlightEntry {
    pub id: EntryId,
    pub parent_id: Option<EntryId>,
    /// The assistant message so far.
    pub message: RawJson,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    pub user_id: Option<String>,
    /// Besides the user's, also those without an owner.
    pub unowned: bool,
    pub agent_id: Option<String>,
    /// Found in title, first message, directory or id, whatever the case of letters.
    pub text: Option<String>,
    /// `None` lists all but deleted ones.
    pub status: Option<SessionStatus>,
    /// Only sessions whose metadata has a member of this name.
    pub metadata_key: Option<String>,
}

impl SessionFilter {
    /// Whether a session is listed, as far as everything but `text` decides.
    pub fn fits(&self, meta: &SessionMeta) -> bool {
        let status = match self.status {
            Some(status) => meta.status == status,
            None => meta.status != SessionStatus::Deleted,
        };
        let has =
            |value: &Option<String>, wanted: &Option<String>| wanted.is_none() || value == wanted;
        let unowned = self.unowned && meta.user_id.is_none();
        let key = self.metadata_key.as_ref();
        status
            && key.is_none_or(|key| meta.metadata.contains_key(key))
            && (unowned || has(&meta.user_id, &self.user_id))
            && has(&meta.agent_id, &self.agent_id)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// Counted from 1.
    pub page: u32,
    pub size: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, size: 50 }
    }
}

/// Changes to a session; `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct SessionPatch {
    /// Empty clears the title. Appends a `session_info` entry.
    pub title: Option<String>,
    pub status: Option<SessionStatus>,
    pub agent_id: Option<String>,
    /// All of it is replaced.
    pub metadata: Option<Map<String, Value>>,
    /// Members of it, after `metadata`. What is stored is in proportion to what changes, where the
    /// provider can do so.
    pub metadata_changes: Vec<MetadataChange>,
    pub flush: Flush,
}
