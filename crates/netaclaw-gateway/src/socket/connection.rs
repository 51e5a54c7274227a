//! One socket: its user, its subscriptions, its outbox.

use super::feed::{Groups, SessionFeed};
use super::outbox::Outbox;
use crate::auth::Identity;
use crate::gateway::Shared;
use netaclaw_admin::AdminStore;
use netaclaw_engine::{Engine, EventGroup, EventKind, ServerEvent, SubscriptionId};
use netaclaw_protocol::{ErrorCode, Nothing, Notice, NoticeEnvelope, Refusal, SessionId};
use secrecy::SecretString;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// How often the revision of users and tokens is read while there are sockets. With the half second
/// for which the store takes it for the current one, sockets of a credential that another process
/// revokes are closed within a second.
const ACCOUNTS_POLL: Duration = Duration::from_millis(250);

pub(super) struct Connection {
    pub(super) sid: String,
    pub(super) outbox: Arc<Outbox>,
    /// Cancelled when the socket is gone.
    pub(super) closed: CancellationToken,
    groups: Groups,
    credential: Option<SecretString>,
    /// As last checked.
    checked: Mutex<Identity>,
    /// Told when the credential may have ended.
    doubted: Notify,
    watched: Mutex<HashMap<SessionId, Watched>>,
}

struct Watched {
    feed: Arc<SessionFeed>,
    subscription: SubscriptionId,
}

impl Connection {
    pub(super) fn new(
        shared: &Shared,
        sid: String,
        groups: Groups,
        credential: Option<SecretString>,
        identity: Identity,
    ) -> Self {
        Self {
            sid,
            outbox: Arc::new(Outbox::new(shared.settings.outbox)),
            closed: CancellationToken::new(),
            groups,
            credential,
            checked: Mutex::new(identity),
            doubted: Notify::new(),
            watched: Mutex::default(),
        }
    }

    /// Who this is, if their credential still counts.
    pub(super) async fn identity(&self, shared: &Shared) -> Result<Identity, Refusal> {
        match shared.auth.check(self.credential.as_ref()).await {
            Ok(identity) => {
                *lock(&self.checked) = identity.clone();
                Ok(identity)
            }
            Err(error) => Err(Refusal::new(error.reason())),
        }
    }

    pub(super) fn is_admin(&self) -> bool {
        lock(&self.checked).caller().is_admin
    }

    /// A credential is one user's for good.
    pub(super) fn user_id(&self) -> String {
        lock(&self.checked).user_id.clone()
    }

    /// Waits until there is reason to look whether the credential still counts.
    pub(super) async fn recheck_requested(&self) {
        self.doubted.notified().await;
    }

    /// Disconnects the socket if its credential is not valid now.
    pub(super) async fn recheck(&self, shared: &Shared) {
        if let Err(refusal) = self.identity(shared).await
            && refusal.code == ErrorCode::Unauthorized
        {
            self.outbox.end(refusal);
        }
    }

    /// A feed that takes events and shows none of them yet.
    pub(super) fn new_feed(&self) -> Arc<SessionFeed> {
        Arc::new(SessionFeed::holding(Arc::clone(&self.outbox), self.groups))
    }

    /// Remembers what has to be ended with the socket.
    pub(super) fn watch(
        &self,
        session: SessionId,
        feed: Arc<SessionFeed>,
        subscription: SubscriptionId,
    ) {
        let watched = Watched { feed, subscription };
        lock(&self.watched).insert(session, watched);
    }

    pub(super) fn watches(&self, session: &SessionId) -> bool {
        lock(&self.watched).contains_key(session)
    }

    /// Stops watching a session. Whether it was watched makes no difference.
    pub(super) async fn unwatch(&self, engine: &Engine, session: &SessionId) {
        let watched = lock(&self.watched).remove(session);
        if let Some(watched) = watched {
            watched.feed.close();
            engine.close(session, watched.subscription).await;
        }
    }

    pub(super) async fn unwatch_all(&self, engine: &Engine) {
        let all: Vec<SessionId> = lock(&self.watched).keys().cloned().collect();
        for session in all {
            self.unwatch(engine, &session).await;
        }
    }
}

/// An event of the server itself, ready to be sent.
pub(super) fn notice(notice: Notice) -> ServerEvent {
    let ts = netaclaw_protocol::now_ms();
    let name = notice.name();
    let payload = NoticeEnvelope { notice, ts };
    ServerEvent::encode(
        name,
        &payload,
        EventKind::Reliable { seq: 0 },
        EventGroup::Current,
    )
}

/// The sockets of a server, to notify them.
#[derive(Default)]
pub(crate) struct Connections {
    /// Most notices are for one user, and with hundreds of users a notice should not visit the
    /// sockets of all others.
    by_user: Mutex<HashMap<String, Vec<Weak<Connection>>>>,
}

impl Connections {
    pub(super) fn add(&self, connection: &Arc<Connection>) {
        let mut by_user = lock(&self.by_user);
        let sockets = by_user.entry(connection.user_id()).or_default();
        sockets.push(Arc::downgrade(connection));
    }

    pub(super) fn remove(&self, connection: &Arc<Connection>) {
        let (user, gone) = (connection.user_id(), Arc::downgrade(connection));
        let mut by_user = lock(&self.by_user);
        if let Some(sockets) = by_user.get_mut(&user) {
            sockets.retain(|known| !known.ptr_eq(&gone));
            if sockets.is_empty() {
                by_user.remove(&user);
            }
        }
    }

    pub(crate) fn announce_draining(&self) {
        for connection in self.living() {
            connection
                .outbox
                .push(&notice(Notice::ServerDraining(Nothing {})));
        }
    }

    /// Has all sockets check their credentials when users or tokens change, whichever process
    /// changes them. Runs for as long as the server does.
    pub(crate) async fn follow_accounts(&self, admin: &dyn AdminStore) {
        let mut poll = tokio::time::interval(ACCOUNTS_POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut known = None;
        loop {
            poll.tick().await;
            if lock(&self.by_user).is_empty() {
                continue;
            }
            // If the store cannot be read, sockets keep what they have, and their commands fail.
            let Ok(revision) = admin.accounts_revision().await else {
                continue;
            };
            if known.replace(revision) != Some(revision) {
                for connection in self.living() {
                    connection.doubted.notify_one();
                }
            }
        }
    }

    /// Has the sockets of a user look whether their credentials still count.
    pub(crate) fn recheck_credentials(&self, user_id: &str) {
        for connection in self.of(user_id) {
            connection.doubted.notify_one();
        }
    }

    /// Waits until every socket has been handed all that waits for it.
    pub(crate) async fn flushed(&self) {
        for connection in self.living() {
            connection.outbox.flushed().await;
        }
    }

    /// Ends what is done for the sockets, which are gone.
    pub(crate) fn close(&self) {
        for connection in self.living() {
            connection.closed.cancel();
        }
    }

    fn living(&self) -> Vec<Arc<Connection>> {
        let by_user = lock(&self.by_user);
        let all = by_user.values().flatten();
        all.filter_map(Weak::upgrade).collect()
    }

    fn of(&self, user_id: &str) -> Vec<Arc<Connection>> {
        let by_user = lock(&self.by_user);
        let sockets = by_user.get(user_id).into_iter().flatten();
        sockets.filter_map(Weak::upgrade).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that could panic happens under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
