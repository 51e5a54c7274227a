//! The port to agents' memories.

mod relevance;

pub use relevance::{by_relevance, search};

use crate::error::{Invalid, Result};
use crate::rules;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, SessionId, UserId};

/// A fact is a sentence or two; whatever is longer belongs into a file.
pub const MEMORY_CHARS_MAX: usize = 500;
/// All facts of a user are read at once, so there must not be too many.
pub const MEMORIES_MAX: usize = 500;
/// A hostile page could make the agent save many; a user has to review each.
pub const PENDING_MEMORIES_MAX: usize = 50;

/// A fact that an agent proposes to remember after it has read external content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProposal {
    pub spec: MemorySpec,
    /// The session it comes from.
    pub session_id: SessionId,
    /// The fact it corrects: a confirmed one, which stays until this one is confirmed, or a pending
    /// one of the same session, which it replaces at once.
    pub replaces: Option<MemoryId>,
}

/// Stores facts. They are private to a user, like sessions, so no other user reads them, and
/// changes are not in the audit log. They are deleted with their user or agent.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// All confirmed facts of a user, the oldest first.
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>>;

    /// The confirmed facts that an agent has of a user: its own, and those for all agents.
    async fn memories_for(&self, user: &UserId, agent: &AgentId) -> Result<Vec<Memory>> {
        let mut memories = self.memories(user).await?;
        memories.retain(|memory| {
            let whose = memory.spec.agent_id.as_ref();
            whose.is_none_or(|whose| whose == agent)
        });
        Ok(memories)
    }

    /// Keeps a fact. One with the same words for the same agent is kept once; the answer is then
    /// the one that was there.
    async fn create_memory(
        &self,
        user: &UserId,
        author: MemoryAuthor,
        spec: MemorySpec,
    ) -> Result<Memory>;

    /// The facts of a user that wait to be confirmed, the oldest first.
    async fn pending_memories(&self, user: &UserId) -> Result<Vec<Memory>>;

    /// Keeps a fact that its user has to confirm. One that is confirmed already, or pending from
    /// the same session, is not kept twice.
    async fn propose_memory(&self, user: &UserId, proposal: MemoryProposal) -> Result<Memory>;

    /// Confirms a pending fact, so that agents use it, and replaces the one it corrects. A
    /// confirmed one stays as it is.
    async fn confirm_memory(&self, user: &UserId, id: &MemoryId, expect: Expect) -> Result<Memory>;

    /// Another user's fact is not found. A pending one that its user has rewritten is confirmed.
    async fn update_memory(
        &self,
        user: &UserId,
        author: MemoryAuthor,
        id: &MemoryId,
        expect: Expect,
        spec: MemorySpec,
    ) -> Result<Memory>;

    /// Also a pending one.
    async fn delete_memory(&self, user: &UserId, id: &MemoryId, expect: Expect) -> Result<()>;
}

/// Facts have no white space around them, and say something.
pub fn check_memory(mut spec: MemorySpec) -> Result<MemorySpec, Invalid> {
    spec.text = spec.text.trim().to_owned();
    rules::filled("text", &spec.text)?;
    rules::at_most("text", &spec.text, MEMORY_CHARS_MAX)?;
    Ok(spec)
}
