//! MCP servers. Secrets go in and never come out.

use super::body::{ApiJson, ApiPath};
use super::paging::Paging;
use super::record::{CanCreate, CanEdit, RevisionParam, WithEtag};
use crate::auth::{Administrator, CanInspect};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::{
    AdminError, McpSecrets, McpSecretsChange, check_mcp_secrets, check_mcp_server,
};
use netaclaw_agents::{McpServerStatus, McpStatusSource};
use netaclaw_protocol::{
    Listing, McpServerId, McpServerInfo, McpServerState, McpServerTest, McpServerTry,
    McpServerView, McpServerWrite, McpStatus, ToolStatus, Unavailable,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create))
        .with(handlers!(get, replace, delete))
        .with(handlers!(test))
        .with(handlers!(test_unsaved))
}

/// List the MCP servers with their current status.
#[utoipa::path(get, path = "/admin/netaclaw/mcp-servers", tag = "mcp", operation_id = "list_mcp_servers",
    params(Paging), responses((status = 200, body = Listing<McpServerInfo>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    paging: Paging,
) -> Result<Json<Listing<McpServerInfo>>, ApiError> {
    let live = live(&shared);
    let servers = shared.admin.mcp_servers().await?.into_iter();
    let servers = servers.map(|server| with_status(server, &live));
    Ok(Json(paging.of(servers.collect())))
}

/// Create an MCP server.
/// NetaClaw connects to it, and the next run can use its tools.
#[utoipa::path(post, path = "/admin/netaclaw/mcp-servers", tag = "mcp", operation_id = "create_mcp_server",
    request_body = McpServerWrite, responses((status = 201, body = McpServerView)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    maker: CanCreate,
    ApiJson(write): ApiJson<McpServerWrite>,
) -> Result<WithEtag<McpServerView>, ApiError> {
    let secrets = change(&write).apply(McpSecrets::new());
    let secrets = secrets.map_err(AdminError::from)?;
    let made = maker
        .admin()
        .create_mcp_server(&maker.by, write.spec, secrets);
    let made = made.await?;
    refresh(&shared);
    Ok(WithEtag::made(made))
}

#[utoipa::path(get, path = "/admin/netaclaw/mcp-servers/{id}", tag = "mcp", operation_id = "get_mcp_server",
    params(("id" = String, Path)), responses((status = 200, body = McpServerInfo)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(id): ApiPath<String>,
) -> Result<WithEtag<McpServerInfo>, ApiError> {
    let server = shared.admin.mcp_server(&McpServerId::new(id)).await?;
    Ok(WithEtag::found(with_status(server, &live(&shared))))
}

#[utoipa::path(put, path = "/admin/netaclaw/mcp-servers/{id}", tag = "mcp", operation_id = "replace_mcp_server",
    request_body = McpServerWrite,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = McpServerView)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    edit: CanEdit<McpServerId>,
    ApiJson(write): ApiJson<McpServerWrite>,
) -> Result<WithEtag<McpServerView>, ApiError> {
    let (by, expect) = (edit.by(), edit.expect());
    let (admin, secrets) = (edit.admin(), change(&write));
    let changed = admin.update_mcp_server(by, &edit.id, expect, write.spec, secrets);
    let changed = edit.changed(changed.await);
    refresh(&shared);
    changed
}

#[utoipa::path(delete, path = "/admin/netaclaw/mcp-servers/{id}", tag = "mcp", operation_id = "delete_mcp_server",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    edit: CanEdit<McpServerId>,
) -> Result<StatusCode, ApiError> {
    let deleted = edit
        .admin()
        .delete_mcp_server(edit.by(), &edit.id, edit.expect());
    let deleted = edit.deleted(deleted.await);
    refresh(&shared);
    deleted
}

/// Test the connection to an MCP server.
/// A failed test is a result, not an error of this request.
#[utoipa::path(post, path = "/admin/netaclaw/mcp-servers/{id}/test", tag = "mcp", operation_id = "test_mcp_server",
    params(("id" = String, Path)), responses((status = 200, body = McpServerTest)))]
async fn test(
    State(shared): State<Arc<Shared>>,
    _: Administrator,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<McpServerTest>, ApiError> {
    let id = McpServerId::new(id);
    let (spec, secrets) = shared.admin.open_mcp_server(&id).await?;
    Ok(Json(
        status_source(&shared)?.try_server(spec, secrets).await,
    ))
}

/// Test an MCP server that is not saved.
/// If an existing server is being changed, its stored secrets are used.
#[utoipa::path(post, path = "/admin/netaclaw/mcp-servers/test", tag = "mcp", operation_id = "test_unsaved_mcp_server",
    request_body = McpServerTry, responses((status = 200, body = McpServerTest)))]
async fn test_unsaved(
    State(shared): State<Arc<Shared>>,
    _: Administrator,
    ApiJson(wanted): ApiJson<McpServerTry>,
) -> Result<Json<McpServerTest>, ApiError> {
    let McpServerTry { id, write } = wanted;
    check_mcp_server(&write.spec).map_err(AdminError::from)?;
    let old = match &id {
        Some(id) => shared.admin.open_mcp_server(id).await?.1,
        None => McpSecrets::new(),
    };
    let secrets = change(&write).apply(old).map_err(AdminError::from)?;
    check_mcp_secrets(&secrets).map_err(AdminError::from)?;
    Ok(Json(
        status_source(&shared)?
            .try_server(write.spec, secrets)
            .await,
    ))
}

fn change(write: &McpServerWrite) -> McpSecretsChange {
    match &write.secrets {
        Some(secrets) => McpSecretsChange::Set(secrets.clone()),
        None => McpSecretsChange::Keep,
    }
}

fn status_source(shared: &Shared) -> Result<&dyn McpStatusSource, ApiError> {
    let source = shared.mcp.as_deref();
    Ok(source.ok_or(Unavailable::NoMcp)?)
}

fn refresh(shared: &Shared) {
    if let Some(source) = &shared.mcp {
        source.refresh();
    }
}

fn live(shared: &Shared) -> BTreeMap<String, McpServerStatus> {
    let source = shared.mcp.as_ref();
    source.map_or_else(BTreeMap::new, |source| source.statuses())
}

fn with_status(server: McpServerView, live: &BTreeMap<String, McpServerStatus>) -> McpServerInfo {
    let live = live.get(&server.spec.name).cloned();
    // One that was made a moment ago.
    let new = McpServerState {
        status: match server.spec.status {
            ToolStatus::Enabled => McpStatus::Connecting,
            ToolStatus::Disabled => McpStatus::Off,
        },
        last_fault: None,
    };
    let (state, offered) = live.map_or((new, Vec::new()), |live| (live.state, live.tools));
    McpServerInfo {
        server,
        state,
        offered,
    }
}
