//! Answers to the agent's questions.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::expiry::expire;
use crate::session::live::{TransientFields, TransientState};
use crate::session::pending_replies::{PendingReplies, Recipient, read_answer};
use crate::session::recover::{ResumableCalls, close_calls, close_calls_but};
use crate::session::requests::{AnsweredRequest, Request};
use crate::session::writer::SessionWriter;
use netaclaw_protocol::{Ack, BadRequest, ClarifyResponse, Conflict, NotFound, Nothing, now_ms};
use netaclaw_session::Flush;
use netaclaw_tools::ClarifyAnswer;
use serde_json::Value;
use std::sync::Arc;

impl Handle for ClarifyResponse {
    async fn handle(
        self,
        session: &mut LiveSession,
        _: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let taken = session.answer_question(&self.request_id, &self.answer, None);
        taken.await
    }
}

/// The questions of a session, and the calls that wait for their answers.
pub(super) struct Questions {
    writer: Arc<SessionWriter>,
    live: TransientState,
    waiting: PendingReplies<ClarifyAnswer>,
}

/// What became of an answer.
enum Answered {
    /// It was there before.
    Again,
    Now(Recipient),
}

impl Questions {
    pub(super) fn new(writer: &Arc<SessionWriter>, live: &TransientState) -> Self {
        Self {
            writer: Arc::clone(writer),
            live: live.clone(),
            waiting: PendingReplies::default(),
        }
    }

    /// For a run, whose calls wait there.
    pub(super) fn waiting(&self) -> PendingReplies<ClarifyAnswer> {
        self.waiting.clone()
    }

    /// The run has ended.
    pub(super) fn clear(&self) {
        self.waiting.clear();
    }

    /// Stores an answer before the run receives it. The first one counts.
    async fn answer(
        &self,
        request_id: &str,
        answer: &Value,
        by: Option<AnsweredRequest>,
    ) -> Result<Answered, EngineError> {
        let answer = read_answer(answer).ok_or(BadRequest::AnswerNotText)?;
        let mut writing = self.writer.begin().await;
        let texts = match &answer {
            ClarifyAnswer::Answered(texts) => texts.clone(),
            ClarifyAnswer::Dismissed | ClarifyAnswer::TimedOut => Vec::new(),
        };
        match writing.state.durable.answer_to(request_id) {
            None => {}
            Some(known) if *known == texts => return Ok(Answered::Again),
            Some(known) if known.is_empty() => return Err(Conflict::QuestionClosed.into()),
            Some(_) => return Err(Conflict::QuestionAnswered.into()),
        }
        let answered = writing.change(|durable| {
            if !durable.answer(request_id, texts) {
                return Err(NotFound::QuestionNotOpen.into());
            }
            if let Some(by) = by {
                durable.remember(by, now_ms());
            }
            Ok(())
        });
        answered.await?;
        drop(writing);
        self.live
            .change(|state| state.close_question(request_id, &answer));
        Ok(Answered::Now(self.waiting.answer(request_id, answer)))
    }

    /// Closes the questions of a dead run without an answer, and says so: an answer is never
    /// invented. Its calls that wait for an approval do not run.
    pub(super) async fn dismiss(&self) -> Result<(), EngineError> {
        if !self.live.waits_for_person() {
            return Ok(());
        }
        self.live.change(TransientFields::close_requests);
        let mut writing = self.writer.begin().await;
        for asked in &mut writing.state.durable.questions {
            asked.answer.get_or_insert_default();
        }
        close_calls(&self.writer, &mut writing).await?;
        writing.state.durable.questions.clear();
        writing.state.durable.approvals.clear();
        writing.persist_then_publish(Flush::Now).await
    }

    /// Gives the calls of a dead run their results, once all its questions are answered. What was
    /// approved stays, to run.
    async fn close_answered(&self) -> Result<(), EngineError> {
        let mut writing = self.writer.begin().await;
        let tree = self.writer.tree().await?;
        let agreed = ResumableCalls::read(&tree, &writing.state.durable);
        close_calls_but(&agreed, &self.writer, &mut writing).await?;
        let durable = &mut writing.state.durable;
        durable.questions.clear();
        durable
            .approvals
            .retain(|consent| agreed.contains(&consent.asked.tool_call_id));
        writing.persist_then_publish(Flush::Now).await
    }
}

impl LiveSession {
    /// Takes an answer. A client that repeats it, because it received no acknowledgement, is
    /// acknowledged again. `by` is the message that brought it, if it was one.
    pub(super) async fn answer_question(
        &mut self,
        request_id: &str,
        answer: &Value,
        by: Option<AnsweredRequest>,
    ) -> Result<Ack<Nothing>, EngineError> {
        match self.questions.answer(request_id, answer, by).await? {
            Answered::Again => return Ok(Ack::deduped(Nothing {})),
            Answered::Now(Recipient::Run) => {}
            Answered::Now(Recipient::NoRun) => self.resume_answered().await?,
        }
        Ok(Ack::new(Nothing {}))
    }

    /// A question of a dead run has expired: the session continues without the answer.
    pub(super) async fn question_expired(&mut self, ended: Option<(i64, String)>) {
        let Some((_, request_id)) = ended else {
            return;
        };
        expire(&self.writer, &self.live, &request_id).await;
        if let Err(error) = self.resume_answered().await {
            tracing::warn!(
                session.id = %self.writer.id,
                %error,
                "failed to continue a run whose question has ended"
            );
        }
    }

    /// Continues where a dead run waited, once all its questions are answered: in a new run that
    /// begins with the calls that were approved.
    pub(super) async fn resume_answered(&mut self) -> Result<(), EngineError> {
        if self.current.is_some() || self.live.waits_for_person() {
            return Ok(());
        }
        self.questions.close_answered().await?;
        self.continue_run(None).await?;
        Ok(())
    }
}
