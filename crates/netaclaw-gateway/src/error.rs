//! Refusals over HTTP: `{ code, message, words, reason, details? }` with the right status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::AdminError;
use netaclaw_engine::{EngineError, store_fault_behind};
use netaclaw_protocol::{
    ApiProblem, BadRequest, ErrorCode, Forbidden, InternalError, NotFound, Reason, StaleParent,
    TooLarge, Unauthorized, Unavailable,
};
use netaclaw_session::SessionError;
use serde_json::{Value, json};
use std::time::Duration;

/// A request that was not carried out. Holds nothing that a client must not see.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) reason: Box<Reason>,
    pub(crate) details: Option<Value>,
    pub(crate) retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn new(reason: impl Into<Reason>) -> Self {
        let reason = Box::new(reason.into());
        Self {
            status: status(reason.error_code()),
            reason,
            details: None,
            retry_after: None,
        }
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.reason.error_code()
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
        let words = self.reason.words();
        ApiProblem {
            code: self.code(),
            message: words.en.clone(),
            words,
            reason: Some(self.reason.clone()),
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
        crate::metrics::http_error(self.code());
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

macro_rules! from {
    ($($reason:ident),+ $(,)?) => {
        $(impl From<$reason> for ApiError {
            fn from(reason: $reason) -> Self {
                Self::new(reason)
            }
        })+
    };
}

from!(
    BadRequest,
    Forbidden,
    NotFound,
    StaleParent,
    TooLarge,
    Unauthorized,
    Unavailable
);

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        let retry_after = match &error {
            EngineError::Limited(limited) => Some(limited.retry_after),
            _ => None,
        };
        error.log();
        Self {
            retry_after,
            ..Self::new(error.reason())
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
    ApiError::new(InternalError::Internal)
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        let Some(reason) = error.reason() else {
            tracing::error!(%error, "the admin store failed");
            return Self::new(store_fault_behind(&error));
        };
        let details = match error {
            AdminError::NotFound { nearest, .. } => nearest.map(|name| json!({ "nearest": name })),
            AdminError::Conflict {
                expected, current, ..
            } => Some(json!({ "expectedRev": expected, "currentRev": current })),
            AdminError::Taken { .. } => Some(json!({ "field": "name" })),
            AdminError::InUse { by, .. } => {
                let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                Some(json!({ "usedBy": by }))
            }
            AdminError::Invalid(invalid) => Some(json!({ "field": invalid.field })),
            AdminError::Model(_)
            | AdminError::Sealed { .. }
            | AdminError::McpSealed { .. }
            | AdminError::Store { .. } => None,
        };
        Self {
            details,
            ..Self::new(reason)
        }
    }
}
