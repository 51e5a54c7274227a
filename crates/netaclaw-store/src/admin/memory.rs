//! What agents remember, in its table.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, expected, found, unreadable};
use super::record::{column, first_stamp, new_id, next_stamp, number, of_word, stamp_of, word};
use async_trait::async_trait;
use netaclaw_admin::{
    AdminError, Expect, Invalid, MEMORIES_MAX, MemoryStore, Problem, check_memory,
};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, RecordKind, Stamp, UserId,
};
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Memory;

#[async_trait]
impl MemoryStore for SqlAdminStore {
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>, AdminError> {
        let mark = self.database.mark();
        if let Some(memories) = self.memories.get(mark, user) {
            return Ok(memories);
        }
        let memories = read_memories(&mut *self.database.connection().await?, user).await?;
        self.memories.keep(mark, user.clone(), memories.clone());
        Ok(memories)
    }

    async fn create_memory(
        &self,
        user: &UserId,
        author: MemoryAuthor,
        spec: MemorySpec,
    ) -> Result<Memory, AdminError> {
        let spec = check_memory(spec)?;
        let mut writer = self.database.writer().await?;
        if let Some(same) = read_same(&mut writer, user, &spec).await? {
            return Ok(same);
        }
        if count_memories(&mut writer, user).await? >= MEMORIES_MAX as u64 {
            let problem = Problem::TooMany { max: MEMORIES_MAX };
            return Err(Invalid::new("text", problem).into());
        }
        check_agent(&mut writer, &spec).await?;
        let memory = Memory {
            id: MemoryId::new(new_id()),
            user_id: user.clone(),
            spec,
            author,
            stamp: first_stamp(),
        };
        insert_memory(&mut writer, &memory).await?;
        commit(writer).await?;
        Ok(memory)
    }

    async fn update_memory(
        &self,
        user: &UserId,
        author: MemoryAuthor,
        id: &MemoryId,
        expect: Expect,
        spec: MemorySpec,
    ) -> Result<Memory, AdminError> {
        let spec = check_memory(spec)?;
        let mut writer = self.database.writer().await?;
        let before = read_memory(&mut writer, user, id).await?;
        expected(expect, KIND, id.as_str(), before.stamp)?;
        if before.spec == spec {
            return Ok(before);
        }
        check_agent(&mut writer, &spec).await?;
        let memory = Memory {
            spec,
            author,
            stamp: next_stamp(before.stamp),
            ..before
        };
        write_memory(&mut writer, &memory).await?;
        commit(writer).await?;
        Ok(memory)
    }

    async fn delete_memory(
        &self,
        user: &UserId,
        id: &MemoryId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer().await?;
        let memory = read_memory(&mut writer, user, id).await?;
        expected(expect, KIND, id.as_str(), memory.stamp)?;
        delete_row(&mut writer, id).await?;
        commit(writer).await?;
        Ok(())
    }
}

async fn check_agent(writer: &mut AnyConnection, spec: &MemorySpec) -> Result<()> {
    let Some(agent) = &spec.agent_id else {
        return Ok(());
    };
    let known: Option<String> = sqlx::query_scalar("SELECT id FROM netaclaw_agent WHERE id = ?")
        .bind(agent.as_str())
        .fetch_optional(writer)
        .await?;
    match known {
        Some(_) => Ok(()),
        None => {
            let problem = Problem::NoSuchAgent(agent.to_string());
            Err(Invalid::new("agentId", problem).into())
        }
    }
}

type Row = (
    String,
    String,
    Option<String>,
    String,
    String,
    i64,
    i64,
    i64,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, userId, agentId, text, author, rev, createdAt, updatedAt \
             FROM netaclaw_memory ",
            $rest
        )
    };
}

async fn read_memories(connection: &mut AnyConnection, user: &UserId) -> Result<Vec<Memory>> {
    let rows: Vec<Row> = sqlx::query_as(select!("WHERE userId = ? ORDER BY id"))
        .bind(user.as_str())
        .fetch_all(connection)
        .await?;
    rows.into_iter().map(memory_of).collect()
}

/// The fact with the same words for the same agent.
async fn read_same(
    writer: &mut AnyConnection,
    user: &UserId,
    spec: &MemorySpec,
) -> Result<Option<Memory>> {
    let rows: Vec<Row> = sqlx::query_as(select!("WHERE userId = ? AND text = ?"))
        .bind(user.as_str())
        .bind(&spec.text)
        .fetch_all(writer)
        .await?;
    for row in rows {
        let memory = memory_of(row)?;
        if memory.spec == *spec {
            return Ok(Some(memory));
        }
    }
    Ok(None)
}

async fn count_memories(writer: &mut AnyConnection, user: &UserId) -> Result<u64> {
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM netaclaw_memory WHERE userId = ?")
        .bind(user.as_str())
        .fetch_one(writer)
        .await?;
    Ok(number(count))
}

async fn read_memory(
    connection: &mut AnyConnection,
    user: &UserId,
    id: &MemoryId,
) -> Result<Memory> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ? AND userId = ?"))
        .bind(id.as_str())
        .bind(user.as_str())
        .fetch_optional(connection)
        .await?;
    memory_of(found(row, KIND, id.as_str(), [])?)
}

fn memory_of(row: Row) -> Result<Memory> {
    let (id, user_id, agent_id, text, author, rev, created_at, updated_at) = row;
    Ok(Memory {
        user_id: UserId::new(user_id),
        spec: MemorySpec {
            agent_id: agent_id.map(AgentId::new),
            text,
        },
        author: of_word(author).map_err(|error| unreadable(KIND, &id, error))?,
        stamp: stamp_of(rev, created_at, updated_at),
        id: MemoryId::new(id),
    })
}

async fn insert_memory(writer: &mut AnyConnection, memory: &Memory) -> Result<()> {
    const INSERT: &str = "INSERT INTO netaclaw_memory \
         (id, userId, agentId, text, author, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let Stamp {
        rev,
        created_at,
        updated_at,
    } = memory.stamp;
    sqlx::query(INSERT)
        .bind(memory.id.as_str())
        .bind(memory.user_id.as_str())
        .bind(memory.spec.agent_id.as_ref().map(AgentId::as_str))
        .bind(&memory.spec.text)
        .bind(word(&memory.author))
        .bind(column(rev))
        .bind(created_at)
        .bind(updated_at)
        .execute(writer)
        .await?;
    Ok(())
}

async fn write_memory(writer: &mut AnyConnection, memory: &Memory) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_memory \
         SET agentId = ?, text = ?, author = ?, rev = ?, updatedAt = ? WHERE id = ?";
    sqlx::query(UPDATE)
        .bind(memory.spec.agent_id.as_ref().map(AgentId::as_str))
        .bind(&memory.spec.text)
        .bind(word(&memory.author))
        .bind(column(memory.stamp.rev))
        .bind(memory.stamp.updated_at)
        .bind(memory.id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}

async fn delete_row(writer: &mut AnyConnection, id: &MemoryId) -> Result<()> {
    sqlx::query("DELETE FROM netaclaw_memory WHERE id = ?")
        .bind(id.as_str())
        .execute(writer)
        .await?;
    Ok(())
}
