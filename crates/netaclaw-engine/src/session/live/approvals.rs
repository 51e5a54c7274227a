//! The calls that wait for the approval of a user.

use netaclaw_protocol::{ApprovalDecided, ApprovalOutcome, ApprovalQuestion, ReliableEvent};

#[derive(Debug, Default)]
pub(crate) struct OpenApprovals {
    /// In the order they were asked.
    open: Vec<ApprovalQuestion>,
}

impl OpenApprovals {
    pub(crate) fn all(&self) -> &[ApprovalQuestion] {
        &self.open
    }

    /// The call that waits under this id.
    pub(crate) fn get(&self, approval_id: &str) -> Option<ApprovalQuestion> {
        let mut open = self.open.iter();
        open.find(|asked| asked.approval_id == approval_id).cloned()
    }

    pub(crate) fn open(&mut self, asked: ApprovalQuestion) -> Option<ReliableEvent> {
        self.open.push(asked.clone());
        Some(ReliableEvent::ApprovalRequest(asked))
    }

    /// Takes a call out, for [`super::TransientFields::close_approval`].
    pub(super) fn close(
        &mut self,
        approval_id: &str,
        outcome: ApprovalOutcome,
    ) -> Option<ApprovalDecided> {
        let mut open = self.open.iter();
        let at = open.position(|asked| asked.approval_id == approval_id)?;
        let asked = self.open.remove(at);
        Some(ApprovalDecided {
            approval_id: asked.approval_id,
            tool_call_id: asked.tool_call_id,
            outcome,
        })
    }
}
