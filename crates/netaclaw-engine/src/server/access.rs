//! Finds a session and checks that the caller can access it.

use super::listing::{Liveness, list_item};
use super::{Caller, Engine, Providers};
use crate::error::EngineError;
use crate::session::durable::PersistedState;
use netaclaw_protocol::{
    ProviderKind, SessionId, SessionListItem, SessionMeta, SessionStatus, Unavailable,
};
use netaclaw_session::{SessionError, SessionTreeProvider};
use std::sync::Arc;

impl Engine {
    /// The session, if it exists and the caller may see it.
    pub async fn session(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<SessionMeta, EngineError> {
        let (_, meta) = self.inner.providers.find(caller, session).await?;
        Ok(meta)
    }

    /// Whether an actor of this process has the session.
    pub(crate) fn is_live(&self, session: &SessionId) -> bool {
        self.mailbox(session).is_some()
    }

    /// A session as lists show it.
    pub fn list_item(&self, meta: SessionMeta) -> SessionListItem {
        let liveness = match self.is_live(&meta.session_id) {
            true => Liveness::Live,
            false => Liveness::Resting,
        };
        let durable = PersistedState::read(&meta);
        list_item(meta, &durable, liveness)
    }
}

impl Providers {
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn SessionTreeProvider>> {
        std::iter::once(&self.file).chain(&self.mysql)
    }

    pub(super) fn of_kind(
        &self,
        kind: ProviderKind,
    ) -> Result<&Arc<dyn SessionTreeProvider>, EngineError> {
        match kind {
            ProviderKind::File => Ok(&self.file),
            ProviderKind::Mysql => Ok(self.mysql.as_ref().ok_or(Unavailable::NoMysql)?),
        }
    }

    /// A session that exists for the caller. A deleted one does not.
    pub(super) async fn find(
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

    /// Whether any session has this id, also one that the caller may not see.
    pub(super) async fn is_taken(&self, session: &SessionId) -> Result<bool, EngineError> {
        for provider in self.all() {
            match provider.get_session(session).await {
                Ok(_) => return Ok(true),
                Err(SessionError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    pub(super) async fn find_any(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<(&Arc<dyn SessionTreeProvider>, SessionMeta), EngineError> {
        for provider in self.all() {
            match provider.get_session(session).await {
                Ok(meta) => {
                    // Only administrators see what has no owner, such as an imported file.
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
}
