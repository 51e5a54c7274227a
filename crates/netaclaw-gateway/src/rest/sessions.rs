//! Sessions: found, looked at, named, put away. Those of others do not exist.

use super::body::ApiJson;
use crate::auth::{Signed, Writer};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use netaclaw_engine::Caller;
use netaclaw_protocol::{ProviderKind, SessionId, SessionMeta, SessionPage, SessionStatus};
use netaclaw_session::{PageRequest, SessionFilter, SessionPatch, SessionTreeProvider, Snapshot};
use serde::Deserialize;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const PAGE_SIZE_MAX: u32 = 200;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get, patch, delete))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    page: Option<u32>,
    size: Option<u32>,
    agent_id: Option<String>,
    text: Option<String>,
    status: Option<SessionStatus>,
    /// Another user's, for administrators.
    user_id: Option<String>,
}

#[utoipa::path(get, path = "/admin/netaclaw/sessions", tag = "sessions",
    params(("page" = Option<u32>, Query), ("size" = Option<u32>, Query), ("agentId" = Option<String>, Query),
        ("text" = Option<String>, Query), ("status" = Option<String>, Query), ("userId" = Option<String>, Query)),
    responses((status = 200, body = serde_json::Value)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
    Query(asked): Query<Asked>,
) -> Result<Json<SessionPage>, ApiError> {
    let caller = who.caller();
    let user_id = match caller.is_admin {
        true => asked.user_id,
        false => Some(caller.user_id),
    };
    let filter = SessionFilter {
        user_id,
        agent_id: asked.agent_id,
        text: asked.text,
        status: asked.status,
    };
    let page = asked.page.unwrap_or(1).max(1);
    let size = asked.size.unwrap_or(50).clamp(1, PAGE_SIZE_MAX);
    Ok(Json(pages(&shared, &filter, page, size).await?))
}

/// One page over all providers. Each gives what could be on it, and the newest of all are taken.
async fn pages(
    shared: &Shared,
    filter: &SessionFilter,
    page: u32,
    size: u32,
) -> Result<SessionPage, ApiError> {
    let providers = shared.engine.providers();
    let Some(mysql) = &providers.mysql else {
        let request = PageRequest { page, size };
        return Ok(providers.file.list_sessions(filter, request).await?);
    };
    let first = PageRequest {
        page: 1,
        size: page.saturating_mul(size),
    };
    let files = providers.file.list_sessions(filter, first).await?;
    let rows = mysql.list_sessions(filter, first).await?;
    let mut items: Vec<SessionMeta> = files.items.into_iter().chain(rows.items).collect();
    items.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
    let skipped = (page as usize - 1) * size as usize;
    let items = items
        .into_iter()
        .skip(skipped)
        .take(size as usize)
        .collect();
    Ok(SessionPage {
        items,
        page,
        size,
        total: files.total + rows.total,
    })
}

#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}", tag = "sessions",
    params(("id" = String, Path)), responses((status = 200, body = serde_json::Value), (status = 404)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
    Path(id): Path<String>,
) -> Result<Json<Snapshot>, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    Ok(Json(provider.get_snapshot(&id).await?))
}

#[derive(Deserialize)]
struct Change {
    title: Option<String>,
    status: Option<SessionStatus>,
}

#[utoipa::path(patch, path = "/admin/netaclaw/sessions/{id}", tag = "sessions", request_body = serde_json::Value,
    params(("id" = String, Path)), responses((status = 200, body = serde_json::Value), (status = 404)))]
async fn patch(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    Path(id): Path<String>,
    ApiJson(change): ApiJson<Change>,
) -> Result<Json<SessionMeta>, ApiError> {
    let (caller, id) = (who.caller(), SessionId::new(id));
    let (provider, mut meta) = find(&shared, &caller, &id).await?;
    if let Some(status) = change.status {
        let patch = SessionPatch {
            status: Some(status),
            ..SessionPatch::default()
        };
        meta = provider.update_session(&id, patch).await?;
    }
    // By the session's own writer, so that everybody who watches hears of it.
    if let Some(title) = change.title {
        meta = shared.engine.rename(&caller, &id, title).await?;
    }
    Ok(Json(meta))
}

/// Stops what runs, then marks the session deleted.
#[utoipa::path(delete, path = "/admin/netaclaw/sessions/{id}", tag = "sessions",
    params(("id" = String, Path)), responses((status = 204), (status = 404)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let (caller, id) = (who.caller(), SessionId::new(id));
    let (provider, _) = find(&shared, &caller, &id).await?;
    shared.engine.stop(&caller, &id).await?;
    provider.delete_session(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A session the caller may see, and where it is kept.
pub(crate) async fn find<'s>(
    shared: &'s Shared,
    caller: &Caller,
    id: &SessionId,
) -> Result<(&'s Arc<dyn SessionTreeProvider>, SessionMeta), ApiError> {
    let meta = shared.engine.session(caller, id).await?;
    let providers = shared.engine.providers();
    let provider = match (meta.provider, &providers.mysql) {
        (ProviderKind::Mysql, Some(mysql)) => mysql,
        _ => &providers.file,
    };
    Ok((provider, meta))
}
