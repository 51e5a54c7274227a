//! The live sessions of a server, and what may be asked of them.

mod commands;
mod context;
pub(crate) mod early_stops;
mod first;
pub(crate) mod gates;
mod home;
pub(crate) mod limits;
pub(crate) mod listing;
mod purge;
mod skills;
pub(crate) mod sweep;

pub(crate) use home::Home;

use crate::attachments::AttachmentStore;
use crate::error::EngineError;
use crate::events::feed::{Feed, Subscriber, SubscriptionId};
use crate::process_log::ProcessLogs;
use crate::server::early_stops::EarlyStops;
use crate::server::gates::Gates;
use crate::server::limits::{
    Allowance, TITLE_CHARS_MAX, Usage, UserLimits, check_length, check_request_id,
};
use crate::server::listing::{ListFeed, ListSubscriber, Liveness, list_item};
use crate::server::sweep::{sweep, sweep_one};
use crate::session::command::{Command, OpenRequest, Reply};
use crate::session::durable::{Durable, NewerState};
use crate::session::requests::{Done, Request};
use crate::session::writer::{Beside, ReadOnly, SessionWriter};
use crate::session::{LiveSession, patch_of};
use crate::source::AgentSource;
use futures::future::BoxFuture;
use netaclaw_protocol::{
    Chat, ChatAck, EntryId, FeedStart, Opened, ProviderKind, SessionChange, SessionId,
    SessionListItem, SessionMeta, SessionStatus, ThinkingLevel,
};
use netaclaw_session::{Claim, Flush, NewSession, SessionError, SessionTreeProvider};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// Commands that may wait for one session. Beyond it a caller is told that the session is busy.
const MAILBOX_MAX: usize = 256;

/// Who asks. A user sees only their own sessions; others do not exist for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user_id: String,
    pub is_admin: bool,
}

/// Where sessions are kept, by the agent's choice.
pub struct Providers {
    pub file: Arc<dyn SessionTreeProvider>,
    pub mysql: Option<Arc<dyn SessionTreeProvider>>,
}

/// All live sessions. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    providers: Providers,
    source: Arc<dyn AgentSource>,
    instance: Arc<str>,
    lists: Arc<ListFeed>,
    beside: Beside,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<Command>>>,
    /// Passed to open a session and to put it away.
    gates: Gates,
    early_stops: EarlyStops,
    usage: Arc<Usage>,
    /// Whether a deleted session stays for a while and can be restored.
    keeps_deleted: bool,
    jobs: TaskTracker,
    /// Cancelled when nothing new begins.
    draining: CancellationToken,
    /// Cancelled when what is under way has to end.
    shutdown: CancellationToken,
}

impl Engine {
    /// An engine that nobody else knows of.
    pub fn new(providers: Providers, source: Arc<dyn AgentSource>) -> Self {
        Self::of_instance(providers, source, &Uuid::now_v7().to_string())
    }

    /// An engine in a process of this name, which stands beside what it stores.
    pub fn of_instance(providers: Providers, source: Arc<dyn AgentSource>, instance: &str) -> Self {
        let inner = Inner {
            providers,
            source,
            instance: Arc::from(instance),
            lists: Arc::default(),
            beside: Beside::default(),
            sessions: Mutex::new(HashMap::new()),
            gates: Gates::default(),
            early_stops: EarlyStops::default(),
            usage: Arc::default(),
            keeps_deleted: true,
            jobs: TaskTracker::new(),
            draining: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Takes files with messages, kept there until they are sent.
    pub fn with_attachments(mut self, files: Arc<dyn AttachmentStore>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.beside.files = Some(files);
        }
        self
    }

    /// Keeps a log of the steps of tool calls.
    pub fn with_process_logs(mut self, logs: Arc<dyn ProcessLogs>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.beside.logs = Some(logs);
        }
        self
    }

