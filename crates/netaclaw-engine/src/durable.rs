//! What a session must remember beside its entries: the queue, the run under way, open questions,
//! and requests that left no other trace.
//!
//! It is kept in the session's metadata, so that it is as durable as the entries and moves with
//! them from provider to provider.

use crate::compaction::Kept;
use crate::requests::{Answered, KEPT_FOR_MS};
use netaclaw_protocol::{
    ApprovalOutcome, ApprovalQuestion, ChatMode, Disposition, EntryId, Question, QueueItem,
    QueueState, RunId, SessionId, SessionMeta, Trouble,
};
use netaclaw_session::Visits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The key in the session's metadata.
pub(crate) const KEY: &str = "netaclaw";
/// Apart, so that sessions at rest have no [`KEY`], by which those under way are found.
const TOOLS_KEY: &str = "netaclawTools";
/// Messages that may wait; a further one is refused, not dropped.
pub(crate) const QUEUE_MAX: usize = 50;
/// Answered requests that are stored; beyond it the oldest is forgotten first. All of them are
/// written with every change, so they are few.
const REQUESTS_MAX: usize = 32;
/// Calls that may be agreed to for a whole session; beyond it the oldest is asked about again.
const CONSENTS_MAX: usize = 256;
/// Decisions and answers that are remembered beyond their run.
const DECIDED_MAX: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Durable {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<Queued>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunMark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<Asked>,
    /// The last answers to questions, for whoever answers once more.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient")]
    pub(crate) answered: Vec<AnsweredQuestion>,
    /// Calls of this run that needed consent.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient")]
    pub(crate) approvals: Vec<AskedConsent>,
    /// How the last calls were decided on, for whoever decides once more.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient")]
    pub(crate) decided: Vec<Decided>,
    /// Hashes of calls to which somebody agreed for the whole session, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) consents: Vec<String>,
    /// The agent's model was overridden for this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// The tools that the model was last told it has, under a key of its own.
    #[serde(skip)]
    pub(crate) told_tools: Option<Vec<String>>,
    /// Requests of the last day that no entry and no message in the queue tells of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<Answered>,
    /// What people were told about the setting of this session, and need not be told again.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient")]
    pub(crate) warnings: Vec<Trouble>,
    /// What condensing has come to.
    #[serde(skip_serializing_if = "Kept::is_empty", deserialize_with = "lenient")]
    pub(crate) compaction: Kept,
    /// A run has ended since somebody last looked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
    /// Which way was last taken at forks, where it is not the way that was written last.
    #[serde(skip_serializing_if = "Visits::is_empty")]
    pub(crate) visits: Visits,
}

/// How the state is written.
#[derive(Serialize)]
struct Storing<'a> {
    session: &'a SessionId,
    by: &'a str,
    #[serde(flatten)]
    state: &'a Durable,
}

/// Those of it that are not the state's.
const STORING_FIELDS: usize = 2;

/// How the state stands in the metadata.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    /// Whose it is. A fork or a copy takes the metadata along, but not what is under way.
    session: SessionId,
    #[serde(flatten)]
    state: Durable,
}

fn is_list_of(value: &Value, names: &[String]) -> bool {
    value.as_array().is_some_and(|known| {
        known.len() == names.len() && known.iter().zip(names).all(|(one, other)| one == other)
    })
}

/// A message that waits, and where it is to continue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Queued {
    #[serde(flatten)]
    pub(crate) item: QueueItem,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) leaf_entry_id: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    /// Of the request; the text may have been edited since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
}

impl Queued {
    /// Whether it goes into the run under way. What a stop has held waits for its sender instead.
    pub(crate) fn steers(&self) -> bool {
        self.item.mode == ChatMode::Steer && !self.item.held
    }

    /// What its sender was told.
    pub(crate) fn disposition(&self) -> Disposition {
        match self.item.mode {
            ChatMode::Steer => Disposition::Steered,
            ChatMode::Auto | ChatMode::Queue => Disposition::Queued,
        }
    }
}

/// A question and, once somebody gave it, the answer: kept until the tool's result is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
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

