//! Channels. Keys go in and never come out.

use super::body::ApiJson;
use super::revision::{Revision, tagged};
use crate::auth::{Administrator, Onlooker, actor};
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use netaclaw_models::{Language, test_connection};
use netaclaw_protocol::{ChannelId, ChannelTest, ChannelWrite, KeyChange};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, delete))
        .routes(routes!(test))
}

#[utoipa::path(get, path = "/admin/netaclaw/channels", tag = "channels",
    responses((status = 200, body = Value)))]
async fn list(State(shared): State<Arc<Shared>>, _: Onlooker) -> Result<Json<Value>, ApiError> {
    let items = shared.admin.channels().await?;
    Ok(Json(json!({ "items": items, "total": items.len() })))
}

#[utoipa::path(post, path = "/admin/netaclaw/channels", tag = "channels", request_body = Value,
    responses((status = 201, body = Value), (status = 400), (status = 409)))]
async fn create(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    ApiJson(write): ApiJson<ChannelWrite>,
) -> Result<Response, ApiError> {
    let key = match write.api_key {
        KeyChange::Set(key) => Some(key),
        KeyChange::Keep | KeyChange::Clear => None,
    };
    let by = actor(&who);
    let channel = shared.admin.create_channel(&by, write.spec, key).await?;
    Ok(tagged(StatusCode::CREATED, channel.stamp.rev, channel))
}

#[utoipa::path(get, path = "/admin/netaclaw/channels/{id}", tag = "channels",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn get(
    State(shared): State<Arc<Shared>>,
    _: Onlooker,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let channel = shared.admin.channel(&ChannelId::new(id)).await?;
    Ok(tagged(StatusCode::OK, channel.stamp.rev, channel))
}

#[utoipa::path(put, path = "/admin/netaclaw/channels/{id}", tag = "channels", request_body = Value,
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 200, body = Value), (status = 409), (status = 412)))]
async fn replace(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
    ApiJson(write): ApiJson<ChannelWrite>,
) -> Result<Response, ApiError> {
    let (by, id) = (actor(&who), ChannelId::new(id));
    let updated = shared
        .admin
        .update_channel(&by, &id, revision.expect, write.spec, write.api_key);
    let channel = updated.await.map_err(|error| revision.refused(error))?;
    Ok(tagged(StatusCode::OK, channel.stamp.rev, channel))
}

#[utoipa::path(delete, path = "/admin/netaclaw/channels/{id}", tag = "channels",
    params(("id" = String, Path), ("If-Match" = Option<String>, Header), ("rev" = Option<u64>, Query)),
    responses((status = 204), (status = 404), (status = 409), (status = 412)))]
async fn delete(
    State(shared): State<Arc<Shared>>,
    Administrator(who): Administrator,
    Path(id): Path<String>,
    revision: Revision,
) -> Result<StatusCode, ApiError> {
    let (by, id) = (actor(&who), ChannelId::new(id));
    let deleted = shared.admin.delete_channel(&by, &id, revision.expect).await;
    deleted.map_err(|error| revision.refused(error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Asks the supplier. That it does not work is an answer, not an error of this request.
#[utoipa::path(post, path = "/admin/netaclaw/channels/{id}/test", tag = "channels",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn test(
    State(shared): State<Arc<Shared>>,
    _: Administrator,
    Path(id): Path<String>,
) -> Result<Json<ChannelTest>, ApiError> {
    let channel = Arc::new(shared.admin.open_channel(&ChannelId::new(id)).await?);
    let start = std::time::Instant::now();
    let tested = test_connection(&channel, &shared.models).await;
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ok(Json(match tested {
        Ok(report) => ChannelTest {
            ok: true,
            latency_ms: millis(report.latency),
            models: report.models,
            message: None,
            trouble: None,
        },
        Err(error) => ChannelTest {
            ok: false,
            latency_ms: millis(start.elapsed()),
            models: Vec::new(),
            message: Some(error.explain(Language::English).to_string()),
            trouble: Some(Box::new(error.channel_trouble(&channel.name))),
        },
    }))
}
