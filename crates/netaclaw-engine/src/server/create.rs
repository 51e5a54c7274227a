//! New sessions.

use super::{Caller, Engine};
use crate::error::EngineError;
use netaclaw_protocol::{SessionId, ThinkingLevel};
use netaclaw_session::{Flush, NewSession, SessionError};

impl Engine {
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

    pub(super) async fn make_session(
        &self,
        caller: &Caller,
        agent: Option<&str>,
        id: Option<SessionId>,
    ) -> Result<SessionId, EngineError> {
        let agent = self.inner.source.find(agent).await?;
        let provider = self.inner.providers.of_kind(agent.provider)?;
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
            (Err(SessionError::AlreadyExists(there)), Some(_)) => {
                self.inner.providers.find(caller, &there).await?;
                return Ok(there);
            }
            (made, _) => made?,
        };
        let session = meta.session_id.clone();
        if agent.think_level != ThinkingLevel::Off {
            let level = agent.think_level.as_str();
            let write = provider.append_thinking_level_change(&session, level);
            self.written_at_rest(&session, provider, write).await?;
        }
        self.list_changed(Some(&caller.user_id), &session);
        Ok(session)
    }
}
