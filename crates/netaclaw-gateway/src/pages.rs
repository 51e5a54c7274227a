//! Pages for browsers: the web app, if it is embedded.

use crate::enter::{self, Link};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::openai::{self, OpenaiError};
use crate::rest::ApiQuery;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use netaclaw_protocol::{BadRequest, NotFound};
use std::sync::Arc;

const NO_APP: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>NetaClaw</title>\
<h1>NetaClaw is running</h1><p>The web app is not part of this build. To chat in a terminal, run \
<code>netaclaw chat</code>. Programs use Socket.IO at <code>/socket.io</code>, the API described at \
<code>/openapi.json</code>, or <code>/v1/chat/completions</code>.</p></html>";

/// `/`, also as a link that logs in.
pub(crate) async fn home(
    State(shared): State<Arc<Shared>>,
    ApiQuery(link): ApiQuery<Link>,
    asked: HeaderMap,
) -> Result<Response, ApiError> {
    match link.token {
        Some(presented) => enter::follow(&shared, &presented, &asked).await,
        None => Ok(page(&shared, "/", &asked).unwrap_or_else(|| Html(NO_APP).into_response())),
    }
}

/// All paths without a route: files of the app, or the app itself for its own addresses.
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
    refused(path, NotFound::NoPage.into())
}

/// A known address with a wrong method. The header `allow` lists its methods.
pub(crate) async fn not_allowed(method: Method, address: Uri) -> Response {
    let method = method.to_string();
    let error = ApiError::new(BadRequest::MethodNotAllowed { method })
        .with_status(StatusCode::METHOD_NOT_ALLOWED);
    refused(address.path(), error)
}

/// In the format of the client that uses such an address.
fn refused(path: &str, error: ApiError) -> Response {
    match path.starts_with(openai::PREFIX) {
        true => OpenaiError::from(error).into_response(),
        false => error.into_response(),
    }
}

/// Whether a browser asks that is about to show what it gets.
pub(crate) fn wants_page(asked: &HeaderMap) -> bool {
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
