//! Browsers log in by name and password or by a token, and get a cookie.

use super::address::client_address;
use super::browser::{keep_login, set_cookie};
use super::limit::LoginTry;
use super::{Identity, SignedIn, identity, password};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::ApiJson;
use crate::routes::{Routes, handlers};
use crate::transport::Peer;
use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use netaclaw_admin::{Actor, LoginCheck, is_browsers};
use netaclaw_protocol::{Login, Me, PROTOCOL, TokenScope, TooMany, Unauthorized, UserId};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(login))
        .with(handlers!(logout))
        .with(handlers!(whoami))
        .merge(password::routes())
}

#[utoipa::path(post, path = "/admin/netaclaw/login", tag = "login", security(()),
    request_body = Login, responses((status = 200, body = Me), (status = 401), (status = 429)))]
async fn login(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    asked: HeaderMap,
    ApiJson(login): ApiJson<Login>,
) -> Result<Response, ApiError> {
    let address = client_address(peer.address.ip(), &asked, &shared.trusted_proxies);
    let attempt = attempt(&shared, &login, address, &asked);
    match shared.logins.begin(&attempt) {
        Ok(delay) => tokio::time::sleep(delay).await,
        Err(wait) => return Ok(too_many(wait)),
    }
    let by_password = matches!(login, Login::Password { .. });
    let who = match login {
        Login::Password { name, password } => {
            match shared.admin.check_login(&name, &password).await? {
                LoginCheck::Right(user) => identity(user, TokenScope::Full),
                LoginCheck::Refused => {
                    return Err(Unauthorized::WrongLogin.into());
                }
            }
        }
        Login::Token { token } => shared.auth.check(Some(&token)).await?,
    };
    shared.logins.succeeded(&attempt);
    let response = Json(about(&who)).into_response();
    let mut response = keep_login(&shared, &who, &asked, response).await?;
    let known = &shared.known_browsers;
    if by_password
        && known.check(&asked, &who.user_name).is_none()
        && let Some(proof) = known.cookie(&who.user_name, shared.secure_cookie)
    {
        response.headers_mut().append(header::SET_COOKIE, proof);
    }
    Ok(response)
}

/// The refusal for a client that has to wait.
pub(super) fn too_many(wait: Duration) -> Response {
    let retry_after_s = wait.as_secs() + 1;
    let error = ApiError {
        retry_after: Some(Duration::from_secs(retry_after_s)),
        ..ApiError::new(TooMany::FailedLogins { retry_after_s })
    };
    error.into_response()
}

fn attempt(shared: &Shared, login: &Login, address: IpAddr, asked: &HeaderMap) -> LoginTry {
    match login {
        Login::Password { name, .. } => {
            let known = shared.known_browsers.check(asked, name);
            shared.logins.by_password(name, address, known.as_ref())
        }
        Login::Token { .. } => shared.logins.by_token(address),
    }
}

#[utoipa::path(post, path = "/admin/netaclaw/logout", tag = "login", responses((status = 204)))]
async fn logout(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
) -> Result<Response, ApiError> {
    // Only what a browser was given ends here; a token of a program is revoked by its id.
    if let Some(token) = who.token.as_ref().filter(|token| is_browsers(token)) {
        shared.admin.revoke_token(&actor(&who), &token.id).await?;
        shared.connections.recheck_credentials(&who.user_id);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &shared, None);
    Ok(response)
}

#[utoipa::path(get, path = "/admin/netaclaw/me", tag = "login", responses((status = 200, body = Me)))]
async fn whoami(SignedIn(who): SignedIn) -> Json<Me> {
    Json(about(&who))
}

fn about(who: &Identity) -> Me {
    Me {
        user_id: UserId::new(&who.user_id),
        name: who.user_name.clone(),
        label: who.user.spec.label.clone(),
        role: who.role,
        scope: who.scope,
        password_set: who.user.password_set,
        may_write: who.may_write(),
        may_inspect: who.may_inspect(),
        may_configure: who.may_configure(),
        token_id: who.token.as_ref().map(|token| token.id.clone()),
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

pub(crate) fn actor(who: &Identity) -> Actor {
    let token = who.token.as_ref().map(|token| token.id.clone());
    Actor::user(&who.user).with_token(token)
}
