//! Facts that wait for their user to confirm them, in a table of their own.

use super::fault::Result;
use super::record::{column, stamp_of};
use netaclaw_admin::{Invalid, PENDING_MEMORIES_MAX, Problem};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, MemoryStatus, SessionId, UserId,
};
use sqlx::AnyConnection;

type Row = (
    String,
    String,
    Option<String>,
    String,
    String,
    Option<String>,
    i64,
    i64,
    i64,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, userId, agentId, text, sessionId, replacesId, rev, createdAt, updatedAt \
             FROM netaclaw_memory_pending ",
            $rest
        )
    };
}

/// The oldest first.
pub(super) async fn read_pending(
    connection: &mut AnyConnection,
    user: &UserId,
) -> Result<Vec<Memory>> {
    let rows: Vec<Row> = sqlx::query_as(select!("WHERE userId = ? ORDER BY id"))
        .bind(user.as_str())
        .fetch_all(connection)
        .await?;
    Ok(rows.into_iter().map(memory_of).collect())
}

/// Another user's is not found.
pub(super) async fn find_pending(
    connection: &mut AnyConnection,
    user: &UserId,
    id: &MemoryId,
) -> Result<Option<Memory>> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ? AND userId = ?"))
        .bind(id.as_str())
        .bind(user.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.map(memory_of))
}

pub(super) fn check_room(pending: &[Memory]) -> Result<()> {
    let max = PENDING_MEMORIES_MAX;
    match pending.len() >= max {
        true => Err(Invalid::new("text", Problem::TooManyPending { max }).into()),
        false => Ok(()),
    }
}

pub(super) async fn insert_pending(writer: &mut AnyConnection, memory: &Memory) -> Result<()> {
    const INSERT: &str = "INSERT INTO netaclaw_memory_pending \
         (id, userId, agentId, text, sessionId, replacesId, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let session = memory.session_id.as_ref().map(SessionId::as_str);
    sqlx::query(INSERT)
        .bind(memory.id.as_str())
        .bind(memory.user_id.as_str())
        .bind(memory.spec.agent_id.as_ref().map(AgentId::as_str))
        .bind(&memory.spec.text)
        .bind(session.unwrap_or_default())
        .bind(memory.replaces.as_ref().map(MemoryId::as_str))
        .bind(column(memory.stamp.rev))
        .bind(memory.stamp.created_at)
        .bind(memory.stamp.updated_at)
        .execute(writer)
        .await?;
    Ok(())
}

pub(super) async fn rewrite_pending(writer: &mut AnyConnection, memory: &Memory) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_memory_pending \
         SET agentId = ?, text = ?, rev = ?, updatedAt = ? WHERE id = ?";
    sqlx::query(UPDATE)
        .bind(memory.spec.agent_id.as_ref().map(AgentId::as_str))
        .bind(&memory.spec.text)
        .bind(column(memory.stamp.rev))
        .bind(memory.stamp.updated_at)
        .bind(memory.id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}

pub(super) async fn delete_pending(writer: &mut AnyConnection, id: &MemoryId) -> Result<()> {
    sqlx::query("DELETE FROM netaclaw_memory_pending WHERE id = ?")
        .bind(id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}

fn memory_of(row: Row) -> Memory {
    let (id, user_id, agent_id, text, session_id, replaces, rev, created_at, updated_at) = row;
    Memory {
        id: MemoryId::new(id),
        user_id: UserId::new(user_id),
        spec: MemorySpec {
            agent_id: agent_id.map(AgentId::new),
            text,
        },
        author: MemoryAuthor::Agent,
        status: MemoryStatus::Pending,
        session_id: Some(SessionId::new(session_id)),
        replaces: replaces.map(MemoryId::new),
        stamp: stamp_of(rev, created_at, updated_at),
    }
}
