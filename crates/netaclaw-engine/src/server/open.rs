//! Live sessions: opened by the first command, evicted when they are idle and unwatched.

use super::limits::Allowance;
use super::registry::RegistryHandle;
use super::{Engine, Inner};
use crate::error::EngineError;
use crate::events::feed::Feed;
use crate::session::LiveSession;
use crate::session::command::ActorMessage;
use crate::session::writer::SessionWriter;
use futures::FutureExt;
use futures::future::BoxFuture;
use netaclaw_protocol::{ProviderKind, SessionId, SessionMeta, Unavailable};
use netaclaw_session::{Claim, SessionError, SessionTreeProvider};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use uuid::Uuid;

/// Questions that may wait for one session. Beyond it the caller gets `session_busy`.
const MAILBOX_MAX: usize = 256;

impl Engine {
    /// The mailbox of a session, which is opened if it is not live. Boxed, so that no other crate
    /// compiles all that a session does for itself.
    pub(crate) fn live<'a>(
        &'a self,
        session: &'a SessionId,
        provider: &'a Arc<dyn SessionTreeProvider>,
    ) -> BoxFuture<'a, Result<mpsc::Sender<ActorMessage>, EngineError>> {
        if let Some(mailbox) = self.mailbox(session) {
            return std::future::ready(Ok(mailbox)).boxed();
        }
        async move {
            let _opening = self.inner.session_locks.pass(session).await;
            if let Some(mailbox) = self.mailbox(session) {
                return Ok(mailbox);
            }
            if self.inner.jobs.is_closed() {
                return Err(Unavailable::ShuttingDown.into());
            }
            // From here on the session is this process's own. What is read before could be old.
            let Claim { meta, lost } = provider.claim(session).await?;
            let live = match self.made_live(session, provider, meta).await {
                Ok(live) => live,
                Err(error) => {
                    release(provider, session).await;
                    return Err(error);
                }
            };
            let (mailbox, commands) = mpsc::channel(MAILBOX_MAX);
            self.sessions().insert(session.clone(), mailbox.clone());
            let home = RegistryHandle {
                engine: Arc::downgrade(&self.inner),
                session: session.clone(),
            };
            self.inner.jobs.spawn(live.serve(commands, home, lost));
            Ok(mailbox)
        }
        .boxed()
    }

    async fn made_live(
        &self,
        session: &SessionId,
        provider: &Arc<dyn SessionTreeProvider>,
        meta: SessionMeta,
    ) -> Result<LiveSession, EngineError> {
        let feed = Feed::new(session.clone(), Uuid::now_v7().to_string());
        let header = provider.load_tree(session).await?.header().clone();
        let lists = Arc::clone(&self.inner.lists);
        let provider = Arc::clone(provider);
        let instance = Arc::clone(&self.inner.instance);
        let beside = self.inner.beside.clone();
        let writer = SessionWriter::new(provider, feed, lists, instance, beside, &meta, &header);
        let (source, shutdown) = (
            Arc::clone(&self.inner.source),
            self.inner.shutdown.child_token(),
        );
        let usage = Arc::clone(&self.inner.usage);
        let allowance = Allowance::new(usage, meta.user_id, session.clone());
        LiveSession::open(Arc::new(writer), source, allowance, shutdown).await
    }

    /// Writes a session that is not live, without starting its actor. The lock keeps it closed in
    /// the meantime. `None` if it is live; then its own writer has to do it.
    pub(super) async fn written_at_rest<T>(
        &self,
        session: &SessionId,
        provider: &Arc<dyn SessionTreeProvider>,
        write: impl Future<Output = Result<T, SessionError>>,
    ) -> Result<Option<T>, EngineError> {
        let _gate = self.inner.session_locks.pass(session).await;
        if self.mailbox(session).is_some() {
            return Ok(None);
        }
        let written = write.await;
        // A process that does not serve a session must not keep others from it. The lock of a file
        // is released with its slot in memory.
        if provider.kind() == ProviderKind::Mysql {
            release(provider, session).await;
        }
        Ok(Some(written?))
    }

    pub(super) fn mailbox(&self, session: &SessionId) -> Option<mpsc::Sender<ActorMessage>> {
        self.sessions()
            .get(session)
            .filter(|mailbox| !mailbox.is_closed())
            .cloned()
    }

    pub(super) fn sessions(
        &self,
    ) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<ActorMessage>>> {
        self.inner.sessions()
    }
}

impl Inner {
    pub(super) fn sessions(
        &self,
    ) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<ActorMessage>>> {
        // Only inserts and removals happen under it.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn release(provider: &Arc<dyn SessionTreeProvider>, session: &SessionId) {
    if let Err(error) = provider.release(session).await {
        tracing::warn!(session.id = %session, %error, "failed to release a session");
    }
}
