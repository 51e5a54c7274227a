//! Agents. Every authenticated user may list them and see which tools they have; their instructions
//! and settings are for administrators.

use super::body::{ApiJson, ApiPath, ApiQuery};
use super::paging::Paging;
use super::record::{CanCreate, CanEdit, RevisionParam, WithEtag};
use crate::auth::{Administrator, CanInspect, SignedIn};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_admin::{AdminError, Expect, apply_patch};
use netaclaw_agents::{AgentPreviews, PreviewFor, ToolAudience};
use netaclaw_protocol::{
    Agent, AgentBrief, AgentId, AgentListItem, AgentPreview, AgentSpec, EffectiveTools, Listing,
    PromptPreview, ToolDiagnostic, Unavailable,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::IntoParams;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, create))
        .with(handlers!(get, replace, patch, delete))
        .with(handlers!(preview))
        .with(handlers!(effective_tools))
        .with(handlers!(prompt_preview))
}

#[utoipa::path(get, path = "/admin/netaclaw/agents", tag = "agents",
    params(Paging), responses((status = 200, body = Listing<AgentListItem>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    paging: Paging,
) -> Result<Json<Listing<AgentListItem>>, ApiError> {
    let agents = shared.admin.agents().await?.into_iter();
    let items = match who.may_inspect() {
        true => agents
            .map(|agent| AgentListItem::Whole(Box::new(agent)))
            .collect(),
        false => agents
            .map(|agent| AgentListItem::Brief(brief(agent)))
            .collect(),
    };
    Ok(Json(paging.of(items)))
}

fn brief(agent: Agent) -> AgentBrief {
    AgentBrief {
        id: agent.id,
        name: agent.spec.name,
        label: agent.spec.label,
        description: agent.spec.description,
        is_default: agent.spec.is_default,
    }
}

#[utoipa::path(post, path = "/admin/netaclaw/agents", tag = "agents", request_body = AgentSpec,
    responses((status = 201, body = Agent)))]
async fn create(
    maker: CanCreate,
    ApiJson(spec): ApiJson<AgentSpec>,
) -> Result<WithEtag<Agent>, ApiError> {
    let made = maker.admin().create_agent(&maker.by, spec).await?;
    Ok(WithEtag::made(made))
}

#[utoipa::path(get, path = "/admin/netaclaw/agents/{id}", tag = "agents", params(("id" = String, Path)),
    responses((status = 200, body = Agent)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: CanInspect,
    ApiPath(id): ApiPath<String>,
) -> Result<WithEtag<Agent>, ApiError> {
    Ok(WithEtag::found(
        shared.admin.agent(&AgentId::new(id)).await?,
    ))
}

#[utoipa::path(put, path = "/admin/netaclaw/agents/{id}", tag = "agents", request_body = AgentSpec,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = Agent)))]
async fn replace(
    edit: CanEdit<AgentId>,
    ApiJson(spec): ApiJson<AgentSpec>,
) -> Result<WithEtag<Agent>, ApiError> {
    let admin = edit.admin();
    edit.changed(
        admin
            .update_agent(edit.by(), &edit.id, edit.expect(), spec)
            .await,
    )
}

/// Change the given fields; `null` resets a field to its default.
#[utoipa::path(patch, path = "/admin/netaclaw/agents/{id}", tag = "agents", request_body = Object,
    params(("id" = String, Path), RevisionParam), responses((status = 200, body = Agent)))]
async fn patch(
    edit: CanEdit<AgentId>,
    ApiJson(change): ApiJson<Map<String, Value>>,
) -> Result<WithEtag<Agent>, ApiError> {
    let changed = match apply(&edit, &change).await {
        // Another change was quicker. Without a revision, the change applies to what is stored now.
        Err(AdminError::Conflict { .. }) if edit.expect() == Expect::Any => {
            apply(&edit, &change).await
        }
        changed => changed,
    };
    edit.changed(changed)
}

/// The change on the agent as it is now. What others change between reading and writing it is not
/// overwritten.
async fn apply(edit: &CanEdit<AgentId>, change: &Map<String, Value>) -> Result<Agent, AdminError> {
    let admin = edit.admin();
    let known = admin.agent(&edit.id).await?;
    let spec = apply_patch(&known.spec, change)?;
    let expect = match edit.expect() {
        Expect::Any => Expect::Rev(known.stamp.rev),
        expect => expect,
    };
    admin.update_agent(edit.by(), &edit.id, expect, spec).await
}

