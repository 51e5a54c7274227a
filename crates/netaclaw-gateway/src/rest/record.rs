//! What handlers of records have in common: who changes which one, in which state they have seen
//! it, and the revision in every answer.

use super::body::ApiPath;
use super::revision::Revision;
use crate::auth::{Administrator, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::{Actor, AdminError, AdminStore, Expect};
use netaclaw_protocol::{
    Agent, ChannelView, DictInfo, DictType, McpServerInfo, McpServerView, Memory, Setting, Stamp,
    ToolRecord, User,
};
use serde::Serialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// An administrator, about to create a record.
pub(super) struct CanCreate {
    shared: Arc<Shared>,
    pub(super) by: Actor,
}

/// The same, about to change or delete the record that the address names.
pub(super) struct CanEdit<Id> {
    maker: CanCreate,
    pub(super) id: Id,
    revision: Revision,
}

/// How `CanEdit` is described.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct RevisionParam {
    /// The expected revision, like `If-Match`. The change is rejected if the record has another one.
    rev: Option<u64>,
}

impl CanCreate {
    pub(super) fn admin(&self) -> &dyn AdminStore {
        &*self.shared.admin
    }
}

impl<Id> CanEdit<Id> {
    pub(super) fn admin(&self) -> &dyn AdminStore {
        self.maker.admin()
    }

    pub(super) fn by(&self) -> &Actor {
        &self.maker.by
    }

    pub(super) fn expect(&self) -> Expect {
        self.revision.expect
    }

    /// The changed record, or why it was not changed.
    pub(super) fn changed<T: Record>(
        &self,
        changed: Result<T, AdminError>,
    ) -> Result<WithEtag<T>, ApiError> {
        let record = changed.map_err(|error| self.revision.refused(error))?;
        Ok(WithEtag::found(record))
    }

    pub(super) fn deleted(&self, deleted: Result<(), AdminError>) -> Result<StatusCode, ApiError> {
        deleted.map_err(|error| self.revision.refused(error))?;
        Ok(StatusCode::NO_CONTENT)
    }
}

impl FromRequestParts<Arc<Shared>> for CanCreate {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let Administrator(who) = Administrator::from_request_parts(parts, shared).await?;
        Ok(Self {
            shared: Arc::clone(shared),
            by: actor(&who),
        })
    }
}

impl<Id> FromRequestParts<Arc<Shared>> for CanEdit<Id>
where
    Id: for<'a> From<&'a str> + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, ApiError> {
        let maker = CanCreate::from_request_parts(parts, shared).await?;
        let ApiPath(id) = ApiPath::<String>::from_request_parts(parts, shared).await?;
        Ok(Self {
            maker,
            id: Id::from(&id),
            revision: Revision::from_request_parts(parts, shared).await?,
        })
    }
}

/// A record of the admin store.
pub(super) trait Record: Serialize {
    fn stamp(&self) -> Stamp;
}

macro_rules! records {
    ($($record:ty),+) => {
        $(impl Record for $record {
            fn stamp(&self) -> Stamp {
                self.stamp
            }
        })+
    };
}

impl Record for McpServerInfo {
    fn stamp(&self) -> Stamp {
        self.server.stamp
    }
}

records!(
    Agent,
    ChannelView,
    DictInfo,
    DictType,
    McpServerView,
    Memory,
    Setting,
    ToolRecord,
    User
);

/// A record as an answer, with its revision as `ETag`.
pub(super) struct WithEtag<T> {
    status: StatusCode,
    record: T,
}

impl<T: Record> WithEtag<T> {
    pub(super) fn made(record: T) -> Self {
        Self {
            status: StatusCode::CREATED,
            record,
        }
    }

    pub(super) fn found(record: T) -> Self {
        Self {
            status: StatusCode::OK,
            record,
        }
    }
}

impl<T: Record> IntoResponse for WithEtag<T> {
    fn into_response(self) -> Response {
        let tag = format!("\"{}\"", self.record.stamp().rev);
        let mut response = (self.status, Json(self.record)).into_response();
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}
