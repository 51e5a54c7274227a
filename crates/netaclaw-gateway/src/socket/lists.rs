//! Session lists that sockets watch.
//!
//! Sockets of one user with the same filter share one list. A change of a session marks it, which
//! costs the same whatever the number of sockets. At most four times a second the list reads the
//! marked sessions, writes one event, and hands it to every socket. As a session is read after it
//! was marked, the last event always shows its last state.

use super::connection::{Connection, notice};
use crate::gateway::Shared;
use netaclaw_engine::{Caller, EngineError, ListSubscriber, ServerEvent};
use netaclaw_protocol::{
    Notice, SessionId, SessionList, SessionListChange, SessionListFilter, SessionsWatch,
};
use netaclaw_session::SessionFilter;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Between two events of one list.
const PAUSE: Duration = Duration::from_millis(250);
const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
/// Sessions of which one list remembers that they are not on it.
const OUTSIDE_MAX: usize = 4096;

/// Who looks at a list, and at which sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ListView {
    user_id: String,
    is_admin: bool,
    filter: SessionListFilter,
}

impl ListView {
    fn shows_of(&self, owner: Option<&str>) -> bool {
        match owner {
            Some(owner) => self.user_id == owner,
            None => self.is_admin,
        }
    }

    fn filter(&self) -> SessionFilter {
        SessionFilter {
            user_id: Some(self.user_id.clone()),
            unowned: self.is_admin,
            agent_id: self.filter.agent_id.clone(),
            status: self.filter.status,
            ..SessionFilter::default()
        }
    }
}

/// A list that at least one socket watches.
pub(super) struct WatchedList {
    view: ListView,
    state: Mutex<ListState>,
    marked: Notify,
    /// Cancelled when the last socket has left.
    unwatched: CancellationToken,
}

#[derive(Default)]
struct ListState {
    /// Sessions that have changed since they were last read.
    changed: HashSet<SessionId>,
    outside: Outside,
    sockets: Vec<Watcher>,
}

/// Sessions that are known not to be on a list, so that clients learn only once that they left it.
#[derive(Default)]
struct Outside {
    sessions: HashSet<SessionId>,
}

impl Outside {
    /// Whether it was not known before.
    fn add(&mut self, session: &SessionId) -> bool {
        // Clients remove a session again that they have removed, which changes nothing.
        if self.sessions.len() >= OUTSIDE_MAX && !self.sessions.contains(session) {
            self.sessions.clear();
        }
        self.sessions.insert(session.clone())
    }

    fn remove(&mut self, session: &SessionId) {
        self.sessions.remove(session);
    }
}

struct Watcher {
    connection: Weak<Connection>,
    /// Changes since the first page was read, which has to arrive first.
    held: Option<HashSet<SessionId>>,
}

impl WatchedList {
    fn state(&self) -> MutexGuard<'_, ListState> {
        lock(&self.state)
    }

    fn mark(&self, sessions: impl IntoIterator<Item = SessionId>) {
        self.state().changed.extend(sessions);
        self.marked.notify_one();
    }

    /// The first page is queued: the changes since it was read follow.
    pub(super) fn release(&self, connection: &Connection) {
        let mut held = HashSet::new();
        for socket in &mut self.state().sockets {
            if socket.is(connection) {
                held.extend(socket.held.take().into_iter().flatten());
            }
        }
        if !held.is_empty() {
            self.mark(held);
        }
    }

    /// Tells what has changed, until no socket watches the list.
    async fn serve(self: Arc<Self>, shared: Arc<Shared>) {
        let serve = async {
            loop {
                self.marked.notified().await;
                self.publish_changes(&shared).await;
                tokio::time::sleep(PAUSE).await;
            }
        };
        self.unwatched.run_until_cancelled(serve).await;
    }

    async fn publish_changes(&self, shared: &Shared) {
        let changed = std::mem::take(&mut self.state().changed);
        let change = match self.read(shared, &changed).await {
            Ok(change) => change,
            Err(error) => {
                tracing::debug!(%error, "failed to read a session list; retrying");
                return self.mark(changed);
            }
        };
        let event = (!change.sessions.is_empty() || !change.removed.is_empty())
            .then(|| notice(Notice::SessionListChanged(change)));
        for socket in &mut self.state().sockets {
            match &mut socket.held {
                Some(held) => held.extend(changed.iter().cloned()),
                None => socket.push(event.as_ref(), &self.view),
            }
        }
    }

    async fn read(
        &self,
        shared: &Shared,
        changed: &HashSet<SessionId>,
    ) -> Result<SessionListChange, EngineError> {
        let filter = self.view.filter();
        let mut change = SessionListChange::default();
        for session in changed {
            match shared.engine.listed_session(&filter, session).await? {
                Some(item) => change.sessions.push(item),
                None => change.removed.push(session.clone()),
            }
        }
        let outside = &mut self.state().outside;
        for item in &change.sessions {
            outside.remove(&item.session.session_id);
        }
        change.removed.retain(|session| outside.add(session));
        Ok(change)
    }
}

