//! Skills: what an agent finds, what each says, and trying one.

use super::agents::previews;
use super::body::{ApiJson, ApiPath, ApiQuery};
use super::paging::{Paging, within};
use crate::auth::{SignedIn, Writer};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_protocol::{
    Listing, ProcessLogPage, SessionId, SkillDetail, SkillTried, SkillTry, SkillView,
};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Steps in one answer.
const PAGE_SIZE_MAX: u32 = 1000;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list))
        .with(handlers!(get))
        .with(handlers!(try_out))
        .with(handlers!(process_log))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct AgentQuery {
    /// Id or name of the agent. Default: the default agent.
    agent_id: Option<String>,
}

/// List the skills of an agent, including unavailable ones with the reason.
#[utoipa::path(get, path = "/admin/netaclaw/skills", tag = "skills", params(Paging, AgentQuery),
    responses((status = 200, body = Listing<SkillView>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    _: SignedIn,
    ApiQuery(of): ApiQuery<AgentQuery>,
    paging: Paging,
) -> Result<Json<Listing<SkillView>>, ApiError> {
    let skills = previews(&shared)?.skills(of.agent_id.as_deref()).await?;
    Ok(Json(paging.of(skills)))
}

/// Get a skill with its instructions.
#[utoipa::path(get, path = "/admin/netaclaw/skills/{name}", tag = "skills",
    params(("name" = String, Path), AgentQuery), responses((status = 200, body = SkillDetail)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: SignedIn,
    ApiPath(name): ApiPath<String>,
    ApiQuery(of): ApiQuery<AgentQuery>,
) -> Result<Json<SkillDetail>, ApiError> {
    let skill = previews(&shared)?.skill(of.agent_id.as_deref(), &name);
    Ok(Json(skill.await?))
}

/// Run a skill in a new session.
#[utoipa::path(post, path = "/admin/netaclaw/skills/{name}/try", tag = "skills", request_body = SkillTry,
    params(("name" = String, Path)), responses((status = 201, body = SkillTried)))]
async fn try_out(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(name): ApiPath<String>,
    ApiJson(wanted): ApiJson<SkillTry>,
) -> Result<(StatusCode, Json<SkillTried>), ApiError> {
    // What is not there is refused before there is a session for it.
    let agent = wanted.agent_name.as_deref();
    previews(&shared)?.skill(agent, &name).await?;
    let tried = shared
        .engine
        .try_skill(&who.caller(), &name, wanted)
        .await?;
    Ok((StatusCode::CREATED, Json(tried)))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct OperationQuery {
    session_id: String,
    operation_id: String,
    /// Page number, starting at 1.
    #[param(minimum = 1)]
    page: Option<u32>,
    #[param(minimum = 1, maximum = 1000)]
    size: Option<u32>,
}

/// List the steps of a tool or skill call, page by page.
#[utoipa::path(get, path = "/admin/netaclaw/session/process_log", tag = "sessions", params(OperationQuery),
    responses((status = 200, body = ProcessLogPage)))]
async fn process_log(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiQuery(of): ApiQuery<OperationQuery>,
) -> Result<Json<ProcessLogPage>, ApiError> {
    let page = within("page", of.page.unwrap_or(1), 1..=u32::MAX)?;
    let size = within("size", of.size.unwrap_or(100), 1..=PAGE_SIZE_MAX)?;
    let (caller, session) = (who.caller(), SessionId::new(of.session_id));
    let log = shared
        .engine
        .process_log(&caller, &session, &of.operation_id, page, size);
    Ok(Json(log.await?))
}
