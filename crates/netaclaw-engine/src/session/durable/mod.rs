//! The persisted state of a session besides its entries: the queue, the current run, open
//! questions, and requests that left no other trace.
//!
//! It is stored in the session's metadata, so that it is as durable as the entries and moves with
//! them from provider to provider.

mod queue;
mod stored;

pub(crate) use queue::{Queue, Queued};
pub(crate) use stored::{NewerState, StateUpdate, StoredState};

use crate::compaction::StoredCompaction;
use crate::session::requests::{AnsweredRequest, KEPT_FOR_MS};
use netaclaw_governance::{CallFacts, WORKSPACE};
use netaclaw_protocol::{
    ApprovalOutcome, ApprovalQuestion, ApprovalScope, LocalizedError, Question, RunId, SessionMeta,
    StandingApproval,
};
use netaclaw_session::LastVisited;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The key in the session's metadata.
pub(crate) const KEY: &str = "netaclaw";
/// Separate, so that idle sessions have no [`KEY`], by which active ones are found.
const TOOLS_KEY: &str = "netaclawTools";
/// Answered requests that are stored; beyond it the oldest is forgotten first. All of them are
/// written with every change, so they are few.
const REQUESTS_MAX: usize = 32;
/// Standing approvals of a session; beyond it the oldest is forgotten.
const STANDING_MAX: usize = 64;
/// Decisions and answers that are remembered beyond their run.
const DECIDED_MAX: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersistedState {
    /// Stored apart, item by item.
    #[serde(skip)]
    pub(crate) queue: Queue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunMark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<StoredQuestion>,
    /// The last answers to questions, for clients that repeat an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answered: Vec<AnsweredQuestion>,
    /// Calls of this run that needed approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) approvals: Vec<StoredApproval>,
    /// The last decisions, for clients that repeat a decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) decided: Vec<StoredDecision>,
    /// What a user allowed for the whole session, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) standing: Vec<StandingApproval>,
    /// The agent's model was overridden for this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// The tools that were last announced to the model, under a key of its own.
    #[serde(skip)]
    pub(crate) told_tools: Option<Vec<String>>,
    /// Requests of the last day that neither an entry nor a queued message records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<AnsweredRequest>,
    /// Warnings about the setting of this session that were shown, and need not be shown again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<LocalizedError>,
    /// The compaction state.
    #[serde(skip_serializing_if = "StoredCompaction::is_empty")]
    pub(crate) compaction: StoredCompaction,
    /// A run has ended since a client last opened the session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
    /// The child visited last at each fork, where it is not the one written last.
    #[serde(skip_serializing_if = "LastVisited::is_empty")]
    pub(crate) visits: LastVisited,
}

/// Whether it allows all edits in the workspace.
pub(crate) fn is_accept_edits(approval: &StandingApproval) -> bool {
    matches!(&approval.scope, ApprovalScope::Edits { folder } if folder == WORKSPACE)
}

/// A question and, once it is answered, the answer: stored until the tool's result is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredQuestion {
    #[serde(flatten)]
    pub(crate) question: Question,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnsweredQuestion {
    pub(crate) request_id: String,
    /// Empty if it was closed without one.
    pub(crate) answer: Vec<String>,
}

/// A call that needs approval and, once it is decided, the decision: stored until the run has
/// ended, and after the death of a server until the call has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredApproval {
    #[serde(flatten)]
    pub(crate) asked: ApprovalQuestion,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<ApprovalOutcome>,
    /// The user's note about a refusal. Not `reason`, which is why approval was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
    /// What a standing approval that is granted with it is judged by.
    #[serde(default)]
    pub(crate) facts: CallFacts,
}

