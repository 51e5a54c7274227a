//! One live session: a mailbox, one command at a time, at most one run.

mod agent;
pub(crate) mod approvals;
mod background_compaction;
mod chat;
pub(crate) mod command;
mod compacting;
pub(crate) mod durable;
mod end_of_run;
pub(crate) mod expiry;
pub(crate) mod foreign;
pub(crate) mod host;
mod join;
mod launch;
pub(crate) mod live;
pub(crate) mod meter;
mod numbers;
pub(crate) mod partial;
pub(crate) mod pending_replies;
mod questions;
mod queue;
pub(crate) mod recover;
mod repeated;
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

use crate::compaction::keep;
use crate::error::EngineError;
use crate::server::RegistryHandle;
use crate::server::limits::Allowance;
use crate::session::command::ActorMessage;
use crate::session::expiry::expired;
use crate::session::live::{TransientFields, TransientState};
use crate::session::recover::recover;
use crate::session::requests::{Outcome, Request, Requests};
use crate::session::writer::{SessionWriter, Writing};
use crate::source::AgentSource;
use approvals::Approvals;
use background_compaction::BackgroundCompaction;
use end_of_run::EndOfRun;
use launch::CurrentRun;
use netaclaw_protocol::{
    Busy, LocalizedError, ReliableEvent, ResyncReason, RunState, SessionResync, now_ms,
};
use netaclaw_runtime::{RunReport, todo_on_path};
use numbers::ContextNumbers;
use questions::Questions;
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
    source: Arc<dyn AgentSource>,
    requests: Requests,
    runs: JoinSet<RunReport>,
    current: Option<CurrentRun>,
    end_of_run: EndOfRun,
    questions: Questions,
    approvals: Approvals,
    compactions: BackgroundCompaction,
    numbers: ContextNumbers,
    titles: Titles,
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
            live.change(|state| state.questions.open(question));
        }
        for asked in open.approvals {
            live.change(|state| state.approvals.open(asked));
        }
        let tree = writer.tree().await?;
        let todo = todo_on_path(tree.active_path().unwrap_or_default().into_iter());
        live.change(|state| state.set_todo(todo));
        let durable = writer.begin().await.state.durable.clone();
        let requests = Requests::read(&tree, &durable);
        let (compaction_state, failed) = durable.compaction.reopen(&tree, now_ms());
        live.change(|state| {
            state.compaction.restore(failed);
            None
        });
        keep(&writer, &compaction_state, &live).await?;
        let state = Arc::new(compaction_state);
        Ok(Self {
            end_of_run: EndOfRun::new(&writer, &live, &state),
            questions: Questions::new(&writer, &live),
            approvals: Approvals::new(&writer, &live, &source),
            compactions: BackgroundCompaction::new(&writer, &live, &source, state, &shutdown),
            numbers: ContextNumbers::new(&writer, &live, &source),
            titles: Titles::new(&writer, &source),
            writer,
            live,
            source,
            requests,
            runs: JoinSet::new(),
            current: None,
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
            let expiry = self.live.read(|state| state.questions.next_expiry());
            let expiry = expiry.filter(|_| self.current.is_none());
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
                        if self.live.read(TransientFields::only_waits_for_person) {
                            self.runs.abort_all();
                        }
                    }
                },
                () = self.shutdown.cancelled(), if !self.interrupted => self.interrupt(),
                Some(ended) = self.runs.join_next() => {
                    self.run_ended(ended).await;
                    self.allowance.keep_while(self.current.is_some());
                }
                Some(title) = self.titles.next() => self.titles.take(title).await,
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
        if let Err(error) = self.end_of_run.settle().await {
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
            self.compactions.forget_waiting();
            self.hold_waiting().await?;
            return Ok(RunState::Stopping);
        }
        // Something may still be open although its run died with an earlier process.
        self.questions.dismiss().await?;
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

    /// Does the work of a command as the only writer, and stores in the same turn that its request
    /// was executed.
    async fn record<T>(
        &mut self,
        request: Option<Request>,
        outcome: Outcome,
        work: impl AsyncFnOnce(&mut Writing<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut writing = self.writer.begin().await;
        let done = work(&mut writing).await?;
        let requests = &mut self.requests;
        requests.store(&mut writing, request, outcome).await?;
        Ok(done)
    }
}
