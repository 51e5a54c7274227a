//! Why a compaction failed, for programs and for users.

use netaclaw_models::ModelError;
pub use netaclaw_protocol::SummaryFlaw as Flaw;
use netaclaw_protocol::{CompactionFault, CompactionProblem, LocalizedText};

/// The context stays as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompactionFailure {
    #[error("there is nothing to compact yet")]
    NothingToCompress,
    #[error("the summary would save too little: {before} tokens before, {after} after")]
    NoGain { before: u64, after: u64 },
    #[error("the model {model} did not write a usable summary: {flaw}")]
    BadSummary { model: String, flaw: Flaw },
    #[error("{error}")]
    Model {
        channel: String,
        model: String,
        #[source]
        error: ModelError,
    },
    #[error("the context window of the model {model} is too small to compact this session")]
    AuxiliaryTooSmall { model: String },
    #[error("the model {model} timed out")]
    TimedOut { model: String },
    #[error("the compaction was stopped")]
    Cancelled,
}

impl CompactionFailure {
    pub fn fault(&self) -> CompactionFault {
        match self {
            Self::NothingToCompress => CompactionFault::NothingToCompress,
            Self::NoGain { .. } => CompactionFault::NoGain,
            Self::BadSummary { .. } => CompactionFault::BadSummary,
            Self::Model { .. } => CompactionFault::ModelFailed,
            Self::AuxiliaryTooSmall { .. } => CompactionFault::AuxiliaryTooSmall,
            Self::TimedOut { .. } => CompactionFault::TimedOut,
            Self::Cancelled => CompactionFault::Cancelled,
        }
    }

    /// Whether asking once more may help.
    pub fn is_retryable(&self) -> bool {
        !matches!(
            self,
            Self::NothingToCompress | Self::NoGain { .. } | Self::AuxiliaryTooSmall { .. }
        )
    }

    pub fn words(&self) -> LocalizedText {
        let problem = match self.clone() {
            Self::NothingToCompress => CompactionProblem::NothingToCompress,
            Self::NoGain { before, after } => CompactionProblem::NoGain { before, after },
            Self::BadSummary { model, flaw } => CompactionProblem::BadSummary { model, flaw },
            Self::Model {
                channel,
                model,
                error,
            } => return error.trouble(&channel, &model).words,
            Self::AuxiliaryTooSmall { model } => CompactionProblem::AuxiliaryTooSmall { model },
            Self::TimedOut { model } => CompactionProblem::TimedOut { model },
            Self::Cancelled => CompactionProblem::Cancelled,
        };
        problem.words()
    }
}
