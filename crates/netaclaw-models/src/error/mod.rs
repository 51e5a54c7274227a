//! What can go wrong between a request and its answer, named for what the caller does next.

mod classify;
mod trouble;

pub(crate) use classify::{Reply, classify};

use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::time::Duration;

/// Why there is no (whole) answer.
///
/// Carries the supplier's own words, shortened and never with the key in them, so every form of
/// it may be logged and shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Ask for another key.
    #[error("the supplier rejected the API key{0}")]
    Auth(Detail),
    /// Ask for money.
    #[error("the account's quota or balance is exhausted{0}")]
    Quota(Detail),
    /// Wait, then retry.
    #[error("too many requests{detail}")]
    RateLimited {
        retry_after: Option<Duration>,
        detail: Detail,
    },
    /// A fault of the supplier: wait, then retry.
    #[error("the supplier is overloaded or failing{detail}")]
    Overloaded {
        retry_after: Option<Duration>,
        detail: Detail,
    },
    /// Compact the context, then retry.
    #[error("the context is too long for the model{0}")]
    ContextTooLong(Detail),
    /// A mistake of ours; asking again cannot help.
    #[error("the supplier rejected the request{0}")]
    BadRequest(Detail),
    /// Choose another model.
    #[error("the supplier does not know the model{0}")]
    UnknownModel(Detail),
    /// Ask without tools, or choose another model.
    #[error("the model does not support tools{0}")]
    NoToolSupport(Detail),
    /// The supplier's filter stepped in; other words may help.
    #[error("the supplier refused to answer{0}")]
    Refused(Detail),
    /// Correct the address.
    #[error("the server at this address is not a model API{0}")]
    WrongAddress(Detail),
    /// Check the network, then retry.
    #[error("no connection ({stage}){detail}")]
    Network { stage: NetworkStage, detail: Detail },
    /// Ask again.
    #[error("no {stage} within {} ms", after.as_millis())]
    Timeout {
        stage: TimeoutStage,
        after: Duration,
    },
    /// Show what arrived; the user decides.
    #[error("the stream ended early{0}")]
    StreamBroken(Detail),
    /// The answer is not in the language of the API.
    #[error("the response could not be parsed{0}")]
    Protocol(Detail),
    /// Show what arrived; asking again costs the same again.
    #[error("the answer is larger than {} MB", limit_bytes >> 20)]
    AnswerTooLarge { limit_bytes: usize },
    /// The model said nothing at all.
    #[error("the model sent an empty answer")]
    EmptyAnswer,
    /// The caller wanted it so.
    #[error("cancelled")]
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkStage {
    Dns,
    Connect,
    Tls,
    /// The connection was there and broke before the answer began.
    Request,
}

impl fmt::Display for NetworkStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dns => "name not found",
            Self::Connect => "connection refused or lost",
            Self::Tls => "secure connection failed",
            Self::Request => "connection lost",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutStage {
    Connect,
    FirstByte,
    /// Between two pieces of an answer that had begun.
    Idle,
}

impl fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connection",
            Self::FirstByte => "first byte",
            Self::Idle => "further byte",
        })
    }
}

