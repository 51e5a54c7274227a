//! People come in by name and password, and get a cookie.

use super::cookie::session_cookie;
use super::limit::LoginTry;
use super::{Identity, Signed, identity};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::{ApiJson, now_ms};
use crate::transport::Peer;
use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::{Actor, LoginCheck};
use netaclaw_protocol::{ErrorCode, Login, TokenScope, TokenSpec, UserId};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// How long a browser stays logged in.
pub(crate) const SESSION_LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const BROWSER_LABEL: &str = "browser";

pub(crate) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(login))
        .routes(routes!(logout))
        .routes(routes!(whoami))
}

#[utoipa::path(post, path = "/admin/netaclaw/login", tag = "login", security(()),
    request_body = Value, responses((status = 200, body = Value), (status = 401), (status = 429)))]
async fn login(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    ApiJson(login): ApiJson<Login>,
) -> Result<Response, ApiError> {
    let attempt = LoginTry::new(&login.name, peer.address.ip());
    if let Err(wait) = shared.logins.begin(&attempt) {
        let seconds = wait.as_secs() + 1;
        let message = format!("too many failed logins; try again in {seconds} s");
        let mut response = ApiError::new(ErrorCode::RateLimited, message).into_response();
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        return Ok(response);
    }
    match shared
        .admin
        .check_login(&login.name, &login.password)
        .await?
    {
        LoginCheck::Right(user) => {
            shared.logins.succeeded(&attempt);
            let who = identity(user, TokenScope::Full);
            let token = browser_token(&shared, &who).await?;
            Ok(with_cookie(
                Json(about(&who)).into_response(),
                &shared,
                Some(&token),
            ))
        }
        LoginCheck::Refused => Err(ApiError::new(
            ErrorCode::Unauthorized,
            "name or password is wrong",
        )),
    }
}

#[utoipa::path(post, path = "/admin/netaclaw/logout", tag = "login", responses((status = 204)))]
async fn logout(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
) -> Result<Response, ApiError> {
    // Only what a browser was given ends here; a token of a program is revoked by its id.
    let browser = who
        .token
        .as_ref()
        .filter(|token| token.spec.label == BROWSER_LABEL);
    if let Some(token) = browser {
        shared.admin.revoke_token(&actor(&who), &token.id).await?;
    }
    let response = StatusCode::NO_CONTENT.into_response();
    Ok(with_cookie(response, &shared, None))
}

#[utoipa::path(get, path = "/admin/netaclaw/me", tag = "login", responses((status = 200, body = Value)))]
async fn whoami(Signed(who): Signed) -> Json<Value> {
    Json(about(&who))
}

fn about(who: &Identity) -> Value {
    json!({ "userId": who.user_id, "name": who.user_name, "role": who.role, "scope": who.scope })
}

/// Makes a token for a browser, with no more rights than whoever asks for it has.
pub(crate) async fn browser_token(
    shared: &Shared,
    who: &Identity,
) -> Result<SecretString, ApiError> {
    let expires_at = now_ms() + i64::try_from(SESSION_LASTS.as_millis()).unwrap_or(i64::MAX / 2);
    let spec = TokenSpec {
        user_id: UserId::new(&who.user_id),
        label: BROWSER_LABEL.to_owned(),
        scope: who.scope,
        expires_at: Some(expires_at),
    };
    let issued = shared.admin.issue_token(&actor(who), spec).await?;
    Ok(issued.secret)
}

pub(crate) fn with_cookie(
    mut response: Response,
    shared: &Shared,
    token: Option<&SecretString>,
) -> Response {
    let token = token.map(ExposeSecret::expose_secret);
    if let Some(cookie) = session_cookie(token, SESSION_LASTS, shared.secure_cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

pub(crate) fn actor(who: &Identity) -> Actor {
    who.user.as_ref().map_or_else(Actor::system, Actor::user)
}
