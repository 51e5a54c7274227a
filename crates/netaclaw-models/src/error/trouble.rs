//! Errors for users: a kind for programs, and a text in both languages.

use super::{Language, ModelError, NetworkStage};
use netaclaw_protocol::{LocalizedError, LocalizedErrorKind};
use std::fmt;

impl ModelError {
    pub fn kind(&self) -> LocalizedErrorKind {
        match self {
            Self::Auth(_) => LocalizedErrorKind::Auth,
            Self::Quota(_) => LocalizedErrorKind::Quota,
            Self::RateLimited { .. } => LocalizedErrorKind::RateLimited,
            Self::Overloaded { .. } => LocalizedErrorKind::Overloaded,
            Self::ContextTooLong(_) => LocalizedErrorKind::ContextTooLong,
            Self::BadRequest(_) => LocalizedErrorKind::BadRequest,
            Self::UnknownModel(_) => LocalizedErrorKind::UnknownModel,
            Self::NoToolSupport(_) => LocalizedErrorKind::NoToolSupport,
            Self::Refused(_) => LocalizedErrorKind::Refused,
            Self::WrongAddress(_) => LocalizedErrorKind::WrongAddress,
            Self::Network { stage, .. } => match stage {
                NetworkStage::Dns => LocalizedErrorKind::NameNotFound,
                NetworkStage::Connect => LocalizedErrorKind::Unreachable,
                NetworkStage::Tls => LocalizedErrorKind::TlsFailed,
                NetworkStage::Request => LocalizedErrorKind::ConnectionLost,
            },
            Self::Timeout { .. } => LocalizedErrorKind::Timeout,
            Self::StreamBroken(_) => LocalizedErrorKind::StreamBroken,
            Self::Protocol(_) => LocalizedErrorKind::Protocol,
            Self::AnswerTooLarge { .. } => LocalizedErrorKind::AnswerTooLarge,
            Self::EmptyAnswer => LocalizedErrorKind::EmptyAnswer,
            Self::Cancelled => LocalizedErrorKind::Cancelled,
        }
    }

    /// The error in whole sentences: what happened to which channel and model, and what to do.
    pub fn trouble(&self, channel: &str, model: &str) -> LocalizedError {
        LocalizedError {
            model: Some(model.to_owned()),
            ..self.localized(
                channel,
                format_args!("渠道“{channel}”，模型“{model}”"),
                format_args!("Channel {channel:?}, model {model:?}"),
            )
        }
    }

    /// The same where no model was asked.
    pub fn channel_trouble(&self, channel: &str) -> LocalizedError {
        self.localized(
            channel,
            format_args!("渠道“{channel}”"),
            format_args!("Channel {channel:?}"),
        )
    }

    /// What happened in one sentence, while it is tried again: there is nothing to do about it yet.
    pub fn notice(&self) -> LocalizedError {
        let happened = |language| self.explain(language).happened;
        let (zh, en) = (happened(Language::Chinese), happened(Language::English));
        LocalizedError {
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
            ..LocalizedError::new(self.kind(), zh, en)
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

    fn localized(
        &self,
        channel: &str,
        zh: fmt::Arguments<'_>,
        en: fmt::Arguments<'_>,
    ) -> LocalizedError {
        LocalizedError {
            channel: Some(channel.to_owned()),
            said: self.said(),
            retry_after_ms: self.retry_after_ms(),
            ..LocalizedError::new(
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
