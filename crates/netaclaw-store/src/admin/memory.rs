//! Agents' memories, in their table.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, found, unreadable};
use super::memory_pending::{
    check_room, delete_pending, find_pending, insert_pending, read_pending, rewrite_pending,
};
use super::record::{
    self, column, first_stamp, new_id, next_stamp, number, of_word, stamp_of, word,
};
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{
    AdminError, Expect, Invalid, MEMORIES_MAX, MemoryProposal, MemoryStore, Problem, check_memory,
};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, MemoryStatus, RecordKind, Stamp, UserId,
};
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Memory;

#[async_trait]
impl MemoryStore for SqlAdminStore {
    async fn memories(&self, user: &UserId) -> Result<Vec<Memory>, AdminError> {
        Ok(read_memories(&mut *self.database.connection().await?, user).await?)
    }

    async fn create_memory(
        &self,
        user: &UserId,
        author: MemoryAuthor,
        spec: MemorySpec,
    ) -> Result<Memory, AdminError> {
        let spec = check_memory(spec)?;
        let mut writer = self.database.writer(Area::Memories).await?;
        if let Some(same) = read_same(&mut writer, user, &spec).await? {
            return Ok(same);
        }
        check_number(&mut writer, user).await?;
        check_agent(&mut writer, &spec).await?;
        let memory = Memory {
            id: MemoryId::new(new_id()),
            user_id: user.clone(),
            spec,
            author,
            status: MemoryStatus::Confirmed,
            session_id: None,
            replaces: None,
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
        let mut writer = self.database.writer(Area::Memories).await?;
        if let Some(pending) = find_pending(&mut writer, user, id).await? {
            record::expect(expect, &pending)?;
            check_agent(&mut writer, &spec).await?;
            let written = Memory {
                spec,
                author,
                ..pending
            };
            let memory = confirm(&mut writer, written).await?;
            commit(writer).await?;
            return Ok(memory);
        }
        let before = read_memory(&mut writer, user, id).await?;
        record::expect(expect, &before)?;
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

    async fn pending_memories(&self, user: &UserId) -> Result<Vec<Memory>, AdminError> {
        Ok(read_pending(&mut *self.database.connection().await?, user).await?)
    }

    async fn propose_memory(
        &self,
        user: &UserId,
        proposal: MemoryProposal,
    ) -> Result<Memory, AdminError> {
        let MemoryProposal {
            spec,
            session_id,
            replaces,
        } = proposal;
        let spec = check_memory(spec)?;
        let mut writer = self.database.writer(Area::Memories).await?;
        if let Some(same) = read_same(&mut writer, user, &spec).await? {
            return Ok(same);
        }
        let pending = read_pending(&mut writer, user).await?;
        let mut own = pending
            .iter()
            .filter(|known| known.session_id.as_ref() == Some(&session_id));
        if let Some(same) = own.clone().find(|known| known.spec == spec) {
            return Ok(same.clone());
        }
        check_agent(&mut writer, &spec).await?;
        let corrected = own.find(|known| replaces.as_ref() == Some(&known.id));
        let memory = match corrected {
            Some(before) => {
                let memory = Memory {
                    spec,
                    stamp: next_stamp(before.stamp),
                    ..before.clone()
                };
                rewrite_pending(&mut writer, &memory).await?;
                memory
            }
            None => {
                check_room(&pending)?;
                let memory = Memory {
                    id: MemoryId::new(new_id()),
                    user_id: user.clone(),
                    spec,
                    author: MemoryAuthor::Agent,
                    status: MemoryStatus::Pending,
                    session_id: Some(session_id),
                    replaces,
                    stamp: first_stamp(),
                };
                insert_pending(&mut writer, &memory).await?;
                memory
            }
        };
        commit(writer).await?;
        Ok(memory)
    }

    async fn confirm_memory(
        &self,
        user: &UserId,
        id: &MemoryId,
        expect: Expect,
    ) -> Result<Memory, AdminError> {
        let mut writer = self.database.writer(Area::Memories).await?;
        let Some(pending) = find_pending(&mut writer, user, id).await? else {
            let known = read_memory(&mut writer, user, id).await?;
            record::expect(expect, &known)?;
            return Ok(known);
        };
        record::expect(expect, &pending)?;
        let memory = confirm(&mut writer, pending).await?;
        commit(writer).await?;
        Ok(memory)
    }

    async fn delete_memory(
        &self,
        user: &UserId,
        id: &MemoryId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Memories).await?;
        match find_pending(&mut writer, user, id).await? {
            Some(pending) => {
                record::expect(expect, &pending)?;
                delete_pending(&mut writer, id).await?;
            }
            None => {
                let memory = read_memory(&mut writer, user, id).await?;
                record::expect(expect, &memory)?;
                delete_row(&mut writer, id).await?;
            }
        }
        commit(writer).await?;
        Ok(())
    }
}

/// Confirms a pending fact, and replaces the one it corrects.
async fn confirm(writer: &mut AnyConnection, pending: Memory) -> Result<Memory> {
    delete_pending(writer, &pending.id).await?;
    if let Some(old) = &pending.replaces {
        // Checks that it still exists and is this user's: a fact of another user must not be
        // deleted.
        if find_memory(writer, &pending.user_id, old).await?.is_some() {
            delete_row(writer, old).await?;
        }
    }
    if let Some(same) = read_same(writer, &pending.user_id, &pending.spec).await? {
        return Ok(same);
    }
    check_number(writer, &pending.user_id).await?;
    let memory = Memory {
        status: MemoryStatus::Confirmed,
        session_id: None,
        replaces: None,
        stamp: next_stamp(pending.stamp),
        ..pending
    };
    insert_memory(writer, &memory).await?;
    Ok(memory)
}

async fn check_number(writer: &mut AnyConnection, user: &UserId) -> Result<()> {
    match count_memories(writer, user).await? >= MEMORIES_MAX as u64 {
        true => {
            let problem = Problem::TooMany { max: MEMORIES_MAX };
            Err(Invalid::new("text", problem).into())
        }
        false => Ok(()),
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
            let problem = Problem::NoSuchAgent {
                id: agent.to_string(),
            };
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
    found(
        find_memory(connection, user, id).await?,
        KIND,
        id.as_str(),
        [],
    )
}

async fn find_memory(
    connection: &mut AnyConnection,
    user: &UserId,
    id: &MemoryId,
) -> Result<Option<Memory>> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ? AND userId = ?"))
        .bind(id.as_str())
        .bind(user.as_str())
        .fetch_optional(connection)
        .await?;
    row.map(memory_of).transpose()
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
        status: MemoryStatus::Confirmed,
        session_id: None,
        replaces: None,
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
