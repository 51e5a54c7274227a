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
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use std::sync::Arc;

/// Histories with images come in one piece here.
const BODY_BYTES_MAX: usize = 32 << 20;

/// Where its addresses begin.
pub(crate) const PREFIX: &str = "/v1/";

pub(crate) fn routes() -> Router<Arc<Shared>> {
    let completions = post(complete::complete).layer(DefaultBodyLimit::max(BODY_BYTES_MAX));
    Router::new()
        .route("/v1/models", get(listing::list))
        .route("/v1/models/{model}", get(listing::one))
        .route("/v1/chat/completions", completions)
}
