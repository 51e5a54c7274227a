//! One live session: a mailbox, one command at a time, at most one run.

mod approvals;
mod chat;
pub(crate) mod command;
mod compacting;
pub(crate) mod durable;
pub(crate) mod ending;
pub(crate) mod expiry;
pub(crate) mod foreign;
pub(crate) mod host;
mod launch;
mod leaving;
pub(crate) mod live;
pub(crate) mod meter;
mod numbers;
pub(crate) mod partial;
mod questions;
mod queue;
pub(crate) mod recover;
pub(crate) mod requests;
pub(crate) mod tally;
pub(crate) mod title;
mod titles;
pub(crate) mod trace;
pub(crate) mod user_message;
pub(crate) mod waiters;
pub(crate) mod watchdog;
pub(crate) mod writer;

use crate::compaction::{Desk, keep};
use crate::error::EngineError;
use crate::events::feed::{Missed, OnItsWay, Subscriber, SubscriptionId, now_ms};
use crate::events::snapshot;
use crate::server::Home;
use crate::server::limits::Allowance;
use crate::server::listing::{Liveness, list_item};
use crate::session::command::{Command, OpenRequest, Way};
use crate::session::expiry::expired;
use crate::session::live::Live;
use crate::session::recover::recover;
use crate::session::requests::{Answered, Done, Outcome, Request, Requests};
use crate::session::waiters::Waiters;
use crate::session::writer::{ReadOnly, SessionWriter, Writing};
use crate::source::{AgentSource, ChosenModel};
use launch::{ClosingRun, CurrentRun};
use leaving::PendingMove;
use netaclaw_governance::Approval;
use netaclaw_protocol::{
    EntryId, FeedStart, OpenMode, Opened, ReliableEvent, ResyncReason, RunId, RunState,
    SessionChange, SessionId, SessionListItem, SessionMeta, SessionResync, SessionStatus,
    SessionUpdated, SetModel, ThinkingLevel,
};
use netaclaw_runtime::{RunReport, todo_on_path};
use netaclaw_session::{EntryBody, Places, Role, SessionError, SessionPatch};
use netaclaw_tools::ClarifyAnswer;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use titles::Titles;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Ready when the session has been taken away.
type Lost = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session that nobody watches and that does nothing is let go after this.
const IDLE_MAX: Duration = Duration::from_secs(600);

pub(crate) struct LiveSession {
    writer: Arc<SessionWriter>,
    live: Live,
    waiters: Waiters<ClarifyAnswer>,
    consents: Waiters<Approval>,
    source: Arc<dyn AgentSource>,
    desk: Arc<Desk>,
    requests: Requests,
    runs: JoinSet<RunReport>,
    current: Option<CurrentRun>,
    /// The last run, until its end is stored.
    closing_run: Option<ClosingRun>,
    titles: Titles,
    /// The move that a job under way makes ready.
    moving: Option<PendingMove>,
    /// A message was taken in that a power cut could still take away.
    unsafe_yet: bool,
    /// Another model was chosen while a run was under way.
    remeasure: bool,
    allowance: Allowance,
    shutdown: CancellationToken,
    /// Set when the server is shutting down: what waits is left for the next one.
    closing: bool,
    /// Set when the run under way was told so.
    interrupted: bool,
}

impl LiveSession {
    /// Opens the session and closes what an earlier process left unfinished.
    pub(crate) async fn open(
        writer: Arc<SessionWriter>,
        source: Arc<dyn AgentSource>,
        allowance: Allowance,
        shutdown: CancellationToken,
    ) -> Result<Self, EngineError> {
        let open = recover(&writer).await?;
        let mut warnings = writer.begin().await.state.durable.warnings.clone();
        warnings.extend(writer.read_only().map(ReadOnly::warning));
        let live = Live::new(writer.feed.clone(), warnings);
        for question in open.questions {
            live.question_opened(question);
        }
        for asked in open.approvals {
            live.approval_opened(asked);
        }
        let tree = writer.tree().await?;
        live.todo_changed(todo_on_path(
            tree.active_path().unwrap_or_default().into_iter(),
        ));
        let durable = writer.begin().await.state.durable.clone();
        let requests = Requests::read(&tree, &durable);
        let (desk, failed) = durable.compaction.reopen(&tree, now_ms());
        live.show_compaction_failure(failed);
        keep(&writer, &desk, &live).await?;
        Ok(Self {
            writer,
            live,
            waiters: Waiters::default(),
            consents: Waiters::default(),
            source,
            desk: Arc::new(desk),
            requests,
            runs: JoinSet::new(),
            current: None,
            closing_run: None,
            titles: Titles::default(),
            moving: None,
            unsafe_yet: false,
            remeasure: false,
            allowance,
            shutdown,
            closing: false,
            interrupted: false,
        })
    }

