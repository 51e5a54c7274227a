//! The single writer of a session: every durable change and the event about it, in one order.

use crate::attachments::{self, AttachmentStore};
use crate::error::EngineError;
use crate::events::feed::Feed;
use crate::events::wire::{answer_of, wire_new};
use crate::metrics::{self, QueueGauge, StoreCall};
use crate::process_log::{ProcessLogs, StepLog};
use crate::server::listing::{ListFeed, Liveness, list_item};
use crate::session::durable::{NewerState, PersistedState, Queue, StateUpdate, StoredState};
use crate::session::foreign::ForeignContentCache;
use crate::session::slash::escaped;
use crate::session::usage_totals::{Totals, UsageTotals};
use crate::session::user_message::{UserMark, user_message};
use netaclaw_protocol::{
    Attachment, EntryAdded, EntryId, ForeignContent, LeafChanged, ReadOnly, ReliableEvent,
    SessionId, SessionListItem, SessionMeta, SessionUpdated, StandingApproval, StandingApprovals,
    now_ms,
};
use netaclaw_session::{
    Entry, EntryBody, FORMAT_VERSION, Flush, Header, NavigationTree, NewEntry, Role, SessionError,
    SessionPatch, SessionTree, SessionTreeProvider,
};
use std::sync::{Arc, PoisonError};
use tokio::sync::{Mutex, MutexGuard};

pub(crate) struct SessionWriter {
    pub(crate) id: SessionId,
    pub(crate) provider: Arc<dyn SessionTreeProvider>,
    pub(crate) feed: Feed,
    lists: Arc<ListFeed>,
    owner: Option<String>,
    files: Option<Arc<dyn AttachmentStore>>,
    /// The log of the steps of its tool calls.
    pub(crate) steps: StepLog,
    /// The process that writes.
    instance: Arc<str>,
    /// The end of the chain of the current run. Other appends go there too in the meantime;
    /// otherwise the run would leave them on a branch of their own. Changed only by the holder of
    /// the write lock; separate, because a run that streams must not wait for that lock.
    run_tip: std::sync::Mutex<Option<EntryId>>,
    usage_totals: UsageTotals,
    foreign: ForeignContentCache,
    /// Set if a newer version wrote the session: this one only reads it.
    read_only: Option<ReadOnly>,
    state: Mutex<WriterState>,
}

/// What is kept beside the entries of sessions.
#[derive(Clone, Default)]
pub(crate) struct SidecarStores {
    pub(crate) files: Option<Arc<dyn AttachmentStore>>,
    pub(crate) logs: Option<Arc<dyn ProcessLogs>>,
}

pub(crate) struct WriterState {
    pub(crate) durable: PersistedState,
    /// What the store holds of it; `None` after a failure, when only the store has the answer.
    stored: Option<StoredState>,
    /// The queue as last published.
    published_queue: Queue,
    /// The standing approvals as last published.
    published_standing: Vec<StandingApproval>,
    queue_gauge: QueueGauge,
}

/// The right to write. Only its holder appends, moves the leaf or changes the queue. Lists
/// get what was stored once, when it is released.
pub(crate) struct Writing<'w> {
    writer: &'w SessionWriter,
    pub(crate) state: MutexGuard<'w, WriterState>,
    /// The store may have something new.
    is_changed: bool,
}

impl SessionWriter {
    pub(crate) fn new(
        provider: Arc<dyn SessionTreeProvider>,
        feed: Feed,
        lists: Arc<ListFeed>,
        instance: Arc<str>,
        beside: SidecarStores,
        session: &SessionMeta,
        header: &Header,
    ) -> Self {
        let id = session.session_id.clone();
        let read_only = read_only(session, header);
        let (durable, stored) = match &read_only {
            Some(_) => (PersistedState::default(), StoredState::default()),
            None => StoredState::read(session),
        };
        tell_unsupported(&id, &durable.queue);
        let mut queue_gauge = QueueGauge::default();
        queue_gauge.set(durable.queue.len());
        let state = Mutex::new(WriterState {
            published_queue: durable.queue.clone(),
            published_standing: durable.standing.clone(),
            durable,
            stored: Some(stored),
            queue_gauge,
        });
        Self {
            steps: StepLog::new(beside.logs, id.clone()),
            id,
            provider,
            feed,
            lists,
            owner: session.user_id.clone(),
            instance,
            run_tip: std::sync::Mutex::default(),
            usage_totals: UsageTotals::default(),
            foreign: ForeignContentCache::default(),
            files: beside.files,
            read_only,
            state,
        }
    }

