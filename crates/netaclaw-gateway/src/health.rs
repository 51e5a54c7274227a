//! Whether the server lives, whether it is ready, and what it has counted.

use crate::auth::Onlooker;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::metrics;
use crate::routes::{Routes, handlers};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use netaclaw_protocol::{ErrorCode, SessionId, Words};
use netaclaw_session::{SessionError, SessionTreeProvider};
use std::sync::Arc;
use std::time::Duration;

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

/// A store that has not answered by then does not count as one that answers.
const PATIENCE: Duration = Duration::from_secs(3);
/// A session that nobody has. Whoever can say so can be asked for others.
const NO_SESSION: &str = "is-anybody-there";

/// Ready is who can serve: not while draining, and not without one of the stores.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 503)))]
async fn ready(State(shared): State<Arc<Shared>>) -> Result<&'static str, ApiError> {
    if shared.shutdown.is_cancelled() {
        let words = Words::new("服务器正在关闭", "the server is shutting down");
        return Err(ApiError::new(ErrorCode::Unavailable, words));
    }
    match tokio::time::timeout(PATIENCE, shared.admin.ping()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::error!(%error, "the admin store does not answer");
            return Err(admin_is_away());
        }
        Err(_) => return Err(admin_is_away()),
    }
    let providers = shared.engine.providers();
    for provider in std::iter::once(&providers.file).chain(&providers.mysql) {
        if provider.is_suspended() {
            let words = Words::new(
                "服务器与数据库失去联系，暂不接受任何请求",
                "the server has lost its contact with the database and accepts nothing until it is back",
            );
            return Err(ApiError::new(ErrorCode::Unavailable, words));
        }
        let answers = tokio::time::timeout(PATIENCE, answers(&**provider)).await;
        if answers != Ok(true) {
            let words = Words::new("会话存储没有响应", "the session store does not answer");
            return Err(ApiError::new(ErrorCode::Unavailable, words));
        }
    }
    Ok("ready")
}

fn admin_is_away() -> ApiError {
    let words = Words::new("管理数据库没有响应", "the admin store does not answer");
    ApiError::new(ErrorCode::Unavailable, words)
}

async fn answers(provider: &dyn SessionTreeProvider) -> bool {
    match provider.get_session(&SessionId::new(NO_SESSION)).await {
        Err(error @ SessionError::Store { .. }) => {
            tracing::error!(%error, "the session store does not answer");
            false
        }
        _ => true,
    }
}

/// Counts tell who uses the server how much, so they are not for everybody.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn counted(_: Onlooker) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics::render())
}