    /// Serves commands until nobody needs the session any more.
    pub(crate) async fn serve(
        mut self,
        mut mailbox: mpsc::Receiver<Command>,
        home: Home,
        mut lost: Lost,
    ) {
        // What waited in the queue when the server stopped goes on now.
        self.start_next().await;
        let mut leaving = None;
        // Without a mailbox nothing new comes; the run under way still ends as it should.
        while leaving.is_none() && !(self.closing && self.current.is_none()) {
            // A run under way looks after its questions itself.
            let expiry = self.live.next_expiry().filter(|_| self.current.is_none());
            tokio::select! {
                () = &mut lost => {
                    leaving = Some(home.abandon(&mut mailbox).await);
                    self.abandon().await;
                }
                command = mailbox.recv(), if !self.closing => match command {
                    Some(Command::PutAway(reply)) if self.current.is_none() => {
                        leaving = Some(home.abandon(&mut mailbox).await);
                        self.writer.steps.write().await;
                        // Who asked waits at the gate until the session is released.
                        drop(reply.send(Ok(())));
                    }
                    Some(command) => self.handle(command).await,
                    None => {
                        self.closing = true;
                        if self.live.only_waits_for_person() {
                            self.runs.abort_all();
                        }
                    }
                },
                () = self.shutdown.cancelled(), if !self.interrupted => self.interrupt(),
                Some(ended) = self.runs.join_next() => {
                    self.run_ended(ended).await;
                    self.allowance.keep_while(self.current.is_some());
                }
                Some(title) = self.titles.next() => self.title_made(title).await,
                () = expired(expiry.as_ref().map(|(at, _)| *at)), if expiry.is_some() => {
                    self.question_expired(expiry).await;
                }
                () = tokio::time::sleep(IDLE_MAX), if self.is_idle() => {
                    leaving = home.leave(&mailbox).await;
                }
            }
        }
        if let Err(error) = self.writer.provider.release(&self.writer.id).await {
            tracing::warn!(session.id = %self.writer.id, %error, "a session could not be let go");
        }
    }

    /// The session was taken away: nothing of it may be written here any more, and its clients have
    /// to learn from its new owner how it goes on.
    async fn abandon(&mut self) {
        tracing::warn!(session.id = %self.writer.id, "a session was taken over by another process and is let go here");
        self.runs.shutdown().await;
        self.current = None;
        let reason = ResyncReason::TakenOver;
        self.writer
            .feed
            .emit(&ReliableEvent::SessionResync(SessionResync { reason }));
    }

    /// The time of this process is over. A run that waits for a person is left as it stands, for
    /// the next process to go on from there; every other one is stopped, and says so.
    fn interrupt(&mut self) {
        self.interrupted = true;
        match &self.current {
            Some(_) if self.live.waits_for_person() => self.runs.abort_all(),
            Some(run) => run.cancel.cancel(),
            None => {}
        }
    }

    fn is_idle(&self) -> bool {
        self.current.is_none() && self.titles.is_idle() && self.writer.feed.subscriber_count() == 0
    }

