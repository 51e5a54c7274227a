//! Errors for users: a kind for programs, and a text in both languages.

use super::{Language, ModelError, NetworkStage};
use netaclaw_protocol::{Trouble, TroubleKind};
use std::fmt;

impl ModelError {
    pub fn kind(&self) -> TroubleKind {
        match self {
            Self::Auth(_) => TroubleKind::Auth,
            Self::Quota(_) => TroubleKind::Quota,
            Self::RateLimited { .. } => TroubleKind::RateLimited,
            Self::Overloaded { .. } => TroubleKind::Overloaded,
            Self::ContextTooLong(_) => TroubleKind::ContextTooLong,
            Self::BadRequest(_) => TroubleKind::BadRequest,
            Self::UnknownModel(_) => TroubleKind::UnknownModel,
            Self::NoToolSupport(_) => TroubleKind::NoToolSupport,
            Self::Refused(_) => TroubleKind::Refused,
            Self::WrongAddress(_) => TroubleKind::WrongAddress,
            Self::Network { stage, .. } => match stage {
                NetworkStage::Dns => TroubleKind::NameNotFound,
                NetworkStage::Connect => TroubleKind::Unreachable,
                NetworkStage::Tls => TroubleKind::TlsFailed,
                NetworkStage::Request => TroubleKind::ConnectionLost,
            },
            Self::Timeout { .. } => TroubleKind::Timeout,
            Self::StreamBroken(_) => TroubleKind::StreamBroken,
            Self::Protocol(_) => TroubleKind::Protocol,
            Self::AnswerTooLarge { .. } => TroubleKind::AnswerTooLarge,
            Self::EmptyAnswer => TroubleKind::EmptyAnswer,
            Self::Cancelled => TroubleKind::Cancelled,
        }
    }

    /// The error in whole sentences: what happened to which channel and model, and what to do.
    pub fn trouble(&self, channel: &str, model: &str) -> Trouble {
        Trouble {
            model: Some(model.to_owned()),
            ..self.told(
                channel,
                format_args!("渠道“{channel}”，模型“{model}”"),
                format_args!("Channel {channel:?}, model {model:?}"),
            )
        }
    }

    /// The same where no model was asked.
    pub fn channel_trouble(&self, channel: &str) -> Trouble {
        self.told(
            channel,
            format_args!("渠道“{channel}”"),
            format_args!("Channel {channel:?}"),
        )
    }

    /// What happened in one sentence, while it is tried again: there is nothing to do about it yet.
    pub fn notice(&self) -> Trouble {
        let happened = |language| self.explain(language).happened;
        let (zh, en) = (happened(Language::Chinese), happened(Language::English));
        Trouble {
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
            ..Trouble::new(self.kind(), zh, en)
        }
    }

    fn said(&self) -> Option<String> {
        let said = self.detail().map(|detail| detail.text.clone());
        said.filter(|said| !said.is_empty())
    }

    fn retry_after_ms(&self) -> Option<u64> {
        let wait = self.retry_after()?;
        Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
    }

    fn told(&self, channel: &str, zh: fmt::Arguments<'_>, en: fmt::Arguments<'_>) -> Trouble {
        Trouble {
            channel: Some(channel.to_owned()),
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
            ..Trouble::new(
                self.kind(),
                format!("{zh}：{}", self.explain(Language::Chinese)),
                format!("{en}: {}", self.explain(Language::English)),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Detail;
    use super::*;

    #[test]
    fn trouble_names_the_channel_and_the_model_in_both_languages() {
        let error = ModelError::Auth(Detail::new(Some(401), "Bad key."));
        let trouble = error.trouble("work", "gpt-5");
        assert_eq!(trouble.kind, TroubleKind::Auth);
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
