//! The port to standing approvals that are valid for an agent.

use crate::audit::{Act, Actor};
use crate::error::Result;
use async_trait::async_trait;
use netaclaw_protocol::{ApprovalScope, AuditAction, RecordKind, StandingApproval, UserId};

/// Standing approvals of one user for all agents. Who needs more can allow a whole tool.
pub const APPROVALS_MAX: usize = 200;

/// Stores standing approvals. Each belongs to one user and one agent, is in force in the sessions
/// of that user only, and is deleted with either. Grants and revocations are in the audit log.
#[async_trait]
pub trait ApprovalStore: Send + Sync {
    /// The oldest first; `None` is those of all users.
    async fn approvals(&self, user: Option<&UserId>) -> Result<Vec<StandingApproval>>;

    /// Those of a user for one agent.
    async fn approvals_for(&self, user: &UserId, agent: &str) -> Result<Vec<StandingApproval>> {
        let mut approvals = self.approvals(Some(user)).await?;
        approvals.retain(|approval| approval.agent_id.as_deref() == Some(agent));
        Ok(approvals)
    }

    /// Keeps an approval, in place of one with the same scope for the same tool.
    async fn grant_approval(&self, by: &Actor, new: StandingApproval) -> Result<()>;

    /// Revokes an approval. With `user`, that of another user is not found.
    async fn revoke_approval(
        &self,
        by: &Actor,
        user: Option<&UserId>,
        id: &str,
    ) -> Result<StandingApproval>;
}

/// For the audit log, which says what an approval covers: that is what an auditor looks for.
pub fn approval_act(action: AuditAction, approval: &StandingApproval) -> Act {
    Act {
        action,
        kind: RecordKind::Approval,
        target_id: approval.id.clone(),
        target_name: approval.tool_name.clone(),
        fields: covered(approval),
    }
}

fn covered(approval: &StandingApproval) -> Vec<String> {
    let scope = match &approval.scope {
        ApprovalScope::Call { hash } => format!("call:{hash}"),
        ApprovalScope::Tool => "every call".to_owned(),
        ApprovalScope::Edits { folder } => format!("edits:{folder}"),
        ApprovalScope::Commands { patterns } => format!("commands:{}", patterns.join("; ")),
    };
    let agent = approval.agent_id.as_deref().unwrap_or_default();
    let session = approval.session_id.as_ref();
    let session = session.map(|session| format!("session:{session}"));
    let whose = [
        format!("user:{}", approval.user_id),
        format!("agent:{agent}"),
    ];
    [scope].into_iter().chain(whose).chain(session).collect()
}
