//! Calls that wait for a person to agree.

use super::talk::{Consent, Terminal};
use crate::error::Result;
use crate::terminal::one_line;
use netaclaw_protocol::{ApprovalDecision, ApprovalResponse};
use serde_json::Value;

impl Terminal<'_> {
    /// Without a terminal there is no user to ask, and nothing is approved.
    pub(super) async fn needs_consent(&mut self, call: Value) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        match (self.consent, self.interactive) {
            (Consent::Always, _) => self.decide(id, ApprovalDecision::Allow, false, None).await,
            (Consent::Asked, false) => {
                let tool = call["toolName"].as_str().unwrap_or_default();
                self.screen
                    .remark(&self.app.lang.chat_consent_nobody(one_line(tool, 64)))?;
                let reason = "there is no user to ask. Continue without this call.".to_owned();
                self.decide(id, ApprovalDecision::Deny, false, Some(reason))
                    .await
            }
            (Consent::Asked, true) => {
                self.calls.push_back(call);
                match self.calls.len() {
                    1 => Ok(self.screen.consent(&self.calls[0])?),
                    _ => Ok(()),
                }
            }
        }
    }

    /// The user's answer to an approval request. Anything unclear is not an approval.
    pub(super) async fn consented(&mut self, call: &Value, line: &str) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word.to_lowercase().as_str() {
            "y" | "yes" | "是" if rest.is_empty() => {
                self.decide(id, ApprovalDecision::Allow, false, None).await
            }
            "a" | "always" | "总是" if rest.is_empty() => {
                self.decide(id, ApprovalDecision::Allow, true, None).await
            }
            "n" | "no" | "否" => {
                let reason = Some(rest.trim().to_owned());
                self.decide(id, ApprovalDecision::Deny, false, reason).await
            }
            _ => Ok(self.screen.remark(&self.app.lang.chat_consent_hint())?),
        }
    }

    async fn decide(
        &mut self,
        approval_id: String,
        decision: ApprovalDecision,
        remember: bool,
        reason: Option<String>,
    ) -> Result<()> {
        let Some((session, _)) = &self.session else {
            return Ok(());
        };
        let response = ApprovalResponse {
            session_id: session.clone(),
            approval_id,
            decision,
            remember,
            reason,
        };
        match self.engine.execute(&self.caller, response).await {
            Ok(_) => Ok(()),
            Err(error) => self.was_refused(&error),
        }
    }

    /// The call of this id is decided; the next one is shown.
    pub(super) fn was_decided(&mut self, id: &str) -> Result<()> {
        let first = self.calls.front();
        let first = first.is_some_and(|call| call["approvalId"] == *id);
        self.calls.retain(|call| call["approvalId"] != *id);
        match (first, self.calls.front()) {
            (true, Some(next)) => Ok(self.screen.consent(next)?),
            _ => Ok(()),
        }
    }
}
