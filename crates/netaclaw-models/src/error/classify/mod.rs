//! From an HTTP status and a body to an error that the caller can act on.
//!
//! Suppliers agree on little: the same fault has different statuses, codes and messages. The
//! knowledge about them is one table here, in order of precedence, so that a new wording is one
//! more line. The message of a rate limit may mention tokens too, so a rate limit must never be
//! classified as a context that is too long: one means waiting, the other compacting.

use super::{Detail, ModelError};
use serde_json::Value;
use std::time::Duration;

/// What a supplier answered instead of an answer.
pub(crate) struct Reply<'a> {
    /// `None` for an error inside a stream that had begun with 200.
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: &'a str,
}

pub(crate) fn classify(reply: Reply<'_>) -> ModelError {
    let said = ErrorParts::read(reply.body);
    // Some proxies put the real status into the body of a 200.
    let status = reply.status.or(said.status);
    let detail = Detail::new(status, &said.message);
    let words = said.words();
    let kind = RULES
        .iter()
        .find(|rule| rule.matches(status, &words))
        .map(|rule| rule.kind)
        .unwrap_or_else(|| by_status(status));
    kind.into_error(detail, reply.retry_after)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
    StreamBroken,
}

impl Kind {
    fn into_error(self, detail: Detail, retry_after: Option<Duration>) -> ModelError {
        match self {
            Self::Auth => ModelError::Auth(detail),
            Self::Quota => ModelError::Quota(detail),
            Self::RateLimited => ModelError::RateLimited {
                retry_after,
                detail,
            },
            Self::Overloaded => ModelError::Overloaded {
                retry_after,
                detail,
            },
            Self::ContextTooLong => ModelError::ContextTooLong(detail),
            Self::BadRequest => ModelError::BadRequest(detail),
            Self::UnknownModel => ModelError::UnknownModel(detail),
            Self::NoToolSupport => ModelError::NoToolSupport(detail),
            Self::Refused => ModelError::Refused(detail),
            Self::WrongAddress => ModelError::WrongAddress(detail),
            Self::StreamBroken => ModelError::StreamBroken(detail),
        }
    }
}

