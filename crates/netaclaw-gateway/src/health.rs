//! Liveness, readiness and metrics.

use crate::auth::CanInspect;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::metrics;
use crate::routes::{Routes, handlers};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use netaclaw_protocol::Unavailable;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(alive))
        .with(handlers!(ready))
        .with(handlers!(counted))
}

/// Whether the process answers at all.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()),
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn alive() -> &'static str {
    "ok"
}

/// Ready is who can serve: not while draining, and not without one of the stores or the disk.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 503)))]
async fn ready(State(shared): State<Arc<Shared>>) -> Result<&'static str, ApiError> {
    if shared.shutdown.is_cancelled() {
        return Err(Unavailable::ShuttingDown.into());
    }
    match shared.readiness.get(&shared).await {
        Ok(()) => Ok("ready"),
        Err(not_ready) => {
            let details = json!({ "check": not_ready.part });
            Err(ApiError::new(not_ready.reason).with_details(details))
        }
    }
}

/// The counts reveal how much each user works, so they need a credential.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn counted(_: CanInspect) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics::render())
}
