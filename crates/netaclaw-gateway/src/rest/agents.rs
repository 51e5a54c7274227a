//! Agents. Everybody with a credential may see which there are; their instructions and tools are
//! for those who configure the server.

use super::body::ApiJson;
use super::revision::{Revision, tagged};
use crate::auth::{Administrator, Onlooker, Signed, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use netaclaw_admin::apply_patch;
use netaclaw_protocol::{AgentId, AgentSpec};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, patch, delete))
}

#[utoipa::path(get, path = "/admin/netaclaw/agents", tag = "agents",
    responses((status = 200, body = Value)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
) -> Result<Json<Value>, ApiError> {
    let agents = shared.admin.agents().await?;
    let items: Vec<Value> = match who.may_inspect() {
        true => agents.iter().map(|agent| json!(agent)).collect(),
        false => agents
            .iter()
            .map(|agent| {
                json!({
                    "id": agent.id,
                    "name": agent.spec.name,
                    "label": agent.spec.label,
                    "description": agent.spec.description,
                    "isDefault": agent.spec.is_default,
                })
            })
            .collect(),
    };
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

#[utoipa::path(post, path = "/admin/netaclaw/agents", tag = "agents",
    request_body = Value, responses((status = 201, body = Value), (status = 400), (status = 409)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    ApiJson(spec): ApiJson<AgentSpec>,
) -> Result<Response, ApiError> {
    let agent = shared.admin.create_agent(&actor(&who), spec).await?;
    Ok(tagged(StatusCode::CREATED, agent.stamp.rev, agent))
}

#[utoipa::path(get, path = "/admin/netaclaw/agents/{id}", tag = "agents",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: Onlooker,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let agent = shared.admin.agent(&AgentId::new(id)).await?;
    Ok(tagged(StatusCode::OK, agent.stamp.rev, agent))
}

#[utoipa::path(put, path = "/admin/netaclaw/agents/{id}", tag = "agents", request_body = Value,
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(spec): ApiJson<AgentSpec>,
) -> Result<Response, ApiError> {
    let (by, id) = (actor(&who), AgentId::new(id));
    let updated = shared.admin.update_agent(&by, &id, revision.expect, spec);
    let agent = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, agent.stamp.rev, agent))
}

/// Changes what is named; `null` puts a field back to its default.
#[utoipa::path(patch, path = "/admin/netaclaw/agents/{id}", tag = "agents", request_body = Value,
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn patch(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(change): ApiJson<Map<String, Value>>,
) -> Result<Response, ApiError> {
    let (by, id) = (actor(&who), AgentId::new(id));
    let known = shared.admin.agent(&id).await?;
    let spec = apply_patch(&known.spec, &change).map_err(netaclaw_admin::AdminError::from)?;
    let updated = shared.admin.update_agent(&by, &id, revision.expect, spec);
    let agent = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, agent.stamp.rev, agent))
}

#[utoipa::path(delete, path = "/admin/netaclaw/agents/{id}", tag = "agents",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 404), (status = 409), (status = 412)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let (by, id) = (actor(&who), AgentId::new(id));
    let deleted = shared.admin.delete_agent(&by, &id, revision.expect).await;
    deleted.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}
