//! `/v1/chat/completions`.

use super::error::OpenaiError;
use super::request::Request;
use super::run::{OnDisconnect, Piece, Run};
use super::stream::streamed;
use super::transcript::AnswerEnding;
use crate::auth::Writer;
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::rest::ApiJson;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use netaclaw_protocol::{Unavailable, Usage, now_ms};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn routes() -> Routes {
    Routes::new().with(handlers!(complete))
}

/// Bodies, answers and errors are those of OpenAI's API of the same name.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = Object,
    responses((status = 200, body = Object)))]
async fn complete(
    State(shared): State<Arc<Shared>>,
    writer: Result<Writer, ApiError>,
    request: Result<ApiJson<Request>, ApiError>,
) -> Result<Response, OpenaiError> {
    let Writer(who) = writer?;
    let ApiJson(mut request) = request?;
    let conversation = request.conversation(now_ms())?;
    let abandoned = match request.stream {
        true => OnDisconnect::Stops,
        false => OnDisconnect::GoesOn,
    };
    let (caller, model) = (who.caller(), request.model.clone());
    let run = Run::start(&shared, caller, &model, conversation, abandoned).await?;
    match request.stream {
        true => Ok(streamed(run, model, request.wants_usage())),
        false => whole(run, model).await,
    }
}

async fn whole(mut run: Run, model: String) -> Result<Response, OpenaiError> {
    let mut text = String::new();
    let mut finish = "stop";
    while let Some(piece) = run.next().await {
        match piece {
            Piece::Text(more) => text.push_str(&more),
            Piece::End(AnswerEnding::Failed(reason)) => return Err(failed(reason)),
            Piece::End(ending) => finish = finish_reason(&ending),
        }
    }
    let message = json!({ "role": "assistant", "content": text, "refusal": null });
    let body = json!({
        "id": completion_id(&run),
        "object": "chat.completion",
        "created": now_ms() / 1000,
        "model": model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish, "logprobs": null }],
        "usage": usage(run.usage()),
    });
    Ok(Json(body).into_response())
}

/// Names the session, so that the answer can be found again.
pub(super) fn completion_id(run: &Run) -> String {
    format!("chatcmpl-{}", run.session_id)
}

pub(super) fn finish_reason(ending: &AnswerEnding) -> &'static str {
    match ending {
        AnswerEnding::Length => "length",
        AnswerEnding::Stop | AnswerEnding::Failed(_) => "stop",
    }
}

pub(super) fn failed(reason: Unavailable) -> OpenaiError {
    ApiError::new(reason).into()
}

pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
    })
}
