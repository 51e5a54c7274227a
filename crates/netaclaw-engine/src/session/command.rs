//! The mailbox of a live session: requests, executed one at a time in order of arrival.

use super::LiveSession;
use crate::error::EngineError;
use crate::events::feed::{PendingSubscription, Subscriber, SubscriptionId};
use crate::server::{Caller, Engine};
use crate::session::repeated::FromOutcome;
use crate::session::requests::Request;
use async_trait::async_trait;
use netaclaw_protocol::{Ack, Command, Conflict, FeedStart, Opened, SessionOpen, now_ms};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where an answer goes. A caller may be gone: what it asked for is carried out all the same.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

/// How a command is executed. The methods are called in the order of their declaration.
pub trait Handle: Command<Answer: FromOutcome> {
    /// Whether it changes what is stored. A session that a newer version wrote refuses such
    /// commands.
    const WRITES: bool = true;

    /// Checks that need no session, such as lengths.
    fn check(&self, _caller: &Caller) -> Result<(), EngineError> {
        Ok(())
    }

    /// Recognises the same request again, if it has an id.
    fn request(&self) -> Option<Request> {
        Request::of(self)
    }

    /// Carries the command out. By default the session's actor does so.
    fn execute(
        self,
        engine: &Engine,
        caller: &Caller,
    ) -> impl Future<Output = Result<Ack<Self::Answer>, EngineError>> + Send {
        async move {
            let request = self.request();
            engine.deliver(caller, self, request).await
        }
    }

    /// In the actor: executes the command, and stores the request in the same write.
    fn handle(
        self,
        session: &mut LiveSession,
        by: &Caller,
        request: Option<Request>,
    ) -> impl Future<Output = Result<Ack<Self::Answer>, EngineError>> + Send;
}

/// Something that the actor of a session is asked.
pub(crate) trait ActorRequest: Send + 'static {
    type Answer: Send + 'static;
    const WRITES: bool;

    fn carry_out(
        self,
        session: &mut LiveSession,
    ) -> impl Future<Output = Result<Self::Answer, EngineError>> + Send;
}

/// A message in the mailbox of a session.
pub(crate) enum ActorMessage {
    Ask(Box<dyn BoxedRequest>),
    Close(SubscriptionId),
    /// Ends the live session at once; refused while something runs.
    PutAway(Reply<()>),
}

impl ActorMessage {
    pub(crate) fn ask<A: ActorRequest>(ask: A, reply: Reply<A::Answer>) -> Self {
        Self::Ask(Box::new(WithReply { ask, reply }))
    }
}

/// A request with the channel for its answer.
#[async_trait]
pub(crate) trait BoxedRequest: Send {
    async fn answer(self: Box<Self>, session: &mut LiveSession);
}

struct WithReply<A: ActorRequest> {
    ask: A,
    reply: Reply<A::Answer>,
}

#[async_trait]
impl<A: ActorRequest> BoxedRequest for WithReply<A> {
    async fn answer(self: Box<Self>, session: &mut LiveSession) {
        let Self { ask, reply } = *self;
        let answer = match session.writer.read_only() {
            Some(why) if A::WRITES => Err(why.clone().into()),
            _ => ask.carry_out(session).await,
        };
        // A caller that is gone has no use for it.
        drop(reply.send(answer));
    }
}

/// A client's command on its way to the session.
pub(crate) struct Delivery<C> {
    pub(crate) command: C,
    pub(crate) by: Caller,
    pub(crate) request: Option<Request>,
}

impl<C: Handle> ActorRequest for Delivery<C> {
    type Answer = Ack<C::Answer>;
    const WRITES: bool = C::WRITES;

    async fn carry_out(self, session: &mut LiveSession) -> Result<Self::Answer, EngineError> {
        let known = session.requests.repeat(self.request.as_ref(), now_ms())?;
        if let Some(outcome) = known.cloned() {
            let answer = C::Answer::from_outcome(session, outcome).await?;
            let answer = answer.ok_or(Conflict::RequestIdReused)?;
            return Ok(Ack::deduped(answer));
        }
        self.command.handle(session, &self.by, self.request).await
    }
}

/// A client joins: it gets a snapshot, or what it missed, and every event from there on.
pub(crate) struct Join {
    pub(crate) open: SessionOpen,
    pub(crate) subscriber: Arc<dyn Subscriber>,
}

impl ActorRequest for Join {
    type Answer = (Opened, PendingSubscription);
    const WRITES: bool = false;

    async fn carry_out(self, session: &mut LiveSession) -> Result<Self::Answer, EngineError> {
        session.join(self).await
    }
}

/// A client that asks for no snapshot joins a session.
pub(crate) struct Listen(pub(crate) Arc<dyn Subscriber>);

impl ActorRequest for Listen {
    type Answer = (FeedStart, PendingSubscription);
    const WRITES: bool = false;

    async fn carry_out(self, session: &mut LiveSession) -> Result<Self::Answer, EngineError> {
        Ok(session.listen(self.0))
    }
}
