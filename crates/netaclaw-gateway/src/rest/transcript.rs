//! What is in a session: messages, tree, and the whole as a file.

use super::sessions::find;
use crate::auth::Signed;
use crate::error::ApiError;
use crate::gateway::Shared;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use netaclaw_protocol::{EntryId, ErrorCode, SessionId};
use netaclaw_session::{
    Entry, PathError, SessionTree, build_session_context, group_children_by_parent,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Entries in one answer; older ones are asked for by `before`.
const ENTRIES_MAX: usize = 1000;

pub(super) fn routes() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::new()
        .routes(routes!(messages))
        .routes(routes!(tree))
        .routes(routes!(export))
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    view: View,
    before: Option<String>,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum View {
    /// The active path as it was said.
    #[default]
    Full,
    /// What the model sees.
    Compacted,
}

#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/messages", tag = "sessions",
    params(("id" = String, Path), ("view" = Option<String>, Query, description = "`full` or `compacted`"),
        ("before" = Option<String>, Query, description = "only entries before this one"), ("limit" = Option<u32>, Query)),
    responses((status = 200, body = Value), (status = 404)))]
async fn messages(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    let tree = provider.load_tree(&id).await?;
    match asked.view {
        View::Full => full(&tree, asked.before, asked.limit),
        View::Compacted => compacted(&tree),
    }
}

fn full(
    tree: &SessionTree,
    before: Option<String>,
    limit: Option<usize>,
) -> Result<Json<Value>, ApiError> {
    let mut path = tree.active_path().map_err(damaged)?;
    let total = path.len();
    if let Some(before) = before {
        let before = EntryId::new(before);
        let at = path.iter().position(|entry| *entry.id() == before);
        let missing = || ApiError::new(ErrorCode::StaleParent, "before is not on the active path");
        path.truncate(at.ok_or_else(missing)?);
    }
    let from = path
        .len()
        .saturating_sub(limit.unwrap_or(ENTRIES_MAX).clamp(1, ENTRIES_MAX));
    let items: Vec<&RawValue> = path[from..].iter().filter_map(|entry| raw(entry)).collect();
    let cursor = (from > 0).then(|| path[from].id());
    Ok(Json(
        json!({ "view": "full", "items": items, "total": total, "cursor": cursor }),
    ))
}

fn compacted(tree: &SessionTree) -> Result<Json<Value>, ApiError> {
    let context = build_session_context(tree, tree.leaf()).map_err(damaged)?;
    let texts: Vec<_> = context.messages.iter().map(|m| m.json()).collect();
    let items: Vec<&RawValue> = texts
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect();
    let sources: Vec<&EntryId> = context.source_entry_ids().collect();
    Ok(Json(json!({
        "view": "compacted",
        "items": items,
        "total": items.len(),
        "sourceEntryIds": sources,
        "thinkingLevel": context.thinking_level,
        "model": context.model,
    })))
}

/// The shape without the content: enough to draw the tree.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/tree", tag = "sessions",
    params(("id" = String, Path)), responses((status = 200, body = Value), (status = 404)))]
async fn tree(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    let tree = provider.load_tree(&id).await?;
    let path = tree.active_path().map_err(damaged)?;
    let path: Vec<&EntryId> = path.iter().map(|entry| entry.id()).collect();
    let entries: Vec<Value> = tree.entries().iter().map(outline).collect();
    let labels: serde_json::Map<String, Value> = tree
        .labels()
        .iter()
        .map(|(id, label)| (id.to_string(), json!(label.text)))
        .collect();
    Ok(Json(json!({
        "leafEntryId": tree.leaf(),
        "activePath": path,
        "entries": entries,
        "childrenByParentId": group_children_by_parent(tree.entries(), tree.index()),
        "labelsByEntryId": labels,
        "skippedLines": tree.skipped_lines(),
    })))
}

fn outline(entry: &Entry) -> Value {
    let message = entry.message_json();
    let message: Option<Value> = message.and_then(|message| serde_json::from_str(message).ok());
    let role = message.as_ref().map(|message| message["role"].clone());
    json!({
        "id": entry.id(),
        "parentId": entry.parent_id(),
        "type": entry.type_name(),
        "role": role,
        "timestamp": entry.timestamp(),
    })
}

/// The session as Pi stores it, a JSON object on each line.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/export", tag = "sessions",
    params(("id" = String, Path)), responses((status = 200, content_type = "application/x-ndjson"), (status = 404)))]
async fn export(
    State(shared): State<Arc<Shared>>,
    Signed(who): Signed,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    let tree = provider.load_tree(&id).await?;
    let mut text = String::new();
    let lines = std::iter::once(tree.header().json()).chain(tree.entries().iter().map(Entry::json));
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let name = match id.is_safe() {
        true => format!("attachment; filename=\"{id}.jsonl\""),
        false => "attachment; filename=\"session.jsonl\"".to_owned(),
    };
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text).into_response())
}

fn raw(entry: &Entry) -> Option<&RawValue> {
    serde_json::from_str(entry.json()).ok()
}

fn damaged(error: PathError) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, error.to_string())
}
