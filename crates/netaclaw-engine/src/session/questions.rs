//! Answers to the agent's questions.

use super::LiveSession;
use crate::error::EngineError;
use crate::events::feed::now_ms;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::expiry::expire;
use crate::session::pending_replies::read_answer;
use crate::session::recover::{ResumableCalls, close_calls, close_calls_but};
use crate::session::requests::{AnsweredRequest, Outcome, Request};
use netaclaw_protocol::{Ack, BadRequest, ClarifyResponse, Conflict, NotFound, Nothing};
use netaclaw_session::Flush;
use netaclaw_tools::ClarifyAnswer;
use serde_json::Value;

impl Handle for ClarifyResponse {
    /// Its own id names the question, which has its answer.
    async fn repeat(
        &self,
        _: &mut LiveSession,
        _: Outcome,
    ) -> Result<Option<Nothing>, EngineError> {
        Ok(None)
    }

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

impl LiveSession {
    /// Takes an answer. It is stored before the run receives it; the first one counts, and a client
    /// that repeats it, because it received no acknowledgement, is acknowledged again. `by` is the
    /// message that brought it, if it was one.
    pub(super) async fn answer_question(
        &mut self,
        request_id: &str,
        answer: &Value,
        by: Option<AnsweredRequest>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let answer = read_answer(answer).ok_or(BadRequest::AnswerNotText)?;
        let mut writing = self.writer.begin().await;
        let texts = match &answer {
            ClarifyAnswer::Answered(texts) => texts.clone(),
            ClarifyAnswer::Dismissed | ClarifyAnswer::TimedOut => Vec::new(),
        };
        match writing.state.durable.answer_to(request_id) {
            None => {}
            Some(known) if *known == texts => return Ok(Ack::deduped(Nothing {})),
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
        self.live.question_closed(request_id, &answer);
        if self.pending_replies.answer(request_id, answer).is_err() {
            // Its run died with an earlier process: continue from the answer in a new one, once
            // nothing else is open.
            self.resume_answered().await?;
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

    /// Closes the questions of a dead run without an answer, and says so: an answer is never
    /// invented.
    pub(super) async fn dismiss_questions(&mut self) -> Result<(), EngineError> {
        if !self.live.waits_for_person() {
            return Ok(());
        }
        self.live.close_questions();
        self.live.close_approvals();
        let mut writing = self.writer.begin().await;
        for asked in &mut writing.state.durable.questions {
            asked.answer.get_or_insert_default();
        }
        close_calls(&self.writer, &mut writing).await?;
        writing.state.durable.questions.clear();
        writing.state.durable.approvals.clear();
        writing.persist_then_publish(Flush::Now).await
    }

    /// Continues where a dead run waited, once all its questions are answered: in a new run that
    /// begins with the calls that were approved.
    pub(super) async fn resume_answered(&mut self) -> Result<(), EngineError> {
        if self.current.is_some() || self.live.waits_for_person() {
            return Ok(());
        }
        let mut writing = self.writer.begin().await;
        let tree = self.writer.tree().await?;
        let agreed = ResumableCalls::read(&tree, &writing.state.durable);
        close_calls_but(&agreed, &self.writer, &mut writing).await?;
        let durable = &mut writing.state.durable;
        durable.questions.clear();
        durable
            .approvals
            .retain(|consent| agreed.contains(&consent.asked.tool_call_id));
        writing.persist_then_publish(Flush::Now).await?;
        drop(writing);
        self.continue_run(None).await?;
        Ok(())
    }
}
