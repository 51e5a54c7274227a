//! The warnings and failures of a run, as text for users.

use crate::report::EndReason;
use netaclaw_models::ModelError;
use netaclaw_protocol::{LocalizedError, LocalizedErrorKind, RunTrouble};

impl EndReason {
    pub fn kind(&self) -> LocalizedErrorKind {
        match self {
            Self::TurnLimit(_) => LocalizedErrorKind::TurnLimit,
            Self::Stuck(_) => LocalizedErrorKind::Stuck,
            Self::AnswerCut => LocalizedErrorKind::Length,
            Self::ContextTooLong(error) | Self::Model(error) => error.kind(),
            Self::Host(_) => LocalizedErrorKind::SessionUnavailable,
        }
    }

    /// `channel` and `model` are who was asked last.
    pub(crate) fn trouble(&self, channel: &str, model: &str) -> LocalizedError {
        match self {
            Self::ContextTooLong(error) | Self::Model(error) => error.trouble(channel, model),
            Self::TurnLimit(turns) => RunTrouble::TurnLimit { turns: *turns }.into(),
            Self::Stuck(pattern) => RunTrouble::Stuck { pattern: *pattern }.into(),
            Self::AnswerCut => RunTrouble::AnswerTruncated.into(),
            Self::Host(error) => {
                let detail = error.to_string();
                RunTrouble::SessionLost { detail }.into()
            }
        }
    }
}

/// The channel or the catalogue says that the model takes no tools.
pub(crate) fn works_without_tools(channel: &str, model: &str) -> LocalizedError {
    no_tool_support(channel, model, None)
}

/// It was unknown, but the supplier has refused the tools.
pub(crate) fn tools_refused(error: &ModelError, channel: &str, model: &str) -> LocalizedError {
    let said = error.detail().map(|detail| detail.text.clone());
    no_tool_support(channel, model, said)
}

fn no_tool_support(channel: &str, model: &str, said: Option<String>) -> LocalizedError {
    RunTrouble::NoToolSupport {
        channel: channel.to_owned(),
        model: model.to_owned(),
        said,
    }
    .into()
}
