//! Sessions as rows, and what a listing shows of them.

use super::retry::Failure;
use netaclaw_session::{
    Entry, EntryId, EntryKind, ProviderKind, RequestKey, Role, SessionId, SessionMeta,
    SessionStatus, SessionTree, format_timestamp, parse_timestamp,
};
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::mysql::{MySqlConnection, MySqlRow};
use std::borrow::Cow;
use std::sync::Arc;

/// How much of the first message a listing shows.
const FIRST_MESSAGE_CHARS_MAX: usize = 200;

/// The columns that make up a [`SessionMeta`], in the order in which [`meta_in`] reads them.
pub(super) const META_COLUMNS: &str = "sessionId, rootEntryId, leafEntryId, cwd, parentSessionId, \
     agentId, userId, title, status, metadata, messageCount, firstMessage, createdAt, updatedAt";

/// The session's data, or `None` if the session does not exist.
pub(super) async fn read_meta(
    connection: &mut MySqlConnection,
    session: &SessionId,
) -> Result<Option<SessionMeta>, Failure> {
    let mut select = sqlx::QueryBuilder::new("SELECT ");
    select
        .push(META_COLUMNS)
        .push(" FROM neta_agent_session WHERE sessionId = ");
    select.push_bind(session.as_str());
    let row = select.build().fetch_optional(connection).await?;
    row.as_ref().map(meta_in).transpose()
}

pub(super) fn meta_in(row: &MySqlRow) -> Result<SessionMeta, Failure> {
    let text = |at: usize| row.try_get::<Option<String>, _>(at);
    Ok(SessionMeta {
        session_id: SessionId::new(row.try_get::<&str, _>(0)?),
        provider: ProviderKind::Mysql,
        root_entry_id: text(1)?.map(EntryId::new),
        leaf_entry_id: text(2)?.map(EntryId::new),
        cwd: row.try_get(3)?,
        session_file: None,
        parent_session_id: text(4)?.map(SessionId::new),
        agent_id: text(5)?,
        user_id: text(6)?,
        title: text(7)?,
        status: status_in(row.try_get(8)?),
        metadata: Arc::new(metadata_in(row.try_get(9)?)),
        message_count: row.try_get::<i64, _>(10)?.unsigned_abs(),
        first_message: text(11)?,
        created_at: row.try_get(12)?,
        updated_at: row.try_get(13)?,
    })
}

pub(super) fn status_in(column: &str) -> SessionStatus {
    // The table admits these three only.
    match column {
        "archived" => SessionStatus::Archived,
        "deleted" => SessionStatus::Deleted,
        _ => SessionStatus::Active,
    }
}

pub(super) fn metadata_in(column: &str) -> Map<String, Value> {
    serde_json::from_str(column).unwrap_or_default()
}

/// Inserts the row of a session that has these entries.
pub(super) async fn insert_session(
    connection: &mut MySqlConnection,
    tree: &SessionTree,
) -> Result<(), Failure> {
    const INSERT: &str = "INSERT INTO neta_agent_session (sessionId, rootEntryId, leafEntryId, cwd, \
         parentSessionId, agentId, userId, title, status, metadata, createdAt, updatedAt, header, \
         nextSeq, messageCount, firstMessage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let (header, meta) = (tree.header(), tree.meta());
    let metadata = meta
        .metadata
        .clone()
        .unwrap_or_else(|| Arc::new(header.metadata()));
    let created_at = timestamp(&header.timestamp()).unwrap_or_default();
    let last = tree.entries().last();
    let updated_at = last.and_then(|entry| timestamp(&entry.timestamp()));
    let root = tree
        .entries()
        .iter()
        .find(|entry| entry.parent_id().is_none());
    let is_message = |entry: &&Entry| entry.kind() == EntryKind::Message;
    let messages = tree.entries().iter().filter(is_message);
    sqlx::query(INSERT)
        .bind(header.id().as_str())
        .bind(root.map(|entry| entry.id().as_str()))
        .bind(tree.leaf().map(EntryId::as_str))
        .bind(header.cwd().unwrap_or_default().as_ref())
        .bind(parent_session(tree))
        .bind(
            meta.agent_id
                .as_deref()
                .map(Cow::Borrowed)
                .or(header.agent_id()),
        )
        .bind(header.user_id())
        .bind(tree.name())
        .bind(meta.status.unwrap_or_default().as_str())
        .bind(Value::Object(Arc::unwrap_or_clone(metadata)).to_string())
        .bind(&created_at)
        .bind(updated_at.as_ref().unwrap_or(&created_at))
        .bind(header.json())
        .bind(tree.entries().len() as i64 + 1)
        .bind(messages.clone().count() as i64)
        .bind(messages.clone().find_map(opening_text))
        .execute(connection)
        .await?;
    Ok(())
}

/// The session that a request has made.
pub(super) async fn read_made(
    connection: &mut MySqlConnection,
    request: &RequestKey,
) -> Result<Option<SessionId>, Failure> {
    const SELECT: &str = "SELECT sessionId FROM neta_agent_session WHERE requestKey = ?";
    let found: Option<String> = sqlx::query_scalar(SELECT)
        .bind(request.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(found.map(SessionId::new))
}

/// The same moment as NetaClaw writes it; `None` if the text is not a time.
fn timestamp(text: &str) -> Option<String> {
    parse_timestamp(text).map(format_timestamp)
}

/// The session this one was forked from: named by NetaClaw, or by the file name Pi keeps.
fn parent_session(tree: &SessionTree) -> Option<String> {
    let header = tree.header();
    let named = header.parent_session_id();
    named.map(|id| id.as_str().to_owned()).or_else(|| {
        let path = header.parent_session()?;
        let name = path.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
        let (_, id) = name.split_once('_')?;
        Some(id)
            .filter(|id| SessionId::new(id).is_safe())
            .map(str::to_owned)
    })
}

/// The first words of a user's message.
pub(super) fn opening_text(entry: &Entry) -> Option<String> {
    if entry.role() != Role::User {
        return None;
    }
    let message: Value = serde_json::from_str(entry.message_json()?).ok()?;
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(FIRST_MESSAGE_CHARS_MAX).collect())
}
