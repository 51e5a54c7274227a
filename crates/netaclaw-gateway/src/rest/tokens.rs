//! Tokens. Users have their own in hand; administrators have everybody's.

use super::body::ApiJson;
use crate::auth::{Identity, Signed, Writer, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use netaclaw_protocol::{ErrorCode, Token, TokenId, TokenScope, TokenSpec, UserId};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, issue))
        .routes(routes!(revoke))
}

#[utoipa::path(get, path = "/admin/netaclaw/tokens", tag = "tokens",
    responses((status = 200, body = Value)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
) -> Result<Json<Value>, ApiError> {
    let items = visible(&shared, &who).await?;
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

/// The answer holds the token itself, once.
#[utoipa::path(post, path = "/admin/netaclaw/tokens", tag = "tokens", request_body = Value,
    responses((status = 201, body = Value), (status = 400), (status = 403)))]
async fn issue(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    ApiJson(spec): ApiJson<TokenSpec>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let own = spec.user_id.as_str() == who.user_id && who.scope == TokenScope::Full;
    if !own && !who.may_configure() {
        let message = "a token can be made for oneself, with a full credential";
        return Err(ApiError::forbidden(message));
    }
    let issued = shared.admin.issue_token(&actor(&who), spec).await?;
    Ok((StatusCode::CREATED, Json(json!(issued.into_wire()))))
}

#[utoipa::path(delete, path = "/admin/netaclaw/tokens/{id}", tag = "tokens",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn revoke(
    State(shared): State<Arc<Shared>>,
    Writer(who): Writer,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let id = TokenId::new(id);
    // A token of somebody else does not exist for a user.
    let known = visible(&shared, &who).await?;
    if !known.iter().any(|token| token.id == id) {
        return Err(ApiError::new(ErrorCode::NotFound, "there is no such token"));
    }
    let token = shared.admin.revoke_token(&actor(&who), &id).await?;
    Ok(Json(json!(token)))
}

async fn visible(shared: &Shared, who: &Identity) -> Result<Vec<Token>, ApiError> {
    Ok(match who.may_inspect() {
        true => shared.admin.tokens().await?,
        false => shared.admin.tokens_of(&UserId::new(&who.user_id)).await?,
    })
}
