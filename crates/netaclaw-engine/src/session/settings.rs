//! What people set for a session: thinking level, model, title, status.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::listing::{Liveness, list_item};
use crate::session::durable::ModelChoice;
use crate::session::requests::{Done, Outcome, Request};
use crate::source::ChosenModel;
use netaclaw_protocol::{SessionChange, SessionListItem, SessionStatus, SetModel, ThinkingLevel};
use netaclaw_session::{EntryBody, Flush, SessionPatch};
use std::sync::Arc;

impl LiveSession {
    pub(super) async fn set_thinking_level(
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

    pub(super) async fn set_model(
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
        writing.state.durable.model = Some(ModelChoice {
            channel_id: choice.channel_id,
            model_id: choice.model_id,
        });
        match request {
            None => writing.persist_then_publish(Flush::Now).await?,
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

    pub(super) async fn update(
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
}

pub(crate) fn patch_of(change: SessionChange) -> SessionPatch {
    SessionPatch {
        title: change.title,
        status: change.status,
        ..SessionPatch::default()
    }
}
