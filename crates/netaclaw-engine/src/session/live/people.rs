//! Questions and approvals that wait for a user.

use super::{TransientFields, TransientState};
use crate::events::feed::now_ms;
use netaclaw_protocol::{
    ApprovalDecided, ApprovalOutcome, ApprovalQuestion, ApprovalUsed, ClarifyAnswered,
    ClarifyOutcome, Question, ReliableEvent,
};
use netaclaw_tools::ClarifyAnswer;

impl TransientState {
    pub(crate) fn question_opened(&self, question: Question) {
        let mut state = self.lock();
        state.questions.push(question.clone());
        self.feed.emit(&ReliableEvent::ClarifyRequest(question));
    }

    /// Whether a question or an approval is open.
    pub(crate) fn waits_for_person(&self) -> bool {
        self.lock().waiting() > 0
    }

    /// Whether the run can only continue after a user's answer.
    pub(crate) fn only_waits_for_person(&self) -> bool {
        let state = self.lock();
        state.waiting() > 0 && state.tools.len() <= state.waiting()
    }

    /// The question that was asked first of those that are open.
    pub(crate) fn first_question(&self) -> Option<String> {
        let state = self.lock();
        state
            .questions
            .first()
            .map(|question| question.request_id.clone())
    }

    /// A question is closed, and all clients receive the reason.
    pub(crate) fn question_closed(&self, request_id: &str, answer: &ClarifyAnswer) {
        let mut state = self.lock();
        let mut open = state.questions.iter();
        let Some(at) = open.position(|question| question.request_id == request_id) else {
            return;
        };
        let question = state.questions.remove(at);
        state.restart_clock(&question.tool_call_id);
        let (outcome, answer) = match answer {
            ClarifyAnswer::Answered(texts) => (ClarifyOutcome::Answered, texts.clone()),
            ClarifyAnswer::Dismissed => (ClarifyOutcome::Dismissed, Vec::new()),
            ClarifyAnswer::TimedOut => (ClarifyOutcome::TimedOut, Vec::new()),
        };
        let answered = ClarifyAnswered {
            request_id: question.request_id,
            tool_call_id: question.tool_call_id,
            outcome,
            answer,
        };
        self.feed.emit(&ReliableEvent::ClarifyAnswered(answered));
    }

    /// The open question that expires first, and when; `None` if none expires.
    pub(crate) fn next_expiry(&self) -> Option<(i64, String)> {
        let state = self.lock();
        let ends = state.questions.iter().filter_map(|question| {
            let at = question.expires_at?;
            Some((at, question.request_id.clone()))
        });
        ends.min()
    }

    /// The question cannot be answered now.
    pub(crate) fn close_questions(&self) {
        while let Some(request_id) = self.first_question() {
            self.question_closed(&request_id, &ClarifyAnswer::Dismissed);
        }
    }

    pub(crate) fn approval_opened(&self, asked: ApprovalQuestion) {
        let mut state = self.lock();
        state.approvals.push(asked.clone());
        self.feed.emit(&ReliableEvent::ApprovalRequest(asked));
    }

    /// The call that waits for approval under this id.
    pub(crate) fn open_approval(&self, approval_id: &str) -> Option<ApprovalQuestion> {
        let state = self.lock();
        let mut open = state.approvals.iter();
        open.find(|asked| asked.approval_id == approval_id).cloned()
    }

    pub(crate) fn approval_closed(&self, approval_id: &str, outcome: ApprovalOutcome) {
        let mut state = self.lock();
        let mut open = state.approvals.iter();
        let Some(at) = open.position(|asked| asked.approval_id == approval_id) else {
            return;
        };
        let asked = state.approvals.remove(at);
        state.restart_clock(&asked.tool_call_id);
        let decided = ApprovalDecided {
            approval_id: asked.approval_id,
            tool_call_id: asked.tool_call_id,
            outcome,
        };
        self.feed.emit(&ReliableEvent::ApprovalDecided(decided));
    }

    /// Standing approvals allow a call that began.
    pub(crate) fn approval_used(&self, used: ApprovalUsed) {
        let mut state = self.lock();
        let mut tools = state.tools.iter_mut();
        if let Some(tool) = tools.find(|tool| tool.call.tool_call_id == used.tool_call_id) {
            tool.call.allowed_by.clone_from(&used.allowed_by);
        }
        self.feed.emit(&ReliableEvent::ApprovalUsed(used));
    }

    /// There was no decision in time.
    pub(crate) fn close_approvals(&self) {
        let open = self.lock().approvals.clone();
        for asked in open {
            self.approval_closed(&asked.approval_id, ApprovalOutcome::Closed);
        }
    }
}

impl TransientFields {
    /// The call works from now on: the time before was its user's.
    fn restart_clock(&mut self, tool_call_id: &str) {
        let mut tools = self.tools.iter_mut();
        if let Some(tool) = tools.find(|tool| tool.call.tool_call_id == tool_call_id) {
            tool.started_at = now_ms();
        }
    }
}
