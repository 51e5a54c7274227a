//! The memories of an agent about the user of a session.

use async_trait::async_trait;
use netaclaw_admin::{AdminError, AdminStore, Expect, MemoryProposal, by_relevance, search};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemorySpec, MemoryStatus, SessionId, UserId,
};
use netaclaw_tools::{MemoryError, MemoryFact, MemoryService, Provenance};
use std::sync::Arc;

/// The memory of one agent and one user.
pub(crate) struct AgentMemory {
    admin: Arc<dyn AdminStore>,
    agent: AgentId,
    /// Sessions without a user have no memory.
    user: Option<UserId>,
    /// The session whose proposals are its own; a preview has none.
    session: Option<SessionId>,
}

impl AgentMemory {
    pub(crate) fn new(admin: Arc<dyn AdminStore>, agent: AgentId, user: Option<&str>) -> Self {
        Self {
            admin,
            agent,
            user: user.map(UserId::new),
            session: None,
        }
    }

    /// For the tools of a run.
    pub(crate) fn of_session(self, session: &SessionId) -> Self {
        let session = Some(session.clone());
        Self { session, ..self }
    }

    /// The memories for the prompt of a session, the most relevant first. The first message
    /// decides, so that the prompt stays the same during the session. Pending facts are excluded.
    pub(crate) async fn facts(&self, about: &str) -> Vec<String> {
        let memories = match self.confirmed().await {
            Ok(memories) => memories,
            // A session can continue without it.
            Err(_) => return Vec::new(),
        };
        by_relevance(&memories, about)
            .into_iter()
            .map(|memory| memory.spec.text.clone())
            .collect()
    }

    async fn confirmed(&self) -> Result<Vec<Memory>, MemoryError> {
        let user = self.user()?;
        let memories = self.admin.memories_for(user, &self.agent).await;
        memories.map_err(memory_error)
    }

    /// What the model may find and correct.
    async fn visible(&self, provenance: Provenance) -> Result<Vec<Memory>, MemoryError> {
        let mut memories = self.confirmed().await?;
        if provenance == Provenance::Foreign {
            let pending = self.admin.pending_memories(self.user()?).await;
            let mut pending = pending.map_err(memory_error)?;
            pending.retain(|memory| memory.session_id == self.session);
            memories.extend(pending);
        }
        Ok(memories)
    }

    fn user(&self) -> Result<&UserId, MemoryError> {
        self.user.as_ref().ok_or(MemoryError::Unavailable)
    }
}

#[async_trait]
impl MemoryService for AgentMemory {
    async fn save(
        &self,
        text: &str,
        replaces: Option<&str>,
        provenance: Provenance,
    ) -> Result<MemoryFact, MemoryError> {
        let user = self.user()?;
        let mut spec = MemorySpec {
            agent_id: Some(self.agent.clone()),
            text: text.to_owned(),
        };
        let author = MemoryAuthor::Agent;
        let old = match replaces {
            None => None,
            Some(id) => {
                let known = self.visible(provenance).await?;
                let old = known.into_iter().find(|memory| memory.id.as_str() == id);
                let old = old.ok_or_else(|| {
                    MemoryError::Refused(format!("there is no fact with the id {id:?}"))
                })?;
                // What is for all agents stays so.
                spec.agent_id = old.spec.agent_id.clone();
                Some(old)
            }
        };
        let saved = match (provenance, old) {
            (Provenance::Local, None) => self.admin.create_memory(user, author, spec).await,
            (Provenance::Local, Some(old)) => {
                let expect = Expect::Rev(old.stamp.rev);
                let update = self
                    .admin
                    .update_memory(user, author, &old.id, expect, spec);
                update.await
            }
            (Provenance::Foreign, old) => {
                let proposal = MemoryProposal {
                    spec,
                    session_id: self.session.clone().ok_or(MemoryError::Unavailable)?,
                    replaces: old.map(|old| old.id),
                };
                self.admin.propose_memory(user, proposal).await
            }
        };
        saved.map(|memory| fact(&memory)).map_err(memory_error)
    }

    async fn search(
        &self,
        query: &str,
        provenance: Provenance,
    ) -> Result<Vec<MemoryFact>, MemoryError> {
        let memories = self.visible(provenance).await?;
        Ok(search(&memories, query).into_iter().map(fact).collect())
    }
}

fn fact(memory: &Memory) -> MemoryFact {
    let day = jiff::Timestamp::from_millisecond(memory.stamp.updated_at);
    MemoryFact {
        id: memory.id.to_string(),
        text: memory.spec.text.clone(),
        pending: memory.status == MemoryStatus::Pending,
        day: day.map_or_else(|_| String::new(), |at| at.strftime("%F").to_string()),
    }
}

fn memory_error(error: AdminError) -> MemoryError {
    match error {
        AdminError::Store { .. } | AdminError::Sealed { .. } | AdminError::McpSealed { .. } => {
            tracing::error!(%error, "the memory failed");
            MemoryError::Unavailable
        }
        other => MemoryError::Refused(other.to_string()),
    }
}