    async fn handle(&mut self, command: Command) {
        if let Err(error) = self.settle().await {
            tracing::warn!(session.id = %self.writer.id, %error, "the end of the last run is still not stored");
        }
        if let Some(why) = self.writer.read_only()
            && command.writes()
        {
            return command.refuse(why.refusal());
        }
        // A caller that is gone has no use for an answer; what it asked for is done all the same.
        match command {
            Command::Chat(chat, reply) => {
                let taken = self.chat(*chat).await;
                // What was refused or known has begun nothing.
                self.allowance.keep_while(self.current.is_some());
                drop(reply.send(taken));
            }
            Command::PutAway(reply) => {
                let message = "a run has begun; try again".to_owned();
                drop(reply.send(Err(EngineError::Busy(message))));
            }
            Command::Stop(reply) => drop(reply.send(self.stop().await)),
            Command::SetThinkingLevel(level, request, reply) => {
                drop(reply.send(self.set_thinking_level(level, request).await));
            }
            Command::SetModel(choice, request, reply) => {
                drop(reply.send(self.set_model(choice, request).await));
            }
            Command::AnswerQuestion(answer, reply) => {
                let taken = self.answer_question(&answer.request_id, &answer.answer, None);
                drop(reply.send(taken.await));
            }
            Command::DecideCall(by, response, reply) => {
                drop(reply.send(self.decide_call(&by, response).await));
            }
            Command::SwitchLeaf(leaf, way, request, reply) => {
                drop(reply.send(self.switch_leaf(leaf, way, request).await));
            }
            Command::LeaveBranch(leaf, way, request, reply) => {
                drop(reply.send(self.leave_branch(leaf, way, request).await));
            }
            Command::Label(entry, label, request, reply) => {
                drop(reply.send(self.label(entry, label, request).await));
            }
            Command::Update(change, request, reply) => {
                drop(reply.send(self.update(change, request).await));
            }
            Command::Fork(entry, request, reply) => {
                drop(reply.send(self.fork(entry, request).await));
            }
            Command::EditQueue(change, request, reply) => {
                drop(reply.send(self.edit_queue(change, request).await));
            }
            Command::Retry(entry, request, reply) => {
                drop(reply.send(self.retry(entry, request).await));
            }
            Command::Compact(instructions, request, reply) => {
                drop(reply.send(self.compact(instructions, request).await));
            }
            Command::DismissCompaction(reply) => {
                drop(reply.send(self.dismiss_compaction().await));
            }
            Command::Open(request, reply) => drop(reply.send(self.join(request).await)),
            Command::Listen(subscriber, reply) => {
                drop(reply.send(Ok(self.listen(subscriber))));
            }
            Command::Close(subscription) => self.writer.feed.unsubscribe(subscription),
        }
    }

