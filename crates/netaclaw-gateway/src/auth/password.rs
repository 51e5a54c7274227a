//! People change their own password. They show the old one: a browser that was left open is not
//! enough to take an account over.

use super::login::{actor, too_many};
use super::{Identity, SignedIn};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::ApiJson;
use crate::routes::{Routes, handlers};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use netaclaw_admin::{Expect, LoginCheck, PasswordChange};
use netaclaw_protocol::{BadRequest, Forbidden, OwnPassword, TokenScope, User};
use serde_json::json;
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(change))
}

/// Other browsers that came in with the old password are logged out.
#[utoipa::path(put, path = "/admin/netaclaw/me/password", tag = "login", request_body = OwnPassword,
    responses((status = 204), (status = 429)))]
async fn change(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiJson(asked): ApiJson<OwnPassword>,
) -> Result<Response, ApiError> {
    let user = with_password(&who)?;
    let attempt = shared.logins.by_user(user.id.as_str());
    if let Err(wait) = shared.logins.begin(&attempt) {
        return Ok(too_many(wait));
    }
    let checked = shared.admin.check_login(&user.spec.name, &asked.current);
    if !matches!(checked.await?, LoginCheck::Right(_)) {
        let error = ApiError::new(BadRequest::WrongPassword);
        return Err(error.with_details(json!({ "field": "current" })));
    }
    shared.logins.succeeded(&attempt);
    let password = PasswordChange::Set(asked.password);
    // The check was about the password; other changes since then stay.
    let now = shared.admin.user(&user.id).await?;
    let (by, expect) = (actor(&who), Expect::Rev(now.stamp.rev));
    let changed = shared
        .admin
        .update_user(&by, &user.id, expect, now.spec, password);
    changed.await?;
    shared.connections.recheck_credentials(user.id.as_str());
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn with_password(who: &Identity) -> Result<&User, ApiError> {
    let may = who.user.password_set && who.scope == TokenScope::Full;
    Ok(may
        .then_some(&who.user)
        .ok_or(Forbidden::PasswordNotYours)?)
}
