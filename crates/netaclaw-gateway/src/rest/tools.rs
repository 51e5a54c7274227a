//! Tools: the list, their global settings, and their use by agents.

use super::agents::previews;
use super::body::{ApiJson, ApiPath};
use super::paging::Paging;
use super::record::{CanEdit, RevisionParam, WithEtag};
use crate::auth::CanInspect;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use netaclaw_protocol::{Listing, ToolDetail, ToolInfo, ToolRecord, ToolSwitch};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list))
        .with(handlers!(get, switch))
}

/// List the tools, including those that no longer exist.
#[utoipa::path(get, path = "/admin/netaclaw/tools", tag = "tools",
    params(Paging), responses((status = 200, body = Listing<ToolInfo>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
) -> Result<Json<Listing<ToolInfo>>, ApiError> {
    Ok(Json(paging.of(previews(&shared)?.tools().await?)))
}

/// Get a tool, which agents have it and why others do not.
#[utoipa::path(get, path = "/admin/netaclaw/tools/{name}", tag = "tools",
    params(("name" = String, Path)), responses((status = 200, body = ToolDetail)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(name): ApiPath<String>,
) -> Result<Json<ToolDetail>, ApiError> {
    Ok(Json(previews(&shared)?.tool(&name).await?))
}

/// Enable or disable a tool for all agents.
/// Active runs follow with their next call.
#[utoipa::path(patch, path = "/admin/netaclaw/tools/{name}", tag = "tools", request_body = ToolSwitch,
    params(("name" = String, Path), RevisionParam), responses((status = 200, body = ToolRecord)))]
async fn switch(
    edit: CanEdit<ToolName>,
    ApiJson(switch): ApiJson<ToolSwitch>,
) -> Result<WithEtag<ToolRecord>, ApiError> {
    let admin = edit.admin();
    let switched = admin.switch_tool(edit.by(), &edit.id.0, edit.expect(), switch.status);
    edit.changed(switched.await)
}

struct ToolName(String);

impl From<&str> for ToolName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}
