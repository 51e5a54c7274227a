//! The settings of a session: thinking level, model, title, status.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::Caller;
use crate::server::listing::{Liveness, list_item};
use crate::session::command::Handle;
use crate::session::durable::ModelChoice;
use crate::session::requests::{Outcome, Request};
use crate::source::ChosenModel;
use netaclaw_protocol::{
    Ack, Nothing, SessionChange, SessionListItem, SessionStatus, SetModel, SetThinkingLevel,
};
use netaclaw_session::{EntryBody, Flush, SessionPatch};

impl Handle for SetThinkingLevel {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let thinking_level = self.level.as_str().to_owned();
        let body = EntryBody::ThinkingLevelChange { thinking_level };
        let changed = session.record(request, Outcome::Done, async |writing| {
            writing.append_here(body).await
        });
        changed.await?;
        Ok(Ack::new(Nothing {}))
    }
}

impl Handle for SetModel {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let chosen = ChosenModel {
            channel_id: self.channel_id.clone(),
            model_id: self.model_id.clone(),
        };
        let agent = session.writer.meta().await?.agent_id;
        let checked = session.source.check_model(agent.as_deref(), &chosen);
        checked.await?;
        let body = EntryBody::ModelChange {
            provider: self.channel_id.clone(),
            model_id: self.model_id.clone(),
        };
        let is_stored_with_request = request.is_some();
        let changed = session.record(request, Outcome::Done, async |writing| {
            writing.append_here(body).await?;
            writing.state.durable.model = Some(ModelChoice {
                channel_id: self.channel_id,
                model_id: self.model_id,
            });
            match is_stored_with_request {
                true => Ok(()),
                false => writing.persist_then_publish(Flush::Now).await,
            }
        });
        changed.await?;
        match session.current {
            Some(_) => session.numbers.publish_after_run(),
            None => session.numbers.publish().await,
        }
        Ok(Ack::new(Nothing {}))
    }
}

impl LiveSession {
    /// The session as lists show it.
    pub(crate) async fn list_item(&self) -> Result<SessionListItem, EngineError> {
        let meta = self.writer.meta().await?;
        let durable = &self.writer.begin().await.state.durable;
        Ok(list_item(meta, durable, Liveness::Live))
    }

    /// Names the session, archives, deletes or restores it. Its run ends before it is deleted.
    pub(crate) async fn update(
        &mut self,
        change: SessionChange,
        request: Option<Request>,
    ) -> Result<SessionListItem, EngineError> {
        if change.status == Some(SessionStatus::Deleted) {
            self.end_run().await?;
        }
        if change.title.is_some() {
            self.titles.forget();
        }
        let patched = self.record(request, Outcome::Done, async |writing| {
            writing.patch(patch_of(change)).await
        });
        patched.await
    }
}

pub(crate) fn patch_of(change: SessionChange) -> SessionPatch {
    SessionPatch {
        title: change.title,
        status: change.status,
        ..SessionPatch::default()
    }
}
