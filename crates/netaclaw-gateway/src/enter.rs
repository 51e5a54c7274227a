//! Links that log in. A link from another site is shown before it is followed: a user who works in
//! a foreign account without noticing would write for its owner.

use crate::auth::{AuthError, Identity, RequestOrigin, credential, foreign, keep_login, made_by};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::pages::wants_page;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use netaclaw_protocol::{Language, LocalizedText, Role};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(crate) struct Link {
    pub(crate) token: Option<SecretString>,
}

/// The token of a link goes into a cookie and out of the address, where histories and screens would
/// keep it. Unless the user opened the link directly, or is that user already, the page asks first.
pub(crate) async fn follow(
    shared: &Shared,
    presented: &SecretString,
    asked: &HeaderMap,
) -> Result<Response, ApiError> {
    let who = match shared.auth.check(Some(presented)).await {
        Ok(who) => who,
        Err(error) => return refused(shared, asked, error).await,
    };
    let current = current(shared, asked).await;
    let is_sure = match &current {
        Some(current) => current.user_id == who.user_id,
        None => matches!(
            made_by(asked),
            RequestOrigin::Person | RequestOrigin::OwnPage
        ),
    };
    match is_sure {
        true => enter(shared, &who, asked).await,
        false => Ok(question(&who, current.as_ref(), presented, asked)),
    }
}

/// The user has confirmed, on the page that asked. Other pages cannot confirm.
pub(crate) async fn login_confirmed(
    State(shared): State<Arc<Shared>>,
    asked: HeaderMap,
    form: Result<Form<Link>, FormRejection>,
) -> Result<Response, ApiError> {
    // An origin that is not ours has been refused already.
    let is_own = asked.contains_key(header::ORIGIN) || made_by(&asked) == RequestOrigin::OwnPage;
    if !is_own {
        return Err(foreign());
    }
    let token = form.ok().and_then(|Form(link)| link.token);
    match shared.auth.check(token.as_ref()).await {
        Ok(who) => enter(&shared, &who, &asked).await,
        Err(error) => refused(&shared, &asked, error).await,
    }
}

async fn enter(shared: &Shared, who: &Identity, asked: &HeaderMap) -> Result<Response, ApiError> {
    let home = Redirect::to("/").into_response();
    keep_login(shared, who, asked, home).await
}

/// Who is logged in already.
async fn current(shared: &Shared, asked: &HeaderMap) -> Option<Identity> {
    let presented = credential(asked, shared.secure_cookie);
    shared.auth.check(presented.as_ref()).await.ok()
}

/// The answer to an invalid link. A program gets the refusal; a browser is redirected to the login,
/// or to the app if it is logged in already.
async fn refused(
    shared: &Shared,
    asked: &HeaderMap,
    error: AuthError,
) -> Result<Response, ApiError> {
    let is_person = shared.assets.is_some() && wants_page(asked);
    if !is_person || matches!(error, AuthError::Unavailable) {
        return Err(error.into());
    }
    let place = match current(shared, asked).await.is_some() {
        true => "/",
        false => "/login?link=refused",
    };
    Ok(Redirect::to(place).into_response())
}

/// The page that asks, without a script.
fn question(
    who: &Identity,
    current: Option<&Identity>,
    token: &SecretString,
    asked: &HeaderMap,
) -> Response {
    let is_chinese = asked
        .get(header::ACCEPT_LANGUAGE)
        .is_some_and(|languages| languages.as_bytes().to_ascii_lowercase().starts_with(b"zh"));
    let language = match is_chinese {
        true => Language::Chinese,
        false => Language::English,
    };
    let pick = |words: LocalizedText| words.in_language(language);
    let name = escaped(&shown(who));
    let role = pick(match who.role {
        Role::Admin => LocalizedText::new("管理员", "administrator"),
        Role::User => LocalizedText::new("普通用户", "user"),
    });
    let leaves = current.map(|current| {
        let old = escaped(&shown(current));
        pick(LocalizedText::new(
            format!("此浏览器目前以 <b>{old}</b> 登录，继续后将退出。"),
            format!("This browser is logged in as <b>{old}</b>. If you continue, this user is logged out."),
        ))
    });
    let page = format!(
        "<!doctype html><html lang=\"{lang}\"><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>NetaClaw</title><link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style>\
<main><h1>{title}</h1><p>{becomes}</p><p>{leaves}</p><p>{warning}</p>\
<form method=\"post\" action=\"/link\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
<button>{agree}</button> <a href=\"/\">{cancel}</a></form></main></html>",
        lang = if is_chinese { "zh-CN" } else { "en" },
        title = pick(LocalizedText::new("登录 NetaClaw？", "Log in to NetaClaw?")),
        becomes = pick(LocalizedText::new(
            format!("此链接将让本浏览器以 <b>{name}</b>（{role}）的身份登录。"),
            format!("This link logs this browser in as <b>{name}</b> ({role})."),
        )),
        leaves = leaves.unwrap_or_default(),
        warning = pick(LocalizedText::new(
            "请仅在这是您本人的账号时继续：账号所有者可以看到您写下的所有内容。",
            "Continue only if this account is yours. Its owner can read everything that you write.",
        )),
        token = escaped(token.expose_secret()),
        agree = pick(LocalizedText::new(
            format!("以 {name} 登录"),
            format!("Log in as {name}"),
        )),
        cancel = pick(LocalizedText::new("取消", "Cancel")),
    );
    let mut response = Html(page).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // With `no-referrer` the form would be sent without its origin, and that is checked.
    let policy = HeaderValue::from_static("strict-origin");
    headers.insert(header::REFERRER_POLICY, policy);
    response
}

const STYLE: &str = ":root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif}\
main{max-width:32rem;margin:15vh auto;padding:0 1rem}button{font:inherit;padding:.4rem 1rem}";

fn shown(who: &Identity) -> String {
    let (name, label) = (&who.user_name, who.user.spec.label.trim());
    match label.is_empty() {
        true => name.clone(),
        false => format!("{label} ({name})"),
    }
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, char| {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
        out
    })
}
