//! Parsing requests: bodies, queries and addresses. Errors in them have the format of every other
//! refusal.

use crate::error::ApiError;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
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

/// The part of an address behind the question mark.
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Query(asked) = Query::try_from_uri(&parts.uri).map_err(|error| {
            let problem = error.body_text();
            // Its own words begin with what ours say.
            let problem = problem
                .split_once(": ")
                .map_or(&*problem, |(_, problem)| problem);
            ApiError::bad_request(Words::new(
                format!("查询参数有误：{problem}"),
                format!("the query is not as expected: {problem}"),
            ))
        })?;
        Ok(Self(asked))
    }
}

/// The parts of an address that its route leaves open.
pub(crate) struct ApiPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        let Path(named) = path.map_err(|_| {
            ApiError::bad_request(Words::new("无法读取地址", "the address is not readable"))
        })?;
        Ok(Self(named))
    }
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list would be taken for the fields of an object, in the order of their declaration.
    if bytes.trim_ascii_start().starts_with(b"[") {
        let words = Words::new(
            "请求内容须为 JSON 对象，而不是数组",
            "the body must be a JSON object, not a list",
        );
        return Err(ApiError::bad_request(words));
    }
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
