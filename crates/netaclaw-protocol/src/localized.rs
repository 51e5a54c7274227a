//! Errors and warnings for users, with their texts in all languages.

use crate::RunTrouble;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// An error or a warning, made from a [`RunTrouble`]. Clients act on `kind` and show `words` in
/// their language; the other fields are for clients with texts of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LocalizedError {
    pub kind: LocalizedErrorKind,
    /// What happened, to which channel and model, and what to do about it.
    pub words: LocalizedText,
    /// The channel that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The message of the supplier, shortened and without the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// When a retry may help, if the supplier specified it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The code and the parameters of the text. Absent in entries that are older than this field, and
    /// if the code is unknown here.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "known"
    )]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Box<RunTrouble>>,
}

/// Entries outlive versions: a code that a later version wrote must not make its entry unreadable.
pub(crate) fn known<'de, D, T>(reader: D) -> Result<Option<Box<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let reason = Value::deserialize(reader)?;
    Ok(serde_json::from_value(reason).ok())
}

/// The languages of the app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

/// A text for users, in all languages of the app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LocalizedText {
    pub zh: String,
    pub en: String,
}

/// The list is complete; the names do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LocalizedErrorKind {
    // The model's supplier.
    Auth,
    Quota,
    RateLimited,
    Overloaded,
    ContextTooLong,
    BadRequest,
    UnknownModel,
    NoToolSupport,
    Refused,
    WrongAddress,
    // The way to it.
    NameNotFound,
    Unreachable,
    TlsFailed,
    ConnectionLost,
    Timeout,
    StreamBroken,
    Protocol,
    EmptyAnswer,
    /// The answer exceeded the size limit.
    AnswerTooLarge,
    Cancelled,
    // The run.
    TurnLimit,
    Stuck,
    /// The answer was truncated at the model's output limit.
    Length,
    /// The agent, its channel or its workspace has to be corrected first.
    NotReady,
    SessionUnavailable,
    /// Stored data cannot be read.
    SessionDamaged,
    Interrupted,
    /// It made no progress for too long.
    Stalled,
    Internal,
    // Warnings: the run goes on.
    UnknownTools,
    /// Programs run without a sandbox, as the agent's settings allow.
    NoSandbox,
    Repeating,
    UnreadableMessages,
    /// A newer version wrote the session: it can be read but not changed.
    NewerVersion,
    /// Automatic compaction is paused, because it did not help.
    CompactionPaused,
}

/// Whether the work was ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    #[default]
    Error,
    /// A warning: the work continues.
    Warning,
}

impl LocalizedText {
    pub fn new(zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self {
            zh: zh.into(),
            en: en.into(),
        }
    }

    pub fn in_language(self, language: Language) -> String {
        match language {
            Language::English => self.en,
            Language::Chinese => self.zh,
        }
    }
}

/// A text in English only, for developers.
impl From<&str> for LocalizedText {
    fn from(text: &str) -> Self {
        Self::new(text, text)
    }
}

impl From<String> for LocalizedText {
    fn from(text: String) -> Self {
        Self::new(text.clone(), text)
    }
}

impl LocalizedErrorKind {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ContextTooLong => "context_too_long",
            Self::BadRequest => "bad_request",
            Self::UnknownModel => "unknown_model",
            Self::NoToolSupport => "no_tool_support",
            Self::Refused => "refused",
            Self::WrongAddress => "wrong_address",
            Self::NameNotFound => "name_not_found",
            Self::Unreachable => "unreachable",
            Self::TlsFailed => "tls_failed",
            Self::ConnectionLost => "connection_lost",
            Self::Timeout => "timeout",
            Self::StreamBroken => "stream_broken",
            Self::Protocol => "protocol",
            Self::AnswerTooLarge => "answer_too_large",
            Self::EmptyAnswer => "empty_answer",
            Self::Cancelled => "cancelled",
            Self::TurnLimit => "turn_limit",
            Self::Stuck => "stuck",
            Self::Length => "length",
            Self::NotReady => "not_ready",
            Self::SessionUnavailable => "session_unavailable",
            Self::SessionDamaged => "session_damaged",
            Self::Interrupted => "interrupted",
            Self::Stalled => "stalled",
            Self::Internal => "internal",
            Self::UnknownTools => "unknown_tools",
            Self::NoSandbox => "no_sandbox",
            Self::Repeating => "repeating",
            Self::UnreadableMessages => "unreadable_messages",
            Self::NewerVersion => "newer_version",
            Self::CompactionPaused => "compaction_paused",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_logs_is_the_name_on_the_wire() {
        for kind in [
            LocalizedErrorKind::Auth,
            LocalizedErrorKind::TlsFailed,
            LocalizedErrorKind::NoToolSupport,
            LocalizedErrorKind::UnreadableMessages,
        ] {
            let wire = serde_json::to_value(kind).unwrap();
            assert_eq!(wire, kind.as_str());
        }
    }
}