    /// Why the session is not written, if it is not.
    pub(crate) fn read_only(&self) -> Option<&ReadOnly> {
        self.read_only.as_ref()
    }

    fn must_be_writable(&self) -> Result<(), EngineError> {
        match &self.read_only {
            Some(why) => Err(why.clone().into()),
            None => Ok(()),
        }
    }

    /// Lists have to look at the session again.
    pub(crate) fn list_changed(&self) {
        self.lists.changed(self.owner.as_deref(), &self.id);
    }

    pub(crate) async fn begin(&self) -> Writing<'_> {
        Writing {
            writer: self,
            state: self.state.lock().await,
            is_changed: false,
        }
    }

    /// A user's message with its files, which stay from now on.
    pub(crate) async fn user_message(
        &self,
        content: &str,
        attachments: &[Attachment],
        mark: UserMark,
    ) -> Result<EntryBody, EngineError> {
        self.keep_files(attachments).await?;
        let files = attachments::load(self.files.as_deref(), attachments).await?;
        let escaped = escaped(content);
        let mark = UserMark {
            literal: escaped.is_some(),
            ..mark
        };
        let content = escaped.unwrap_or(content);
        Ok(user_message(content, &files, mark, now_ms()))
    }

    /// Keeps the files of a message that waits.
    pub(crate) async fn keep_files(&self, attachments: &[Attachment]) -> Result<(), EngineError> {
        attachments::keep(self.files.as_deref(), attachments).await
    }

    /// The end of the chain of the current run, if there is one.
    pub(crate) fn run_tip(&self) -> Option<EntryId> {
        self.tip().clone()
    }

    fn tip(&self) -> std::sync::MutexGuard<'_, Option<EntryId>> {
        // One assignment happens under it.
        self.run_tip.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the answers up to a place in the session have cost.
    pub(crate) fn totals(&self, tree: &SessionTree, leaf: Option<&EntryId>) -> Totals {
        self.usage_totals.at(tree, leaf)
    }

    /// What a model that answers at a place in the session has read from outside.
    pub(crate) fn foreign(&self, tree: &SessionTree, tip: Option<&EntryId>) -> ForeignContent {
        self.foreign.at(tree, tip)
    }

    pub(crate) async fn tree(&self) -> Result<Arc<SessionTree>, EngineError> {
        let load = self.provider.load_tree(&self.id);
        Ok(self.timed(StoreCall::Load, load).await?)
    }

    /// Fails if there is no such entry.
    pub(crate) async fn must_contain(&self, entry: &EntryId) -> Result<(), EngineError> {
        match self.tree().await?.contains(entry) {
            true => Ok(()),
            false => Err(EngineError::StaleParent(entry.clone())),
        }
    }

    /// Makes what was written safe from a power cut.
    pub(crate) async fn sync(&self) -> Result<(), EngineError> {
        let sync = self.provider.sync(&self.id);
        Ok(self.timed(StoreCall::Sync, sync).await?)
    }

    /// An answer is shown with its tool calls, one of which has just got this result.
    async fn tell_answer(
        &self,
        result: &Entry,
        leaf_entry_id: Option<EntryId>,
    ) -> Result<(), EngineError> {
        let tree = self.tree().await?;
        if let Some(entry) = answer_of(&tree, result) {
            let updated = EntryAdded {
                entry,
                leaf_entry_id,
            };
            self.feed.emit(&ReliableEvent::SessionEntryUpdated(updated));
        }
        Ok(())
    }

    async fn timed<T>(
        &self,
        call: StoreCall,
        work: impl Future<Output = Result<T, SessionError>>,
    ) -> Result<T, SessionError> {
        metrics::timed(self.provider.kind(), call, work).await
    }

    pub(crate) async fn meta(&self) -> Result<SessionMeta, EngineError> {
        Ok(self.provider.get_session(&self.id).await?)
    }
}

