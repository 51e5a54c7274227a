//! Errors in the shape that OpenAI's clients read.

use crate::error::ApiError;
use axum::Json;
use axum::response::{IntoResponse, Response};
use netaclaw_protocol::ErrorCode;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An error in the form of OpenAI's API.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
pub(crate) struct OpenaiProblem {
    #[schema(inline)]
    error: OpenaiProblemDetails,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
struct OpenaiProblemDetails {
    message: String,
    r#type: String,
    /// The invalid field.
    #[schema(required)]
    param: Option<String>,
    #[schema(required)]
    code: Option<String>,
}

pub(crate) struct OpenaiError(pub(super) ApiError);

impl OpenaiError {
    pub(super) fn body(&self) -> Value {
        let (kind, code) = match self.0.code() {
            ErrorCode::Unauthorized => ("invalid_request_error", Some("invalid_api_key")),
            ErrorCode::NotFound => ("invalid_request_error", Some("model_not_found")),
            ErrorCode::Forbidden => ("permission_error", None),
            ErrorCode::BadRequest
            | ErrorCode::TooLarge
            | ErrorCode::Conflict
            | ErrorCode::SessionBusy
            | ErrorCode::StaleParent => ("invalid_request_error", None),
            ErrorCode::RateLimited => ("rate_limit_error", Some("rate_limit_exceeded")),
            ErrorCode::Unavailable | ErrorCode::Internal => ("server_error", None),
        };
        let param = self.0.details.as_ref().map(|details| &details["field"]);
        json!({ "error": {
            "message": self.0.reason.to_string(), "type": kind, "param": param, "code": code,
        }})
    }
}

impl<E: Into<ApiError>> From<E> for OpenaiError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for OpenaiError {
    fn into_response(self) -> Response {
        crate::metrics::http_error(self.0.code());
        let mut response = (self.0.status, Json(self.body())).into_response();
        if let Some(after) = self.0.retry_after {
            crate::error::retry_after(&mut response, after);
        }
        response
    }
}
