//! All routes, and the middleware.

use crate::auth::refuse_foreign;
use crate::error::internal;
use crate::gateway::Shared;
use crate::slow_body::in_time;
use crate::transport::Peer;
use crate::{enter, pages, rest, socket};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::Limited;
use serde::Deserialize;
use socketioxide::layer::SocketIoLayer;
use std::any::Any;
use std::sync::Arc;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::set_header::SetResponseHeaderLayer;

/// Bodies of REST requests. Uploads have a limit of their own.
const BODY_BYTES_MAX: usize = 2 << 20;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Nothing from elsewhere, no scripts but files of our own, no frames, no plug-ins. Element Plus
/// sets style attributes, which is all that is inline.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self' data:; connect-src 'self'; \
worker-src 'self' blob:; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; \
frame-ancestors 'none'";

pub(crate) fn router(shared: &Arc<Shared>, sockets: SocketIoLayer) -> Router {
    let body_within = shared.settings.body_within;
    let around = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(header::X_FRAME_OPTIONS, "DENY"))
        .layer(set(header::REFERRER_POLICY, "no-referrer"))
        .layer(set(header::CONTENT_SECURITY_POLICY, POLICY))
        .layer(set(OPENER_POLICY, "same-origin"))
        // What is not made to be kept is private.
        .layer(set(header::CACHE_CONTROL, "no-store"))
        .option_layer(shared.sites.cors())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(shared), refuse_foreign))
        .layer(from_fn_with_state(Arc::clone(shared), note_transport))
        .map_request(own_handshake)
        .map_request(move |request| in_time(request, body_within))
        .layer(sockets)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX));
    let routes = Router::new()
        .route("/", get(pages::home))
        .route("/link", post(enter::login_confirmed))
        .merge(rest::routes())
        .fallback(pages::other)
        .method_not_allowed_fallback(pages::not_allowed)
        .with_state(Arc::clone(shared));
    // Around all of them at once. As a layer of the routes each of them would have its own.
    Router::new().fallback_service(around.service(routes))
}

fn set(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(
        panic = words.unwrap_or("without words"),
        "a request panicked"
    );
    internal().into_response()
}

#[derive(Deserialize)]
struct Handshake {
    transport: String,
    sid: Option<String>,
}

/// Remembers which connection a session that began with polling is moved to, counts what its polls
/// fetch, and lets a session that has not joined the namespace send little.
async fn note_transport(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(Handshake { transport, sid }) = handshake(&request) else {
        return next.run(request).await;
    };
    let upgrades = &shared.upgrades;
    match (transport.as_str(), sid) {
        ("websocket", sid) => {
            if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<Peer>>() {
                peer.meter.limit_incoming(socket::STRANGER_BYTES_MAX as u64);
                if let Some(sid) = sid {
                    upgrades.insert(sid.clone(), &peer.meter);
                    // After the limit: joining in the meantime lifts it.
                    if upgrades.has_joined(&sid) {
                        peer.meter.lift_limit();
                    }
                }
            }
            next.run(request).await
        }
        ("polling", Some(sid)) if request.method() == Method::GET => {
            let response = next.run(request).await;
            upgrades.polled(&sid, response.body().size_hint().lower());
            response
        }
        ("polling", Some(sid)) if !upgrades.has_joined(&sid) => {
            let request =
                request.map(|body| Body::new(Limited::new(body, socket::STRANGER_BYTES_MAX)));
            next.run(request).await
        }
        _ => next.run(request).await,
    }
}

/// Gives a Socket.IO request its own copies of texts. They are kept for as long as the socket
/// lives, and otherwise they would keep the read buffer of the connection, 16 kB of it.
fn own_handshake(mut request: Request) -> Request {
    if request.uri().path().starts_with(socket::PATH) {
        for value in request.headers_mut().values_mut() {
            if let Ok(copy) = HeaderValue::from_bytes(value.as_bytes()) {
                *value = copy;
            }
        }
        if let Ok(copy) = Uri::try_from(request.uri().to_string()) {
            *request.uri_mut() = copy;
        }
    }
    request
}

/// What a Socket.IO request says of its transport and its session.
fn handshake(request: &Request) -> Option<Handshake> {
    if !request.uri().path().starts_with(socket::PATH) {
        return None;
    }
    let handshake = Query::<Handshake>::try_from_uri(request.uri()).ok()?;
    Some(handshake.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;

    /// A buffer as a connection has it, and a request that is made of its parts.
    #[test]
    fn a_socket_does_not_keep_the_buffer_of_its_connection() {
        let buffer = Bytes::from(vec![b'/'; 16 << 10].into_boxed_slice());
        let path = Bytes::from("/socket.io/?EIO=4&transport=websocket");
        let text = Bytes::from([path.as_ref(), &buffer].concat());
        drop(buffer);
        let uri = Uri::from_maybe_shared(text.slice(..path.len())).unwrap();
        let agent = HeaderValue::from_maybe_shared(text.slice(1..7)).unwrap();
        let request = Request::builder().uri(uri.clone());
        let request = request.header(header::USER_AGENT, agent.clone());
        let request = own_handshake(request.body(Body::empty()).unwrap());
        assert_eq!(request.uri(), &uri);
        assert_eq!(request.headers()[header::USER_AGENT], agent);
        drop((uri, agent));
        assert!(text.is_unique(), "nothing of the request holds it");
    }
}
