//! The provider: the port's methods, each with its attempts.

use super::MysqlSettings;
use super::cache::{Cache, Lock, State, check_id};
use super::connections::Connections;
use super::node::NodeStatus;
use super::ownership::Claims;
use super::retry::Failure;
use super::session_row::read_meta;
use crate::new_log::new_log;
use crate::{new_entry_id, new_session_id, now_ms};
use async_trait::async_trait;
use futures::future::BoxFuture;
use netaclaw_session::{
    Claim, Entry, EntryId, ImportSession, InFlightEntry, NewEntry, NewHeader, NewSession,
    PageRequest, PathError, ProviderKind, RequestKey, SessionError, SessionFilter, SessionId,
    SessionLog, SessionMeta, SessionPage, SessionPatch, SessionStatus, SessionTree,
    SessionTreeProvider, check_format, encode_header, fork_entries, format_timestamp, is_purgeable,
};
use std::sync::{Arc, Weak};

type Result<T> = std::result::Result<T, SessionError>;

/// Keeps sessions in MySQL 8 or MariaDB 10.6, or later ones.
pub struct MysqlProvider {
    store: Arc<Store>,
}

/// What the methods and their background jobs share.
pub(super) struct Store {
    pub(super) connections: Connections,
    pub(super) cache: Cache,
    /// The start of the process that writes, for readers of the rows.
    pub(super) runtime: String,
    pub(super) claims: Claims,
    pub(super) heart: NodeStatus,
    /// For jobs that must not keep the store alive.
    pub(super) me: Weak<Store>,
}

impl MysqlProvider {
    /// Connects, and migrates the tables. Boxed, so that no other crate compiles the driver again.
    pub fn connect(settings: MysqlSettings) -> BoxFuture<'static, Result<Self>> {
        Box::pin(Self::connected(settings))
    }

    async fn connected(settings: MysqlSettings) -> Result<Self> {
        let connections = Connections::new(&settings)?;
        let store = Arc::new_cyclic(|me| Store {
            connections,
            cache: Cache::default(),
            runtime: settings.node.instance.clone(),
            claims: Claims::default(),
            heart: NodeStatus::new(settings.node),
            me: Weak::clone(me),
        });
        let mut retry = store.retry("cannot open the session tables".to_owned());
        while let Err(failure) = store.connections.migrate().await {
            retry.after(failure).await?;
        }
        Ok(Self { store })
    }

    /// Declares dead the nodes of these process starts, so that their sessions can be claimed at
    /// once. Only for callers that have proof of it.
    pub async fn instances_died(&self, instances: &[String]) -> Result<()> {
        self.store.instances_died(instances).await
    }
}

impl Store {
    pub(super) async fn read_meta(
        &self,
        session: &SessionId,
    ) -> std::result::Result<SessionMeta, Failure> {
        let mut lease = self.connections.lease().await?;
        let meta = read_meta(lease.connection(), session).await?;
        lease.return_to_pool();
        Ok(meta.ok_or_else(|| SessionError::NotFound(session.clone()))?)
    }

    pub(super) async fn read_tree(
        &self,
        session: &SessionId,
        state: &mut State,
    ) -> std::result::Result<Arc<SessionTree>, Failure> {
        let mut lease = self.connections.lease().await?;
        let known = state
            .refresh(lease.connection(), session, Lock::None)
            .await?;
        lease.return_to_pool();
        Ok(Arc::clone(&known.tree))
    }
}

