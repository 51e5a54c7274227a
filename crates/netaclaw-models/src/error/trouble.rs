//! Errors for users: their codes, with the parameters of the texts.

use super::{ModelError, NetworkStage, TimeoutStage};
use netaclaw_protocol::{
    LocalizedError, LocalizedErrorKind, LocalizedText, ModelProblem, RunTrouble,
};
use std::time::Duration;

impl ModelError {
    pub fn problem(&self) -> ModelProblem {
        match self {
            Self::Auth(_) => ModelProblem::Auth,
            Self::Quota(_) => ModelProblem::Quota,
            Self::RateLimited { .. } => ModelProblem::RateLimited,
            Self::Overloaded { .. } => ModelProblem::Overloaded,
            Self::ContextTooLong(_) => ModelProblem::ContextTooLong,
            Self::BadRequest(_) => ModelProblem::BadRequest,
            Self::UnknownModel(_) => ModelProblem::UnknownModel,
            Self::NoToolSupport(_) => ModelProblem::NoToolSupport,
            Self::Refused(_) => ModelProblem::Refused,
            Self::WrongAddress(_) => ModelProblem::WrongAddress,
            Self::Network { stage, .. } => match stage {
                NetworkStage::Dns => ModelProblem::NameNotFound,
                NetworkStage::Connect => ModelProblem::Unreachable,
                NetworkStage::Tls => ModelProblem::TlsFailed,
                NetworkStage::Request => ModelProblem::ConnectionLost,
            },
            Self::Timeout { stage, after } => {
                let limit_ms = millis(*after);
                match stage {
                    TimeoutStage::Connect => ModelProblem::ConnectTimeout { limit_ms },
                    TimeoutStage::FirstByte => ModelProblem::FirstByteTimeout { limit_ms },
                    TimeoutStage::Idle => ModelProblem::IdleTimeout { limit_ms },
                }
            }
            Self::StreamBroken(_) => ModelProblem::StreamBroken,
            Self::Protocol(_) => ModelProblem::Protocol,
            Self::AnswerTooLarge { limit_bytes } => ModelProblem::AnswerTooLarge {
                limit_mb: limit_bytes >> 20,
            },
            Self::EmptyAnswer => ModelProblem::EmptyAnswer,
            Self::Cancelled => ModelProblem::Cancelled,
        }
    }

    pub fn kind(&self) -> LocalizedErrorKind {
        self.problem().kind()
    }

    /// What happened, what to do, and the message of the supplier, where channel and model are known.
    pub fn words(&self) -> LocalizedText {
        let problem = self.problem();
        problem.explained(self.said().as_deref(), self.retry_after_ms())
    }

    /// The same, with the channel and the model.
    pub fn trouble(&self, channel: &str, model: &str) -> LocalizedError {
        self.failed(channel, Some(model))
    }

    /// The same where no model was asked.
    pub fn channel_trouble(&self, channel: &str) -> LocalizedError {
        self.failed(channel, None)
    }

    /// What happened, while the request is sent again: there is nothing to do about it yet.
    pub fn notice(&self) -> LocalizedError {
        let problem = self.problem();
        LocalizedError {
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
            ..RunTrouble::ModelRetried { problem }.into()
        }
    }

    fn failed(&self, channel: &str, model: Option<&str>) -> LocalizedError {
        RunTrouble::ModelFailed {
            channel: channel.to_owned(),
            model: model.map(str::to_owned),
            problem: self.problem(),
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
        }
        .into()
    }

    fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after().map(millis)
    }

    fn said(&self) -> Option<String> {
        let said = self.detail().map(|detail| detail.text.clone());
        said.filter(|said| !said.is_empty())
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Detail;

    #[test]
    fn trouble_names_the_channel_and_the_model_in_both_languages() {
        let error = ModelError::Auth(Detail::new(Some(401), "Bad key."));
        let trouble = error.trouble("work", "gpt-5");
        assert_eq!(trouble.kind, LocalizedErrorKind::Auth);
        assert_eq!(
            trouble.words.en,
            "Channel \"work\", model \"gpt-5\": The model supplier did not accept the API key. \
             Check the API key of this channel and its access to this model. (Bad key.)"
        );
        assert_eq!(
            trouble.words.zh,
            "渠道“work”，模型“gpt-5”：模型供应商不接受这个 API 密钥。\
             请检查该渠道的密钥，以及它是否有权使用这个模型。（Bad key.）"
        );
        assert_eq!(trouble.said.as_deref(), Some("Bad key."));
    }
}
