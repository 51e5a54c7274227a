//! Who owns a session: claims, releases, and lost claims.
//!
//! A claim is a compare-and-set on the owner and the fence of the session's row. Every statement
//! that stores something of the session names the fence of its claim; a rejected statement means
//! that another node has claimed the session since. A lost claim stays lost until the session is
//! released or claimed anew on purpose, so that nothing that was read under it is written later.

use super::cache::{CachedSession, Lock, Slot, State, catch_up};
use super::provider::Store;
use super::retry::{Failure, Retry};
use netaclaw_cluster::{NodeId, Owner, OwnerState, Verdict, decide};
use netaclaw_session::{Claim, SessionDamage, SessionError, SessionId, SessionMeta};
use sqlx::mysql::MySqlConnection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Grows with every claim and every release of a session.
pub(super) type Fence = u64;

/// What this process owns, and as which node.
#[derive(Default)]
pub(super) struct Claims {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    node: Option<NodeId>,
    sessions: HashMap<SessionId, HeldClaim>,
}

struct HeldClaim {
    fence: Fence,
    /// Becomes true when the claim is lost.
    lost: watch::Sender<bool>,
}

impl Claims {
    pub(super) fn node(&self) -> Option<NodeId> {
        self.lock().node.clone()
    }

    pub(super) fn set_node(&self, node: NodeId) {
        self.lock().node = Some(node);
    }

    /// The fence to write under. `None` if nothing was claimed, an error if the claim is lost.
    fn fence(&self, session: &SessionId) -> Option<Result<Fence, SessionError>> {
        let inner = self.lock();
        let held = inner.sessions.get(session)?;
        Some(match *held.lost.borrow() {
            true => Err(SessionError::Deposed(session.clone())),
            false => Ok(held.fence),
        })
    }

    /// Keeps a claim that has been stored for this node. False if the node has died since.
    fn hold(&self, session: &SessionId, fence: Fence, node: &NodeId) -> bool {
        let mut inner = self.lock();
        let lives = inner.node.as_ref() == Some(node);
        if lives {
            let (lost, _) = watch::channel(false);
            let held = HeldClaim { fence, lost };
            inner.sessions.insert(session.clone(), held);
        }
        lives
    }

    fn lose(&self, session: &SessionId, fence: Fence) {
        let inner = self.lock();
        let held = inner.sessions.get(session);
        if let Some(held) = held.filter(|held| held.fence == fence) {
            held.lost.send_replace(true);
        }
    }

    /// The node is dead: the others may take over everything.
    pub(super) fn lose_all(&self) {
        let mut inner = self.lock();
        inner.node = None;
        for held in inner.sessions.values() {
            held.lost.send_replace(true);
        }
    }

    /// Forgets a claim, and gives its fence if it was not lost.
    fn remove(&self, session: &SessionId) -> Option<(NodeId, Fence)> {
        let mut inner = self.lock();
        let held = inner.sessions.remove(session)?;
        let lost = *held.lost.borrow();
        let node = inner.node.clone().filter(|_| !lost)?;
        Some((node, held.fence))
    }

