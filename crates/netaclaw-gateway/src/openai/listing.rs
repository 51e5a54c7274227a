//! Agents as models.

use super::error::OpenaiError;
use crate::auth::SignedIn;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::ApiPath;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use netaclaw_admin::AdminError;
use netaclaw_protocol::{Agent, AgentId};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(list)).with(handlers!(one))
}

#[utoipa::path(get, path = "/v1/models", tag = "openai", responses((status = 200, body = Object)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    signed: Result<SignedIn, ApiError>,
) -> Result<Json<Value>, OpenaiError> {
    signed?;
    let agents = shared.admin.agents().await?;
    let models: Vec<Value> = agents.iter().map(model).collect();
    Ok(Json(json!({ "object": "list", "data": models })))
}

#[utoipa::path(get, path = "/v1/models/{model}", tag = "openai", params(("model" = String, Path)),
    responses((status = 200, body = Object)))]
async fn one(
    State(shared): State<Arc<Shared>>,
    signed: Result<SignedIn, ApiError>,
    name: Result<ApiPath<String>, ApiError>,
) -> Result<Json<Value>, OpenaiError> {
    signed?;
    let ApiPath(name) = name?;
    let agent = match shared.admin.agent_named(&name).await {
        Err(AdminError::NotFound { .. }) => shared.admin.agent(&AgentId::new(&name)).await?,
        found => found?,
    };
    Ok(Json(model(&agent)))
}

fn model(agent: &Agent) -> Value {
    json!({
        "id": agent.spec.name,
        "object": "model",
        "created": agent.stamp.created_at / 1000,
        "owned_by": "netaclaw",
    })
}
