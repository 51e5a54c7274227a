//! Approval requests in the terminal.

use super::talk::{Consent, Terminal};
use crate::error::Result;
use crate::terminal::one_line;
use crate::text::Lang;
use netaclaw_protocol::{ApprovalDecision, ApprovalResponse};
use serde_json::Value;

/// One answer to an approval request. All that a user can answer is in the table below: keys, words
/// and the hint follow from it.
pub(super) struct Choice {
    /// The key of this answer.
    pub(super) key: char,
    /// Words that mean the same at the beginning of a line, in lower case.
    words: &'static [&'static str],
    label: fn(Lang) -> String,
    pub(super) means: Meaning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The decision, and whether it is remembered.
    Decides(ApprovalDecision, bool),
    /// A denial with a reason, which is typed next.
    DeniesWithReason,
}

pub(super) const CHOICES: &[Choice] = &[
    Choice {
        key: 'y',
        words: &["y", "yes", "是"],
        label: Lang::chat_allow_once,
        means: Meaning::Decides(ApprovalDecision::Allow, false),
    },
    Choice {
        key: 's',
        words: &["s", "session", "a", "always", "总是"],
        label: Lang::chat_allow_session,
        means: Meaning::Decides(ApprovalDecision::Allow, true),
    },
    Choice {
        key: 'n',
        words: &["n", "no", "否"],
        label: Lang::chat_deny,
        means: Meaning::Decides(ApprovalDecision::Deny, false),
    },
    Choice {
        key: 'r',
        words: &["r", "reason"],
        label: Lang::chat_deny_with_reason,
        means: Meaning::DeniesWithReason,
    },
];

impl Choice {
    pub(super) fn label(&self, lang: Lang) -> String {
        (self.label)(lang)
    }
}

/// The choice of a key, by its place in the table.
pub(super) fn choice_of_key(key: char) -> Option<usize> {
    let key = key.to_ascii_lowercase();
    CHOICES.iter().position(|choice| choice.key == key)
}

/// How to answer by a line.
pub(super) fn consent_hint(lang: Lang) -> String {
    let decides = |choice: &&Choice| matches!(choice.means, Meaning::Decides(..));
    let keys = CHOICES.iter().filter(decides);
    let keys: Vec<String> = keys
        .map(|choice| lang.chat_choice(choice.key, choice.label(lang)))
        .collect();
    lang.chat_consent_hint(keys.join(" · "))
}

impl Terminal<'_> {
    /// Without a terminal there is no user to ask, and nothing is approved.
    pub(super) async fn approval_requested(&mut self, call: Value) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        match (self.consent, self.interactive) {
            (Consent::Always, _) => self.decide(id, ApprovalDecision::Allow, false, None).await,
            (Consent::Asked, false) => {
                let tool = call["toolName"].as_str().unwrap_or_default();
                self.view.progress_line(
                    &self
                        .app
                        .lang
                        .chat_approval_without_terminal(one_line(tool, 64)),
                )?;
                let reason = "there is no user to ask. Continue without this call.".to_owned();
                self.decide(id, ApprovalDecision::Deny, false, Some(reason))
                    .await
            }
            (Consent::Asked, true) => {
                self.calls.push_back(call);
                match self.calls.len() {
                    1 => Ok(self.view.approval(&self.calls[0])?),
                    _ => Ok(()),
                }
            }
        }
    }

    /// The user's answer to an approval request as a line. Anything unclear is not an approval.
    pub(super) async fn answer_approval(&mut self, call: &Value, line: &str) -> Result<()> {
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (word, rest) = (word.to_lowercase(), rest.trim());
        let choice = CHOICES
            .iter()
            .find(|choice| choice.words.contains(&word.as_str()));
        match choice.map(|choice| choice.means) {
            Some(Meaning::Decides(ApprovalDecision::Allow, remember)) if rest.is_empty() => {
                self.decide(id, ApprovalDecision::Allow, remember, None)
                    .await
            }
            Some(Meaning::Decides(ApprovalDecision::Deny, _) | Meaning::DeniesWithReason) => {
                let reason = Some(rest.to_owned());
                self.decide(id, ApprovalDecision::Deny, false, reason).await
            }
            _ => {
                self.view.give_back(line);
                Ok(self.view.progress_line(&consent_hint(self.app.lang))?)
            }
        }
    }

    /// The user's answer with one key.
    pub(super) async fn chose_consent(&mut self, choice: usize) -> Result<()> {
        let Some(call) = self.calls.front() else {
            return Ok(());
        };
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        match CHOICES[choice].means {
            Meaning::Decides(decision, remember) => self.decide(id, decision, remember, None).await,
            Meaning::DeniesWithReason => {
                self.view.ask_reason();
                Ok(())
            }
        }
    }

    /// The reason for a denial, after it was asked for.
    pub(super) async fn denied_because(&mut self, reason: &str) -> Result<()> {
        let Some(call) = self.calls.front() else {
            return Ok(());
        };
        let id = call["approvalId"].as_str().unwrap_or_default().to_owned();
        let reason = Some(reason.to_owned());
        self.decide(id, ApprovalDecision::Deny, false, reason).await
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
            grant: None,
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
        if !first {
            return Ok(());
        }
        self.view.ask_is_over();
        match self.calls.front() {
            Some(next) => Ok(self.view.approval(next)?),
            None => Ok(()),
        }
    }
}
