//! Users.

use super::body::ApiJson;
use super::revision::{Revision, tagged};
use crate::auth::{Administrator, Onlooker, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use netaclaw_admin::PasswordChange;
use netaclaw_protocol::{KeyChange, NewUser, UserId, UserSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, delete))
}

/// A changed user. The password is absent to keep it, `null` to clear it, or a new one.
#[derive(Deserialize)]
struct Changed {
    #[serde(flatten)]
    spec: UserSpec,
    #[serde(default)]
    password: KeyChange,
}

#[utoipa::path(get, path = "/admin/netaclaw/users", tag = "users",
    responses((status = 200, body = Value)))]
async fn list(State(shared): State<Arc<Shared>>, _: Onlooker) -> Result<Json<Value>, ApiError> {
    let items = shared.admin.users().await?;
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

#[utoipa::path(post, path = "/admin/netaclaw/users", tag = "users", request_body = Value,
    responses((status = 201, body = Value), (status = 400), (status = 409)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    ApiJson(new): ApiJson<NewUser>,
) -> Result<Response, ApiError> {
    let user = shared.admin.create_user(&actor(&who), new).await?;
    Ok(tagged(StatusCode::CREATED, user.stamp.rev, user))
}

#[utoipa::path(get, path = "/admin/netaclaw/users/{id}", tag = "users",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: Onlooker,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let user = shared.admin.user(&UserId::new(id)).await?;
    Ok(tagged(StatusCode::OK, user.stamp.rev, user))
}

#[utoipa::path(put, path = "/admin/netaclaw/users/{id}", tag = "users", request_body = Value,
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(changed): ApiJson<Changed>,
) -> Result<Response, ApiError> {
    let password = match changed.password {
        KeyChange::Keep => PasswordChange::Keep,
        KeyChange::Clear => PasswordChange::Clear,
        KeyChange::Set(password) => PasswordChange::Set(password),
    };
    let (by, id) = (actor(&who), UserId::new(id));
    let updated = shared
        .admin
        .update_user(&by, &id, revision.expect, changed.spec, password);
    let user = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, user.stamp.rev, user))
}

#[utoipa::path(delete, path = "/admin/netaclaw/users/{id}", tag = "users",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 404), (status = 409), (status = 412)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let (by, id) = (actor(&who), UserId::new(id));
    let deleted = shared.admin.delete_user(&by, &id, revision.expect).await;
    deleted.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}
