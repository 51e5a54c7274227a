//! The dictionary: groups of named texts.

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
use netaclaw_protocol::{
    DictInfo, DictInfoId, DictInfoSpec, DictType, DictTypeId, DictTypeSpec, DictValue, Listing,
};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create_group))
        .with(handlers!(replace_group, delete_group))
        .with(handlers!(create_entry))
        .with(handlers!(replace_entry, delete_entry))
        .with(handlers!(put_value))
}

#[utoipa::path(get, path = "/admin/netaclaw/dictionary", tag = "dictionary",
    params(Paging), responses((status = 200, body = Listing<DictType>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
) -> Result<Json<Listing<DictType>>, ApiError> {
    Ok(Json(paging.of(shared.admin.dictionary().await?)))
}

#[utoipa::path(post, path = "/admin/netaclaw/dictionary", tag = "dictionary", request_body = DictTypeSpec,
    responses((status = 201, body = DictType)))]
async fn create_group(
    maker: CanCreate,
    ApiJson(spec): ApiJson<DictTypeSpec>,
) -> Result<WithEtag<DictType>, ApiError> {
    let made = maker.admin().create_dict_type(&maker.by, spec).await?;
    Ok(WithEtag::made(made))
}

#[utoipa::path(put, path = "/admin/netaclaw/dictionary/{id}", tag = "dictionary", request_body = DictTypeSpec,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = DictType)))]
async fn replace_group(
    edit: CanEdit<DictTypeId>,
    ApiJson(spec): ApiJson<DictTypeSpec>,
) -> Result<WithEtag<DictType>, ApiError> {
    let admin = edit.admin();
    edit.changed(
        admin
            .update_dict_type(edit.by(), &edit.id, edit.expect(), spec)
            .await,
    )
}

#[utoipa::path(delete, path = "/admin/netaclaw/dictionary/{id}", tag = "dictionary",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete_group(edit: CanEdit<DictTypeId>) -> Result<StatusCode, ApiError> {
    edit.deleted(
        edit.admin()
            .delete_dict_type(edit.by(), &edit.id, edit.expect())
            .await,
    )
}

#[utoipa::path(post, path = "/admin/netaclaw/dictionary/{id}/entries", tag = "dictionary",
    params(("id" = String, Path)), request_body = DictInfoSpec, responses((status = 201, body = DictInfo)))]
async fn create_entry(
    maker: CanCreate,
    ApiPath(group): ApiPath<String>,
    ApiJson(spec): ApiJson<DictInfoSpec>,
) -> Result<WithEtag<DictInfo>, ApiError> {
    let group = DictTypeId::new(group);
    let made = maker.admin().create_dict_info(&maker.by, &group, spec);
    Ok(WithEtag::made(made.await?))
}

#[utoipa::path(put, path = "/admin/netaclaw/dictionary-entries/{id}", tag = "dictionary",
    params(("id" = String, Path), RevisionParam), request_body = DictInfoSpec, responses((status = 200, body = DictInfo)))]
async fn replace_entry(
    edit: CanEdit<DictInfoId>,
    ApiJson(spec): ApiJson<DictInfoSpec>,
) -> Result<WithEtag<DictInfo>, ApiError> {
    let admin = edit.admin();
    edit.changed(
        admin
            .update_dict_info(edit.by(), &edit.id, edit.expect(), spec)
            .await,
    )
}

#[utoipa::path(delete, path = "/admin/netaclaw/dictionary-entries/{id}", tag = "dictionary",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete_entry(edit: CanEdit<DictInfoId>) -> Result<StatusCode, ApiError> {
    edit.deleted(
        edit.admin()
            .delete_dict_info(edit.by(), &edit.id, edit.expect())
            .await,
    )
}

/// Set an entry by its name; creates the entry and its group if necessary.
/// An empty value counts as no value.
#[utoipa::path(put, path = "/admin/netaclaw/dictionary-values/{group}/{name}", tag = "dictionary",
    params(("group" = String, Path), ("name" = String, Path)), request_body = DictValue,
    responses((status = 200, body = DictInfo)))]
async fn put_value(
    maker: CanCreate,
    ApiPath((group, name)): ApiPath<(String, String)>,
    ApiJson(written): ApiJson<DictValue>,
) -> Result<WithEtag<DictInfo>, ApiError> {
    let admin = maker.admin();
    let put = admin.put_dict_value(&maker.by, &group, &name, &written.value);
    Ok(WithEtag::found(put.await?))
}
