//! Stopping runs, also those whose message has not arrived.

use super::first::request_key;
use super::limits::check_request_id;
use super::{Caller, Engine};
use crate::error::EngineError;
use crate::session::LiveSession;
use crate::session::command::Handle;
use crate::session::requests::Request;
use netaclaw_protocol::{Ack, BadRequest, RunState, SessionId, Stop, Stopped};

impl Handle for Stop {
    const WRITES: bool = false;

    fn check(&self, _: &Caller) -> Result<(), EngineError> {
        match &self.request_id {
            Some(id) => check_request_id(id),
            None => Ok(()),
        }
    }

    /// A named message is stopped also if it has not arrived: the stop is recorded first, so that
    /// the message cannot slip through.
    async fn execute(self, engine: &Engine, caller: &Caller) -> Result<Ack<Stopped>, EngineError> {
        if let Some(request) = &self.request_id {
            engine.inner.early_stops.remember(&caller.user_id, request);
        }
        match (self.session_id, self.request_id) {
            (Some(session), _) => engine.stop_run(caller, &session).await,
            (None, Some(request)) => {
                let idle = Stopped {
                    status: RunState::Idle,
                };
                let request = request_key(&caller.user_id, &request);
                let Some(session) = engine.begun_by(caller, Some(&request)).await? else {
                    return Ok(Ack::new(idle));
                };
                match engine.stop_run(caller, &session).await {
                    Err(EngineError::NoSession) => Ok(Ack::new(idle)),
                    stopped => stopped,
                }
            }
            (None, None) => Err(BadRequest::NothingToStop.into()),
        }
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Stopped>, EngineError> {
        let status = session.stop().await?;
        Ok(Ack::new(Stopped { status }))
    }
}

impl Engine {
    pub(super) async fn stop_run(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<Ack<Stopped>, EngineError> {
        self.deliver(caller, Stop::of(session), None).await
    }
}
