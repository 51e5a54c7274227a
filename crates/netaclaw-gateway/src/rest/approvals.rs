//! Standing approvals. Users see and revoke their own, administrators those of all users.

use super::body::{ApiPath, ApiQuery};
use super::paging::Paging;
use crate::auth::{Identity, SignedIn, Writer, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_protocol::{
    ApprovalListItem, Forbidden, Listing, RevokeApproval, SessionId, StandingApproval, UserId,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::IntoParams;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, revoke_all))
        .with(handlers!(revoke))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// Those of all users; for administrators. Default: those of the caller.
    #[serde(default)]
    #[param(default = false)]
    all: bool,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct ValidIn {
    /// The session, if the approval is valid in one session only.
    session_id: Option<String>,
}

/// List standing approvals, newest first.
#[utoipa::path(get, path = "/admin/netaclaw/approvals", tag = "approvals",
    params(Paging, Whose), responses((status = 200, body = Listing<ApprovalListItem>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiQuery(whose): ApiQuery<Whose>,
    paging: Paging,
) -> Result<Json<Listing<ApprovalListItem>>, ApiError> {
    if whose.all && !who.caller().is_admin {
        return Err(Forbidden::AdministratorSees.into());
    }
    let mut found = known(&shared, &who, whose.all).await?;
    found.sort_by_key(|(approval, _)| std::cmp::Reverse(approval.granted_at));
    let config = shared.admin.config_snapshot().await?;
    let agents: HashMap<&str, &str> = config
        .agents
        .iter()
        .map(|agent| {
            (
                agent.id.as_str(),
                display(&agent.spec.label, &agent.spec.name),
            )
        })
        .collect();
    let users = match whose.all {
        true => shared.admin.users().await?,
        false => Vec::new(),
    };
    let name_of = |id: &UserId| {
        let known = users.iter().find(|user| user.id == *id);
        known.map_or_else(|| who.user.spec.name.clone(), |user| user.spec.name.clone())
    };
    let items = found.into_iter().map(|(approval, session_title)| {
        let agent = approval.agent_id.as_deref().and_then(|id| agents.get(id));
        ApprovalListItem {
            user_name: name_of(&approval.user_id),
            agent_label: agent.map(|&label| label.to_owned()),
            session_title,
            approval,
        }
    });
    Ok(Json(paging.of(items.collect())))
}

fn display<'a>(label: &'a str, name: &'a str) -> &'a str {
    match label.is_empty() {
        true => name,
        false => label,
    }
}

/// Revoke a standing approval.
#[utoipa::path(delete, path = "/admin/netaclaw/approvals/{id}", tag = "approvals",
    params(("id" = String, Path), ValidIn), responses((status = 204)))]
async fn revoke(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(id): ApiPath<String>,
    ApiQuery(place): ApiQuery<ValidIn>,
) -> Result<StatusCode, ApiError> {
    revoke_one(&shared, &who, &id, place.session_id.map(SessionId::new)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Revoke all standing approvals.
#[utoipa::path(delete, path = "/admin/netaclaw/approvals", tag = "approvals",
    params(Whose), responses((status = 204)))]
async fn revoke_all(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiQuery(whose): ApiQuery<Whose>,
) -> Result<StatusCode, ApiError> {
    if whose.all && !who.may_configure() {
        return Err(Forbidden::AdministratorChanges.into());
    }
    for (approval, _) in known(&shared, &who, whose.all).await? {
        revoke_one(&shared, &who, &approval.id, approval.session_id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn revoke_one(
    shared: &Shared,
    who: &Identity,
    id: &str,
    session: Option<SessionId>,
) -> Result<(), ApiError> {
    if let Some(session_id) = session {
        let command = RevokeApproval {
            session_id,
            approval_id: id.to_owned(),
            request_id: None,
        };
        shared.engine.execute(&who.caller(), command).await?;
        return Ok(());
    }
    let own = UserId::new(&who.user_id);
    let user = (!who.may_configure()).then_some(&own);
    shared.admin.revoke_approval(&actor(who), user, id).await?;
    Ok(())
}

/// Those of agents, and those of sessions with the title of the session.
async fn known(
    shared: &Shared,
    who: &Identity,
    all: bool,
) -> Result<Vec<(StandingApproval, Option<String>)>, ApiError> {
    let own = UserId::new(&who.user_id);
    let of_agents = shared.admin.approvals((!all).then_some(&own)).await?;
    let user = (!all).then_some(who.user_id.as_str());
    let of_sessions = shared.engine.session_approvals(user).await?;
    let of_sessions = of_sessions.into_iter().flat_map(|(session, approvals)| {
        let title = session.title.or(session.first_message);
        approvals
            .into_iter()
            .map(move |approval| (approval, title.clone()))
    });
    let of_agents = of_agents.into_iter().map(|approval| (approval, None));
    Ok(of_agents.chain(of_sessions).collect())
}
