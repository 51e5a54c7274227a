//! Sessions: list, rename, archive, delete, fork. Those of other users do not exist for the caller.

use super::body::{ApiJson, ApiPath, ApiQuery};
use super::paging::page_and_size;
use crate::auth::{Identity, SignedIn, Writer};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_engine::{Caller, UpdateSession};
use netaclaw_protocol::{
    Fork, ForkRequest, ProviderKind, SessionChange, SessionId, SessionList, SessionListItem,
    SessionMeta, SessionStatus,
};
use netaclaw_session::{SessionFilter, SessionTreeProvider};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// In place of a user: the sessions of all users.
const ALL_USERS: &str = "*";

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list))
        .with(handlers!(get, patch, delete))
        .with(handlers!(fork))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct SessionQuery {
    /// Page number, starting at 1.
    #[param(minimum = 1)]
    page: Option<u32>,
    #[param(minimum = 1, maximum = 200)]
    size: Option<u32>,
    agent_id: Option<String>,
    /// Text in the title or in the first message.
    q: Option<String>,
    /// Default: active and archived sessions.
    status: Option<SessionStatus>,
    /// For administrators: sessions of another user, or `*` for those of all users.
    user_id: Option<String>,
}

/// List sessions, last changed first.
/// Without `userId`, these are the sessions of the user; for an administrator also those without a
/// user.
#[utoipa::path(get, path = "/admin/netaclaw/sessions", tag = "sessions", params(SessionQuery),
    responses((status = 200, body = SessionList)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiQuery(asked): ApiQuery<SessionQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let filter = filter(&who, &asked);
    let (page, size) = page_and_size(asked.page, asked.size, 50)?;
    let found = shared.engine.list_sessions(&filter, page, size).await?;
    Ok(Json(found))
}

fn filter(who: &Identity, asked: &SessionQuery) -> SessionFilter {
    let caller = who.caller();
    let wanted = asked.user_id.as_ref().filter(|_| caller.is_admin);
    SessionFilter {
        unowned: caller.is_admin && wanted.is_none(),
        user_id: match wanted.map(String::as_str) {
            Some(ALL_USERS) => None,
            Some(other) => Some(other.to_owned()),
            None => Some(caller.user_id),
        },
        agent_id: asked.agent_id.clone(),
        text: asked.q.clone(),
        status: asked.status,
        metadata_key: None,
    }
}

#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionListItem)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<SessionListItem>, ApiError> {
    let (_, meta) = find(&shared, &who.caller(), &SessionId::new(id)).await?;
    Ok(Json(shared.engine.list_item(meta)))
}

/// Rename, archive, delete or restore a session.
#[utoipa::path(patch, path = "/admin/netaclaw/sessions/{id}", tag = "sessions", request_body = SessionChange,
    params(("id" = String, Path)),
    responses((status = 200, body = SessionListItem)))]
async fn patch(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(id): ApiPath<String>,
    ApiJson(change): ApiJson<SessionChange>,
) -> Result<Json<SessionListItem>, ApiError> {
    let session_id = SessionId::new(id);
    let update = UpdateSession { session_id, change };
    let updated = shared.engine.execute(&who.caller(), update).await?;
    Ok(Json(updated.answer))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Deletion {
    /// `true` deletes the session permanently, even if it is already deleted.
    now: Option<bool>,
}

/// Stop the run of a session and delete the session.
/// It can be restored during the retention period by setting its status; with `now` it cannot be
/// restored.
#[utoipa::path(delete, path = "/admin/netaclaw/sessions/{id}", tag = "sessions",
    params(("id" = String, Path), Deletion), responses((status = 204)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(id): ApiPath<String>,
    ApiQuery(deletion): ApiQuery<Deletion>,
) -> Result<StatusCode, ApiError> {
    let (caller, id) = (who.caller(), SessionId::new(id));
    if deletion.now == Some(true) {
        shared.engine.purge(&caller, &id).await?;
        return Ok(StatusCode::NO_CONTENT);
    }
    let deletion = UpdateSession {
        session_id: id,
        change: SessionChange {
            status: Some(SessionStatus::Deleted),
            ..SessionChange::default()
        },
    };
    shared.engine.execute(&caller, deletion).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fork: copy the path to an entry into a new session.
#[utoipa::path(post, path = "/admin/netaclaw/sessions/{id}/fork", tag = "sessions", request_body = ForkRequest,
    params(("id" = String, Path)),
    responses((status = 201, body = SessionListItem)))]
async fn fork(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiPath(id): ApiPath<String>,
    ApiJson(wanted): ApiJson<ForkRequest>,
) -> Result<(StatusCode, Json<SessionListItem>), ApiError> {
    let fork = Fork {
        session_id: SessionId::new(id),
        entry_id: wanted.entry_id,
        request_id: None,
    };
    let forked = shared.engine.execute(&who.caller(), fork).await?;
    Ok((StatusCode::CREATED, Json(forked.answer.session)))
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
