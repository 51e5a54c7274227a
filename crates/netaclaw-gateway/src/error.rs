//! Refusals over HTTP: `{ code, message, details? }` with the right status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::AdminError;
use netaclaw_engine::{EngineError, StoreFault};
use netaclaw_protocol::{ApiProblem, ErrorCode, Refusal, Words};
use netaclaw_session::SessionError;
use serde_json::{Value, json};
use std::time::Duration;

/// A request that was not carried out. Holds nothing that a client must not see.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) words: Words,
    pub(crate) details: Option<Value>,
    pub(crate) retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, words: impl Into<Words>) -> Self {
        Self {
            status: status(code),
            code,
            words: words.into(),
            details: None,
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(words: impl Into<Words>) -> Self {
        Self::new(ErrorCode::BadRequest, words)
    }

    pub(crate) fn forbidden(words: impl Into<Words>) -> Self {
        Self::new(ErrorCode::Forbidden, words)
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn with_details(self, details: Value) -> Self {
        Self {
            details: Some(details),
            ..self
        }
    }

    pub(crate) fn body(&self) -> ApiProblem {
        ApiProblem {
            code: self.code,
            message: self.words.en.clone(),
            words: self.words.clone(),
            details: self.details.clone(),
        }
    }
}

pub(crate) fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::BadRequest => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Conflict | ErrorCode::SessionBusy | ErrorCode::StaleParent => {
            StatusCode::CONFLICT
        }
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        crate::metrics::http_error(self.code);
        let mut response = (self.status, Json(self.body())).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(after) = self.retry_after {
            retry_after(&mut response, after);
        }
        response
    }
}

/// Says when to try again, in whole seconds.
pub(crate) fn retry_after(response: &mut Response, after: Duration) {
    let seconds = HeaderValue::from(after.as_secs().max(1));
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.words)
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let retry_after = match &error {
            EngineError::Limited(limited) => Some(limited.retry_after),
            _ => None,
        };
        Self {
            retry_after,
            ..error.refusal().into()
        }
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        EngineError::from(error).into()
    }
}

/// The cause is in the log; a client learns that something failed.
pub(crate) fn internal() -> ApiError {
    ApiError::new(
        ErrorCode::Internal,
        Words::new(
            "服务器内部出错，已记入日志",
            "something went wrong on the server; it has been logged",
        ),
    )
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        let words = error.words();
        match error {
            AdminError::NotFound { nearest, .. } => {
                let details = nearest.map(|name| json!({ "nearest": name }));
                Self {
                    details,
                    ..Self::new(ErrorCode::NotFound, words)
                }
            }
            AdminError::Conflict {
                expected, current, ..
            } => Self::new(ErrorCode::Conflict, words)
                .with_details(json!({ "expectedRev": expected, "currentRev": current })),
            AdminError::Taken { .. } => {
                Self::new(ErrorCode::Conflict, words).with_details(json!({ "field": "name" }))
            }
            AdminError::InUse { by, .. } => {
                let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                Self::new(ErrorCode::Conflict, words).with_details(json!({ "usedBy": by }))
            }
            AdminError::Invalid(invalid) => {
                Self::bad_request(words).with_details(json!({ "field": invalid.field }))
            }
            AdminError::Model(_) => Self::bad_request(words),
            AdminError::Sealed { .. } | AdminError::McpSealed { .. } => {
                Self::new(ErrorCode::Unavailable, words)
            }
            AdminError::Store { .. } => {
                tracing::error!(%error, "the admin store failed");
                Self::new(ErrorCode::Unavailable, StoreFault::behind(&error).words())
            }
        }
    }
}
