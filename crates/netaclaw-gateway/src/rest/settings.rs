//! Settings: a JSON value by name. Only known settings can be set; anything can be deleted.

use super::body::{ApiJson, ApiPath};
use super::paging::Paging;
use super::record::{CanEdit, RevisionParam, WithEtag};
use crate::auth::CanInspect;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::check_setting_name;
use netaclaw_protocol::{Listing, NotFound, Setting, SettingWrite};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list))
        .with(handlers!(get, put, delete))
}

#[utoipa::path(get, path = "/admin/netaclaw/settings", tag = "settings",
    params(Paging), responses((status = 200, body = Listing<Setting>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
) -> Result<Json<Listing<Setting>>, ApiError> {
    Ok(Json(paging.of(shared.admin.settings().await?)))
}

#[utoipa::path(get, path = "/admin/netaclaw/settings/{name}", tag = "settings", params(("name" = String, Path)),
    responses((status = 200, body = Setting)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(name): ApiPath<String>,
) -> Result<WithEtag<Setting>, ApiError> {
    let setting = shared.admin.setting(&name).await?;
    Ok(WithEtag::found(setting.ok_or(NotFound::NotSet { name })?))
}

#[utoipa::path(put, path = "/admin/netaclaw/settings/{name}", tag = "settings", request_body = SettingWrite,
    params(("name" = String, Path), RevisionParam), responses((status = 200, body = Setting)))]
async fn put(
    edit: CanEdit<String>,
    ApiJson(written): ApiJson<SettingWrite>,
) -> Result<WithEtag<Setting>, ApiError> {
    check_setting_name(&edit.id)?;
    let (by, expect) = (edit.by(), edit.expect());
    let put = edit
        .admin()
        .put_setting(by, &edit.id, expect, written.value);
    edit.changed(put.await)
}

#[utoipa::path(delete, path = "/admin/netaclaw/settings/{name}", tag = "settings",
    params(("name" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(edit: CanEdit<String>) -> Result<StatusCode, ApiError> {
    edit.deleted(
        edit.admin()
            .delete_setting(edit.by(), &edit.id, edit.expect())
            .await,
    )
}