    /// Bounds what one user may use. Without it nothing is bounded.
    pub fn with_limits(mut self, limits: UserLimits) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.usage = Arc::new(Usage::new(limits));
        }
        self
    }

    pub fn attachments(&self) -> Option<&dyn AttachmentStore> {
        self.inner.beside.files.as_deref()
    }

    /// Sends a message, into a new session if it names none. It goes on when the caller is gone.
    pub async fn chat(&self, caller: &Caller, chat: Chat) -> Result<ChatAck, EngineError> {
        first::own_files(caller, &chat)?;
        if let Some(request) = &chat.request_id {
            check_request_id(request)?;
        }
        let session = match &chat.session_id {
            Some(session) => session.clone(),
            None => self.begin_session(caller, &chat, None).await?,
        };
        let request = chat.request_id.clone();
        let repeated = Request::of_chat(&chat);
        let asked = self.ask(caller, &session, |reply| {
            Command::Chat(Box::new(chat), reply)
        });
        let ack = match asked.await {
            Err(EngineError::Busy(owner)) => {
                let answered = self.answered_elsewhere(caller, &session, repeated.as_ref());
                return answered.await.ok_or(EngineError::Busy(owner));
            }
            ack => ack?,
        };
        // Looked for when the message is there: a stop that comes later finds its run.
        let stopped =
            request.is_some_and(|request| self.inner.early_stops.take(&caller.user_id, &request));
        if stopped && !ack.deduped {
            self.stop(caller, &session).await?;
        }
        Ok(ack)
    }

    /// Stops the run of a message that may still be on its way, as soon as it arrives.
    pub fn stop_on_arrival(&self, caller: &Caller, request_id: &str) {
        self.inner.early_stops.remember(&caller.user_id, request_id);
    }

    /// Names a session, puts it away, deletes it or brings it back. One that is deleted ends its
    /// run first.
    pub async fn update(
        &self,
        caller: &Caller,
        session: &SessionId,
        change: SessionChange,
        request: Option<Request>,
    ) -> Result<Done<SessionListItem>, EngineError> {
        let deletes = change.status == Some(SessionStatus::Deleted);
        let item = self.mark(caller, session, change, request).await?;
        if deletes && !self.inner.keeps_deleted {
            let (provider, _) = self.find_any(caller, session).await?;
            self.purge_found(provider, session, None).await?;
        }
        Ok(item)
    }

    async fn mark(
        &self,
        caller: &Caller,
        session: &SessionId,
        change: SessionChange,
        request: Option<Request>,
    ) -> Result<Done<SessionListItem>, EngineError> {
        if let Some(title) = &change.title {
            check_length(("标题", "title"), title, TITLE_CHARS_MAX)?;
        }
        let (provider, meta) = self.find_any(caller, session).await?;
        // A deleted session can be restored, or deleted again, and nothing else.
        if meta.status == SessionStatus::Deleted && change.status.is_none() {
            return Err(EngineError::NoSession);
        }
        if let Some(newer) = NewerState::of(&meta) {
            return Err(ReadOnly::State(newer).refusal());
        }
        let deletes = change.status == Some(SessionStatus::Deleted);
        let item = self.update_found(provider, session, change, request);
        let item = item.await?;
        if deletes {
            self.inner.source.session_deleted(session);
        }
        if deletes
            && let Some(logs) = &self.inner.beside.logs
            && let Err(error) = logs.remove(session).await
        {
            tracing::warn!(session.id = %session, %error, "its process logs could not be removed");
        }
        Ok(item)
    }

    async fn update_found(
        &self,
        provider: &Arc<dyn SessionTreeProvider>,
        session: &SessionId,
        change: SessionChange,
        request: Option<Request>,
    ) -> Result<Done<SessionListItem>, EngineError> {
        // A request is remembered by the session's own writer. If no client watches the session, it need
        // not come to life for this.
        if request.is_none() {
            let write = provider.update_session(session, patch_of(change.clone()));
            if let Some(meta) = self.written_at_rest(session, provider, write).await? {
                let item = self.list_item(meta);
                self.inner.lists.tell(&item);
                return Ok(Done::now(item));
            }
        }
        let command = |reply| Command::Update(change, request, reply);
        self.ask_at(provider, session, command).await
    }

    pub async fn fork(
        &self,
        caller: &Caller,
        session: &SessionId,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<SessionListItem>, EngineError> {
        self.inner.usage.spend(&caller.user_id)?;
        let forked = self.ask(caller, session, |reply| {
            Command::Fork(entry, request, reply)
        });
        let Done { value, deduped } = forked.await?;
        let item = self.list_item(value);
        if !deduped {
            self.inner.lists.tell(&item);
        }
        Ok(Done {
            value: item,
            deduped,
        })
    }

    /// Joins a client: its snapshot, or what it missed, and every event from there on.
    pub async fn open(
        &self,
        caller: &Caller,
        session: &SessionId,
        epoch: Option<String>,
        last_seq: Option<u64>,
        subscriber: Arc<dyn Subscriber>,
    ) -> Result<(Opened, SubscriptionId), EngineError> {
        let request = OpenRequest {
            epoch,
            last_seq,
            subscriber,
        };
        let opening = self.ask(caller, session, |reply| Command::Open(request, reply));
        let (opened, subscription) = opening.await?;
        Ok((opened, subscription.keep()))
    }

    /// Hears every event of a session from now on, without being told what was before. For a
    /// session that has just been made.
    pub async fn listen(
        &self,
        caller: &Caller,
        session: &SessionId,
        subscriber: Arc<dyn Subscriber>,
    ) -> Result<(FeedStart, SubscriptionId), EngineError> {
        let listening = self.ask(caller, session, |reply| Command::Listen(subscriber, reply));
        let (start, subscription) = listening.await?;
        Ok((start, subscription.keep()))
    }

    /// Ends a subscription. A session that is not live has none.
    pub async fn close(&self, session: &SessionId, subscription: SubscriptionId) {
        let mailbox = self.sessions().get(session).cloned();
        if let Some(mailbox) = mailbox {
            // A session that ends at this moment has no subscribers either way.
            drop(mailbox.send(Command::Close(subscription)).await);
        }
    }

    /// The session, if it exists and the caller may see it.
    pub async fn session(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<SessionMeta, EngineError> {
        let (_, meta) = self.find(caller, session).await?;
        Ok(meta)
    }

    /// A session as lists show it.
    pub fn list_item(&self, meta: SessionMeta) -> SessionListItem {
        let liveness = match self.mailbox(&meta.session_id) {
            Some(_) => Liveness::Live,
            None => Liveness::Resting,
        };
        let durable = Durable::read(&meta);
        list_item(meta, &durable, liveness)
    }

    /// From now on tells of every session that looks different in a list.
    pub fn watch_lists(&self, subscriber: Arc<dyn ListSubscriber>) {
        self.inner.lists.subscribe(subscriber);
    }

    pub fn providers(&self) -> &Providers {
        &self.inner.providers
    }

    /// Lets runs end for a while, then interrupts the rest, and waits until all is stored.
    pub async fn shut_down(&self, grace: Duration) {
        self.inner.draining.cancel();
        self.sessions().clear();
        self.inner.jobs.close();
        if tokio::time::timeout(grace, self.inner.jobs.wait())
            .await
            .is_err()
        {
            self.inner.shutdown.cancel();
            self.inner.jobs.wait().await;
        }
        let providers = &self.inner.providers;
        for provider in std::iter::once(&providers.file).chain(&providers.mysql) {
            if let Err(error) = provider.close().await {
                tracing::warn!(%error, "sessions could not be released; others take them over later");
            }
        }
    }

    /// Makes a session of an agent, by id or name, that has no message yet. With an id of the
    /// caller's choice it is made once: asking again gives the one that is there.
    pub async fn create_session(
        &self,
        caller: &Caller,
        agent: Option<&str>,
        id: Option<SessionId>,
    ) -> Result<SessionId, EngineError> {
        self.inner.usage.spend(&caller.user_id)?;
        self.make_session(caller, agent, id).await
    }

    async fn make_session(
        &self,
        caller: &Caller,
        agent: Option<&str>,
        id: Option<SessionId>,
    ) -> Result<SessionId, EngineError> {
        let agent = self.inner.source.find(agent).await?;
        let provider = self.provider(agent.provider)?;
        let new = NewSession {
            id: id.clone(),
            cwd: agent.cwd,
            agent_id: Some(agent.id),
            user_id: Some(caller.user_id.clone()),
            // It is nothing without its first message, and safe when that is.
            flush: Flush::Later,
            ..NewSession::default()
        };
        let meta = match (provider.create_session(new).await, id) {
            (Err(SessionError::AlreadyExists(_)), Some(id)) => {
                self.find(caller, &id).await?;
                return Ok(id);
            }
            (made, _) => made?,
        };
        let session = meta.session_id.clone();
        self.inner.lists.tell(&self.list_item(meta));
        if agent.think_level != ThinkingLevel::Off {
            let level = agent.think_level.as_str();
            let write = provider.append_thinking_level_change(&session, level);
            self.written_at_rest(&session, provider, write).await?;
        }
        Ok(session)
    }

    /// Opens the sessions in the background that a dead process has left in the middle of
    /// something, which closes what must be closed and goes on with what waits. What a living process
    /// owns is busy and stays as it is.
    pub fn recover_interrupted(&self) -> JoinHandle<Result<(), SessionError>> {
        let engine = self.clone();
        self.inner.jobs.spawn(async move { sweep(&engine).await })
    }

    /// Does the same whenever a process dies that shares a store with this one, until the engine is
    /// shut down.
    pub fn take_over_from_the_dead(&self) {
        let Some(provider) = self.inner.providers.mysql.clone() else {
            return;
        };
        let (engine, draining) = (self.clone(), self.inner.draining.clone());
        let watch = async move {
            loop {
                provider.owner_died().await;
                // What fails here is retried when the session is opened.
                if let Err(error) = sweep_one(&engine, &provider).await {
                    tracing::warn!(%error, "what a dead process left could not be looked for");
                }
            }
        };
        self.inner
            .jobs
            .spawn(async move { draining.run_until_cancelled(watch).await });
    }

    /// Removes files that killed processes left. Interrupted sessions should be recovered before.
    pub async fn remove_leftovers(&self) {
        crate::server::sweep::remove_leftovers(self).await;
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.inner.jobs.is_closed()
    }

    fn provider(&self, kind: ProviderKind) -> Result<&Arc<dyn SessionTreeProvider>, EngineError> {
        match kind {
            ProviderKind::File => Ok(&self.inner.providers.file),
            ProviderKind::Mysql => self.inner.providers.mysql.as_ref().ok_or_else(|| {
                let message = "the agent keeps its sessions in MySQL, and none is configured; set NETACLAW_MYSQL_URL";
                EngineError::Unavailable(message.to_owned())
            }),
        }
    }

    /// A session that exists for the caller. A deleted one does not.
    async fn find(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<(&Arc<dyn SessionTreeProvider>, SessionMeta), EngineError> {
        let (provider, meta) = self.find_any(caller, session).await?;
        match meta.status {
            SessionStatus::Deleted => Err(EngineError::NoSession),
            _ => Ok((provider, meta)),
        }
    }

    async fn find_any(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<(&Arc<dyn SessionTreeProvider>, SessionMeta), EngineError> {
        let providers = &self.inner.providers;
        for provider in std::iter::once(&providers.file).chain(&providers.mysql) {
            match provider.get_session(session).await {
                Ok(meta) => {
                    // What belongs to nobody, such as an imported file, is for administrators.
                    let own = meta.user_id.as_ref() == Some(&caller.user_id);
                    return match own || caller.is_admin {
                        true => Ok((provider, meta)),
                        false => Err(EngineError::NoSession),
                    };
                }
                Err(SessionError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(EngineError::NoSession)
    }

    async fn ask<T>(
        &self,
        caller: &Caller,
        session: &SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, EngineError> {
        let (provider, _) = self.find(caller, session).await?;
        self.ask_at(provider, session, command).await
    }

    async fn ask_at<T>(
        &self,
        provider: &Arc<dyn SessionTreeProvider>,
        session: &SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, EngineError> {
        if provider.is_suspended() {
            return Err(suspended());
        }
        let (reply, answer) = oneshot::channel();
        let mailbox = self.live(session, provider).await?;
        mailbox
            .try_send(command(reply))
            .map_err(|error| match error {
                TrySendError::Full(_) => {
                    EngineError::Busy("too many commands are waiting for it; try again".to_owned())
                }
                TrySendError::Closed(_) => shutting_down(),
            })?;
        // While this mailbox is in hand the session is not put away, so an answer comes, unless
        // the whole server goes down or the session is taken away.
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Why a session gave no answer.
    fn gone(&self) -> EngineError {
        match self.is_closing() {
            true => shutting_down(),
            false => {
                EngineError::Busy("another server has taken it over; open it again".to_owned())
            }
        }
    }

    /// The mailbox of a session, which is opened if it is not live.
    pub(crate) async fn live(
        &self,
        session: &SessionId,
        provider: &Arc<dyn SessionTreeProvider>,
    ) -> Result<mpsc::Sender<Command>, EngineError> {
        match self.mailbox(session) {
            Some(mailbox) => Ok(mailbox),
            None => self.bring_to_life(session, provider).await,
        }
    }

    /// Boxed, so that no other crate compiles all that a session does for itself.
    fn bring_to_life<'a>(
        &'a self,
        session: &'a SessionId,
        provider: &'a Arc<dyn SessionTreeProvider>,
    ) -> BoxFuture<'a, Result<mpsc::Sender<Command>, EngineError>> {
        Box::pin(self.opened(session, provider))
    }

    async fn opened(
        &self,
        session: &SessionId,
        provider: &Arc<dyn SessionTreeProvider>,
    ) -> Result<mpsc::Sender<Command>, EngineError> {
        let _opening = self.inner.gates.pass(session).await;
        if let Some(mailbox) = self.mailbox(session) {
            return Ok(mailbox);
        }
        if self.inner.jobs.is_closed() {
            return Err(shutting_down());
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
        let home = Home {
            engine: Arc::downgrade(&self.inner),
            session: session.clone(),
        };
        self.inner.jobs.spawn(live.serve(commands, home, lost));
        Ok(mailbox)
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

    /// Writes a session that is not live, without starting its actor. The gate keeps it closed meanwhile.
    /// `None` if it is live; then its own writer has to do it.
    async fn written_at_rest<T>(
        &self,
        session: &SessionId,
        provider: &Arc<dyn SessionTreeProvider>,
        write: impl Future<Output = Result<T, SessionError>>,
    ) -> Result<Option<T>, EngineError> {
        let _gate = self.inner.gates.pass(session).await;
        if self.mailbox(session).is_some() {
            return Ok(None);
        }
        let written = write.await;
        // A process that does not serve a session must not keep others from it. The lock of a file goes
        // with its place in memory.
        if provider.kind() == ProviderKind::Mysql {
            release(provider, session).await;
        }
        Ok(Some(written?))
    }

    fn mailbox(&self, session: &SessionId) -> Option<mpsc::Sender<Command>> {
        self.sessions()
            .get(session)
            .filter(|mailbox| !mailbox.is_closed())
            .cloned()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Command>>> {
        self.inner.sessions()
    }
}

impl Inner {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Command>>> {
        // Only inserts and removals happen under it.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn release(provider: &Arc<dyn SessionTreeProvider>, session: &SessionId) {
    if let Err(error) = provider.release(session).await {
        tracing::warn!(session.id = %session, %error, "a session could not be released");
    }
}

/// Others may take over what this process owns at any moment.
fn suspended() -> EngineError {
    let message = "the server has lost its contact with the database and accepts nothing until it is back; try again";
    EngineError::Unavailable(message.to_owned())
}

fn shutting_down() -> EngineError {
    EngineError::Unavailable("the server is shutting down; try again".to_owned())
}
