//! Settings: a JSON value by name.

use super::body::ApiJson;
use super::revision::{Revision, tagged};
use crate::auth::{Administrator, Onlooker, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use netaclaw_protocol::ErrorCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get, put, delete))
}

#[derive(Deserialize)]
struct Written {
    value: Value,
}

#[utoipa::path(get, path = "/admin/netaclaw/settings", tag = "settings",
    responses((status = 200, body = Value)))]
async fn list(State(shared): State<Arc<Shared>>, _: Onlooker) -> Result<Json<Value>, ApiError> {
    let items = shared.admin.settings().await?;
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

#[utoipa::path(get, path = "/admin/netaclaw/settings/{name}", tag = "settings",
    params(("name" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: Onlooker,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let setting = shared.admin.setting(&name).await?;
    let nothing = || ApiError::new(ErrorCode::NotFound, format!("nobody has set {name:?}"));
    let setting = setting.ok_or_else(nothing)?;
    Ok(tagged(StatusCode::OK, setting.stamp.rev, setting))
}

#[utoipa::path(put, path = "/admin/netaclaw/settings/{name}", tag = "settings", request_body = Value,
    params(("name" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn put(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(name): Path<String>,
    revision: Revision,
    ApiJson(written): ApiJson<Written>,
) -> Result<Response, ApiError> {
    let by = actor(&who);
    let put = shared
        .admin
        .put_setting(&by, &name, revision.expect, written.value);
    let setting = put.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, setting.stamp.rev, setting))
}

#[utoipa::path(delete, path = "/admin/netaclaw/settings/{name}", tag = "settings",
    params(("name" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 409), (status = 412)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(name): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let by = actor(&who);
    let deleted = shared.admin.delete_setting(&by, &name, revision.expect);
    deleted.await.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}