#[async_trait]
impl SessionTreeProvider for MysqlProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Mysql
    }

    async fn create_session(&self, new: NewSession) -> Result<SessionMeta> {
        let id = new.id.clone().unwrap_or_else(new_session_id);
        let tree = SessionTree::new(new_log(new, &id));
        self.store.store_session(&tree).await
    }

    async fn import_session(&self, import: ImportSession) -> Result<SessionMeta> {
        let mut log = import.log;
        if let Some(id) = import.id {
            log.header = log.header.renamed(&id);
        }
        check_format(&log.header)?;
        self.store.store_session(&SessionTree::new(log)).await
    }

    async fn get_session(&self, session: &SessionId) -> Result<SessionMeta> {
        check_id(session)?;
        let mut retry = self.store.retry(format!("cannot read session {session}"));
        loop {
            match retry.attempt(self.store.read_meta(session)).await {
                Ok(meta) => return Ok(meta),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn session_of_request(&self, request: &RequestKey) -> Result<Option<SessionId>> {
        let mut retry = self.store.retry("cannot look for a session".to_owned());
        loop {
            match retry.attempt(self.store.made_by(request)).await {
                Ok(made) => return Ok(made),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn list_sessions(
        &self,
        filter: &SessionFilter,
        page: PageRequest,
    ) -> Result<SessionPage> {
        self.store.list(filter, page).await
    }

    async fn update_session(
        &self,
        session: &SessionId,
        patch: SessionPatch,
    ) -> Result<SessionMeta> {
        self.store.update(session, &patch).await?;
        self.get_session(session).await
    }

    async fn delete_session(&self, session: &SessionId) -> Result<()> {
        let patch = SessionPatch {
            status: Some(SessionStatus::Deleted),
            ..SessionPatch::default()
        };
        self.update_session(session, patch).await?;
        self.release(session).await
    }

    async fn purge_session(
        &self,
        session: &SessionId,
        deleted_before: Option<&str>,
    ) -> Result<bool> {
        // Only what is due is claimed.
        if !is_purgeable(&self.get_session(session).await?, deleted_before) {
            return Ok(false);
        }
        let purged = self.store.purge(session, deleted_before).await;
        self.release(session).await?;
        purged
    }

    async fn load_tree(&self, session: &SessionId) -> Result<Arc<SessionTree>> {
        let slot = self.store.cache.slot(session)?;
        let mut state = slot.lock().await;
        let mut retry = self.store.retry(format!("cannot read session {session}"));
        loop {
            let attempt = self.store.read_tree(session, &mut state);
            match retry.long_attempt(attempt).await {
                Ok(tree) => return Ok(tree),
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn in_flight_entry(&self, session: &SessionId) -> Result<Option<Entry>> {
        self.store.in_flight_entry(session).await
    }

    async fn append_entry(&self, session: &SessionId, new: NewEntry) -> Result<Entry> {
        self.store.append(session, new).await
    }

    async fn update_in_flight_entry(
        &self,
        session: &SessionId,
        entry: InFlightEntry,
    ) -> Result<()> {
        self.store.update_in_flight(session, entry).await
    }

    async fn take_over(&self, session: &SessionId) -> Result<()> {
        self.store.take_over(session).await
    }

    async fn claim(&self, session: &SessionId) -> Result<Claim> {
        self.store.claim(session).await
    }

    async fn move_leaf(&self, session: &SessionId, leaf: Option<&EntryId>) -> Result<()> {
        self.store.move_leaf(session, leaf).await
    }

    async fn create_branched_session(
        &self,
        session: &SessionId,
        leaf: &EntryId,
        id: SessionId,
    ) -> Result<SessionMeta> {
        let source = self.get_session(session).await?;
        let tree = self.load_tree(session).await?;
        let forked = fork_entries(&tree, leaf, new_entry_id).map_err(|error| match error {
            PathError::MissingLeaf(entry) => SessionError::EntryNotFound {
                session: session.clone(),
                entry,
            },
            source => SessionError::Path {
                session: session.clone(),
                source,
            },
        })?;
        let header = encode_header(&NewHeader {
            id: &id,
            timestamp: &format_timestamp(now_ms()),
            cwd: &source.cwd,
            parent_session: None,
            parent_session_id: Some(session),
            agent_id: source.agent_id.as_deref(),
            user_id: source.user_id.as_deref(),
            metadata: Arc::unwrap_or_clone(source.metadata),
        });
        self.store
            .store_session(&SessionTree::new(SessionLog::new(header, forked.entries)))
            .await
    }

    /// An append is as durable as the server makes it when it returns.
    async fn sync(&self, _session: &SessionId) -> Result<()> {
        Ok(())
    }

    async fn release(&self, session: &SessionId) -> Result<()> {
        if let Some(slot) = self.store.cache.remove(session) {
            self.store
                .write_pending(session, &mut *slot.lock().await)
                .await;
        }
        self.store.give_up(session).await
    }

    fn is_suspended(&self) -> bool {
        self.store.heart.is_suspended()
    }

    async fn resumed(&self) {
        self.store.heart.active().await;
    }

    async fn owner_died(&self) {
        // Only a node watches the others. If it cannot become one now, it does with its first
        // claim.
        if let Err(error) = self.store.joined().await {
            tracing::warn!(?error, "failed to register this process as a node");
        }
        self.store.heart.death().await;
    }

    async fn close(&self) -> Result<()> {
        self.store.leave().await
    }
}
