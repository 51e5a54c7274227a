//! A store whose writes a test sees and decides about.

use async_trait::async_trait;
use netaclaw_session::{
    Claim, Entry, EntryBody, EntryId, ImportSession, InFlightEntry, NewEntry, NewSession,
    PageRequest, ProviderKind, RequestKey, SessionError, SessionFilter, SessionId, SessionMeta,
    SessionPage, SessionPatch, SessionTree, SessionTreeProvider,
};
use serde_json::Value;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SessionError>;

/// What a write does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Create,
    Import,
    Purge,
    /// The title, with or without other data.
    Title,
    /// The data next to the entries.
    State,
    Delete,
    /// A message of this role.
    Message(String),
    /// An entry with a type of its own.
    Custom(String),
    ThinkingLevel,
    OtherEntry,
    InFlight,
    TakeOver,
    Claim,
    Leaf,
    Fork,
    Sync,
}

impl WriteKind {
    fn of(body: &EntryBody) -> Self {
        match body {
            EntryBody::Message { message } => {
                let message: Value = serde_json::from_str(message.get()).unwrap();
                Self::Message(message["role"].as_str().unwrap().to_owned())
            }
            EntryBody::Custom { custom_type, .. } => Self::Custom(custom_type.clone()),
            EntryBody::ThinkingLevelChange { .. } => Self::ThinkingLevel,
            _ => Self::OtherEntry,
        }
    }
}

/// Decides what becomes of writes.
pub trait Intercept: Send + Sync + 'static {
    /// `session` is absent for one that is being created.
    fn write<T: Send>(
        &self,
        session: Option<&SessionId>,
        write: WriteKind,
        work: impl Future<Output = Result<T>> + Send,
    ) -> impl Future<Output = Result<T>> + Send;

    fn is_suspended(&self, store: &dyn SessionTreeProvider) -> bool {
        store.is_suspended()
    }

    fn resumed(&self, store: &dyn SessionTreeProvider) -> impl Future<Output = ()> + Send {
        store.resumed()
    }
}

/// A store, and what decides about its writes.
pub struct Intercepted<I> {
    pub inner: Arc<dyn SessionTreeProvider>,
    pub by: I,
}

#[async_trait]
impl<I: Intercept> SessionTreeProvider for Intercepted<I> {
    fn kind(&self) -> ProviderKind {
        self.inner.kind()
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        let work = self.inner.create_session(new);
        self.by.write(None, WriteKind::Create, work).await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        let work = self.inner.import_session(import);
        self.by.write(None, WriteKind::Import, work).await
    }

    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool> {
        let work = self.inner.purge_session(session, deleted_before);
        self.by.write(Some(session), WriteKind::Purge, work).await
    }

    async fn get_session(&self, session: &SessionId) -> Result<SessionMeta> {
        self.inner.get_session(session).await
    }

    async fn session_of_request(&self, request: &RequestKey) -> Result<Option<SessionId>> {
        self.inner.session_of_request(request).await
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage> {
        self.inner.list_sessions(filter, page).await
    }

    async fn update_session(
        &self,
        session: &SessionId,
        patch: SessionPatch,
    ) -> Result<SessionMeta> {
        let write = match patch.title {
            Some(_) => WriteKind::Title,
            None => WriteKind::State,
        };
        let work = self.inner.update_session(session, patch);
        self.by.write(Some(session), write, work).await
    }

    async fn delete_session(&self, session: &SessionId) -> Result<()> {
        let work = self.inner.delete_session(session);
        self.by.write(Some(session), WriteKind::Delete, work).await
    }

    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>> {
        self.inner.load_tree(session).await
    }

    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>> {
        self.inner.in_flight_entry(session).await
    }

    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry> {
        let write = WriteKind::of(&new.body);
        let work = self.inner.append_entry(session, new);
        self.by.write(Some(session), write, work).await
    }

    async fn update_in_flight_entry(
        &self,
        session: &SessionId,
        entry: InFlightEntry,
    ) -> Result<()> {
        let work = self.inner.update_in_flight_entry(session, entry);
        self.by
            .write(Some(session), WriteKind::InFlight, work)
            .await
    }

    async fn take_over(&self, session: &SessionId) -> Result<()> {
        let work = self.inner.take_over(session);
        self.by
            .write(Some(session), WriteKind::TakeOver, work)
            .await
    }

    async fn claim(&self, session: &SessionId) -> Result<Claim> {
        let work = self.inner.claim(session);
        self.by.write(Some(session), WriteKind::Claim, work).await
    }

    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()> {
        let work = self.inner.move_leaf(session, leaf);
        self.by.write(Some(session), WriteKind::Leaf, work).await
    }

    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta> {
        let work = self.inner.create_branched_session(session, leaf, id);
        self.by.write(Some(session), WriteKind::Fork, work).await
    }

    async fn sync(&self, session: &SessionId) -> Result<()> {
        let work = self.inner.sync(session);
        self.by.write(Some(session), WriteKind::Sync, work).await
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        self.inner.release(session).await
    }

    fn is_suspended(&self) -> bool {
        self.by.is_suspended(&*self.inner)
    }

    async fn resumed(&self) {
        self.by.resumed(&*self.inner).await;
    }

    async fn owner_died(&self) {
        self.inner.owner_died().await;
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
