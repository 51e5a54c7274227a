//! What a session must remember beside its entries: the queue, the run under way, open questions.
//!
//! It is kept in the session's metadata, so that it is as durable as the entries and moves with
//! them from provider to provider.

use netaclaw_protocol::{EntryId, Question, QueueItem, QueueState, RunId, Trouble};
use netaclaw_session::Visits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The key in the session's metadata.
const KEY: &str = "netaclaw";
/// Messages that may wait; a further one is refused, not dropped.
pub(crate) const QUEUE_MAX: usize = 50;
/// Requests remembered that answered a question; the oldest is forgotten first.
const ANSWERED_MAX: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Durable {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<Queued>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunMark>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<Asked>,
    /// The agent's model was overridden for this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelChoice>,
    /// The last ones, see [`ANSWERED_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answered: Vec<AnsweredRequest>,
    /// What people were told about the setting of this session, and need not be told again.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient")]
    pub(crate) warnings: Vec<Trouble>,
    /// A run has ended since somebody last looked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
    /// Which way was last taken at forks, where it is not the way that was written last.
    #[serde(skip_serializing_if = "Visits::is_empty")]
    pub(crate) visits: Visits,
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
    /// Of the request's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
}

/// A message that was taken as the answer to a question, and so is no entry of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnsweredRequest {
    pub(crate) request_id: String,
    pub(crate) fingerprint: String,
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
    pub(crate) fn read(metadata: &Map<String, Value>) -> Self {
        metadata
            .get(KEY)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default()
    }

    /// The metadata with this state in it; whatever else it holds stays.
    pub(crate) fn write(&self, metadata: &Map<String, Value>) -> Map<String, Value> {
        let mut metadata = metadata.clone();
        match serde_json::to_value(self) {
            Ok(Value::Object(state)) if state.is_empty() => {
                metadata.remove(KEY);
            }
            Ok(state) => {
                metadata.insert(KEY.to_owned(), state);
            }
            Err(error) => unreachable!("plain data: {error}"),
        }
        metadata
    }

    pub(crate) fn remember_answered(&mut self, answered: AnsweredRequest) {
        self.answered.push(answered);
        let surplus = self.answered.len().saturating_sub(ANSWERED_MAX);
        self.answered.drain(..surplus);
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

    #[test]
    fn the_state_round_trips_beside_other_metadata() {
        let other = json!({"colour": "blue"}).as_object().unwrap().clone();
        let mut state = Durable::default();
        assert_eq!(state.write(&other), other, "an empty state leaves no trace");
        state.run = Some(RunMark {
            run_id: RunId::new("r"),
            started_at: 5,
        });
        state.model = Some(ModelChoice {
            channel_id: "c".to_owned(),
            model_id: "m".to_owned(),
        });
        let stored = state.write(&other);
        assert_eq!(stored["colour"], "blue");
        assert_eq!(Durable::read(&stored), state);
        assert_eq!(Durable::default().write(&stored), other);
    }

    #[test]
    fn damage_counts_as_nothing() {
        let stored = json!({"netaclaw": {"queue": 7}})
            .as_object()
            .unwrap()
            .clone();
        assert_eq!(Durable::read(&stored), Durable::default());
    }

    #[test]
    fn warnings_of_another_version_cost_only_themselves() {
        let run = json!({"runId": "r", "startedAt": 5});
        let stored = json!({"netaclaw": {"run": run, "warnings": [{"kind": "of tomorrow"}]}})
            .as_object()
            .unwrap()
            .clone();
        let state = Durable::read(&stored);
        assert!(state.run.is_some() && state.warnings.is_empty());
    }
}