impl Watcher {
    fn is(&self, connection: &Connection) -> bool {
        std::ptr::eq(self.connection.as_ptr(), connection)
    }

    fn push(&self, event: Option<&ServerEvent>, view: &ListView) {
        if let (Some(event), Some(connection)) = (event, self.connection.upgrade())
            // Rights may have been withdrawn since it began to watch.
            && (!view.is_admin || connection.is_admin())
        {
            connection.outbox.push(event);
        }
    }
}

/// All lists that are watched.
#[derive(Default)]
pub(crate) struct WatchedLists {
    by_user: Mutex<HashMap<String, Vec<Arc<WatchedList>>>>,
}

impl WatchedLists {
    /// Subscribes a socket to a list, in place of the one it had, and reads the first page. The
    /// list holds its events back until it is released.
    pub(super) async fn watch(
        shared: &Arc<Shared>,
        connection: &Arc<Connection>,
        caller: &Caller,
        watch: SessionsWatch,
    ) -> Result<(SessionList, Arc<WatchedList>), EngineError> {
        let view = ListView {
            user_id: caller.user_id.clone(),
            is_admin: caller.is_admin,
            filter: watch.filter.unwrap_or_default(),
        };
        let filter = view.filter();
        shared.lists.leave(connection);
        // Subscribe before the page is read, so that no change in between is missed.
        let list = shared.lists.join(shared, view, connection);
        let size = watch.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
        let page = shared.engine.list_sessions(&filter, 1, size).await;
        match page {
            Ok(page) => Ok((page, list)),
            Err(error) => {
                shared.lists.leave(connection);
                Err(error)
            }
        }
    }

    fn join(
        &self,
        shared: &Arc<Shared>,
        view: ListView,
        connection: &Arc<Connection>,
    ) -> Arc<WatchedList> {
        let mut by_user = lock(&self.by_user);
        let lists = by_user.entry(view.user_id.clone()).or_default();
        let list = match lists.iter().find(|list| list.view == view) {
            Some(list) => Arc::clone(list),
            None => {
                let list = Arc::new(WatchedList {
                    view,
                    state: Mutex::default(),
                    marked: Notify::new(),
                    unwatched: CancellationToken::new(),
                });
                lists.push(Arc::clone(&list));
                shared
                    .jobs
                    .spawn(Arc::clone(&list).serve(Arc::clone(shared)));
                list
            }
        };
        list.state().sockets.push(Watcher {
            connection: Arc::downgrade(connection),
            held: Some(HashSet::new()),
        });
        list
    }

    /// Ends what a socket watches.
    pub(super) fn leave(&self, connection: &Connection) {
        let user_id = connection.user_id();
        let mut by_user = lock(&self.by_user);
        let Some(lists) = by_user.get_mut(&user_id) else {
            return;
        };
        lists.retain(|list| {
            let mut state = list.state();
            state.sockets.retain(|socket| !socket.is(connection));
            if state.sockets.is_empty() {
                list.unwatched.cancel();
            }
            !state.sockets.is_empty()
        });
        if lists.is_empty() {
            by_user.remove(&user_id);
        }
    }

    fn mark(&self, owner: Option<&str>, session: &SessionId) {
        let by_user = lock(&self.by_user);
        let mark = |list: &Arc<WatchedList>| list.mark([session.clone()]);
        match owner {
            Some(owner) => by_user.get(owner).into_iter().flatten().for_each(mark),
            None => {
                let all = by_user.values().flatten();
                all.filter(|list| list.view.shows_of(None)).for_each(mark);
            }
        }
    }
}

/// Brings changes of sessions to the lists.
pub(crate) struct ListWatch(pub(crate) Weak<Shared>);

impl ListSubscriber for ListWatch {
    fn changed(&self, owner: Option<&str>, session: &SessionId) {
        if let Some(shared) = self.0.upgrade() {
            shared.lists.mark(owner, session);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that could panic happens under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_of_a_list_is_reported_once_and_takes_limited_memory() {
        let mut outside = Outside::default();
        for at in 0..3 * OUTSIDE_MAX {
            let session = SessionId::new(at.to_string());
            assert!(outside.add(&session));
            assert!(!outside.add(&session), "it is known");
            assert!(outside.sessions.len() <= OUTSIDE_MAX);
        }
        let session = SessionId::new("0");
        outside.add(&session);
        outside.remove(&session);
        assert!(outside.add(&session), "it was on the list in between");
    }
}
