//! The result of a run.

use crate::host::HostError;
use netaclaw_models::ModelError;
pub use netaclaw_protocol::StuckPattern;
use netaclaw_protocol::{LocalizedError, RunOutcome, Usage};

/// The end of a run. Everything it did is in the session; this is what remains to be said.
#[derive(Debug)]
pub struct RunReport {
    pub outcome: RunOutcome,
    /// Why, where the outcome alone does not say.
    pub reason: Option<EndReason>,
    /// The reason as text for users.
    pub trouble: Option<Box<LocalizedError>>,
    /// The sum over all answers of the run, failed ones included.
    pub usage: Usage,
    /// Model calls that were made.
    pub turns: u32,
    /// How the supplier refused the tools that the model was offered. The run went on without.
    pub tools_refused: Option<LocalizedError>,
}

#[derive(Debug, thiserror::Error)]
pub enum EndReason {
    #[error("the run reached its limit of {0} turns")]
    TurnLimit(u32),
    #[error("the model repeated itself and did not stop when warned: {0}")]
    Stuck(StuckPattern),
    /// The last answer was cut off at the model's output limit.
    #[error("the answer was truncated at the model's output limit")]
    AnswerCut,
    /// Neither could the context be made shorter.
    #[error("{0}")]
    ContextTooLong(#[source] ModelError),
    #[error("{0}")]
    Model(#[source] ModelError),
    #[error("{0}")]
    Host(#[source] HostError),
}
