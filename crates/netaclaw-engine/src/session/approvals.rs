//! Approvals of tool calls by users.
//!
//! Only `approval_response` gives one. A message that is sent in the meantime is a message: it
//! waits its turn, whatever it says, as its text refers to no particular call.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::Handle;
use crate::session::requests::{Outcome, Request};
use crate::source::{ConsentAct, ConsentScope};
use netaclaw_governance::{Approval, CallHash, Consent};
use netaclaw_protocol::{
    Ack, ApprovalDecision, ApprovalOutcome, ApprovalResponse, BadRequest, Conflict, FieldProblem,
    NotFound, Nothing,
};

/// The limit of a user's note to the model about a refusal.
const REASON_CHARS_MAX: usize = 4000;

impl Handle for ApprovalResponse {
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
        by: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        session.decide_call(by, self).await?;
        Ok(Ack::new(Nothing {}))
    }
}

impl LiveSession {
    /// Takes a decision. It is recorded and stored before the run receives it; the first one
    /// counts.
    async fn decide_call(
        &mut self,
        by: &Caller,
        response: ApprovalResponse,
    ) -> Result<(), EngineError> {
        let id = &response.approval_id;
        let Some(asked) = self.live.open_approval(id) else {
            return Err(self.not_open(id).await);
        };
        let reason = response.reason.as_deref().map(str::trim);
        let reason = reason.filter(|words| !words.is_empty());
        if reason.is_some_and(|words| words.chars().count() > REASON_CHARS_MAX) {
            let problem = FieldProblem::TooLong {
                chars_max: REASON_CHARS_MAX,
            };
            let field = "reason".to_owned();
            return Err(BadRequest::FieldNotValid { field, problem }.into());
        }
        let scope = match response.remember {
            true => ConsentScope::Session,
            false => ConsentScope::Once,
        };
        let reason = reason.map(str::to_owned);
        let (outcome, consent) = match (response.decision, scope) {
            (ApprovalDecision::Allow, ConsentScope::Once) => {
                (ApprovalOutcome::Allowed, Consent::Given)
            }
            (ApprovalDecision::Allow, ConsentScope::Session) => {
                (ApprovalOutcome::AllowedForSession, Consent::Given)
            }
            (ApprovalDecision::Deny, _) => {
                let reason = reason.clone();
                (ApprovalOutcome::Denied, Consent::Refused { reason })
            }
        };
        let act = ConsentAct {
            session: &self.writer.id,
            asked: &asked,
            decision: response.decision,
            scope,
        };
        self.source.record_consent(by, act).await?;
        let mut writing = self.writer.begin().await;
        let decided = writing.change(|durable| {
            if outcome == ApprovalOutcome::AllowedForSession {
                durable.agree_for_session(asked.hash.clone());
            }
            durable.decide(id, outcome, reason);
            Ok(())
        });
        decided.await?;
        drop(writing);
        self.live.approval_closed(id, outcome);
        // The hash of what was shown. The run compares it with what would run.
        let hash = CallHash::of(&asked.tool_name, &asked.args);
        match self.consents.answer(id, Approval { hash, consent }) {
            Ok(()) => Ok(()),
            // Its run died with an earlier process: a new one continues from here. A run that is
            // just being stopped does not wait either, and reports that itself.
            Err(_) => self.resume_answered().await,
        }
    }

    async fn not_open(&self, approval_id: &str) -> EngineError {
        let writing = self.writer.begin().await;
        let mut known = writing.state.durable.decided.iter();
        match known.find(|decided| decided.approval_id == approval_id) {
            Some(decided) if decided.outcome == ApprovalOutcome::Denied => {
                Conflict::CallDenied.into()
            }
            Some(_) => Conflict::CallAllowed.into(),
            None => NotFound::ApprovalNotOpen.into(),
        }
    }
}