impl Writing<'_> {
    /// A run begins to write here, or the last one has ended.
    pub(crate) fn set_run_tip(&mut self, tip: Option<EntryId>) {
        *self.writer.tip() = tip;
    }

    /// Appends where the session is: at the end of the run's chain, or at the leaf.
    pub(crate) async fn append_here(&mut self, body: EntryBody) -> Result<Entry, EngineError> {
        let new = match self.writer.run_tip() {
            Some(tip) => NewEntry::below(Some(tip), body),
            None => NewEntry::at_leaf(body),
        };
        self.append(new.flushed()).await
    }

    /// Appends and publishes. The entry is durable, as far as `new` requires, before any client
    /// receives it.
    pub(crate) async fn append(&mut self, new: NewEntry) -> Result<Entry, EngineError> {
        self.append_after(new, |_| ()).await
    }

    /// The same, with another event that is published between storing and publishing the entry.
    pub(crate) async fn append_after(
        &mut self,
        new: NewEntry,
        tell_first: impl FnOnce(&Entry),
    ) -> Result<Entry, EngineError> {
        let writer = self.writer;
        writer.must_be_writable()?;
        self.is_changed = true;
        let append = writer.provider.append_entry(&writer.id, new);
        let entry = writer.timed(StoreCall::Append, append).await?;
        tell_first(&entry);
        let leaf_entry_id = match entry.kind().moves_leaf() {
            true => Some(entry.id().clone()),
            false => writer.tree().await?.leaf().cloned(),
        };
        let added = EntryAdded {
            entry: wire_new(&entry),
            leaf_entry_id: leaf_entry_id.clone(),
        };
        writer.feed.emit(&ReliableEvent::SessionEntryAdded(added));
        if entry.role() == Role::ToolResult {
            writer.tell_answer(&entry, leaf_entry_id).await?;
        }
        if entry.kind().moves_leaf()
            && let Some(tip) = &mut *writer.tip()
        {
            *tip = entry.id().clone();
        }
        Ok(entry)
    }

    pub(crate) async fn move_leaf(&mut self, leaf: Option<&EntryId>) -> Result<(), EngineError> {
        let writer = self.writer;
        writer.must_be_writable()?;
        self.is_changed = true;
        writer.provider.move_leaf(&writer.id, leaf).await?;
        self.publish_leaf().await
    }

    /// Tells clients that the session is on another branch.
    pub(crate) async fn publish_leaf(&self) -> Result<(), EngineError> {
        let tree = self.writer.tree().await?;
        let path = tree.active_path().unwrap_or_default();
        let changed = LeafChanged {
            leaf_entry_id: tree.leaf().cloned(),
            active_path: path.into_iter().map(|entry| entry.id().clone()).collect(),
        };
        let feed = &self.writer.feed;
        feed.emit(&ReliableEvent::SessionLeafChanged(changed));
        Ok(())
    }

    /// Stores the state as it is now, and then publishes what clients and lists show of it. If it
    /// cannot be stored nothing is published, and the next call that succeeds does both.
    ///
    /// A caller that chooses [`Flush::Later`] calls [`SessionWriter::sync`] before it acknowledges
    /// anything.
    pub(crate) async fn persist_then_publish(&mut self, flush: Flush) -> Result<(), EngineError> {
        self.persist(flush).await?;
        self.publish_queue();
        self.publish_standing();
        Ok(())
    }

    /// Changes the state, stores and publishes it. If that fails the state stays as it was: a
    /// change that was refused must not take effect later.
    pub(crate) async fn change<T>(
        &mut self,
        change: impl FnOnce(&mut PersistedState) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let before = self.state.durable.clone();
        let changed = match change(&mut self.state.durable) {
            Ok(value) => self.persist_then_publish(Flush::Now).await.map(|()| value),
            Err(error) => Err(error),
        };
        if changed.is_err() {
            self.state.durable = before;
        }
        changed
    }

    async fn persist(&mut self, flush: Flush) -> Result<(), EngineError> {
        let writer = self.writer;
        writer.must_be_writable()?;
        self.is_changed = true;
        let StateUpdate { changes, after } = self.update().await?;
        // Known again once the store has it: a failure may have come before or after that.
        self.state.stored = None;
        match changes.is_empty() {
            true if flush == Flush::Now => writer.sync().await?,
            true => {}
            false => {
                let patch = SessionPatch {
                    metadata_changes: changes,
                    flush,
                    ..SessionPatch::default()
                };
                let update = writer.provider.update_session(&writer.id, patch);
                writer.timed(StoreCall::Update, update).await?;
            }
        }
        self.state.stored = Some(after);
        Ok(())
    }

    /// What has to be stored so that the store holds the state as it is now.
    async fn update(&mut self) -> Result<StateUpdate, EngineError> {
        let writer = self.writer;
        if self.state.stored.is_none() {
            let (_, stored) = StoredState::read(&writer.meta().await?);
            self.state.stored = Some(stored);
        }
        let state = &*self.state;
        let stored = state.stored.as_ref().expect("read above");
        Ok(stored.update(&state.durable, &writer.id, &writer.instance))
    }

    fn publish_standing(&mut self) {
        let state = &mut *self.state;
        if state.durable.standing == state.published_standing {
            return;
        }
        let items = state.durable.standing.clone();
        state.published_standing.clone_from(&items);
        let feed = &self.writer.feed;
        feed.emit(&ReliableEvent::StandingApprovals(StandingApprovals {
            items,
        }));
    }

    fn publish_queue(&mut self) {
        let state = &mut *self.state;
        if state.durable.queue == state.published_queue {
            return;
        }
        let update = state.durable.queue.update_since(&state.published_queue);
        state.published_queue = state.durable.queue.clone();
        state.queue_gauge.set(update.items.len());
        let feed = &self.writer.feed;
        feed.emit(&ReliableEvent::QueueUpdate(update));
    }

    pub(crate) async fn patch(
        &mut self,
        patch: SessionPatch,
    ) -> Result<SessionListItem, EngineError> {
        let writer = self.writer;
        writer.must_be_writable()?;
        self.is_changed = true;
        let update = writer.provider.update_session(&writer.id, patch);
        let session = writer.timed(StoreCall::Update, update).await?;
        let updated = SessionUpdated {
            session: session.clone().into(),
            labels: None,
        };
        writer.feed.emit(&ReliableEvent::SessionUpdated(updated));
        Ok(list_item(session, &self.state.durable, Liveness::Live))
    }

    /// Stores the path to the leaf, before or after it is left.
    pub(crate) fn remember_visit(&mut self, tree: &SessionTree) {
        NavigationTree::new(tree).remember(tree.leaf(), &mut self.state.durable.visits);
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if self.is_changed {
            self.writer.list_changed();
        }
    }
}

/// Why a session is not written, if it is not.
fn read_only(session: &SessionMeta, header: &Header) -> Option<ReadOnly> {
    let (found, supported) = (header.version(), FORMAT_VERSION);
    if found > supported {
        return Some(ReadOnly::NewerFormat { found, supported });
    }
    NewerState::of(session).map(ReadOnly::from)
}

fn tell_unsupported(session: &SessionId, queue: &Queue) {
    for queued in queue.iter().filter(|queued| queued.item.unsupported) {
        tracing::warn!(
            session.id = %session,
            item.id = %queued.item.item_id,
            "a queued message was written by another version; it is kept but not sent"
        );
    }
}
