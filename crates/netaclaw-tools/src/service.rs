//! What a tool may request of its session. Small traits, so that tests and workers can implement
//! them.

use async_trait::async_trait;
use netaclaw_governance::CallLimits;
use netaclaw_protocol::{TodoItem, TodoList};

/// The to-do list of the session, on the run's path.
#[async_trait]
pub trait TodoService: Send + Sync {
    async fn list(&self) -> TodoList;

    /// Stores a new list in place of the old one and returns it with its revision.
    async fn replace(&self, items: Vec<TodoItem>) -> Result<TodoList, ServiceError>;
}

/// Asks the users with the session open.
#[async_trait]
pub trait Clarifier: Send + Sync {
    /// Waits as long as it takes and never invents an answer. To stop waiting, drop the future; the
    /// question is closed with its run.
    async fn ask(&self, question: ClarifyQuestion) -> Result<ClarifyAnswer, ServiceError>;
}

/// A question as the model writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClarifyQuestion {
    pub tool_call_id: String,
    pub question: String,
    /// What may be chosen; the answer may still be any text.
    pub options: Vec<String>,
    pub multi: bool,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClarifyAnswer {
    /// One text, or several where several could be chosen.
    Answered(Vec<String>),
    /// A user closed the question without an answer.
    Dismissed,
    /// The one setting for open questions ran out.
    TimedOut,
}

/// The agent's memories about the user of its session.
#[async_trait]
pub trait MemoryService: Send + Sync {
    /// Remembers a fact, in the place of another if that one's id is given. After content from
    /// outside it is only proposed, and whatever it is to replace stays until the user agrees.
    async fn save(
        &self,
        text: &str,
        replaces: Option<&str>,
        provenance: Provenance,
    ) -> Result<MemoryFact, MemoryError>;

    /// The facts that have something to do with the query, the most relevant first. Those that the
    /// session itself has proposed are among them where it has read content from outside: on
    /// another branch they would bring that content back.
    async fn search(
        &self,
        query: &str,
        provenance: Provenance,
    ) -> Result<Vec<MemoryFact>, MemoryError>;
}

/// What the model that makes a call has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Only what its user, this session and the workspace say.
    Local,
    /// Also content from outside.
    Foreign,
}

impl Provenance {
    pub fn of(limits: &CallLimits) -> Self {
        match limits.after_foreign() {
            true => Self::Foreign,
            false => Self::Local,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFact {
    pub id: String,
    pub text: String,
    /// When it was saved, as a date.
    pub day: String,
    /// The user has not confirmed it yet.
    pub pending: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// For the model to read; not a whole sentence.
    #[error("{0}")]
    Refused(String),
    /// Logged where it happened, or the session has no user with memories.
    #[error("the memory is unavailable")]
    Unavailable,
}

/// Why the session could not do what a tool asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The run is ending; nothing new is begun.
    #[error("the run was stopped")]
    Stopped,
    /// Whatever the cause, it was logged where it happened; the model reads only this.
    #[error("the session cannot do this now")]
    Unavailable,
}
