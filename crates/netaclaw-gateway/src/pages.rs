//! What a browser gets: the web app if there is one, and a way in by link.

use crate::auth::{AuthError, credential, welcome};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::openai::{self, OpenaiError};
use crate::rest::ApiQuery;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use netaclaw_protocol::{ErrorCode, Words};
use secrecy::SecretString;
use serde::Deserialize;
use std::sync::Arc;

const NO_APP: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>NetaClaw</title>\
<h1>NetaClaw is running</h1><p>The web app is not part of this build. To chat in a terminal, run \
<code>netaclaw chat</code>. Programs use Socket.IO at <code>/socket.io</code>, the API described at \
<code>/openapi.json</code>, or <code>/v1/chat/completions</code>.</p></html>";

#[derive(Deserialize)]
pub(crate) struct Link {
    token: Option<SecretString>,
}

/// `/`, also as the link that is printed at the start: the token goes into a cookie and out of
/// the address, where histories and screens would keep it.
pub(crate) async fn home(
    State(shared): State<Arc<Shared>>,
    ApiQuery(link): ApiQuery<Link>,
    asked: HeaderMap,
) -> Result<Response, ApiError> {
    let Some(presented) = link.token else {
        return Ok(page(&shared, "/", &asked).unwrap_or_else(|| Html(NO_APP).into_response()));
    };
    let who = match shared.auth.check(Some(&presented)).await {
        Ok(who) => who,
        Err(error) => return refused_link(&shared, &asked, error).await,
    };
    let home = Redirect::to("/").into_response();
    welcome(&shared, &who, &asked, home).await
}

/// A link that lets nobody in any more. A program is told so; a person is led to the login, or to
/// the app if this browser is in already.
async fn refused_link(
    shared: &Shared,
    asked: &HeaderMap,
    error: AuthError,
) -> Result<Response, ApiError> {
    let is_person = shared.assets.is_some() && wants_page(asked);
    if !is_person || matches!(error, AuthError::Unavailable) {
        return Err(error.into());
    }
    let is_in = shared.auth.check(credential(asked).as_ref()).await.is_ok();
    let place = match is_in {
        true => "/",
        false => "/login?link=refused",
    };
    Ok(Redirect::to(place).into_response())
}

/// Everything no route knows: files of the app, or the app itself for its own addresses.
pub(crate) async fn other(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if reads && let Some(found) = page(&shared, path, request.headers()) {
        return found;
    }
    let is_api = ["/admin/", openai::PREFIX, "/socket.io"]
        .iter()
        .any(|api| path.starts_with(api));
    if reads
        && wants_page(request.headers())
        && !is_api
        && let Some(app) = page(&shared, "/", request.headers())
    {
        return app;
    }
    let words = Words::new("此地址没有内容", "there is nothing at this address");
    refused(path, ApiError::new(ErrorCode::NotFound, words))
}

/// An address that is there, and is not used so. Which methods it has stands in the header `allow`.
pub(crate) async fn not_allowed(method: Method, address: Uri) -> Response {
    let words = Words::new(
        format!("此地址不支持 {method}"),
        format!("this address does not take {method}"),
    );
    let error = ApiError::bad_request(words).with_status(StatusCode::METHOD_NOT_ALLOWED);
    refused(address.path(), error)
}

/// In the form that whoever uses such an address reads.
fn refused(path: &str, error: ApiError) -> Response {
    match path.starts_with(openai::PREFIX) {
        true => OpenaiError::from(error).into_response(),
        false => error.into_response(),
    }
}

/// Whether a browser asks that is about to show what it gets.
fn wants_page(asked: &HeaderMap) -> bool {
    let accept = asked.get(header::ACCEPT);
    accept.is_some_and(|accept| {
        accept
            .to_str()
            .is_ok_and(|accept| accept.contains("text/html"))
    })
}

fn page(shared: &Shared, path: &str, asked: &HeaderMap) -> Option<Response> {
    Some(shared.assets.as_ref()?.get(path)?.answer(asked))
}
