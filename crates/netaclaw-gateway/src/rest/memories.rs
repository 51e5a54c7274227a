//! The memories of agents about the caller. Those about other users are not accessible.

use super::body::{ApiJson, ApiPath, ApiQuery};
use super::paging::Paging;
use super::record::{RevisionParam, WithEtag};
use super::revision::Revision;
use crate::auth::{Identity, SignedIn, Writer};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::search;
use netaclaw_protocol::{AgentId, Listing, Memory, MemoryAuthor, MemoryId, MemorySpec, UserId};
use serde::Deserialize;
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create))
        .with(handlers!(replace, delete))
        .with(handlers!(confirm))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemoryQuery {
    agent_id: Option<String>,
    query: Option<String>,
}

/// List the memories of the user.
/// Without `query`: pending ones first, then the others, newest first. With `query`: matching ones,
/// most relevant first.
#[utoipa::path(get, path = "/admin/netaclaw/memories", tag = "memories",
    params(Paging, ("agentId" = Option<String>, Query), ("query" = Option<String>, Query)),
    responses((status = 200, body = Listing<Memory>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiQuery(asked): ApiQuery<MemoryQuery>,
    paging: Paging,
) -> Result<Json<Listing<Memory>>, ApiError> {
    let user = user(&who);
    let mut memories = shared.admin.memories(&user).await?;
    memories.extend(shared.admin.pending_memories(&user).await?);
    if let Some(agent) = asked.agent_id.map(AgentId::new) {
        memories.retain(|memory| memory.spec.agent_id.as_ref().is_none_or(|of| *of == agent));
    }
    memories.reverse();
    if let Some(query) = asked.query.filter(|query| !query.trim().is_empty()) {
        memories = search(&memories, &query).into_iter().cloned().collect();
    }
    Ok(Json(paging.of(memories)))
}

#[utoipa::path(post, path = "/admin/netaclaw/memories", tag = "memories", request_body = MemorySpec,
    responses((status = 201, body = Memory)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiJson(spec): ApiJson<MemorySpec>,
) -> Result<WithEtag<Memory>, ApiError> {
    let made = shared
        .admin
        .create_memory(&user(&who), MemoryAuthor::User, spec)
        .await?;
    Ok(WithEtag::made(made))
}

#[utoipa::path(put, path = "/admin/netaclaw/memories/{id}", tag = "memories", request_body = MemorySpec,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = Memory)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    revision: Revision,
    ApiPath(id): ApiPath<String>,
    ApiJson(spec): ApiJson<MemorySpec>,
) -> Result<WithEtag<Memory>, ApiError> {
    let id = MemoryId::new(id);
    let changed = shared
        .admin
        .update_memory(&user(&who), MemoryAuthor::User, &id, revision.expect, spec)
        .await;
    Ok(WithEtag::found(
        changed.map_err(|error| revision.refused(error))?,
    ))
}

/// Confirm a pending memory, so that agents use it.
/// It replaces the memory that it corrects.
#[utoipa::path(post, path = "/admin/netaclaw/memories/{id}/confirm", tag = "memories",
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = Memory)))]
async fn confirm(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    revision: Revision,
    ApiPath(id): ApiPath<String>,
) -> Result<WithEtag<Memory>, ApiError> {
    let id = MemoryId::new(id);
    let confirmed = shared
        .admin
        .confirm_memory(&user(&who), &id, revision.expect)
        .await;
    Ok(WithEtag::found(
        confirmed.map_err(|error| revision.refused(error))?,
    ))
}

#[utoipa::path(delete, path = "/admin/netaclaw/memories/{id}", tag = "memories",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    revision: Revision,
    ApiPath(id): ApiPath<String>,
) -> Result<StatusCode, ApiError> {
    let id = MemoryId::new(id);
    let deleted = shared
        .admin
        .delete_memory(&user(&who), &id, revision.expect)
        .await;
    deleted.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}

fn user(who: &Identity) -> UserId {
    UserId::new(&who.user_id)
}