    /// Joins a client. While this holds the writer no entry is added, and text that streams waits
    /// for the same lock, so that the answer and the events after it fit together.
    async fn join(&mut self, request: OpenRequest) -> Result<(Opened, OnItsWay), EngineError> {
        // Before, because others are asked for them, and a run must not wait for that.
        if self.live.tokens_shown().is_none() {
            let (tree, meta) = (self.writer.tree().await?, self.writer.meta().await?);
            let model = self.writer.begin().await.state.durable.model.clone();
            let tokens = self.tokens_at(&tree, &meta, model).await;
            self.live.show_tokens(tokens);
        }
        let mut writing = self.writer.begin().await;
        if std::mem::take(&mut writing.state.durable.unread) {
            writing.save().await?;
        }
        let epoch = self.writer.feed.epoch();
        let OpenRequest {
            epoch: known_epoch,
            last_seq,
            subscriber,
        } = request;
        if let (Some(known), Some(last_seq)) = (known_epoch, last_seq)
            && let Some((joined, missed)) = self.live.resume(&known, last_seq, &subscriber)
        {
            let mode = match missed {
                Missed::Nothing => OpenMode::Live,
                Missed::Events => OpenMode::Replay,
            };
            return Ok((
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot: None,
                },
                self.on_its_way(joined.id),
            ));
        }
        let tree = self.writer.tree().await?;
        let meta = self.writer.meta().await?;
        let durable = &writing.state.durable;
        Ok(self.live.join(subscriber, |live, joined| {
            let snapshot = Some(Box::new(snapshot::build(&tree, meta, live, durable)));
            let mode = OpenMode::Snapshot;
            (
                Opened {
                    mode,
                    epoch,
                    seq: joined.seq,
                    snapshot,
                },
                self.on_its_way(joined.id),
            )
        }))
    }

    fn on_its_way(&self, subscription: SubscriptionId) -> OnItsWay {
        OnItsWay::new(subscription, self.writer.feed.clone())
    }

    /// Adds a subscriber who needs no snapshot, because nothing has happened yet.
    fn listen(&mut self, subscriber: Arc<dyn Subscriber>) -> (FeedStart, OnItsWay) {
        let joined = self.live.join(subscriber, |_, joined| joined);
        let start = FeedStart {
            epoch: self.writer.feed.epoch(),
            seq: joined.seq,
        };
        (start, self.on_its_way(joined.id))
    }

    async fn stop(&mut self) -> Result<RunState, EngineError> {
        if let Some(run) = &self.current {
            self.live
                .run_status(RunState::Stopping, run.id.clone(), None, None);
            run.cancel.cancel();
            self.forget_waiting_compaction();
            self.hold_waiting().await?;
            return Ok(RunState::Stopping);
        }
        // Something may still be open although its run died with an earlier process.
        self.dismiss_questions().await?;
        Ok(RunState::Idle)
    }

    async fn set_thinking_level(
        &mut self,
        level: ThinkingLevel,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        let thinking_level = level.as_str().to_owned();
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        writing
            .append_here(EntryBody::ThinkingLevelChange { thinking_level })
            .await?;
        self.remember(&mut writing, request, Outcome::Done).await?;
        Ok(Done::now(()))
    }

    async fn set_model(
        &mut self,
        choice: SetModel,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        let chosen = ChosenModel {
            channel_id: choice.channel_id.clone(),
            model_id: choice.model_id.clone(),
        };
        let agent = self.writer.meta().await?.agent_id;
        self.source.check_model(agent.as_deref(), &chosen).await?;
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        let body = EntryBody::ModelChange {
            provider: choice.channel_id.clone(),
            model_id: choice.model_id.clone(),
        };
        writing.append_here(body).await?;
        writing.state.durable.model = Some(crate::session::durable::ModelChoice {
            channel_id: choice.channel_id,
            model_id: choice.model_id,
        });
        match request {
            None => writing.save().await?,
            request => self.remember(&mut writing, request, Outcome::Done).await?,
        }
        drop(writing);
        match self.current {
            // The run goes on with the model that it began with.
            Some(_) => self.remeasure = true,
            None => self.tell_tokens().await,
        }
        Ok(Done::now(()))
    }

    async fn switch_leaf(
        &mut self,
        leaf: Option<EntryId>,
        way: Way,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        if self.current.is_some() {
            return Err(EngineError::Busy(
                "a run is writing; stop it or wait for its end".to_owned(),
            ));
        }
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        let tree = self.writer.tree().await?;
        let known = writing.state.durable.visits.clone();
        writing.remember_visit(&tree);
        let leaf = match (leaf, way) {
            (Some(entry), Way::Follow) => {
                Some(Places::new(&tree).follow(&entry, &writing.state.durable.visits))
            }
            (leaf, _) => leaf,
        };
        writing.move_leaf(leaf.as_ref()).await?;
        let tree = self.writer.tree().await?;
        writing.remember_visit(&tree);
        if writing.state.durable.visits != known {
            writing.save().await?;
        }
        self.live.todo_changed(todo_on_path(
            tree.active_path().unwrap_or_default().into_iter(),
        ));
        let meta = self.writer.meta().await?;
        let model = writing.state.durable.model.clone();
        let tokens = self.tokens_at(&tree, &meta, model);
        self.live.tokens_changed(tokens.await);
        self.remember(&mut writing, request, Outcome::Done).await?;
        Ok(Done::now(()))
    }

    /// Moves the leaf to a message of the user and starts a run there: its answer becomes a
    /// sibling of the ones before.
    async fn retry(
        &mut self,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<RunId>, EngineError> {
        if let Some(Outcome::Started(run_id)) = self.requests.repeat(request.as_ref(), now_ms())? {
            return Ok(Done::before(run_id.clone()));
        }
        if self.live.waits_for_person() {
            let message = "a question or an approval is open; answer it or stop the run first";
            return Err(EngineError::Busy(message.to_owned()));
        }
        let tree = self.writer.tree().await?;
        let asked = tree.get(&entry);
        let asked = asked.ok_or_else(|| EngineError::StaleParent(entry.to_string()))?;
        if asked.role() != Role::User {
            let message = "only a message of the user can be answered again";
            return Err(EngineError::BadRequest(message.to_owned()));
        }
        if self.current.is_none() {
            self.allowance.begin()?;
        }
        let switched = self.switch_leaf(Some(entry), Way::Exactly, None).await;
        let begun = match switched {
            Ok(_) => self.go_on(request).await,
            Err(error) => Err(error),
        };
        self.allowance.keep_while(self.current.is_some());
        Ok(Done::now(begun?))
    }

    async fn label(
        &mut self,
        entry: EntryId,
        label: Option<String>,
        request: Option<Request>,
    ) -> Result<Done<()>, EngineError> {
        if self.repeats(request.as_ref())? {
            return Ok(Done::before(()));
        }
        let label = label.filter(|label| !label.trim().is_empty());
        let writer = Arc::clone(&self.writer);
        let mut writing = writer.begin().await;
        writing
            .append_here(EntryBody::Label {
                target_id: entry,
                label,
            })
            .await?;
        self.remember(&mut writing, request, Outcome::Done).await?;
        let session = self.writer.meta().await?;
        let tree = self.writer.tree().await?;
        let labels = tree
            .labels()
            .iter()
            .map(|(id, label)| (id.clone(), label.text.clone()))
            .collect();
        let updated = SessionUpdated {
            session: session.into(),
            labels: Some(labels),
        };
        self.writer
            .feed
            .emit(&ReliableEvent::SessionUpdated(updated));
        Ok(Done::now(()))
    }

    async fn update(
        &mut self,
        change: SessionChange,
        request: Option<Request>,
    ) -> Result<Done<SessionListItem>, EngineError> {
        let writer = Arc::clone(&self.writer);
        if self.repeats(request.as_ref())? {
            let meta = writer.meta().await?;
            let durable = &writer.begin().await.state.durable;
            return Ok(Done::before(list_item(meta, durable, Liveness::Live)));
        }
        if change.status == Some(SessionStatus::Deleted) {
            self.end_run().await?;
        }
        if change.title.is_some() {
            self.titles.forget();
        }
        let mut writing = writer.begin().await;
        let item = writing.patch(patch_of(change)).await?;
        self.remember(&mut writing, request, Outcome::Done).await?;
        Ok(Done::now(item))
    }

    /// Ends what runs, and what waits does not begin. A run could not store its end once the
    /// session is deleted.
    async fn end_run(&mut self) -> Result<(), EngineError> {
        self.stop().await?;
        while self.current.is_some()
            && let Some(ended) = self.runs.join_next().await
        {
            self.run_ended(ended).await;
        }
        Ok(())
    }

    async fn fork(
        &mut self,
        entry: EntryId,
        request: Option<Request>,
    ) -> Result<Done<SessionMeta>, EngineError> {
        let writer = Arc::clone(&self.writer);
        let known = self.requests.repeat(request.as_ref(), now_ms())?;
        if let Some(Outcome::Forked(forked)) = known {
            return Ok(Done::before(writer.provider.get_session(forked).await?));
        }
        // A request names what it makes, so that a second process finds what the first one made
        // before it died.
        let id = request.as_ref().map_or_else(
            || SessionId::new(Uuid::now_v7().to_string()),
            |request| request.names_session(&writer.id),
        );
        let mut writing = writer.begin().await;
        let provider = &writer.provider;
        let made = provider
            .create_branched_session(&writer.id, &entry, id.clone())
            .await;
        let forked = match made {
            Err(SessionError::AlreadyExists(_)) => provider.get_session(&id).await?,
            made => made?,
        };
        let outcome = Outcome::Forked(forked.session_id.clone());
        self.remember(&mut writing, request, outcome).await?;
        Ok(Done::now(forked))
    }

    /// Whether a request was carried out before.
    fn repeats(&self, request: Option<&Request>) -> Result<bool, EngineError> {
        Ok(self.requests.repeat(request, now_ms())?.is_some())
    }

    /// Stores that a request was carried out. If the server dies just before, the client has heard
    /// nothing and asks again; what it asks for is then done once more, to the same end.
    async fn remember(
        &mut self,
        writing: &mut Writing<'_>,
        request: Option<Request>,
        outcome: Outcome,
    ) -> Result<(), EngineError> {
        let Some(request) = request else {
            return Ok(());
        };
        let answered = Answered::new(request, now_ms(), outcome);
        writing.state.durable.remember(answered.clone(), now_ms());
        writing.save().await?;
        self.requests.remember(answered);
        Ok(())
    }
}

pub(crate) fn patch_of(change: SessionChange) -> SessionPatch {
    SessionPatch {
        title: change.title,
        status: change.status,
        ..SessionPatch::default()
    }
}
