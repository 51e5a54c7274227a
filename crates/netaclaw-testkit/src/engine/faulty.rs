//! A store that fails at the test's choice.

use async_trait::async_trait;
use netaclaw_session::{
    Claim, Entry, EntryBody, EntryId, ImportSession, InFlightEntry, NewEntry, NewSession,
    PageRequest, ProviderKind, RequestKey, SessionError, SessionFilter, SessionId, SessionMeta,
    SessionPage, SessionPatch, SessionTree, SessionTreeProvider,
};
use netaclaw_store::{FileProvider, FileSettings, Fsync};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

type Result<T> = std::result::Result<T, SessionError>;

/// A write that is about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A message of this role.
    Message(String),
    OtherEntry,
    /// The data next to the entries.
    State,
    Sync,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Happens,
    Fails,
    /// It happens, and its answer is lost.
    HappensUnseen,
    /// It neither happens nor ends.
    Hangs,
}

type Rule = Box<dyn FnMut(&SessionId, &Write) -> Fate + Send>;

/// Files, and a rule that says which writes fail.
pub struct Faulty {
    inner: FileProvider,
    rule: Mutex<Option<Rule>>,
    suspended: watch::Sender<bool>,
    /// How often something began to wait for the end of a suspension.
    waits: watch::Sender<usize>,
}

impl Faulty {
    pub fn new(dir: &Path) -> Arc<Self> {
        Arc::new(Self {
            inner: FileProvider::new(FileSettings {
                dir: dir.to_owned(),
                fsync: Fsync::Off,
            }),
            rule: Mutex::new(None),
            suspended: watch::Sender::new(false),
            waits: watch::Sender::new(0),
        })
    }

    /// As a node that lost its database and may be taken over.
    pub fn suspend(&self) {
        self.suspended.send_replace(true);
    }

    pub fn resume(&self) {
        self.suspended.send_replace(false);
    }

    /// Ready when something has begun to wait for the end of a suspension so many times.
    pub async fn waits(&self, times: usize) {
        let mut waits = self.waits.subscribe();
        waits.wait_for(|&count| count >= times).await.unwrap();
    }

    /// From now on every write is decided by this.
    pub fn set(&self, rule: impl FnMut(&SessionId, &Write) -> Fate + Send + 'static) {
        *self.rule.lock().unwrap() = Some(Box::new(rule));
    }

    /// The writes of this kind fail, from the one of this number on, counted from 1.
    pub fn fail(&self, what: Write, from: usize) {
        let mut seen = 0;
        self.set(move |_, write| {
            seen += usize::from(*write == what);
            match *write == what && seen >= from {
                true => Fate::Fails,
                false => Fate::Happens,
            }
        });
    }

    /// The one write of this kind and number fails.
    pub fn fail_once(&self, what: Write, number: usize) {
        let mut seen = 0;
        self.set(move |_, write| {
            seen += usize::from(*write == what);
            match *write == what && seen == number {
                true => Fate::Fails,
                false => Fate::Happens,
            }
        });
    }

    /// Everything works again.
    pub fn mend(&self) {
        *self.rule.lock().unwrap() = None;
    }

    async fn write<T>(
        &self,
        session: &SessionId,
        write: Write,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let fate = match &mut *self.rule.lock().unwrap() {
            Some(rule) => rule(session, &write),
            None => Fate::Happens,
        };
        match fate {
            Fate::Happens => work.await,
            Fate::Hangs => std::future::pending().await,
            Fate::Fails => Err(as_told()),
            Fate::HappensUnseen => work.await.and(Err(as_told())),
        }
    }
}

fn as_told() -> SessionError {
    SessionError::store("cannot write", "as told")
}

fn kind_of(body: &EntryBody) -> Write {
    match body {
        EntryBody::Message { message } => {
            let message: Value = serde_json::from_str(message.get()).unwrap();
            Write::Message(message["role"].as_str().unwrap().to_owned())
        }
        _ => Write::OtherEntry,
    }
}

#[async_trait]
impl SessionTreeProvider for Faulty {
    fn kind(&self) -> ProviderKind {
        self.inner.kind()
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        self.inner.create_session(new).await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        self.inner.import_session(import).await
    }

    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool> {
        self.inner.purge_session(session, deleted_before).await
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
        let write = self.inner.update_session(session, patch);
        self.write(session, Write::State, write).await
    }

    async fn delete_session(&self, session: &SessionId) -> Result<()> {
        self.inner.delete_session(session).await
    }

    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>> {
        self.inner.load_tree(session).await
    }

    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>> {
        self.inner.in_flight_entry(session).await
    }

    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry> {
        let kind = kind_of(&new.body);
        let write = self.inner.append_entry(session, new);
        self.write(session, kind, write).await
    }

    async fn update_in_flight_entry(
        &self,
        session: &SessionId,
        entry: InFlightEntry,
    ) -> Result<()> {
        self.inner.update_in_flight_entry(session, entry).await
    }

    async fn take_over(&self, session: &SessionId) -> Result<()> {
        self.inner.take_over(session).await
    }

    async fn claim(&self, session: &SessionId) -> Result<Claim> {
        self.inner.claim(session).await
    }

    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()> {
        self.inner.move_leaf(session, leaf).await
    }

    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta> {
        self.inner.create_branched_session(session, leaf, id).await
    }

    async fn sync(&self, session: &SessionId) -> Result<()> {
        let write = self.inner.sync(session);
        self.write(session, Write::Sync, write).await
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        self.inner.release(session).await
    }

    fn is_suspended(&self) -> bool {
        *self.suspended.borrow()
    }

    async fn resumed(&self) {
        let mut suspended = self.suspended.subscribe();
        if self.is_suspended() {
            self.waits.send_modify(|count| *count += 1);
        }
        suspended.wait_for(|&suspended| !suspended).await.unwrap();
    }

    async fn owner_died(&self) {
        self.inner.owner_died().await;
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