impl StoredApproval {
    pub(crate) fn is_allowed(&self) -> bool {
        let allowed = [
            ApprovalOutcome::Allowed,
            ApprovalOutcome::AllowedForSession,
            ApprovalOutcome::AllowedForAgent,
        ];
        self.outcome
            .is_some_and(|outcome| allowed.contains(&outcome))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredDecision {
    pub(crate) approval_id: String,
    pub(crate) outcome: ApprovalOutcome,
}

/// A run that has begun and not ended. Found after a restart it was interrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunMark {
    pub(crate) run_id: RunId,
    /// Unix time in milliseconds.
    pub(crate) started_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelChoice {
    pub(crate) channel_id: String,
    pub(crate) model_id: String,
}

impl PersistedState {
    /// Reads the state back, for a look at it.
    pub(crate) fn read(session: &SessionMeta) -> Self {
        StoredState::read(session).0
    }

    /// Whether a process that died would have gone on here.
    pub(crate) fn is_unfinished(&self) -> bool {
        let waits = |queued: &Arc<Queued>| !queued.item.held;
        let answered = |asked: &StoredQuestion| asked.answer.is_some();
        self.run.is_some() || self.queue.iter().any(waits) || self.questions.iter().any(answered)
    }

    pub(crate) fn remember(&mut self, request: AnsweredRequest, now_ms: i64) {
        self.requests
            .retain(|known| now_ms - known.at < KEPT_FOR_MS);
        self.requests.push(request);
        let surplus = self.requests.len().saturating_sub(REQUESTS_MAX);
        self.requests.drain(..surplus);
    }

    /// Adds a standing approval in place of one with the same scope.
    pub(crate) fn grant(&mut self, new: StandingApproval) {
        let same = |known: &StandingApproval| {
            (&known.scope, &known.tool_name) == (&new.scope, &new.tool_name)
                || is_accept_edits(known) && is_accept_edits(&new)
        };
        self.standing.retain(|known| !same(known));
        self.standing.push(new);
        let surplus = self.standing.len().saturating_sub(STANDING_MAX);
        self.standing.drain(..surplus);
    }

    /// A user's answer to a question.
    pub(crate) fn answer_to(&self, request_id: &str) -> Option<&Vec<String>> {
        let mut answered = self.answered.iter();
        let known = answered.find(|known| known.request_id == request_id);
        known.map(|known| &known.answer)
    }

    /// Stores the answer to a question; `false` if it is not open.
    pub(crate) fn answer(&mut self, request_id: &str, answer: Vec<String>) -> bool {
        let mut open = self.questions.iter_mut();
        let open = open.find(|asked| asked.question.request_id == request_id);
        let Some(asked) = open.filter(|asked| asked.answer.is_none()) else {
            return false;
        };
        asked.answer = Some(answer.clone());
        self.answered.push(AnsweredQuestion {
            request_id: request_id.to_owned(),
            answer,
        });
        let surplus = self.answered.len().saturating_sub(DECIDED_MAX);
        self.answered.drain(..surplus);
        true
    }

    /// Stores a decision on a call.
    pub(crate) fn decide(&mut self, id: &str, outcome: ApprovalOutcome, words: Option<String>) {
        let mut stored = self.approvals.iter_mut();
        if let Some(stored) = stored.find(|stored| stored.asked.approval_id == id) {
            stored.outcome = Some(outcome);
            stored.words = words;
        }
        self.decided.push(StoredDecision {
            approval_id: id.to_owned(),
            outcome,
        });
        let surplus = self.decided.len().saturating_sub(DECIDED_MAX);
        self.decided.drain(..surplus);
    }

    /// Uses up an approval of this very call that was given after its run had died.
    pub(crate) fn take_approval(&mut self, run: &RunId, tool_call_id: &str, hash: &str) -> bool {
        let given = self.approvals.iter().position(|consent| {
            let asked = &consent.asked;
            let same = asked.tool_call_id == tool_call_id && asked.hash == hash;
            consent.is_allowed() && same && asked.run_id != *run
        });
        given.map(|at| self.approvals.remove(at)).is_some()
    }

    /// Whether nothing waits: no message, and no answer of a user.
    pub(crate) fn has_nothing_open(&self) -> bool {
        self.queue.is_empty() && self.questions.is_empty() && self.approvals.is_empty()
    }

    /// Whether something waits for a user.
    pub(crate) fn is_waiting(&self) -> bool {
        self.questions.iter().any(|asked| asked.answer.is_none())
            || self.approvals.iter().any(|asked| asked.outcome.is_none())
    }

    pub(crate) fn forget_queued(&mut self, item_id: &str) {
        self.queue.retain(|queued| queued.item.item_id != item_id);
    }
}

#[cfg(test)]
mod tests;
