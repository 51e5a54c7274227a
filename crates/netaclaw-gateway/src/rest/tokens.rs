//! Tokens. Users see and revoke their own, administrators all of them, and only with a credential
//! of full scope: a token that may do less must not end those that may do more.

use super::body::{ApiJson, ApiPath};
use super::paging::Paging;
use crate::auth::{FullScope, Identity, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use netaclaw_protocol::{
    Forbidden, Listing, NotFound, Token, TokenId, TokenIssued, TokenSpec, UserId,
};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(list, issue))
        .with(handlers!(revoke))
}

#[utoipa::path(get, path = "/admin/netaclaw/tokens", tag = "tokens",
    params(Paging), responses((status = 200, body = Listing<Token>)))]
async fn list(
    State(shared): State<Arc<Shared>>,
    FullScope(who): FullScope,
    paging: Paging,
) -> Result<Json<Listing<Token>>, ApiError> {
    Ok(Json(paging.of(visible(&shared, &who).await?)))
}

/// Create an access token.
/// The response contains the token itself, which cannot be read again.
#[utoipa::path(post, path = "/admin/netaclaw/tokens", tag = "tokens", request_body = TokenSpec,
    responses((status = 201, body = TokenIssued)))]
async fn issue(
    State(shared): State<Arc<Shared>>,
    FullScope(who): FullScope,
    ApiJson(spec): ApiJson<TokenSpec>,
) -> Result<(StatusCode, Json<TokenIssued>), ApiError> {
    if spec.user_id.as_str() != who.user_id && !who.may_configure() {
        return Err(Forbidden::TokenOfAnotherUser.into());
    }
    let issued = shared.admin.issue_token(&actor(&who), spec).await?;
    Ok((StatusCode::CREATED, Json(issued.into_wire())))
}

#[utoipa::path(delete, path = "/admin/netaclaw/tokens/{id}", tag = "tokens",
    params(("id" = String, Path)), responses((status = 200, body = Token)))]
async fn revoke(
    State(shared): State<Arc<Shared>>,
    FullScope(who): FullScope,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<Token>, ApiError> {
    let id = TokenId::new(id);
    // A token of another user does not exist for a user.
    let known = visible(&shared, &who).await?;
    if !known.iter().any(|token| token.id == id) {
        return Err(NotFound::NoToken.into());
    }
    let token = shared.admin.revoke_token(&actor(&who), &id).await?;
    shared
        .connections
        .recheck_credentials(token.spec.user_id.as_str());
    Ok(Json(token))
}

async fn visible(shared: &Shared, who: &Identity) -> Result<Vec<Token>, ApiError> {
    Ok(match who.may_configure() {
        true => shared.admin.tokens().await?,
        false => shared.admin.tokens_of(&UserId::new(&who.user_id)).await?,
    })
}
