//! Parsing requests: bodies, queries and addresses. Errors in them have the format of every other
//! refusal.

use crate::error::ApiError;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use netaclaw_protocol::{BadRequest, TooLarge};
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
                    StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(TooLarge::BodyTooLarge),
                    _ => ApiError::new(BadRequest::BodyNotReceived),
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
            let detail = problem.to_owned();
            ApiError::new(BadRequest::QueryNotAsExpected { detail })
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
        let Path(named) = path.map_err(|_| BadRequest::AddressNotReadable)?;
        Ok(Self(named))
    }
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list would be taken for the fields of an object, in the order of their declaration.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(BadRequest::BodyNotAnObject.into());
    }
    let json = &mut serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let field = error.path().to_string();
        let detail = error.to_string();
        ApiError::new(BadRequest::BodyNotAsExpected { detail })
            .with_details(serde_json::json!({ "field": field }))
    })
}
