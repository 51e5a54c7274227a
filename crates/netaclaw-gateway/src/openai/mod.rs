//! The OpenAI-compatible API: an agent as the model, each call in a session of its own.

mod complete;
mod error;
mod feed;
mod listing;
mod request;
mod run;
mod stream;
mod transcript;

pub(crate) use error::OpenaiError;

use crate::gateway::Shared;
use axum::extract::DefaultBodyLimit;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Histories with images come in one piece here.
const BODY_BYTES_MAX: usize = 32 << 20;

/// Where its addresses begin.
pub(crate) const PREFIX: &str = "/v1/";

pub(crate) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(complete::complete))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .routes(routes!(listing::list))
        .routes(routes!(listing::one))
}
