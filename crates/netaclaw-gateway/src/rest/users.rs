//! Users.

use super::body::{ApiJson, ApiPath};
use super::paging::Paging;
use super::record::{CanCreate, CanEdit, RevisionParam, WithEtag};
use crate::auth::CanInspect;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::PasswordChange;
use netaclaw_protocol::{KeyChange, Listing, NewUser, User, UserId, UserWrite};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create))
        .with(handlers!(get, replace, delete))
}

#[utoipa::path(get, path = "/admin/netaclaw/users", tag = "users",
    params(Paging), responses((status = 200, body = Listing<User>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
) -> Result<Json<Listing<User>>, ApiError> {
    Ok(Json(paging.of(shared.admin.users().await?)))
}

#[utoipa::path(post, path = "/admin/netaclaw/users", tag = "users", request_body = NewUser,
    responses((status = 201, body = User)))]
async fn create(
    maker: CanCreate,
    ApiJson(new): ApiJson<NewUser>,
) -> Result<WithEtag<User>, ApiError> {
    let made = maker.admin().create_user(&maker.by, new).await?;
    Ok(WithEtag::made(made))
}

#[utoipa::path(get, path = "/admin/netaclaw/users/{id}", tag = "users", params(("id" = String, Path)),
    responses((status = 200, body = User)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(id): ApiPath<String>,
) -> Result<WithEtag<User>, ApiError> {
    Ok(WithEtag::found(shared.admin.user(&UserId::new(id)).await?))
}

#[utoipa::path(put, path = "/admin/netaclaw/users/{id}", tag = "users", request_body = UserWrite,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = User)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    edit: CanEdit<UserId>,
    ApiJson(write): ApiJson<UserWrite>,
) -> Result<WithEtag<User>, ApiError> {
    let password = match write.password {
        KeyChange::Keep => PasswordChange::Keep,
        KeyChange::Clear => PasswordChange::Clear,
        KeyChange::Set(password) => PasswordChange::Set(password),
    };
    let (by, expect) = (edit.by(), edit.expect());
    let admin = edit.admin();
    let changed = admin.update_user(by, &edit.id, expect, write.spec, password);
    let changed = edit.changed(changed.await)?;
    shared.connections.recheck_credentials(edit.id.as_str());
    Ok(changed)
}

#[utoipa::path(delete, path = "/admin/netaclaw/users/{id}", tag = "users",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    edit: CanEdit<UserId>,
) -> Result<StatusCode, ApiError> {
    let admin = edit.admin();
    let deleted = admin.delete_user(edit.by(), &edit.id, edit.expect());
    let deleted = edit.deleted(deleted.await)?;
    shared.connections.recheck_credentials(edit.id.as_str());
    Ok(deleted)
}
