//! Approval requests in the terminal.

use super::terminal_chat::{ApprovalMode, TerminalChat};
use crate::approval::{is_workspace, scope_text, within_text};
use crate::error::Result;
use crate::terminal::one_line;
use crate::text::Lang;
use netaclaw_protocol::{
    ApprovalDecision, ApprovalGrant, ApprovalOffer, ApprovalResponse, ApprovalScope, ToolLabel,
};
use serde_json::Value;

/// The keys that grant a scope, in the order of the scopes.
const GRANT_KEYS: &str = "123456789abcdefgh";

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
    /// A scope beyond this call, which is chosen next.
    AllowsMore,
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
        key: 'm',
        words: &[],
        label: Lang::chat_allow_more,
        means: Meaning::AllowsMore,
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

/// How to answer by a line, if so many scopes are listed.
pub(super) fn approval_hint(lang: Lang, scopes: usize) -> String {
    let decides = |choice: &&Choice| matches!(choice.means, Meaning::Decides(..));
    let keys = CHOICES.iter().filter(decides);
    let keys = keys.map(|choice| lang.chat_choice(choice.key, choice.label(lang)));
    let more = (scopes > 0).then(|| lang.chat_allow_numbers(scopes));
    let keys: Vec<String> = keys.chain(more).collect();
    lang.chat_consent_hint(keys.join(" · "))
}

/// A scope that can be granted with the answer, and its text.
pub(super) struct Grant {
    grant: ApprovalGrant,
    pub(super) text: String,
}

/// What can be allowed beyond this call: what the server offers, in the order of the web app.
/// Nothing, if that is no more than the very call.
pub(super) fn grants(lang: Lang, call: &Value) -> Vec<Grant> {
    let offers = serde_json::from_value::<Vec<ApprovalOffer>>(call["offers"].clone());
    let mut offers = offers.unwrap_or_default();
    let is_call = |offer: &ApprovalOffer| matches!(offer.scope, ApprovalScope::Call { .. });
    if offers.iter().all(is_call) {
        return Vec::new();
    }
    offers.sort_by_key(|offer| match &offer.scope {
        ApprovalScope::Commands { .. } => 0,
        scope @ ApprovalScope::Edits { .. } if is_workspace(scope) => 1,
        ApprovalScope::Edits { .. } => 2,
        ApprovalScope::Tool => 3,
        ApprovalScope::Call { .. } => 4,
    });
    let label = serde_json::from_value::<ToolLabel>(call["toolLabel"].clone());
    let tool = label.map_or_else(
        |_| call["toolName"].as_str().unwrap_or_default().to_owned(),
        |label| match lang {
            Lang::En => label.en,
            Lang::Zh => label.zh,
        },
    );
    let grants = offers
        .into_iter()
        .flat_map(|ApprovalOffer { scope, within }| {
            let what = scope_text(lang, &scope, &tool, "");
            within.into_iter().map(move |within| Grant {
                text: lang.chat_grant(&what, within_text(lang, within)),
                grant: ApprovalGrant {
                    scope: scope.clone(),
                    within,
                },
            })
        });
    grants.collect()
}

/// The scopes with the key of each.
pub(super) fn with_keys<T>(scopes: impl IntoIterator<Item = T>) -> impl Iterator<Item = (char, T)> {
    GRANT_KEYS.chars().zip(scopes)
}

/// The scope of a key, by its place.
pub(super) fn grant_of_key(key: char) -> Option<usize> {
    GRANT_KEYS.chars().position(|known| known == key)
}

/// A user's answer to an approval request.
#[derive(Debug)]
struct Answer {
    decision: ApprovalDecision,
    remember: bool,
    grant: Option<ApprovalGrant>,
    reason: Option<String>,
}

impl Answer {
    fn allow(remember: bool) -> Self {
        Self {
            decision: ApprovalDecision::Allow,
            remember,
            grant: None,
            reason: None,
        }
    }

    fn deny(reason: Option<String>) -> Self {
        Self {
            decision: ApprovalDecision::Deny,
            remember: false,
            grant: None,
            reason,
        }
    }
}

