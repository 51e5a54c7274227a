//! One live session: a mailbox, one command at a time, at most one run.

mod agent;
pub(crate) mod approvals;
mod chat;
pub(crate) mod command;
mod compacting;
pub(crate) mod durable;
pub(crate) mod expiry;
pub(crate) mod foreign;
pub(crate) mod host;
mod join;
mod launch;
pub(crate) mod live;
pub(crate) mod meter;
mod numbers;
pub(crate) mod partial;
mod pending_move;
pub(crate) mod pending_replies;
mod questions;
mod queue;
pub(crate) mod recover;
pub(crate) mod requests;
pub(crate) mod run_ending;
mod settings;
pub(crate) mod slash;
pub(crate) mod title;
mod titles;
pub(crate) mod trace;
mod tree;
pub(crate) mod usage_totals;
pub(crate) mod user_message;
pub(crate) mod watchdog;
pub(crate) mod writer;

pub use agent::{AGENT_DIRECTORY, AGENT_ENTRY};
pub(crate) use settings::patch_of;

use crate::compaction::{CompactionState, keep};
use crate::error::EngineError;
use crate::events::feed::now_ms;
use crate::server::RegistryHandle;
use crate::server::limits::Allowance;
use crate::session::command::ActorMessage;
use crate::session::expiry::expired;
use crate::session::live::TransientState;
use crate::session::pending_replies::PendingReplies;
use crate::session::recover::recover;
use crate::session::requests::{AnsweredRequest, Outcome, Request, Requests};
use crate::session::writer::{SessionWriter, Writing};
use crate::source::AgentSource;
use launch::{ClosingRun, CurrentRun};
use netaclaw_governance::Approval;
use netaclaw_protocol::{
    Busy, LocalizedError, ReliableEvent, ResyncReason, RunState, SessionResync,
};
use netaclaw_runtime::{RunReport, todo_on_path};
use netaclaw_session::Flush;
use netaclaw_tools::ClarifyAnswer;
use pending_move::PendingMove;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use titles::Titles;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Ready when the session has been taken away.
type Lost = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An idle session without clients is evicted after this.
const IDLE_MAX: Duration = Duration::from_secs(600);

pub struct LiveSession {
    writer: Arc<SessionWriter>,
    live: TransientState,
    pending_replies: PendingReplies<ClarifyAnswer>,
    consents: PendingReplies<Approval>,
    source: Arc<dyn AgentSource>,
    compaction_state: Arc<CompactionState>,
    requests: Requests,
    runs: JoinSet<RunReport>,
    current: Option<CurrentRun>,
    /// The last run, until its end is stored.
    closing_run: Option<ClosingRun>,
    titles: Titles,
    /// The move of the leaf that a background task prepares.
    moving: Option<PendingMove>,
    /// Another model was chosen during a run.
    remeasure: bool,
    allowance: Allowance,
    shutdown: CancellationToken,
    /// Set when the server is shutting down: what waits is left for the next one.
    closing: bool,
    /// Set when a stop of the current run was requested.
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
        warnings.extend(writer.read_only().map(LocalizedError::from));
        let live = TransientState::new(writer.feed.clone(), warnings);
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
        let (compaction_state, failed) = durable.compaction.reopen(&tree, now_ms());
        live.show_compaction_failure(failed);
        keep(&writer, &compaction_state, &live).await?;
        Ok(Self {
            writer,
            live,
            pending_replies: PendingReplies::default(),
            consents: PendingReplies::default(),
            source,
            compaction_state: Arc::new(compaction_state),
            requests,
            runs: JoinSet::new(),
            current: None,
            closing_run: None,
            titles: Titles::default(),
            moving: None,
            remeasure: false,
            allowance,
            shutdown,
            closing: false,
            interrupted: false,
        })
    }

    /// Serves commands until the session is not needed.
    pub(crate) async fn serve(
        mut self,
        mut mailbox: mpsc::Receiver<ActorMessage>,
        home: RegistryHandle,
        mut lost: Lost,
    ) {
        // What waited in the queue when the server stopped continues now.
        self.start_next().await;
        let mut leaving = None;
        // Without a mailbox nothing new comes; the current run still ends as it should.
        while leaving.is_none() && !(self.closing && self.current.is_none()) {
            // The current run handles its questions itself.
            let expiry = self.live.next_expiry().filter(|_| self.current.is_none());
            tokio::select! {
                () = &mut lost => {
                    leaving = Some(home.abandon(&mut mailbox).await);
                    self.abandon().await;
                }
                mail = mailbox.recv(), if !self.closing => match mail {
                    Some(ActorMessage::PutAway(reply)) if self.current.is_none() => {
                        leaving = Some(home.abandon(&mut mailbox).await);
                        // Who asked waits at the gate until the session is released.
                        drop(reply.send(Ok(())));
                    }
                    Some(mail) => self.handle(mail).await,
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
        self.writer.steps.close().await;
        if let Err(error) = self.writer.provider.release(&self.writer.id).await {
            tracing::warn!(session.id = %self.writer.id, %error, "failed to evict a session");
        }
    }

    /// Another node claimed the session: this process must not write to it, and its clients have to
    /// reconnect to the new owner.
    async fn abandon(&mut self) {
        tracing::warn!(
            session.id = %self.writer.id,
            "another process took over a session; evicting it here"
        );
        self.runs.shutdown().await;
        self.current = None;
        self.writer.list_changed();
        let reason = ResyncReason::TakenOver;
        self.writer
            .feed
            .emit(&ReliableEvent::SessionResync(SessionResync { reason }));
    }

    /// The process shuts down. A run that waits for a user is left as it is, for the next process
    /// to continue; every other one is stopped, and records that.
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

    async fn handle(&mut self, mail: ActorMessage) {
        if let Err(error) = self.settle().await {
            tracing::warn!(
                session.id = %self.writer.id,
                %error,
                "the end of the last run is still not stored"
            );
        }
        match mail {
            ActorMessage::Ask(asked) => asked.answer(self).await,
            ActorMessage::Close(subscription) => self.writer.feed.unsubscribe(subscription),
            ActorMessage::PutAway(reply) => {
                drop(reply.send(Err(Busy::RunBegun.into())));
            }
        }
    }

    pub(crate) async fn stop(&mut self) -> Result<RunState, EngineError> {
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

    /// Stores that a request was executed. If the server dies just before, the client has received
    /// nothing and retries; the command is then executed once more, with the same result.
    async fn remember(
        &mut self,
        writing: &mut Writing<'_>,
        request: Option<Request>,
        outcome: Outcome,
    ) -> Result<(), EngineError> {
        let Some(request) = request else {
            return Ok(());
        };
        let answered = AnsweredRequest::new(request, now_ms(), outcome);
        writing.state.durable.remember(answered.clone(), now_ms());
        writing.persist_then_publish(Flush::Now).await?;
        self.requests.remember(answered);
        Ok(())
    }
}
