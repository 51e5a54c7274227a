//! Refusals over HTTP: `{ code, message, details? }` with the right status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::AdminError;
use netaclaw_engine::EngineError;
use netaclaw_protocol::{ApiProblem, ErrorCode, Refusal};
use netaclaw_session::SessionError;
use serde_json::{Value, json};

/// A request that was not carried out. Holds nothing that a client must not see.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status: status(code),
            code,
            message: message.into(),
            details: None,
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Forbidden, message)
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
            message: self.message.clone(),
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
        response
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.message)
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        error.refusal().into()
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        let message = error.to_string();
        match error {
            AdminError::NotFound { nearest, .. } => {
                let details = nearest.map(|name| json!({ "nearest": name }));
                Self {
                    details,
                    ..Self::new(ErrorCode::NotFound, message)
                }
            }
            AdminError::Conflict {
                expected, current, ..
            } => Self::new(ErrorCode::Conflict, message)
                .with_details(json!({ "expectedRev": expected, "currentRev": current })),
            AdminError::Taken { .. } => Self::new(ErrorCode::Conflict, message),
            AdminError::InUse { by, .. } => {
                let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                Self::new(ErrorCode::Conflict, message).with_details(json!({ "usedBy": by }))
            }
            AdminError::Invalid(invalid) => {
                Self::bad_request(message).with_details(json!({ "field": invalid.field }))
            }
            AdminError::Model(_) => Self::bad_request(message),
            AdminError::Sealed { .. } | AdminError::McpSealed { .. } => {
                Self::new(ErrorCode::Unavailable, message)
            }
            AdminError::Store { .. } => {
                tracing::error!(error = %message, "the admin store failed");
                let message = "something went wrong on the server; it has been logged";
                Self::new(ErrorCode::Internal, message)
            }
        }
    }
}
