//! Whether the server lives, whether it is ready, and what it has counted.

use crate::auth::Onlooker;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::metrics;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use netaclaw_protocol::{ErrorCode, Words};
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(counted))
}

/// Ready is who can serve: not while draining, and not without the admin store.
async fn ready(State(shared): State<Arc<Shared>>) -> Result<&'static str, ApiError> {
    if shared.shutdown.is_cancelled() {
        let words = Words::new("服务器正在关闭", "the server is shutting down");
        return Err(ApiError::new(ErrorCode::Unavailable, words));
    }
    shared.admin.ping().await.map_err(|error| {
        tracing::error!(%error, "the admin store does not answer");
        let words = Words::new("管理数据库没有响应", "the admin store does not answer");
        ApiError::new(ErrorCode::Unavailable, words)
    })?;
    Ok("ready")
}

/// Counts tell who uses the server how much, so they are not for everybody.
async fn counted(_: Onlooker) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics::render())
}
