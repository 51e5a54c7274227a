//! The content of a session: messages, entries, tree, and an export.

use super::body::{ApiPath, ApiQuery};
use super::outline::outline;
use super::paging::within;
use super::sessions::find;
use crate::auth::{Identity, SignedIn};
use crate::error::ApiError;
use crate::gateway::Shared;
use crate::routes::{Routes, handlers};
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use netaclaw_engine::{wire_entries, wire_log};
use netaclaw_protocol::{
    ContextBreakdown, ContextMessages, EntryId, EntryPage, NotFound, SessionId, SessionMessages,
    SessionTreeView, StaleParent, StoredSnapshot, Unavailable,
};
use netaclaw_session::{Entry, PathError, SessionTree, build_session_context, folded_count};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use tower_http::compression::CompressionLayer;
use utoipa::IntoParams;

/// Entries or messages in one answer; older ones are asked for by `before`.
const ENTRIES_MAX: usize = 1000;

pub(super) fn routes() -> Routes {
    Routes::new()
        .with(handlers!(messages))
        .with(handlers!(context))
        .with(handlers!(messages_of))
        .with(handlers!(entry))
        .with(handlers!(tree))
        .with(handlers!(snapshot))
        .with(handlers!(export))
        // Ten thousand entries are megabytes of much the same words.
        .within(|routes| routes.layer(CompressionLayer::new()))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TranscriptQuery {
    /// `full` or `compacted`.
    #[serde(default)]
    #[param(inline)]
    view: MessagesView,
    /// Only entries before this one.
    before: Option<String>,
    /// The newest ones, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum MessagesView {
    /// All entries of the active path.
    #[default]
    Full,
    /// The context that the model receives.
    Compacted,
}

#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/messages", tag = "sessions",
    params(("id" = String, Path), TranscriptQuery),
    responses((status = 200, body = SessionMessages)))]
async fn messages(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
    ApiQuery(asked): ApiQuery<TranscriptQuery>,
) -> Result<Json<SessionMessages>, ApiError> {
    let tree = load(&shared, &who, id).await?;
    let messages = match asked.view {
        MessagesView::Full => SessionMessages::Full(full(&tree, asked.before, asked.limit)?),
        MessagesView::Compacted => {
            SessionMessages::Compacted(compacted(&tree, asked.before, asked.limit)?)
        }
    };
    Ok(Json(messages))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct MessagesQuery {
    session_id: String,
    /// `compacted` (the default) or `full`.
    #[param(inline)]
    view: Option<MessagesView>,
    /// Only entries before this one: the `cursor` of the page after it.
    before: Option<String>,
    /// The newest ones, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// List the messages of a session, given as a query parameter.
/// By default, this is the context that the model receives.
#[utoipa::path(get, path = "/admin/netaclaw/session/messages", tag = "sessions",
    params(MessagesQuery), responses((status = 200, body = SessionMessages)))]
async fn messages_of(
    state: State<Arc<Shared>>,
    who: SignedIn,
    ApiQuery(asked): ApiQuery<MessagesQuery>,
) -> Result<Json<SessionMessages>, ApiError> {
    let query = ApiQuery(TranscriptQuery {
        view: asked.view.unwrap_or(MessagesView::Compacted),
        before: asked.before,
        limit: asked.limit,
    });
    messages(state, who, ApiPath(asked.session_id), query).await
}

fn full(
    tree: &SessionTree,
    before: Option<String>,
    limit: Option<usize>,
) -> Result<EntryPage, ApiError> {
    let path = tree.active_path().map_err(damaged(tree))?;
    let total = path.len() as u64;
    let folded = folded_count(&path);
    let mut end = path.len();
    if let Some(before) = before {
        let before = EntryId::new(before);
        let at = path.iter().position(|entry| *entry.id() == before);
        end = at.ok_or(StaleParent::NotOnPath { entry: before })?;
    }
    let limit = within("limit", limit.unwrap_or(ENTRIES_MAX), 1..=ENTRIES_MAX)?;
    let from = end.saturating_sub(limit);
    let folded = folded.min(end).saturating_sub(from);
    Ok(EntryPage {
        folded_count: folded as u64,
        items: wire_entries(tree, &path[from..end]),
        total,
        cursor: (from > 0).then(|| path[from].id().clone()),
    })
}