impl ModelError {
    /// The name of the variant on the wire and in logs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Auth(_) => "auth",
            Self::Quota(_) => "quota",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::ContextTooLong(_) => "context_too_long",
            Self::BadRequest(_) => "bad_request",
            Self::UnknownModel(_) => "unknown_model",
            Self::NoToolSupport(_) => "no_tool_support",
            Self::Refused(_) => "refused",
            Self::WrongAddress(_) => "wrong_address",
            Self::Network { .. } => "network",
            Self::Timeout { .. } => "timeout",
            Self::StreamBroken(_) => "stream_broken",
            Self::Protocol(_) => "protocol",
            Self::AnswerTooLarge { .. } => "answer_too_large",
            Self::EmptyAnswer => "empty_answer",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Overloaded { .. }
                | Self::Network { .. }
                | Self::Timeout { .. }
                | Self::StreamBroken(_)
                | Self::EmptyAnswer
        )
    }

    /// Whether the same request may succeed on another channel: if the channel failed, and not the
    /// request or the caller.
    pub fn is_channels_fault(&self) -> bool {
        self.is_retryable()
            || matches!(
                self,
                Self::Auth(_)
                    | Self::Quota(_)
                    | Self::UnknownModel(_)
                    | Self::WrongAddress(_)
                    | Self::Protocol(_)
            )
    }

    /// How long the supplier asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// The supplier's own words, if there were any.
    pub fn detail(&self) -> Option<&Detail> {
        match self {
            Self::Auth(detail)
            | Self::Quota(detail)
            | Self::ContextTooLong(detail)
            | Self::BadRequest(detail)
            | Self::UnknownModel(detail)
            | Self::NoToolSupport(detail)
            | Self::Refused(detail)
            | Self::WrongAddress(detail)
            | Self::StreamBroken(detail)
            | Self::Protocol(detail)
            | Self::RateLimited { detail, .. }
            | Self::Overloaded { detail, .. }
            | Self::Network { detail, .. } => Some(detail).filter(|d| !d.is_empty()),
            Self::Timeout { .. }
            | Self::AnswerTooLarge { .. }
            | Self::EmptyAnswer
            | Self::Cancelled => None,
        }
    }

    /// The error as it may leave this crate: the key taken out of the supplier's words, and the
    /// words shortened. In this order, or the first half of a key could stay at the cut.
    pub(crate) fn sealed(mut self, key: Option<&SecretString>) -> Self {
        if let Some(detail) = self.detail_mut() {
            if let Some(key) = key {
                detail.redact(key.expose_secret());
            }
            detail.shorten();
        }
        self
    }

    fn detail_mut(&mut self) -> Option<&mut Detail> {
        match self {
            Self::Auth(detail)
            | Self::Quota(detail)
            | Self::ContextTooLong(detail)
            | Self::BadRequest(detail)
            | Self::UnknownModel(detail)
            | Self::NoToolSupport(detail)
            | Self::Refused(detail)
            | Self::WrongAddress(detail)
            | Self::StreamBroken(detail)
            | Self::Protocol(detail)
            | Self::RateLimited { detail, .. }
            | Self::Overloaded { detail, .. }
            | Self::Network { detail, .. } => Some(detail),
            Self::Timeout { .. }
            | Self::AnswerTooLarge { .. }
            | Self::EmptyAnswer
            | Self::Cancelled => None,
        }
    }
}

/// The HTTP status and the supplier's own text, shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    pub status: Option<u16>,
    pub text: String,
}

/// Suppliers sometimes answer with whole web pages; more than this is not worth keeping.
const DETAIL_CHARS_MAX: usize = 600;

impl Detail {
    pub fn new(status: Option<u16>, text: &str) -> Self {
        Self {
            status,
            text: one_line(text),
        }
    }

    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::new(None, text.as_ref())
    }

    fn is_empty(&self) -> bool {
        self.status.is_none() && self.text.is_empty()
    }

    /// Some suppliers quote the key they refuse.
    fn redact(&mut self, key: &str) {
        // A key so short that it may be an ordinary word says nothing when it is quoted.
        if key.len() >= 4 && self.text.contains(key) {
            self.text = self.text.replace(key, "[key]");
        }
    }

    fn shorten(&mut self) {
        if let Some((at, _)) = self.text.char_indices().nth(DETAIL_CHARS_MAX) {
            self.text.truncate(at);
            self.text.push('…');
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.text.is_empty()) {
            (None, true) => Ok(()),
            (Some(status), true) => write!(f, " (HTTP {status})"),
            (None, false) => write!(f, ": {}", self.text),
            (Some(status), false) => write!(f, " (HTTP {status}): {}", self.text),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_quoted_by_the_supplier_is_taken_out() {
        let key = SecretString::from("sk-very-secret-1234".to_owned());
        for before in ["Incorrect API key: ".to_owned(), "x".repeat(590)] {
            let text = format!("{before}sk-very-secret-1234.");
            let error = ModelError::Auth(Detail::new(Some(401), &text)).sealed(Some(&key));
            for form in [format!("{error}"), format!("{error:?}")] {
                assert!(!form.contains("sk-v"), "{form}");
                assert!(form.contains("[key]"), "{form}");
            }
        }
    }

    #[test]
    fn long_details_are_cut_between_characters() {
        let error = ModelError::BadRequest(Detail::text("错".repeat(5000))).sealed(None);
        let text = &error.detail().unwrap().text;
        assert_eq!(text.chars().count(), DETAIL_CHARS_MAX + 1);
        assert!(text.ends_with('…'));
    }
}
