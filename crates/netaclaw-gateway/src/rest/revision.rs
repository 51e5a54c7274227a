//! Which state of a record a change is meant for: `If-Match` or `?rev=`.

use crate::error::ApiError;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use netaclaw_admin::{AdminError, Expect};
use netaclaw_protocol::BadRequest;
use serde::Deserialize;

/// The revision that the client has seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Revision {
    pub(crate) expect: Expect,
    /// A condition in a header fails with another status than one in the address.
    by_header: bool,
}

#[derive(Deserialize)]
struct RevisionQuery {
    rev: Option<u64>,
}

impl<S: Send + Sync> FromRequestParts<S> for Revision {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        if let Some(tag) = parts.headers.get(header::IF_MATCH) {
            let rev = tag.to_str().ok().and_then(read_tag);
            let expect = rev.ok_or(BadRequest::IfMatchNotARevision)?;
            return Ok(Self {
                expect,
                by_header: true,
            });
        }
        let Query(asked) = Query::<RevisionQuery>::try_from_uri(&parts.uri)
            .map_err(|_| BadRequest::RevisionNotANumber)?;
        Ok(Self {
            expect: asked.rev.map_or(Expect::Any, Expect::Rev),
            by_header: false,
        })
    }
}

impl Revision {
    pub(crate) fn refused(self, error: AdminError) -> ApiError {
        let is_conflict = matches!(error, AdminError::Conflict { .. });
        let error = ApiError::from(error);
        match is_conflict && self.by_header {
            true => error.with_status(StatusCode::PRECONDITION_FAILED),
            false => error,
        }
    }
}

fn read_tag(tag: &str) -> Option<Expect> {
    match tag.trim() {
        "*" => Some(Expect::Any),
        tag => tag.trim_matches('"').parse().ok().map(Expect::Rev),
    }
}
