//! The questions that wait for a user.

use netaclaw_protocol::{ClarifyAnswered, ClarifyOutcome, Question, ReliableEvent};
use netaclaw_tools::ClarifyAnswer;

#[derive(Debug, Default)]
pub(crate) struct OpenQuestions {
    /// In the order they were asked.
    open: Vec<Question>,
}

impl OpenQuestions {
    pub(crate) fn all(&self) -> &[Question] {
        &self.open
    }

    /// The question that was asked first of those that are open.
    pub(crate) fn first(&self) -> Option<String> {
        let first = self.open.first();
        first.map(|question| question.request_id.clone())
    }

    /// The question that expires first, and when; `None` if none expires.
    pub(crate) fn next_expiry(&self) -> Option<(i64, String)> {
        let ends = self.open.iter().filter_map(|question| {
            let at = question.expires_at?;
            Some((at, question.request_id.clone()))
        });
        ends.min()
    }

    pub(crate) fn open(&mut self, question: Question) -> Option<ReliableEvent> {
        self.open.push(question.clone());
        Some(ReliableEvent::ClarifyRequest(question))
    }

    /// Takes a question out, for [`super::TransientFields::close_question`].
    pub(super) fn close(
        &mut self,
        request_id: &str,
        answer: &ClarifyAnswer,
    ) -> Option<ClarifyAnswered> {
        let mut open = self.open.iter();
        let at = open.position(|question| question.request_id == request_id)?;
        let question = self.open.remove(at);
        let (outcome, answer) = match answer {
            ClarifyAnswer::Answered(texts) => (ClarifyOutcome::Answered, texts.clone()),
            ClarifyAnswer::Dismissed => (ClarifyOutcome::Dismissed, Vec::new()),
            ClarifyAnswer::TimedOut => (ClarifyOutcome::TimedOut, Vec::new()),
        };
        Some(ClarifyAnswered {
            request_id: question.request_id,
            tool_call_id: question.tool_call_id,
            outcome,
            answer,
        })
    }
}
