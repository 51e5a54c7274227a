//! The agent of a session, and switching it.

use crate::error::EngineError;
use crate::session::durable::{ModelChoice, PersistedState};
use crate::session::writer::{SessionWriter, Writing};
use crate::source::{AgentRef, AgentSource};
use netaclaw_session::{
    Entry, EntryBody, MetadataChange, NewEntry, NewParent, SessionPatch, raw_json,
};
use serde_json::json;

/// The `customType` of the entries that record that another agent answers from there on.
pub const AGENT_ENTRY: &str = "netaclaw.agent";

/// The member of a session's metadata that names the directory of an agent the session was switched
/// to. Without it the session's own directory counts.
pub const AGENT_DIRECTORY: &str = "netaclawDirectory";

/// A session's way to another agent.
pub(super) struct Switch {
    agent: AgentRef,
    from: Option<String>,
    /// The model that was chosen for the session, if the agent can have it.
    model: Option<ModelChoice>,
}

/// The agent with this id or name; `None` if none is named.
pub(super) async fn agent_named(
    source: &dyn AgentSource,
    name: Option<&str>,
) -> Result<Option<AgentRef>, EngineError> {
    match name {
        Some(name) => source.find(Some(name)).await.map(Some),
        None => Ok(None),
    }
}

/// What has to be done for this agent to answer; `None` if it does already.
pub(super) async fn switch_to(
    agent: Option<AgentRef>,
    writer: &SessionWriter,
    source: &dyn AgentSource,
) -> Result<Option<Switch>, EngineError> {
    let Some(agent) = agent else { return Ok(None) };
    let from = writer.meta().await?.agent_id;
    if from.as_ref() == Some(&agent.id) {
        return Ok(None);
    }
    let mut model = writer.begin().await.state.durable.model.clone();
    if let Some(chosen) = model.clone() {
        let chosen = chosen.into();
        let checked = source.check_model(Some(&agent.id), &chosen);
        if checked.await.is_err() {
            model = None;
        }
    }
    Ok(Some(Switch { agent, from, model }))
}

impl Switch {
    /// What users allowed the other agent, they did not allow this one.
    pub(super) fn prepare(&self, durable: &mut PersistedState) {
        durable.model = self.model.clone();
        durable.standing.clear();
    }

    /// Records the switch in the tree, changes the session, and appends the message behind it.
    pub(super) async fn append(
        self,
        writing: &mut Writing<'_>,
        message: NewEntry,
    ) -> Result<Entry, EngineError> {
        let data = json!({
            "agentId": self.agent.id, "agentName": self.agent.name, "previousAgentId": self.from,
        });
        let body = EntryBody::Custom {
            custom_type: AGENT_ENTRY.to_owned(),
            data: Some(raw_json(&data)),
        };
        let record = NewEntry {
            parent: message.parent.clone(),
            ..NewEntry::at_leaf(body)
        };
        let record = writing.append(record).await?;
        let directory = MetadataChange::set([AGENT_DIRECTORY], self.agent.cwd.into());
        let patch = SessionPatch {
            agent_id: Some(self.agent.id),
            metadata_changes: vec![directory],
            ..SessionPatch::default()
        };
        writing.patch(patch).await?;
        let parent = NewParent::Entry(Some(record.id().clone()));
        writing.append(NewEntry { parent, ..message }).await
    }
}
