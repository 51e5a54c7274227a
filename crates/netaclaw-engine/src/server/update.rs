//! Naming, archiving, deleting and restoring sessions.

use super::limits::{TITLE_CHARS_MAX, check_length};
use super::{Caller, Engine};
use crate::error::EngineError;
use crate::session::command::Handle;
use crate::session::durable::NewerState;
use crate::session::requests::Request;
use crate::session::{LiveSession, patch_of};
use netaclaw_protocol::{
    Ack, Command, LimitedText, ReadOnly, Rename, Renamed, SessionChange, SessionId,
    SessionListItem, SessionStatus,
};
use serde::Serialize;

/// Names a session, archives, deletes or restores it. One that is deleted ends its run first.
/// REST offers it; of its parts `/netaclaw` has only [`Rename`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateSession {
    pub session_id: SessionId,
    pub change: SessionChange,
}

impl Command for UpdateSession {
    const NAME: &'static str = "update_session";
    type Answer = SessionListItem;

    fn session_id(&self) -> Option<&SessionId> {
        Some(&self.session_id)
    }
}

impl Handle for UpdateSession {
    fn check(&self, _: &Caller) -> Result<(), EngineError> {
        check_title(self.change.title.as_deref())
    }

    async fn execute(
        self,
        engine: &Engine,
        caller: &Caller,
    ) -> Result<Ack<SessionListItem>, EngineError> {
        let (session, change) = (self.session_id.clone(), self.change.clone());
        let deletes = change.status == Some(SessionStatus::Deleted);
        let updated = engine.update(caller, self, &session, change, |item| item);
        let updated = updated.await?;
        if deletes && !engine.inner.keeps_deleted {
            let (provider, _) = engine.inner.providers.find_any(caller, &session).await?;
            engine.purge_found(provider, &session, None).await?;
        }
        Ok(updated)
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<SessionListItem>, EngineError> {
        let updated = session.update(self.change, request).await;
        updated.map(Ack::new)
    }
}

impl Handle for Rename {
    fn check(&self, _: &Caller) -> Result<(), EngineError> {
        check_title(Some(&self.title))
    }

    async fn execute(self, engine: &Engine, caller: &Caller) -> Result<Ack<Renamed>, EngineError> {
        let (session, change) = (self.session_id.clone(), titled(&self));
        let renamed = |session| Renamed { session };
        engine.update(caller, self, &session, change, renamed).await
    }

    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Renamed>, EngineError> {
        let session = session.update(titled(&self), request).await?;
        Ok(Ack::new(Renamed { session }))
    }
}

fn titled(rename: &Rename) -> SessionChange {
    SessionChange {
        title: Some(rename.title.clone()),
        ..SessionChange::default()
    }
}

fn check_title(title: Option<&str>) -> Result<(), EngineError> {
    match title {
        Some(title) => check_length(LimitedText::Title, title, TITLE_CHARS_MAX),
        None => Ok(()),
    }
}

impl Engine {
    /// Executes a command that consists of this change.
    pub(super) async fn update<C: Handle>(
        &self,
        caller: &Caller,
        command: C,
        session: &SessionId,
        change: SessionChange,
        answer: impl FnOnce(SessionListItem) -> C::Answer + Send,
    ) -> Result<Ack<C::Answer>, EngineError> {
        let (provider, meta) = self.inner.providers.find_any(caller, session).await?;
        // A deleted session can only be restored, or deleted again.
        if meta.status == SessionStatus::Deleted && change.status.is_none() {
            return Err(EngineError::NoSession);
        }
        if let Some(newer) = NewerState::of(&meta) {
            return Err(ReadOnly::from(newer).into());
        }
        let deletes = change.status == Some(SessionStatus::Deleted);
        let request = command.request();
        // The session's own writer stores requests. Without one, a session without clients need not
        // be opened for this.
        let at_rest = match request {
            Some(_) => None,
            None => {
                let write = provider.update_session(session, patch_of(change));
                self.written_at_rest(session, provider, write).await?
            }
        };
        let updated = match at_rest {
            Some(meta) => {
                self.list_changed(meta.user_id.as_deref(), session);
                Ack::new(answer(self.list_item(meta)))
            }
            None => {
                self.deliver_to(provider, session, caller, command, request)
                    .await?
            }
        };
        if deletes {
            self.inner.source.session_deleted(session);
        }
        if deletes
            && let Some(logs) = &self.inner.beside.logs
            && let Err(error) = logs.remove(session).await
        {
            tracing::warn!(
                session.id = %session,
                %error,
                "failed to remove the process logs of a session"
            );
        }
        Ok(updated)
    }
}