fn compacted(
    tree: &SessionTree,
    before: Option<String>,
    limit: Option<usize>,
) -> Result<ContextMessages, ApiError> {
    let context = build_session_context(tree, tree.leaf()).map_err(damaged(tree))?;
    let sources: Vec<&EntryId> = context.source_entry_ids().collect();
    let mut end = sources.len();
    if let Some(before) = before {
        let before = EntryId::new(before);
        let at = sources.iter().position(|source| **source == before);
        end = at.ok_or(StaleParent::NotOnPath { entry: before })?;
    }
    let limit = within("limit", limit.unwrap_or(ENTRIES_MAX), 1..=ENTRIES_MAX)?;
    let mut from = end.saturating_sub(limit);
    // What comes from one entry stays together, as pages begin and end at entries.
    while from > 0 && from < end && sources[from - 1] == sources[from] {
        from -= 1;
    }
    let shown = context.messages[from..end].iter();
    Ok(ContextMessages {
        items: shown.map(|message| raw(&message.shown())).collect(),
        total: sources.len() as u64,
        source_entry_ids: sources[from..end].iter().copied().cloned().collect(),
        cursor: (from > 0).then(|| sources[from].clone()),
        thinking_level: context.thinking_level.to_string(),
        model: context.model(),
    })
}

/// Show what fills the context window of the session's model.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/context", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ContextBreakdown)))]
async fn context(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<ContextBreakdown>, ApiError> {
    let id = SessionId::new(id);
    Ok(Json(
        shared.engine.context_breakdown(&who.caller(), &id).await?,
    ))
}

/// Get one entry, as snapshots have it.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/entries/{entry}", tag = "sessions",
    params(("id" = String, Path), ("entry" = String, Path)),
    responses((status = 200, body = Object)))]
async fn entry(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath((id, entry)): ApiPath<(String, String)>,
) -> Result<Json<Box<RawValue>>, ApiError> {
    let tree = load(&shared, &who, id).await?;
    let found = tree.get(&EntryId::new(entry)).ok_or(NotFound::NoEntry)?;
    let shown = wire_entries(&tree, &[found]).pop();
    Ok(Json(shown.expect("one entry is one entry")))
}

/// Get the structure of the session tree, without its content.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/tree", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionTreeView)))]
async fn tree(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<SessionTreeView>, ApiError> {
    let tree = load(&shared, &who, id).await?;
    // Every message is read for its first words, which takes a while in a long session.
    let view = tokio::task::spawn_blocking(move || outline(&tree)).await;
    Ok(Json(view.unwrap_or_else(|panic| {
        std::panic::resume_unwind(panic.into_panic())
    })))
}

/// Get everything that is stored of a session.
/// To follow it live, open it by Socket.IO.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/snapshot", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = StoredSnapshot)))]
async fn snapshot(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<StoredSnapshot>, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(&shared, &who.caller(), &id).await?;
    let stored = provider.get_snapshot(&id).await?;
    Ok(Json(StoredSnapshot {
        session: stored.session.into(),
        entries: wire_log(&stored.entries),
        active_path: stored.active_path,
        children_by_parent_id: stored.children_by_parent_id.into_iter().collect(),
        labels_by_entry_id: stored.labels_by_entry_id.into_iter().collect(),
        runtime_context: stored.runtime_context,
        in_flight: stored.in_flight.map(|entry| raw(entry.json())),
        skipped_lines: stored.skipped_lines,
        warnings: stored.warnings,
    }))
}

/// Export the session as Pi stores it, one JSON object per line.
#[utoipa::path(get, path = "/admin/netaclaw/sessions/{id}/export", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, content_type = "application/x-ndjson")))]
async fn export(
    State(shared): State<Arc<Shared>>,
    SignedIn(who): SignedIn,
    ApiPath(id): ApiPath<String>,
) -> Result<Response, ApiError> {
    let tree = load(&shared, &who, id).await?;
    let mut text = String::new();
    let header = match who.may_inspect() {
        true => tree.header().clone(),
        // Directories of the server mean nothing elsewhere, and only administrators see them.
        false => tree.header().without_paths(),
    };
    let lines = std::iter::once(header.json()).chain(tree.entries().iter().map(Entry::json));
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let id = tree.header().id();
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

async fn load(shared: &Shared, who: &Identity, id: String) -> Result<Arc<SessionTree>, ApiError> {
    let id = SessionId::new(id);
    let (provider, _) = find(shared, &who.caller(), &id).await?;
    Ok(provider.load_tree(&id).await?)
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("what is stored is JSON")
}

/// What a walk through a tree says about its session.
fn damaged(tree: &SessionTree) -> impl Fn(PathError) -> Unavailable {
    move |error| Unavailable::SessionNotReadable {
        session: tree.header().id().clone(),
        damage: error.damage(),
    }
}
