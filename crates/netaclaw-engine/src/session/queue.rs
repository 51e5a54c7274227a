//! The messages that wait during a run.

use super::LiveSession;
use super::agent::agent_named;
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::requests::{AnsweredRequest, Outcome, Request};
use crate::session::slash::is_compact_command;
use crate::session::user_message::UserMark;
use netaclaw_protocol::{
    Ack, BadRequest, QueueChange, QueueEdit, QueueEdited, ReliableEvent, RunError, RunId, Severity,
    now_ms,
};
use netaclaw_session::{Flush, NewEntry};
use uuid::Uuid;

impl Handle for QueueEdit {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<QueueEdited>, EngineError> {
        let mut writing = session.writer.begin().await;
        let changed = writing.change(|durable| {
            let queue = &mut durable.queue;
            let mut answered = Vec::new();
            match self.change {
                QueueChange::Edit { item_id, content } => {
                    if content.trim().is_empty() {
                        return Err(BadRequest::MessageEmpty.into());
                    }
                    if is_compact_command(&content) {
                        return Err(BadRequest::CompactInQueue.into());
                    }
                    queue.edit(&item_id, content)?;
                }
                QueueChange::Remove { item_id } => {
                    // No other record shows that the request of this message was executed.
                    let removed = queue.remove(&item_id)?;
                    answered.extend(AnsweredRequest::queued(&session.writer.id, &removed));
                }
                QueueChange::Move { item_id, position } => {
                    queue.move_to(&item_id, position)?;
                }
                QueueChange::Resume => queue.resume(),
            }
            answered.extend(
                request.map(|request| AnsweredRequest::new(request, now_ms(), Outcome::Done)),
            );
            for answered in &answered {
                durable.remember(answered.clone(), now_ms());
            }
            Ok((durable.queue.state(), answered))
        });
        let (queue, answered) = changed.await?;
        drop(writing);
        answered
            .into_iter()
            .for_each(|answered| session.requests.remember(answered));
        session.start_next().await;
        Ok(Ack::new(QueueEdited { queue }))
    }
}

impl LiveSession {
    /// Starts the first waiting message that is not held, unless a run is active.
    pub(super) async fn start_next(&mut self) {
        if self.closing || self.current.is_some() || self.live.waits_for_person() {
            return;
        }
        let next = {
            let writing = self.writer.begin().await;
            let mut queue = writing.state.durable.queue.iter();
            queue.find(|queued| !queued.item.held).cloned()
        };
        let Some(next) = next else { return };
        let agent = match agent_named(&*self.source, next.agent_id.as_deref()).await {
            Ok(agent) => agent,
            Err(error) => return self.hold(&error).await,
        };
        let mark = UserMark::of_queued(&next);
        let body = self
            .writer
            .user_message(&next.item.content, &next.item.attachments, mark)
            .await;
        let body = match body {
            Ok(body) => body,
            Err(error) => return self.hold(&error).await,
        };
        let new = match &next.leaf_entry_id {
            Some(parent) => NewEntry::below(Some(parent.clone()), body),
            None => NewEntry::at_leaf(body),
        };
        let run_id = RunId::new(Uuid::now_v7().to_string());
        if let Err(error) = self.start(new, run_id, agent).await {
            self.hold(&error).await;
            return;
        }
        // If the server dies here the message is in the log and in the queue; the mark shows that
        // they are the same.
        let mut writing = self.writer.begin().await;
        writing.state.durable.forget_queued(&next.item.item_id);
        // This makes the message safe from a power cut too.
        if let Err(error) = writing.persist_then_publish(Flush::Now).await {
            tracing::error!(session.id = %self.writer.id, %error, "failed to store the queue");
        }
    }

    /// Holds what waits at this moment: a user who presses stop does not expect the next message to
    /// start. What is sent after the stop is meant to run.
    pub(super) async fn hold_waiting(&mut self) -> Result<(), EngineError> {
        let mut writing = self.writer.begin().await;
        if writing.state.durable.queue.is_empty() {
            return Ok(());
        }
        writing.state.durable.queue.hold();
        writing.persist_then_publish(Flush::Now).await
    }

    /// A message that cannot be started stays where it is, and the user decides.
    async fn hold(&mut self, error: &EngineError) {
        let mut writing = self.writer.begin().await;
        writing.state.durable.queue.hold();
        if let Err(error) = writing.persist_then_publish(Flush::Now).await {
            tracing::error!(session.id = %self.writer.id, %error, "failed to store the queue");
        }
        let refusal = error.refusal();
        let error = RunError {
            run_id: None,
            code: refusal.code,
            severity: Severity::Error,
            message: refusal.message,
            trouble: Some(Box::new(error.trouble())),
        };
        self.writer.feed.emit(&ReliableEvent::Error(error));
    }
}
