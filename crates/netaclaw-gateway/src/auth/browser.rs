//! Tokens of browsers. A browser has one, stored in its cookie; another login, by any method,
//! creates no second one.

use super::cookie::{cookie, session_cookie};
use super::{Identity, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use netaclaw_admin::{BROWSER_LABEL, is_alive, is_browsers};
use netaclaw_protocol::{Token, TokenId, TokenSpec, UserId, now_ms};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// How long a browser stays logged in.
const LASTS: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Browsers of one user that stay logged in; beyond it the one that was used least lately leaves.
const BROWSERS_MAX: usize = 20;

/// Lets a browser stay: it keeps the token it has, if that is good for the same and for a while,
/// or gets a new one in its place.
pub(crate) async fn keep_login(
    shared: &Shared,
    who: &Identity,
    asked: &HeaderMap,
    mut response: Response,
) -> Result<Response, ApiError> {
    let old = known(shared, asked).await;
    if old.as_ref().is_some_and(|old| lasts(old, who)) {
        return Ok(response);
    }
    if let Some(old) = old {
        shared.admin.revoke_token(&actor(who), &old.id).await?;
    }
    let spec = TokenSpec {
        user_id: UserId::new(&who.user_id),
        label: BROWSER_LABEL.to_owned(),
        scope: who.scope,
        expires_at: Some(now_ms() + millis(LASTS)),
    };
    let issued = match presented_token(who) {
        Some(with) => shared.admin.issue_token_with(&actor(who), spec, with).await,
        None => shared.admin.issue_token(&actor(who), spec).await,
    }?;
    tidy(shared, who).await?;
    set_cookie(&mut response, shared, Some(&issued.secret));
    Ok(response)
}

pub(crate) fn set_cookie(response: &mut Response, shared: &Shared, token: Option<&SecretString>) {
    let token = token.map(ExposeSecret::expose_secret);
    if let Some(cookie) = session_cookie(token, LASTS, shared.secure_cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// The token in the browser's cookie, if it is good.
async fn known(shared: &Shared, asked: &HeaderMap) -> Option<Token> {
    let presented = cookie(asked, shared.secure_cookie)?;
    let identity = shared.auth.check(Some(&presented)).await.ok()?;
    identity.token.filter(is_browsers)
}

/// The token that a browser presents at login, with which its own one ends.
fn presented_token(who: &Identity) -> Option<&TokenId> {
    let token = who.token.as_ref()?;
    match is_browsers(token) {
        true => token.issued_with.as_ref(),
        false => Some(&token.id),
    }
}

/// Whether a token is as good as a new one.
fn lasts(token: &Token, who: &Identity) -> bool {
    let spec = &token.spec;
    let with_expires_at = who.token.as_ref().and_then(|with| with.spec.expires_at);
    let half = now_ms() + millis(LASTS) / 2;
    let enough = with_expires_at.map_or(half, |at| at.min(half));
    spec.user_id.as_str() == who.user_id
        && spec.scope == who.scope
        && token.issued_with.as_ref() == presented_token(who)
        && spec.expires_at.is_none_or(|at| at >= enough)
}

/// Lets the browsers go that are too many, and forgets what has been of no use for long.
async fn tidy(shared: &Shared, who: &Identity) -> Result<(), ApiError> {
    let now = now_ms();
    shared.admin.forget_tokens(now - millis(LASTS)).await?;
    let mut tokens = shared.admin.tokens_of(&UserId::new(&who.user_id)).await?;
    tokens.retain(|token| is_browsers(token) && is_alive(token, now));
    tokens.sort_by_key(|token| token.last_used_at.max(Some(token.stamp.created_at)));
    let excess = tokens.len().saturating_sub(BROWSERS_MAX);
    for token in &tokens[..excess] {
        shared.admin.revoke_token(&actor(who), &token.id).await?;
    }
    Ok(())
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).expect("a few weeks")
}