/// A call that needs consent and, once somebody decided, how: kept until the run has ended, and
/// beyond the death of a server until the call has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskedConsent {
    #[serde(flatten)]
    pub(crate) asked: ApprovalQuestion,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<ApprovalOutcome>,
    /// What the person who refused it said. Not `reason`, which is why it was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
}

impl AskedConsent {
    pub(crate) fn is_allowed(&self) -> bool {
        let allowed = [ApprovalOutcome::Allowed, ApprovalOutcome::AllowedForSession];
        self.outcome
            .is_some_and(|outcome| allowed.contains(&outcome))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decided {
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

impl Durable {
    /// Reads the state back. Anything unreadable counts as nothing: the entries are the truth.
    pub(crate) fn read(session: &SessionMeta) -> Self {
        let state = match stored(session) {
            None => Self::default(),
            Some(stored) if stored.session == session.session_id => stored.state,
            Some(copied) => Self {
                model: copied.state.model,
                ..Self::default()
            },
        };
        let told = session.metadata.get(TOOLS_KEY);
        Self {
            told_tools: told.and_then(|told| serde_json::from_value(told.clone()).ok()),
            ..state
        }
    }

    /// The metadata with this state in it; whatever else it holds stays.
    pub(crate) fn write(
        &self,
        session: &SessionId,
        by: &str,
        mut metadata: Map<String, Value>,
    ) -> Map<String, Value> {
        if let Some(told) = &self.told_tools
            && !metadata
                .get(TOOLS_KEY)
                .is_some_and(|known| is_list_of(known, told))
        {
            metadata.insert(TOOLS_KEY.to_owned(), told.clone().into());
        }
        let written = serde_json::to_value(Storing {
            session,
            by,
            state: self,
        });
        let Ok(Value::Object(state)) = written else {
            unreachable!("plain data is an object");
        };
        // What is as usual is not written.
        if state.len() == STORING_FIELDS {
            metadata.remove(KEY);
        } else {
            metadata.insert(KEY.to_owned(), state.into());
        }
        metadata
    }

    /// Whether a process that died would have gone on here.
    pub(crate) fn is_unfinished(&self) -> bool {
        let waits = |queued: &Queued| !queued.item.held;
        let answered = |asked: &Asked| asked.answer.is_some();
        self.run.is_some() || self.queue.iter().any(waits) || self.questions.iter().any(answered)
    }

    pub(crate) fn remember(&mut self, request: Answered, now_ms: i64) {
        self.requests
            .retain(|known| now_ms - known.at < KEPT_FOR_MS);
        self.requests.push(request);
        let surplus = self.requests.len().saturating_sub(REQUESTS_MAX);
        self.requests.drain(..surplus);
    }

    pub(crate) fn agree_for_session(&mut self, hash: String) {
        self.consents.retain(|known| *known != hash);
        self.consents.push(hash);
        let surplus = self.consents.len().saturating_sub(CONSENTS_MAX);
        self.consents.drain(..surplus);
    }

    /// What somebody answered to a question.
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
        self.decided.push(Decided {
            approval_id: id.to_owned(),
            outcome,
        });
        let surplus = self.decided.len().saturating_sub(DECIDED_MAX);
        self.decided.drain(..surplus);
    }

    /// Uses up consent to this very call that was given after its run had died.
    pub(crate) fn take_consent(&mut self, run: &RunId, tool_call_id: &str, hash: &str) -> bool {
        let given = self.approvals.iter().position(|consent| {
            let asked = &consent.asked;
            let same = asked.tool_call_id == tool_call_id && asked.hash == hash;
            consent.is_allowed() && same && asked.run_id != *run
        });
        given.map(|at| self.approvals.remove(at)).is_some()
    }

    /// Whether something waits for a person.
    pub(crate) fn is_waiting(&self) -> bool {
        self.questions.iter().any(|asked| asked.answer.is_none())
            || self.approvals.iter().any(|asked| asked.outcome.is_none())
    }

    pub(crate) fn forget_queued(&mut self, item_id: &str) {
        self.queue.retain(|queued| queued.item.item_id != item_id);
    }

    pub(crate) fn hold_queue(&mut self) {
        self.queue
            .iter_mut()
            .for_each(|queued| queued.item.held = true);
    }

    pub(crate) fn queue_state(&self) -> QueueState {
        QueueState {
            items: self
                .queue
                .iter()
                .map(|queued| queued.item.clone())
                .collect(),
            held: self.queue.iter().any(|queued| queued.item.held),
        }
    }
}

fn stored(session: &SessionMeta) -> Option<Stored> {
    let stored = session.metadata.get(KEY)?;
    serde_json::from_value(stored.clone()).ok()
}

/// What another version wrote and this one cannot read is worth less than what stands beside it.
fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session(id: &str, metadata: Map<String, Value>) -> SessionMeta {
        let meta = json!({"sessionId": id, "provider": "file", "rootEntryId": null,
            "leafEntryId": null, "cwd": "", "parentSessionId": null, "agentId": null,
            "userId": null, "title": null, "status": "active", "metadata": metadata,
            "createdAt": "T", "updatedAt": "T", "messageCount": 0, "firstMessage": null});
        serde_json::from_value(meta).unwrap()
    }

    fn holding(state: Value) -> SessionMeta {
        let metadata = json!({ "netaclaw": state });
        session("s", metadata.as_object().unwrap().clone())
    }

    fn running() -> Durable {
        Durable {
            run: Some(RunMark {
                run_id: RunId::new("r"),
                started_at: 5,
            }),
            model: Some(ModelChoice {
                channel_id: "c".to_owned(),
                model_id: "m".to_owned(),
            }),
            ..Durable::default()
        }
    }

    #[test]
    fn the_state_round_trips_beside_other_metadata() {
        let other = json!({"colour": "blue"}).as_object().unwrap().clone();
        let id = SessionId::new("s");
        let empty = Durable::default();
        let untouched = empty.write(&id, "p", other.clone());
        assert_eq!(untouched, other, "an empty state leaves no trace");
        let metadata = running().write(&id, "p", other.clone());
        assert_eq!(metadata["colour"], "blue");
        let stored = session("s", metadata.clone());
        assert_eq!(Durable::read(&stored), running());
        assert_eq!(empty.write(&id, "p", metadata), other);
    }

    #[test]
    fn a_copy_takes_model_and_tools_along_and_nothing_that_is_under_way() {
        let told_tools = Some(vec!["read".to_owned()]);
        let state = Durable {
            told_tools: told_tools.clone(),
            ..running()
        };
        let metadata = state.write(&SessionId::new("s"), "p", Map::new());
        let copy = Durable::read(&session("copy", metadata));
        let model = running().model;
        assert_eq!(
            copy,
            Durable {
                model,
                told_tools,
                ..Durable::default()
            }
        );
    }

    #[test]
    fn what_the_model_was_told_does_not_make_a_session_unfinished() {
        let state = Durable {
            told_tools: Some(vec!["read".to_owned()]),
            ..Durable::default()
        };
        let metadata = state.write(&SessionId::new("s"), "p", Map::new());
        assert!(!metadata.contains_key(KEY));
        assert_eq!(Durable::read(&session("s", metadata)), state);
    }

    #[test]
    fn damage_counts_as_nothing() {
        let stored = holding(json!({"session": "s", "by": "p", "queue": 7}));
        assert_eq!(Durable::read(&stored), Durable::default());
    }

    #[test]
    fn warnings_of_another_version_cost_only_themselves() {
        let run = json!({"runId": "r", "startedAt": 5});
        let warnings = json!([{"kind": "of tomorrow"}]);
        let stored = json!({"session": "s", "by": "p", "run": run, "warnings": warnings});
        let state = Durable::read(&holding(stored));
        assert!(state.run.is_some() && state.warnings.is_empty());
    }

    #[test]
    fn few_requests_are_kept_and_not_for_long() {
        let mut state = Durable::default();
        for at in 0..100 {
            state.remember(Answered::done(format!("q{at}"), at), at);
        }
        assert_eq!(state.requests.len(), REQUESTS_MAX);
        assert_eq!(state.requests[REQUESTS_MAX - 1].id, "q99");
        let later = 99 + KEPT_FOR_MS;
        state.remember(Answered::done("new".to_owned(), later), later);
        assert_eq!(state.requests.len(), 1);
    }
}
