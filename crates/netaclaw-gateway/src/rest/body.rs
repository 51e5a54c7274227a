//! Bodies: JSON that says where it is wrong.

use crate::error::ApiError;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use bytes::Bytes;
use netaclaw_protocol::{ErrorCode, Words};
use serde::de::DeserializeOwned;

/// A JSON body. What cannot be read is answered with the field at fault.
pub(crate) struct ApiJson<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes =
            Bytes::from_request(request, state)
                .await
                .map_err(|error| match error.status() {
                    StatusCode::PAYLOAD_TOO_LARGE => {
                        let words = Words::new("请求内容过长", "the body is too long");
                        ApiError::new(ErrorCode::TooLarge, words)
                    }
                    _ => {
                        let words = Words::new("无法读取请求内容", "the body could not be read");
                        ApiError::bad_request(words)
                    }
                })?;
        parse(&bytes).map(Self)
    }
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let json = &mut serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let field = error.path().to_string();
        let words = Words::new(
            format!("请求内容有误：{error}"),
            format!("the body is not as expected: {error}"),
        );
        ApiError::bad_request(words).with_details(serde_json::json!({ "field": field }))
    })
}