impl TerminalChat<'_> {
    /// Without a terminal there is no user to ask, and nothing is approved.
    pub(super) async fn approval_requested(&mut self, call: Value) -> Result<()> {
        match (self.approval_mode, self.interactive) {
            (ApprovalMode::ApproveAll, _) => self.decide(&call, Answer::allow(false)).await,
            (ApprovalMode::Ask, false) => {
                let tool = call["toolName"].as_str().unwrap_or_default();
                self.view.progress_line(
                    &self
                        .app
                        .lang
                        .chat_approval_without_terminal(one_line(tool, 64)),
                )?;
                let reason = "there is no user to ask. Continue without this call.".to_owned();
                self.decide(&call, Answer::deny(Some(reason))).await
            }
            (ApprovalMode::Ask, true) => {
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
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (word, rest) = (word.to_lowercase(), rest.trim());
        let choice = CHOICES
            .iter()
            .find(|choice| choice.words.contains(&word.as_str()));
        // The console lists them only after a key, and takes a key for each.
        let mut grants = match self.view.console() {
            Some(_) => Vec::new(),
            None => grants(self.app.lang, call),
        };
        let number = word.parse::<usize>().ok().filter(|_| rest.is_empty());
        match (choice.map(|choice| choice.means), number) {
            (Some(Meaning::Decides(ApprovalDecision::Allow, remember)), _) if rest.is_empty() => {
                self.decide(call, Answer::allow(remember)).await
            }
            (Some(Meaning::Decides(ApprovalDecision::Deny, _) | Meaning::DeniesWithReason), _) => {
                self.decide(call, Answer::deny(Some(rest.to_owned()))).await
            }
            (None, Some(number @ 1..)) if number <= grants.len() => {
                self.allow_more(call, grants.swap_remove(number - 1)).await
            }
            _ => {
                self.view.restore_line(line);
                let hint = approval_hint(self.app.lang, grants.len());
                Ok(self.view.progress_line(&hint)?)
            }
        }
    }

    /// The user's answer with one key.
    pub(super) async fn answer_by_key(&mut self, choice: usize) -> Result<()> {
        let Some(call) = self.calls.front().cloned() else {
            return Ok(());
        };
        match CHOICES[choice].means {
            Meaning::Decides(ApprovalDecision::Allow, remember) => {
                self.decide(&call, Answer::allow(remember)).await
            }
            Meaning::Decides(ApprovalDecision::Deny, _) => {
                self.decide(&call, Answer::deny(None)).await
            }
            Meaning::AllowsMore => {
                self.view.ask_scope();
                Ok(())
            }
            Meaning::DeniesWithReason => {
                self.view.ask_reason();
                Ok(())
            }
        }
    }

    /// The scope that was chosen with one key.
    pub(super) async fn chose_scope(&mut self, scope: usize) -> Result<()> {
        let Some(call) = self.calls.front().cloned() else {
            return Ok(());
        };
        let mut grants = grants(self.app.lang, &call);
        match scope < grants.len() {
            true => self.allow_more(&call, grants.swap_remove(scope)).await,
            false => Ok(()),
        }
    }

    /// Governance decides whether it may be granted.
    async fn allow_more(&mut self, call: &Value, grant: Grant) -> Result<()> {
        let answer = Answer {
            grant: Some(grant.grant),
            ..Answer::allow(false)
        };
        self.decide(call, answer).await
    }

    /// The reason for a denial, after it was asked for.
    pub(super) async fn denied_because(&mut self, reason: &str) -> Result<()> {
        let Some(call) = self.calls.front().cloned() else {
            return Ok(());
        };
        self.decide(&call, Answer::deny(Some(reason.to_owned())))
            .await
    }

    async fn decide(&mut self, call: &Value, answer: Answer) -> Result<()> {
        let Some((session, _)) = &self.session else {
            return Ok(());
        };
        let approval_id = call["approvalId"].as_str().unwrap_or_default();
        let response = ApprovalResponse {
            session_id: session.clone(),
            approval_id: approval_id.to_owned(),
            decision: answer.decision,
            remember: answer.remember,
            grant: answer.grant,
            reason: answer.reason,
        };
        match self.engine.execute(&self.caller, response).await {
            Ok(_) => Ok(()),
            Err(error) => self.report_refusal(&error),
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
        self.view.close_question();
        match self.calls.front() {
            Some(next) => Ok(self.view.approval(next)?),
            None => Ok(()),
        }
    }
}