    /// Ends when the claim is lost.
    fn loss(&self, session: &SessionId) -> impl Future<Output = ()> + Send + 'static {
        let lost = self
            .lock()
            .sessions
            .get(session)
            .map(|held| held.lost.subscribe());
        async move {
            if let Some(mut lost) = lost
                && lost.wait_for(|lost| *lost).await.is_ok()
            {
                return;
            }
            // Released, and not lost.
            std::future::pending().await
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Each change under it is whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Claims a session in order to serve it.
    pub(super) async fn claim(&self, session: &SessionId) -> Result<Claim, SessionError> {
        let mut retry = self.retry(format!("cannot take over session {session}"));
        let slot = self.slot_to_write(session, &mut retry).await?;
        let mut state = slot.lock().await;
        // A lost claim is made again, and the session is read again.
        if let Some(Err(_)) = self.claims.fence(session) {
            self.claims.remove(session);
        }
        loop {
            match retry.attempt(self.try_claim(session, &mut state)).await {
                Ok(meta) => {
                    let lost = Box::pin(self.claims.loss(session));
                    return Ok(Claim { meta, lost });
                }
                Err(failure) => retry.after(failure).await?,
            }
        }
    }

    async fn try_claim(
        &self,
        session: &SessionId,
        state: &mut State,
    ) -> Result<SessionMeta, Failure> {
        self.prepare_write(session, state).await?;
        self.read_meta(session).await
    }

    /// The slot of a session that is to be written. While this node is suspended, it waits before
    /// it locks that slot, because the session can be read in the meantime.
    pub(super) async fn slot_to_write(
        &self,
        session: &SessionId,
        retry: &mut Retry<'_>,
    ) -> Result<Arc<Slot>, SessionError> {
        let active = async || {
            self.heart.active().await;
            Ok(())
        };
        while let Err(failure) = retry.attempt(active()).await {
            retry.after(failure).await?;
        }
        self.cache.slot(session)
    }

    /// The fence to write under. The first write of a session claims it, and closes what an earlier
    /// owner left in flight. Waits while this node is suspended.
    pub(super) async fn prepare_write(
        &self,
        session: &SessionId,
        state: &mut State,
    ) -> Result<Fence, Failure> {
        if let Some(held) = self.claims.fence(session) {
            let fence = held?;
            self.heart.active().await;
            // It may have been found dead instead.
            return match self.claims.fence(session) {
                Some(Ok(_)) => Ok(fence),
                _ => Err(SessionError::Deposed(session.clone()).into()),
            };
        }
        let node = self.joined().await?;
        self.heart.active().await;
        // Taken out: if this fails, what is known may be ahead of the database.
        let known = state.known.take();
        state.in_flight = None;
        let mut transaction = self.connections.begin().await?;
        let result = self
            .claim_within(transaction.connection(), session, known, &node)
            .await;
        let known = transaction.end(result).await?;
        let fence = known.fence;
        state.known = Some(known);
        match self.claims.hold(session, fence, &node) {
            true => Ok(fence),
            false => Err(SessionError::Deposed(session.clone()).into()),
        }
    }

    /// Stores the claim and reads the session, in one transaction.
    async fn claim_within(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        known: Option<CachedSession>,
        node: &NodeId,
    ) -> Result<CachedSession, Failure> {
        const UPDATE: &str = "UPDATE neta_agent_session SET ownerNode = ?, fence = ? \
             WHERE sessionId = ? AND ownerNode <=> ? AND fence = ?";
        let mut known = catch_up(connection, session, known, Lock::Row).await?;
        let owner = match known.owner.clone() {
            Some(owner) => Some(owner_state(connection, owner).await?),
            None => None,
        };
        let Verdict::Claim { fence } = decide(node, owner.as_ref(), known.fence) else {
            let owner = "another server or terminal that shares this database".to_owned();
            let session = session.clone();
            return Err(SessionError::Busy { session, owner }.into());
        };
        let done = sqlx::query(UPDATE)
            .bind(node.as_str())
            .bind(fence)
            .bind(session.as_str())
            .bind(known.owner.as_ref().map(NodeId::as_str))
            .bind(known.fence)
            .execute(&mut *connection)
            .await?;
        if done.rows_affected() == 0 {
            let reason = SessionDamage::RowChanged;
            let session = session.clone();
            return Err(SessionError::Unreadable { session, reason }.into());
        }
        known.fence = fence;
        known.owner = Some(node.clone());
        self.close_in_flight(connection, session, &mut known)
            .await?;
        Ok(known)
    }

    /// Gives a session up, so that any node may claim it.
    pub(super) async fn give_up(&self, session: &SessionId) -> Result<(), SessionError> {
        let Some((node, fence)) = self.claims.remove(session) else {
            return Ok(());
        };
        let mut retry = self.retry(format!("cannot release session {session}"));
        while let Err(failure) = retry.attempt(self.try_give_up(session, &node, fence)).await {
            retry.after(failure).await?;
        }
        Ok(())
    }

    async fn try_give_up(
        &self,
        session: &SessionId,
        node: &NodeId,
        fence: Fence,
    ) -> Result<(), Failure> {
        // The fence grows here too, so that nothing is written under a claim that was given up.
        const UPDATE: &str = "UPDATE neta_agent_session SET ownerNode = NULL, fence = fence + 1 \
             WHERE sessionId = ? AND ownerNode = ? AND fence = ?";
        let mut lease = self.connections.lease().await?;
        sqlx::query(UPDATE)
            .bind(session.as_str())
            .bind(node.as_str())
            .bind(fence)
            .execute(lease.connection())
            .await?;
        lease.return_to_pool();
        Ok(())
    }

    /// Interprets a write that changed no row: another node owns the session, or it is gone.
    pub(super) async fn rejected(
        &self,
        connection: &mut MySqlConnection,
        session: &SessionId,
        fence: Fence,
    ) -> Result<Failure, Failure> {
        const SELECT: &str = "SELECT fence FROM neta_agent_session WHERE sessionId = ?";
        let now: Option<Fence> = sqlx::query_scalar(SELECT)
            .bind(session.as_str())
            .fetch_optional(connection)
            .await?;
        Ok(match now {
            Some(now) if now != fence => self.deposed(session, fence),
            _ => SessionError::NotFound(session.clone()).into(),
        })
    }

    /// Records that a claim is lost, which [`Claim::lost`] reports to its holder.
    pub(super) fn deposed(&self, session: &SessionId, fence: Fence) -> Failure {
        tracing::warn!(
            session.id = %session,
            fence,
            "another process has taken over this session; writes of this process are rejected"
        );
        self.claims.lose(session, fence);
        SessionError::Deposed(session.clone()).into()
    }
}

async fn owner_state(connection: &mut MySqlConnection, node: NodeId) -> Result<Owner, Failure> {
    const SELECT: &str = "SELECT COUNT(*) FROM netaclaw_node WHERE nodeId = ? AND state <> 'dead'";
    let living: i64 = sqlx::query_scalar(SELECT)
        .bind(node.as_str())
        .fetch_one(connection)
        .await?;
    let state = match living {
        0 => OwnerState::Dead,
        _ => OwnerState::Living,
    };
    Ok(Owner { node, state })
}