/// One thing suppliers say. Every word of one line must occur, and one line is enough.
struct Rule {
    kind: Kind,
    on: StatusFilter,
    says: &'static [&'static [&'static str]],
}

#[derive(Clone, Copy)]
enum StatusFilter {
    /// Whatever the status.
    Any,
    /// Any status but 429, whose messages often mention tokens and lengths too.
    NotLimits,
    /// A fault of the server, or no status at all.
    Faults,
}

impl Rule {
    fn matches(&self, status: Option<u16>, words: &str) -> bool {
        let on = match self.on {
            StatusFilter::Any => true,
            StatusFilter::NotLimits => status != Some(429),
            StatusFilter::Faults => status.is_none_or(|status| status >= 500),
        };
        on && self
            .says
            .iter()
            .any(|line| line.iter().all(|word| words.contains(word)))
    }
}

/// Lower case. Words in brackets are codes and types, which [`ErrorParts::words`] writes so.
const RULES: &[Rule] = &[
    Rule {
        kind: Kind::RateLimited,
        on: StatusFilter::Any,
        says: &[
            &["allocated quota exceeded"],
            &["[throttling"],
            &["[1302]"],
            &["[1303]"],
            &["[base:1002]"],
            &["[base:1039]"],
            &["tokens per min"],
            &["requests per min"],
        ],
    },
    Rule {
        kind: Kind::Quota,
        on: StatusFilter::Any,
        says: &[
            &["[insufficient_quota]"],
            &["[billing_error]"],
            &["[arrearage]"],
            &["[accountoverdue"],
            &["[1113]"],
            &["[1304]"],
            &["[1308]"],
            &["[1309]"],
            &["[1310]"],
            &["[base:1008]"],
            &["exceeded your current quota"],
            &["insufficient balance"],
            &["credit balance is too low"],
            &["usage limits"],
            &["overdue balance"],
            &["余额不足"],
            &["欠费"],
        ],
    },
    Rule {
        kind: Kind::ContextTooLong,
        on: StatusFilter::NotLimits,
        says: &[
            &["[context_length_exceeded]"],
            &["[exceed_context_size_error]"],
            &["[request_too_large]"],
            &["[tokens_too_long]"],
            &["[1261]"],
            &["prompt is too long"],
            &["maximum context length"],
            &["max context length"],
            &["context length is only"],
            &["exceeds the context window"],
            &["context window exceeds"],
            &["exceeds the available context size"],
            &["exceed context limit"],
            &["exceed context window"],
            &["exceeds the maximum number of tokens"],
            &["input is too long"],
            &["input length should be"],
            &["longer than the model's context length"],
            &["maximum model length"],
            &["prompt tokens too long"],
            &["exceed max message tokens"],
            &["exceeded model token limit"],
            &["prompt", "exceeds", "context"],
            &["prompt 超长"],
            &["超过", "上下文"],
        ],
    },
    Rule {
        kind: Kind::NoToolSupport,
        on: StatusFilter::NotLimits,
        says: &[
            &["does not support tools"],
            &["does not support tool"],
            &["does not support function call"],
            &["function tools with reasoning_effort are not supported"],
            &["function tools", "not supported"],
            &["tool use is not supported"],
            &["tool calling is not supported"],
            &["tool calling` is not supported"],
            &["no endpoints found that support tool use"],
            &["tools is not supported"],
            &["tools are not supported"],
            &["tool choice requires"],
            &["tools param requires"],
            &["不支持", "工具"],
            &["不支持", "函数调用"],
        ],
    },
    Rule {
        kind: Kind::UnknownModel,
        on: StatusFilter::NotLimits,
        says: &[
            &["[model_not_found]"],
            &["[modelnotfound]"],
            &["[deploymentnotfound]"],
            &["[invalidendpointormodel"],
            &["[1211]"],
            &["[not_found_error]", "model:"],
            &["model", "does not exist"],
            &["model not exist"],
            &["model", "not found"],
            &["unknown model"],
            &["invalid model"],
            &["no such model"],
            &["模型不存在"],
        ],
    },
    Rule {
        kind: Kind::Refused,
        on: StatusFilter::NotLimits,
        says: &[
            &["[content_filter]"],
            &["[content_policy_violation]"],
            &["[datainspectionfailed]"],
            &["[data_inspection_failed]"],
            &["[sensitivecontentdetected"],
            &["[1301]"],
            &["[base:1026]"],
            &["[base:1027]"],
            &["content management policy"],
        ],
    },
    Rule {
        kind: Kind::Overloaded,
        on: StatusFilter::Any,
        says: &[
            &["[overloaded_error]"],
            &["[insufficient_system_resource]"],
            &["[serveroverloaded]"],
            &["[1305]"],
            &["[1312]"],
            &["[base:1000]"],
            &["[base:1001]"],
            &["overloaded"],
            &["server is busy"],
            &["server busy"],
            &["访问量过大"],
        ],
    },
    Rule {
        kind: Kind::Overloaded,
        on: StatusFilter::Faults,
        says: &[
            &["[server_error]"],
            &["[api_error]"],
            &["[internal_error]"],
            &["[internalerror"],
            &["[internal_server_error]"],
            &["[modelservingerror]"],
        ],
    },
    Rule {
        kind: Kind::Auth,
        on: StatusFilter::NotLimits,
        says: &[
            &["[authentication_error]"],
            &["[permission_error]"],
            &["[invalid_api_key]"],
            &["[invalidapikey]"],
            &["[1000]"],
            &["[1001]"],
            &["[1002]"],
            &["[1003]"],
            &["[1004]"],
            &["[base:1004]"],
            &["[base:2049]"],
            &["invalid api key"],
            &["incorrect api key"],
            &["api key is invalid"],
            &["身份验证"],
        ],
    },
    Rule {
        kind: Kind::RateLimited,
        on: StatusFilter::Any,
        says: &[&["[rate_limit"], &["rate limit"], &["too many requests"]],
    },
];

/// When the words say nothing.
fn by_status(status: Option<u16>) -> Kind {
    match status {
        None => Kind::StreamBroken,
        Some(401 | 403 | 407) => Kind::Auth,
        Some(402) => Kind::Quota,
        Some(404 | 405 | 300..=399) => Kind::WrongAddress,
        Some(408 | 409 | 425) => Kind::Overloaded,
        Some(413) => Kind::ContextTooLong,
        Some(429) => Kind::RateLimited,
        Some(500..=u16::MAX) => Kind::Overloaded,
        Some(_) => Kind::BadRequest,
    }
}

/// The parts of an error body, wherever the supplier put them.
#[derive(Default)]
struct ErrorParts {
    message: String,
    codes: Vec<String>,
    status: Option<u16>,
}

impl ErrorParts {
    fn read(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            return Self::page(body);
        };
        let mut said = Self::default();
        // `{"error": {…}}`, MiniMax's `{"base_resp": {…}}`, or the members right at the top. The
        // numbers of `base_resp` mean other things than those of Zhipu, so they are marked.
        said.take(&value["error"], "");
        said.take(&value["base_resp"], "base:");
        said.take(&value, "");
        if said.message.is_empty() {
            said.message = body.to_owned();
        }
        said
    }

    fn take(&mut self, place: &Value, mark: &str) {
        if self.message.is_empty() {
            let text = ["message", "msg", "status_msg", "error_msg", "detail"]
                .into_iter()
                .find_map(|name| place[name].as_str())
                .or(place.as_str());
            self.message = text.unwrap_or_default().to_owned();
        }
        for name in ["code", "type", "status_code", "error_code"] {
            match &place[name] {
                Value::String(code) => self.codes.push(format!("{mark}{}", code.to_lowercase())),
                Value::Number(code) => {
                    let as_status = code.as_u64().and_then(|code| u16::try_from(code).ok());
                    self.status = self
                        .status
                        .or(as_status.filter(|status| (400..600).contains(status)));
                    self.codes.push(format!("{mark}{code}"));
                }
                _ => {}
            }
        }
        // Azure and others wrap the cause once more.
        if let Some(code) = place["innererror"]["code"].as_str() {
            self.codes.push(code.to_lowercase());
        }
    }

    /// A body that is not JSON: plain text, or the page of a proxy, of which only the title is
    /// worth reading.
    fn page(body: &str) -> Self {
        let lower = body.to_ascii_lowercase();
        let title = lower
            .find("<title>")
            .map(|at| at + "<title>".len())
            .and_then(|start| Some(start..start + lower[start..].find("</title>")?))
            .map(|range| &body[range]);
        Self {
            message: title.unwrap_or(body).to_owned(),
            ..Self::default()
        }
    }

    fn words(&self) -> String {
        let mut words = self.message.to_lowercase();
        for code in &self.codes {
            words.push_str(" [");
            words.push_str(code);
            words.push(']');
        }
        words
    }
}

#[cfg(test)]
mod tests;
