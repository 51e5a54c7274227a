//! Requests that a foreign page makes in the name of whoever looks at it.

use crate::error::ApiError;
use crate::gateway::Shared;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use netaclaw_protocol::Words;
use std::sync::Arc;

/// Refuses what other origins send, unless it only reads over plain HTTP. WebSockets are no
/// subject of the browser's own rules, so every Socket.IO request is looked at.
pub(crate) async fn refuse_foreign(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_socket = request.uri().path().starts_with(crate::socket::PATH);
    if (is_socket || !reads) && !is_own(request.headers(), &shared.allowed_origins) {
        return ApiError::forbidden(Words::new(
            "此来源不得使用该服务器",
            "this origin may not use the server",
        ))
        .into_response();
    }
    next.run(request).await
}

/// Whether a request comes from the server's own pages, from a configured origin, or from no
/// browser at all.
pub(crate) fn is_own(headers: &HeaderMap, allowed: &[String]) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return true;
    };
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let origin_host = origin.split_once("://").map(|(_, host)| host);
    let same = matches!((origin_host, host), (Some(a), Some(b)) if a.eq_ignore_ascii_case(b));
    same || allowed
        .iter()
        .any(|known| known.trim_end_matches('/').eq_ignore_ascii_case(origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: Option<&str>, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "127.0.0.1:7300".parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let allowed = ["https://example.org/".to_owned()];
        assert_eq!(is_own(&headers, &allowed), expected, "{origin:?}");
    }

    #[test]
    fn only_own_and_configured_origins_pass() {
        check(None, true);
        check(Some("http://127.0.0.1:7300"), true);
        check(Some("https://example.org"), true);
        check(Some("https://example.org.evil.test"), false);
        check(Some("http://127.0.0.1:7301"), false);
        check(Some("null"), false);
    }
}