#[utoipa::path(delete, path = "/admin/netaclaw/agents/{id}", tag = "agents",
    params(("id" = String, Path), RevisionParam), responses((status = 204)))]
async fn delete(edit: CanEdit<AgentId>) -> Result<StatusCode, ApiError> {
    edit.deleted(
        edit.admin()
            .delete_agent(edit.by(), &edit.id, edit.expect())
            .await,
    )
}

/// Whether to show the tools of the agent itself or of a subagent.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct PreviewQuery {
    /// The tools that this agent would have as a subagent of another one.
    #[serde(default)]
    as_subagent: bool,
}

impl PreviewQuery {
    fn seat(&self) -> ToolAudience {
        match self.as_subagent {
            true => ToolAudience::Subagent,
            false => ToolAudience::Main,
        }
    }
}

/// Preview the system prompt and the tools of an agent that is not saved.
#[utoipa::path(post, path = "/admin/netaclaw/agents/preview", tag = "agents", request_body = AgentSpec,
    params(PreviewQuery), responses((status = 200, body = AgentPreview)))]
async fn preview(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    ApiQuery(what_if): ApiQuery<PreviewQuery>,
    ApiJson(spec): ApiJson<AgentSpec>,
) -> Result<Json<AgentPreview>, ApiError> {
    let whom = PreviewFor {
        seat: what_if.seat(),
        user: Some(&who.user_id),
    };
    Ok(Json(previews(&shared)?.preview(&spec, whom).await?))
}

/// List every tool for one agent: whether it is enabled and why; for administrators also each layer
/// that contributed and how to change it.
#[utoipa::path(get, path = "/admin/netaclaw/agents/{id}/tools", tag = "agents", params(("id" = String, Path), PreviewQuery),
    responses((status = 200, body = EffectiveTools)))]
async fn effective_tools(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
    ApiQuery(what_if): ApiQuery<PreviewQuery>,
) -> Result<Json<EffectiveTools>, ApiError> {
    let whom = PreviewFor {
        seat: what_if.seat(),
        user: None,
    };
    let tools = preview_of(&shared, id, whom).await?.tools;
    Ok(Json(match who.may_inspect() {
        true => tools,
        false => without_settings(tools),
    }))
}

/// What a user may know of the tools of an agent: which they are and the code of the reason. Names
/// and texts of settings are for administrators.
fn without_settings(tools: EffectiveTools) -> EffectiveTools {
    let plain = |tool: ToolDiagnostic| ToolDiagnostic {
        policy_sources: Vec::new(),
        blocked_reason: None,
        how_to_change: String::new(),
        caution: None,
        ..tool
    };
    EffectiveTools {
        tool_names: tools.tool_names,
        disabled_reasons: Vec::new(),
        runtime_diagnostic: tools.runtime_diagnostic.into_iter().map(plain).collect(),
        warnings: Vec::new(),
    }
}

/// Preview the system prompt, layer by layer.
#[utoipa::path(get, path = "/admin/netaclaw/agents/{id}/prompt-preview", tag = "agents",
    params(("id" = String, Path)), responses((status = 200, body = PromptPreview)))]
async fn prompt_preview(
    State(shared): State<Arc<Shared>>,
    CanInspect(who): CanInspect,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<PromptPreview>, ApiError> {
    let whom = PreviewFor {
        seat: ToolAudience::Main,
        user: Some(&who.user_id),
    };
    Ok(Json(preview_of(&shared, id, whom).await?.prompt))
}

async fn preview_of(
    shared: &Shared,
    id: String,
    whom: PreviewFor<'_>,
) -> Result<AgentPreview, ApiError> {
    let agent = shared.admin.agent(&AgentId::new(id)).await?;
    Ok(previews(shared)?.preview(&agent.spec, whom).await?)
}

pub(super) fn previews(shared: &Shared) -> Result<&dyn AgentPreviews, ApiError> {
    let previews = shared.previews.as_deref();
    Ok(previews.ok_or(Unavailable::NoPreviews)?)
}
