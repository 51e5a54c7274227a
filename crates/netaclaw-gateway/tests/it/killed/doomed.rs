//! A provider that ends its process at one of its writes, as `kill -9` would.

use async_trait::async_trait;
use netaclaw_session::{
    Claim, Entry, EntryBody, EntryId, ImportSession, InFlightEntry, NewEntry, NewSession,
    PageRequest, ProviderKind, RequestKey, SessionError, SessionFilter, SessionId, SessionMeta,
    SessionPage, SessionPatch, SessionTree, SessionTreeProvider,
};
use serde_json::Value;
use std::io::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T> = std::result::Result<T, SessionError>;

/// When the process is killed: at which write, and before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Doom {
    pub(super) write: Write,
    pub(super) side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// Counted from 1, without those of answers in flight: how many of them there are is a matter
    /// of time.
    Number(usize),
    /// The first of an answer in flight.
    InFlight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Nothing of the write has happened.
    Before,
    /// The write is complete, and not acknowledged.
    After,
}

impl std::fmt::Display for Doom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.write {
            Write::Number(number) => write!(f, "{:?} {number}", self.side),
            Write::InFlight => write!(f, "{:?} {IN_FLIGHT}", self.side),
        }
    }
}

impl FromStr for Doom {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (side, write) = text.split_once(' ').ok_or(text)?;
        let side = match side {
            "Before" => Side::Before,
            "After" => Side::After,
            other => return Err(other.to_owned()),
        };
        let write = match write {
            IN_FLIGHT => Write::InFlight,
            number => Write::Number(number.parse().map_err(|_| number.to_owned())?),
        };
        Ok(Self { write, side })
    }
}

/// Tells of every write on the standard output, as `write NAME`, before it happens; and as
/// `wrote NAME` when it has.
pub(super) struct Doomed {
    pub(super) inner: Arc<dyn SessionTreeProvider>,
    pub(super) doom: Doom,
    /// How many there were.
    pub(super) writes: AtomicUsize,
}

const IN_FLIGHT: &str = "in_flight";

impl Doomed {
    async fn write<T>(
        &self,
        name: &str,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let at = match name {
            IN_FLIGHT => Write::InFlight,
            _ => Write::Number(1 + self.writes.fetch_add(1, Ordering::SeqCst)),
        };
        tell("write", name);
        let side = (at == self.doom.write).then_some(self.doom.side);
        if side == Some(Side::Before) {
            die();
        }
        let done = work.await;
        if side == Some(Side::After) {
            die();
        }
        tell("wrote", name);
        done
    }
}

pub(super) fn tell(what: &str, name: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what} {name}").unwrap();
    out.flush().unwrap();
}

fn die() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    unreachable!("a process does not outlive this signal");
}

/// The kind of write, as text.
fn name_of(body: &EntryBody) -> String {
    match body {
        EntryBody::Message { message } => {
            let message: Value = serde_json::from_str(message.get()).unwrap();
            message["role"].as_str().unwrap().to_owned()
        }
        EntryBody::Custom { custom_type, .. } => custom_type.clone(),
        EntryBody::ThinkingLevelChange { .. } => "thinking_level_change".to_owned(),
        _ => "entry".to_owned(),
    }
}

#[async_trait]
impl SessionTreeProvider for Doomed {
    fn kind(&self) -> ProviderKind {
        self.inner.kind()
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        self.write("create", self.inner.create_session(new)).await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        self.write("import", self.inner.import_session(import))
            .await
    }

    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool> {
        self.write("purge", self.inner.purge_session(session, deleted_before))
            .await
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
        let name = match patch.title {
            Some(_) => "title",
            None => "state",
        };
        self.write(name, self.inner.update_session(session, patch))
            .await
    }

    async fn delete_session(&self, session: &SessionId) -> Result<()> {
        self.write("delete", self.inner.delete_session(session))
            .await
    }

    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>> {
        self.inner.load_tree(session).await
    }

    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>> {
        self.inner.in_flight_entry(session).await
    }

    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry> {
        let name = name_of(&new.body);
        self.write(&name, self.inner.append_entry(session, new))
            .await
    }

    async fn update_in_flight_entry(
        &self,
        session: &SessionId,
        entry: InFlightEntry,
    ) -> Result<()> {
        let write = self.inner.update_in_flight_entry(session, entry);
        self.write(IN_FLIGHT, write).await
    }

    async fn take_over(&self, session: &SessionId) -> Result<()> {
        self.write("take_over", self.inner.take_over(session)).await
    }

    async fn claim(&self, session: &SessionId) -> Result<Claim> {
        self.write("claim", self.inner.claim(session)).await
    }

    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()> {
        self.write("leaf", self.inner.move_leaf(session, leaf))
            .await
    }

    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta> {
        let write = self.inner.create_branched_session(session, leaf, id);
        self.write("fork", write).await
    }

    async fn sync(&self, session: &SessionId) -> Result<()> {
        self.inner.sync(session).await
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        self.inner.release(session).await
    }

    fn is_suspended(&self) -> bool {
        self.inner.is_suspended()
    }

    async fn resumed(&self) {
        self.inner.resumed().await;
    }

    async fn owner_died(&self) {
        self.inner.owner_died().await;
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
