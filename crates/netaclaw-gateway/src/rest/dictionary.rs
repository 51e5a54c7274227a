//! The dictionary: groups of named texts.

use super::body::ApiJson;
use super::revision::{Revision, tagged};
use crate::auth::{Administrator, Onlooker, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use netaclaw_protocol::{DictInfoId, DictInfoSpec, DictTypeId, DictTypeSpec};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create_group))
        .routes(routes!(replace_group, delete_group))
        .routes(routes!(create_entry))
        .routes(routes!(replace_entry, delete_entry))
}

#[utoipa::path(get, path = "/admin/netaclaw/dictionary", tag = "dictionary",
    responses((status = 200, body = Value)))]
async fn list(State(shared): State<Arc<Shared>>, _: Onlooker) -> Result<Json<Value>, ApiError> {
    let items = shared.admin.dictionary().await?;
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

#[utoipa::path(post, path = "/admin/netaclaw/dictionary", tag = "dictionary", request_body = Value,
    responses((status = 201, body = Value), (status = 409)))]
async fn create_group(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    ApiJson(spec): ApiJson<DictTypeSpec>,
) -> Result<Response, ApiError> {
    let group = shared.admin.create_dict_type(&actor(&who), spec).await?;
    Ok(tagged(StatusCode::CREATED, group.stamp.rev, group))
}

#[utoipa::path(put, path = "/admin/netaclaw/dictionary/{id}", tag = "dictionary", request_body = Value,
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn replace_group(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(spec): ApiJson<DictTypeSpec>,
) -> Result<Response, ApiError> {
    let (by, id) = (actor(&who), DictTypeId::new(id));
    let updated = shared
        .admin
        .update_dict_type(&by, &id, revision.expect, spec);
    let group = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, group.stamp.rev, group))
}

#[utoipa::path(delete, path = "/admin/netaclaw/dictionary/{id}", tag = "dictionary",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 409), (status = 412)))]
async fn delete_group(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let (by, id) = (actor(&who), DictTypeId::new(id));
    let deleted = shared.admin.delete_dict_type(&by, &id, revision.expect);
    deleted.await.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}

#[utoipa::path(post, path = "/admin/netaclaw/dictionary/{id}/entries", tag = "dictionary",
    params(("id" = String, Path)), request_body = Value,
    responses((status = 201, body = Value), (status = 404), (status = 409)))]
async fn create_entry(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    ApiJson(spec): ApiJson<DictInfoSpec>,
) -> Result<Response, ApiError> {
    let (by, group) = (actor(&who), DictTypeId::new(id));
    let entry = shared.admin.create_dict_info(&by, &group, spec).await?;
    Ok(tagged(StatusCode::CREATED, entry.stamp.rev, entry))
}

#[utoipa::path(put, path = "/admin/netaclaw/dictionary-entries/{id}", tag = "dictionary",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    request_body = Value, responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn replace_entry(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(spec): ApiJson<DictInfoSpec>,
) -> Result<Response, ApiError> {
    let (by, id) = (actor(&who), DictInfoId::new(id));
    let updated = shared
        .admin
        .update_dict_info(&by, &id, revision.expect, spec);
    let entry = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, entry.stamp.rev, entry))
}

#[utoipa::path(delete, path = "/admin/netaclaw/dictionary-entries/{id}", tag = "dictionary",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 409), (status = 412)))]
async fn delete_entry(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let (by, id) = (actor(&who), DictInfoId::new(id));
    let deleted = shared.admin.delete_dict_info(&by, &id, revision.expect);
    deleted.await.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}
