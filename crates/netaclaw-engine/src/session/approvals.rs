//! Approvals of tool calls by users.
//!
//! Only `approval_response` gives one. A message that is sent in the meantime is a message: it
//! waits its turn, whatever it says, as its text refers to no particular call.

use super::LiveSession;
use crate::error::EngineError;
use crate::server::Caller;
use crate::session::command::{ActorRequest, Handle};
use crate::session::durable::is_accept_edits;
use crate::session::live::TransientState;
use crate::session::pending_replies::{PendingReplies, Recipient};
use crate::session::requests::{Outcome, Request, Requests};
use crate::session::writer::SessionWriter;
use crate::source::{AgentSource, ApprovalAct, ApprovalLifetime, ToolsToApprove};
use netaclaw_governance::{
    Approval, ApprovalRequest, ApprovalSeat, CallHash, Consent, WORKSPACE, granted, sample,
};
use netaclaw_protocol::{
    AcceptEdits, Ack, ApprovalDecision, ApprovalGrant, ApprovalOutcome, ApprovalQuestion,
    ApprovalResponse, ApprovalScope, ApprovalWithin, BadRequest, Conflict, FieldProblem, Forbidden,
    NotFound, Nothing, RevokeApproval, SessionMeta, StandingApproval, ToolLabel, UserId, now_ms,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// The limit of a user's note to the model about a refusal.
const REASON_CHARS_MAX: usize = 4000;

impl Handle for ApprovalResponse {
    async fn handle(
        self,
        session: &mut LiveSession,
        by: &Caller,
        _: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        match session.approvals.decide(by, self).await? {
            Recipient::Run => {}
            Recipient::NoRun => session.resume_answered().await?,
        }
        Ok(Ack::new(Nothing {}))
    }
}

impl Handle for AcceptEdits {
    async fn handle(
        self,
        session: &mut LiveSession,
        by: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        if !self.enabled {
            let mut known = session.approvals.standing().await;
            known.retain(is_accept_edits);
            let revoked = session
                .approvals
                .revoke(by, &known, request, &mut session.requests);
            revoked.await?;
            return Ok(Ack::new(Nothing {}));
        }
        let meta = session.writer.meta().await?;
        let tools = session
            .source
            .tools_to_approve(&meta, ToolsToApprove::Edits);
        let grant = Granted {
            tool_name: "edit".to_owned(),
            tool_label: ToolLabel {
                zh: "修改文件".to_owned(),
                en: "Edit file".to_owned(),
            },
            sample: String::new(),
            scope: ApprovalScope::Edits {
                folder: WORKSPACE.to_owned(),
            },
            within: ApprovalWithin::Session,
            tools: tools.await?,
        };
        let granted = session
            .approvals
            .grant(by, grant, request, &mut session.requests);
        granted.await?;
        Ok(Ack::new(Nothing {}))
    }
}

impl Handle for RevokeApproval {
    async fn handle(
        self,
        session: &mut LiveSession,
        by: &Caller,
        request: Option<Request>,
    ) -> Result<Ack<Nothing>, EngineError> {
        let mut known = session.approvals.standing().await;
        known.retain(|approval| approval.id == self.approval_id);
        if known.is_empty() {
            return Err(NotFound::NoStandingApproval.into());
        }
        let revoked = session
            .approvals
            .revoke(by, &known, request, &mut session.requests);
        revoked.await?;
        Ok(Ack::new(Nothing {}))
    }
}

/// Allows one call in advance, for the user who starts it. Calls of tools that need no approval
/// need no standing one.
pub(crate) struct AllowCall {
    pub(crate) by: Caller,
    pub(crate) tool_name: &'static str,
    pub(crate) tool_label: ToolLabel,
    pub(crate) args: Value,
}

impl ActorRequest for AllowCall {
    type Answer = ();
    const WRITES: bool = true;

    async fn carry_out(self, session: &mut LiveSession) -> Result<(), EngineError> {
        let meta = session.writer.meta().await?;
        let which = ToolsToApprove::One(self.tool_name);
        let tools = session.source.tools_to_approve(&meta, which).await?;
        if tools.is_empty() {
            return Ok(());
        }
        let grant = Granted {
            tool_name: self.tool_name.to_owned(),
            tool_label: self.tool_label,
            sample: sample(&self.args),
            scope: ApprovalScope::Call {
                hash: CallHash::of(self.tool_name, &self.args).as_str().to_owned(),
            },
            within: ApprovalWithin::Session,
            tools,
        };
        let granted = session
            .approvals
            .grant(&self.by, grant, None, &mut session.requests);
        granted.await
    }
}

/// What is granted, before it is known where and by whom.
struct Granted {
    tool_name: String,
    tool_label: ToolLabel,
    sample: String,
    scope: ApprovalScope,
    within: ApprovalWithin,
    tools: BTreeMap<String, String>,
}

impl Granted {
    fn in_session(self, session: &SessionMeta, by: &Caller) -> StandingApproval {
        let is_here = self.within == ApprovalWithin::Session;
        let user = session.user_id.as_ref().unwrap_or(&by.user_id);
        StandingApproval {
            id: Uuid::now_v7().to_string(),
            tool_name: self.tool_name,
            tool_label: self.tool_label,
            scope: self.scope,
            within: self.within,
            sample: self.sample,
            user_id: UserId::new(user),
            agent_id: session.agent_id.clone(),
            session_id: is_here.then(|| session.session_id.clone()),
            granted_by: by.user_id.clone(),
            granted_at: now_ms(),
            tools: self.tools,
        }
    }
}

/// By what it is decided whether a standing approval is for a session.
pub(crate) fn seat_of(session: &SessionMeta) -> ApprovalSeat {
    ApprovalSeat {
        session_id: session.session_id.clone(),
        user_id: session.user_id.as_ref().map(UserId::new),
        agent_id: session.agent_id.clone(),
    }
}

pub(crate) fn may_grant_for_agent(session: &SessionMeta) -> bool {
    session.user_id.is_some() && session.agent_id.is_some()
}

/// The approvals of a session: the calls that wait for one, and those that stand.
pub(super) struct Approvals {
    writer: Arc<SessionWriter>,
    live: TransientState,
    source: Arc<dyn AgentSource>,
    waiting: PendingReplies<Approval>,
}

impl Approvals {
    pub(super) fn new(
        writer: &Arc<SessionWriter>,
        live: &TransientState,
        source: &Arc<dyn AgentSource>,
    ) -> Self {
        Self {
            writer: Arc::clone(writer),
            live: live.clone(),
            source: Arc::clone(source),
            waiting: PendingReplies::default(),
        }
    }

    /// For a run, whose calls wait there.
    pub(super) fn waiting(&self) -> PendingReplies<Approval> {
        self.waiting.clone()
    }

    /// The run has ended.
    pub(super) fn clear(&self) {
        self.waiting.clear();
    }

    /// Takes a decision. It is recorded and stored before the run receives it; the first one
    /// counts.
    async fn decide(
        &self,
        by: &Caller,
        response: ApprovalResponse,
    ) -> Result<Recipient, EngineError> {
        let id = &response.approval_id;
        let Some(asked) = self.live.read(|state| state.approvals.get(id)) else {
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
        let reason = reason.map(str::to_owned);
        let grant = match response.decision {
            ApprovalDecision::Allow => self.checked_grant(by, &asked, &response).await?,
            ApprovalDecision::Deny => None,
        };
        let scope = match grant.as_ref().map(|grant| grant.within) {
            None => ApprovalLifetime::Once,
            Some(ApprovalWithin::Session) => ApprovalLifetime::Session,
            Some(ApprovalWithin::Agent) => ApprovalLifetime::Agent,
        };
        let (outcome, consent) = match (response.decision, scope) {
            (ApprovalDecision::Allow, ApprovalLifetime::Once) => {
                (ApprovalOutcome::Allowed, Consent::Given)
            }
            (ApprovalDecision::Allow, ApprovalLifetime::Session) => {
                (ApprovalOutcome::AllowedForSession, Consent::Given)
            }
            (ApprovalDecision::Allow, ApprovalLifetime::Agent) => {
                (ApprovalOutcome::AllowedForAgent, Consent::Given)
            }
            (ApprovalDecision::Deny, _) => {
                let reason = reason.clone();
                (ApprovalOutcome::Denied, Consent::Refused { reason })
            }
        };
        let act = ApprovalAct {
            session: &self.writer.id,
            asked: &asked,
            decision: response.decision,
            scope,
        };
        self.source.record_approval(by, act).await?;
        let grant = match grant {
            Some(grant) => Some(self.source.grant_approval(by, grant).await?),
            None => None,
        };
        let mut writing = self.writer.begin().await;
        let of_session = grant.filter(|grant| grant.within == ApprovalWithin::Session);
        let decided = writing.change(|durable| {
            if let Some(grant) = of_session {
                durable.grant(grant);
            }
            durable.decide(id, outcome, reason);
            Ok(())
        });
        decided.await?;
        drop(writing);
        self.live.change(|state| state.close_approval(id, outcome));
        // The hash of what was shown. The run compares it with what would run.
        let hash = CallHash::of(&asked.tool_name, &asked.args);
        Ok(self.waiting.answer(id, Approval { hash, consent }))
    }

    /// The standing approval that a response asks for, if it may be granted.
    async fn checked_grant(
        &self,
        by: &Caller,
        asked: &ApprovalQuestion,
        response: &ApprovalResponse,
    ) -> Result<Option<StandingApproval>, EngineError> {
        let exact = || ApprovalGrant {
            scope: ApprovalScope::Call {
                hash: asked.hash.clone(),
            },
            within: ApprovalWithin::Session,
        };
        let wanted = response.grant.clone();
        let Some(wanted) = wanted.or_else(|| response.remember.then(exact)) else {
            return Ok(None);
        };
        let session = self.writer.meta().await?;
        let is_own = session.user_id.as_deref() == Some(by.user_id.as_str());
        if wanted.within == ApprovalWithin::Agent && !is_own {
            return Err(Forbidden::ApprovalOfAnotherUser.into());
        }
        let facts = {
            let writing = self.writer.begin().await;
            let mut known = writing.state.durable.approvals.iter();
            let known = known.find(|known| known.asked.approval_id == asked.approval_id);
            known.map(|known| known.facts.clone()).unwrap_or_default()
        };
        let request = ApprovalRequest {
            tool_call_id: asked.tool_call_id.clone(),
            tool_name: asked.tool_name.clone(),
            tool_label: asked.tool_label.clone(),
            risk: asked.risk,
            args: asked.args.clone(),
            reason: asked.reason.clone(),
            foreign: asked.foreign.clone(),
            hash: CallHash::of(&asked.tool_name, &asked.args),
            facts,
        };
        let scope = granted(&request, may_grant_for_agent(&session), &wanted);
        let scope = scope.ok_or(BadRequest::GrantNotOffered)?;
        let mut tools = request.facts.tools;
        if !matches!(scope, ApprovalScope::Edits { .. }) {
            tools.retain(|name, _| *name == asked.tool_name);
        }
        let call = Granted {
            tool_name: asked.tool_name.clone(),
            tool_label: asked.tool_label.clone(),
            sample: sample(&asked.args),
            scope,
            within: wanted.within,
            tools,
        };
        Ok(Some(call.in_session(&session, by)))
    }

    /// Adds a standing approval of the session that no call asked for.
    async fn grant(
        &self,
        by: &Caller,
        grant: Granted,
        request: Option<Request>,
        requests: &mut Requests,
    ) -> Result<(), EngineError> {
        let session = self.writer.meta().await?;
        let new = grant.in_session(&session, by);
        let new = self.source.grant_approval(by, new).await?;
        let mut writing = self.writer.begin().await;
        let stored = writing.change(|durable| {
            durable.grant(new);
            Ok(())
        });
        stored.await?;
        requests.store(&mut writing, request, Outcome::Done).await
    }

    /// Takes standing approvals of the session back.
    async fn revoke(
        &self,
        by: &Caller,
        revoked: &[StandingApproval],
        request: Option<Request>,
        requests: &mut Requests,
    ) -> Result<(), EngineError> {
        for approval in revoked {
            self.source.record_revoked(by, approval).await?;
        }
        let mut writing = self.writer.begin().await;
        let stored = writing.change(|durable| {
            let is_revoked =
                |known: &StandingApproval| revoked.iter().any(|one| one.id == known.id);
            durable.standing.retain(|known| !is_revoked(known));
            Ok(())
        });
        stored.await?;
        requests.store(&mut writing, request, Outcome::Done).await
    }

    async fn standing(&self) -> Vec<StandingApproval> {
        self.writer.begin().await.state.durable.standing.clone()
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
