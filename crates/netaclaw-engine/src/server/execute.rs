//! The one path of every command: checks, then the session's actor, then the answer.

use super::limits::check_request_id;
use super::{Caller, Engine};
use crate::error::EngineError;
use crate::session::command::{ActorMessage, ActorRequest, Delivery, Handle};
use crate::session::requests::Request;
use netaclaw_protocol::{Ack, BadRequest, Busy, ClientCommand, SessionId, Unavailable};
use netaclaw_session::SessionTreeProvider;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

impl Engine {
    /// Carries out a command of a caller. It is carried out to its end also if the caller is gone.
    pub async fn execute<C: Handle>(
        &self,
        caller: &Caller,
        command: C,
    ) -> Result<Ack<C::Answer>, EngineError> {
        check(caller, &command)?;
        command.execute(self, caller).await
    }

    /// Hands a command to the actor of its session.
    pub(crate) async fn deliver<C: Handle>(
        &self,
        caller: &Caller,
        command: C,
        request: Option<Request>,
    ) -> Result<Ack<C::Answer>, EngineError> {
        let session = command.session_id().cloned();
        let session = session.ok_or(EngineError::NoSession)?;
        let (provider, _) = self.inner.providers.find(caller, &session).await?;
        self.deliver_to(provider, &session, caller, command, request)
            .await
    }

    pub(super) async fn deliver_to<C: Handle>(
        &self,
        provider: &Arc<dyn SessionTreeProvider>,
        session: &SessionId,
        caller: &Caller,
        command: C,
        request: Option<Request>,
    ) -> Result<Ack<C::Answer>, EngineError> {
        let by = caller.clone();
        let delivery = Delivery {
            command,
            by,
            request,
        };
        self.ask_at(provider, session, delivery).await
    }

    /// Asks the actor of a session that exists for the caller.
    pub(super) async fn ask<A: ActorRequest>(
        &self,
        caller: &Caller,
        session: &SessionId,
        ask: A,
    ) -> Result<A::Answer, EngineError> {
        let (provider, _) = self.inner.providers.find(caller, session).await?;
        self.ask_at(provider, session, ask).await
    }

    async fn ask_at<A: ActorRequest>(
        &self,
        provider: &Arc<dyn SessionTreeProvider>,
        session: &SessionId,
        ask: A,
    ) -> Result<A::Answer, EngineError> {
        if provider.is_suspended() {
            // Others may take over what this process owns at any moment.
            return Err(Unavailable::DatabaseLost.into());
        }
        let (reply, answer) = oneshot::channel();
        let mailbox = self.live(session, provider).await?;
        mailbox
            .try_send(ActorMessage::ask(ask, reply))
            .map_err(|error| match error {
                TrySendError::Full(_) => Busy::CommandsOfSession.into(),
                TrySendError::Closed(_) => EngineError::from(Unavailable::ShuttingDown),
            })?;
        // While this mailbox is held the session is not evicted, so an answer comes, unless the
        // whole server shuts down or the session is claimed by another node.
        answer.await.unwrap_or_else(|_| Err(self.gone(session)))
    }

    /// Why a session gave no answer.
    fn gone(&self, session: &SessionId) -> EngineError {
        let session = session.clone();
        match self.is_closing() {
            true => Unavailable::ShuttingDown.into(),
            false => Busy::TakenOver { session }.into(),
        }
    }
}

/// What is checked of every command before anything is done.
pub(super) fn check<C: Handle>(caller: &Caller, command: &C) -> Result<(), EngineError> {
    if let Some(id) = command.request_id() {
        check_request_id(id)?;
    }
    command.check(caller)
}

macro_rules! dispatch {
    (
        session { $($_name:literal => $command:ident -> $_answer:ident [$($_field:ident),*],)* }
        connection { $($_other:literal => $other:ident -> $_said:ident [$($_has:ident),*],)* }
    ) => {
        impl Engine {
            /// Executes a command whose type is known only at run time, and writes its
            /// acknowledgement.
            pub async fn execute_any(
                &self,
                caller: &Caller,
                command: ClientCommand,
            ) -> Result<Box<RawValue>, EngineError> {
                match command {
                    $(ClientCommand::$command(command) => {
                        Box::pin(self.execute(caller, command)).await.map(acknowledge)
                    })*
                    $(ClientCommand::$other(_) => Err(BadRequest::ConnectionNeeded.into()),)*
                }
            }
        }
    };
}

netaclaw_protocol::commands!(dispatch);

/// An acknowledgement as it goes over the wire.
pub fn acknowledge<T: Serialize>(ack: Ack<T>) -> Box<RawValue> {
    #[derive(Serialize)]
    struct Acknowledged<T> {
        ok: bool,
        #[serde(flatten)]
        ack: Ack<T>,
    }
    let acknowledged = Acknowledged { ok: true, ack };
    serde_json::value::to_raw_value(&acknowledged).expect("answers are plain data")
}
