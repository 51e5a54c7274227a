//! What an agent remembers of the user whose session it is.

use async_trait::async_trait;
use netaclaw_admin::{AdminError, AdminStore, Expect, by_relevance, search};
use netaclaw_protocol::{AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, UserId};
use netaclaw_tools::{MemoryError, MemoryFact, MemoryService};
use std::sync::Arc;

/// The memory of one agent and one user.
pub(crate) struct AgentMemory {
    admin: Arc<dyn AdminStore>,
    agent: AgentId,
    /// Sessions of nobody have no memory.
    user: Option<UserId>,
}

impl AgentMemory {
    pub(crate) fn new(admin: Arc<dyn AdminStore>, agent: AgentId, user: Option<&str>) -> Self {
        Self {
            admin,
            agent,
            user: user.map(UserId::new),
        }
    }

    /// What belongs into the prompt of a session, the most relevant first. What a session began
    /// with decides, so that the prompt stays the same while the session goes on.
    pub(crate) async fn facts(&self, about: &str) -> Vec<String> {
        let memories = match self.all().await {
            Ok(memories) => memories,
            // A session can go on without it.
            Err(_) => return Vec::new(),
        };
        by_relevance(&memories, about)
            .into_iter()
            .map(|memory| memory.spec.text.clone())
            .collect()
    }

    async fn all(&self) -> Result<Vec<Memory>, MemoryError> {
        let user = self.user()?;
        let memories = self.admin.memories_for(user, &self.agent).await;
        memories.map_err(memory_error)
    }

    fn user(&self) -> Result<&UserId, MemoryError> {
        self.user.as_ref().ok_or(MemoryError::Unavailable)
    }
}

#[async_trait]
impl MemoryService for AgentMemory {
    async fn save(&self, text: &str, replaces: Option<&str>) -> Result<MemoryFact, MemoryError> {
        let user = self.user()?;
        let mut spec = MemorySpec {
            agent_id: Some(self.agent.clone()),
            text: text.to_owned(),
        };
        let author = MemoryAuthor::Agent;
        let saved = match replaces {
            None => self.admin.create_memory(user, author, spec).await,
            Some(id) => {
                let known = self.all().await?;
                let old = known.into_iter().find(|memory| memory.id.as_str() == id);
                let old = old.ok_or_else(|| {
                    MemoryError::Refused(format!("there is no fact with the id {id:?}"))
                })?;
                // What is for all agents stays so.
                spec.agent_id = old.spec.agent_id;
                let id = MemoryId::new(id);
                let expect = Expect::Rev(old.stamp.rev);
                self.admin
                    .update_memory(user, author, &id, expect, spec)
                    .await
            }
        };
        saved.map(|memory| fact(&memory)).map_err(memory_error)
    }

    async fn search(&self, query: &str) -> Result<Vec<MemoryFact>, MemoryError> {
        let memories = self.all().await?;
        Ok(search(&memories, query).into_iter().map(fact).collect())
    }
}

fn fact(memory: &Memory) -> MemoryFact {
    let day = jiff::Timestamp::from_millisecond(memory.stamp.updated_at);
    MemoryFact {
        id: memory.id.to_string(),
        text: memory.spec.text.clone(),
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
