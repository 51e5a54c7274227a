//! The OpenAI-compatible API: an agent as the model, each call in a session of its own.

mod complete;
mod error;
mod feed;
mod listing;
mod request;
mod run;
mod stream;
mod transcript;

pub(crate) use error::{OpenaiError, OpenaiProblem};

use crate::routes::Routes;
use axum::extract::DefaultBodyLimit;

/// Histories with images come in one piece here.
const BODY_BYTES_MAX: usize = 32 << 20;

/// Where its addresses begin.
pub(crate) const PREFIX: &str = "/v1/";

pub(crate) fn routes() -> Routes {
    Routes::new()
        .merge(complete::routes())
        .within(|routes| routes.layer(DefaultBodyLimit::max(BODY_BYTES_MAX)))
        .merge(listing::routes())
}
