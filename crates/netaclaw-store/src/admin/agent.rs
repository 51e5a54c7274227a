//! Agents in their table.

use super::SqlAdminStore;
use super::channel::read_channels;
use super::database::commit;
use super::fault::{Result, found, or_name_taken, unreadable};
use super::record::{self, column, first_stamp, json, new_id, next_stamp, stamp_of};
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AgentStore, Expect, Invalid, Problem, UnreadableAgent, changed_fields,
    check_agent, check_apart, check_exist,
};
use netaclaw_protocol::{Agent, AgentId, AgentSpec, RecordKind};
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Agent;

#[async_trait]
impl AgentStore for SqlAdminStore {
    async fn agents(&self) -> Result<Vec<Agent>, AdminError> {
        Ok(read_agents(&mut *self.database.connection().await?).await?)
    }

    async fn agent(&self, id: &AgentId) -> Result<Agent, AdminError> {
        Ok(read_agent(&mut *self.database.connection().await?, id).await?)
    }

    async fn agent_named(&self, name: &str) -> Result<Agent, AdminError> {
        let agents = self.agents().await?;
        let agent = agents.iter().find(|agent| agent.spec.name == name);
        let names = agents.iter().map(|agent| agent.spec.name.as_str());
        Ok(found(agent.cloned(), KIND, name, names)?)
    }

    async fn default_agent(&self) -> Result<Agent, AdminError> {
        let agents = self.agents().await?;
        let agent = agents.into_iter().find(|agent| agent.spec.is_default);
        Ok(found(agent, KIND, "default", [])?)
    }

    async fn create_agent(&self, by: &Actor, spec: AgentSpec) -> Result<Agent, AdminError> {
        self.check_directories(&spec).await?;
        let mut writer = self.database.writer(Area::Configuration).await?;
        let agent = insert_agent(&mut writer, by, spec).await?;
        commit(writer).await?;
        Ok(agent)
    }

    async fn update_agent(
        &self,
        by: &Actor,
        id: &AgentId,
        expect: Expect,
        spec: AgentSpec,
    ) -> Result<Agent, AdminError> {
        self.check_directories(&spec).await?;
        let mut writer = self.database.writer(Area::Configuration).await?;
        let before = read_agent(&mut writer, id).await?;
        record::expect(expect, &before)?;
        let agent = change_agent(&mut writer, by, before, spec).await?;
        commit(writer).await?;
        Ok(agent)
    }

    async fn delete_agent(
        &self,
        by: &Actor,
        id: &AgentId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let agent = read_agent(&mut writer, id).await?;
        record::expect(expect, &agent)?;
        if agent.spec.is_default {
            return Err(Invalid::new("isDefault", Problem::DefaultNeeded).into());
        }
        let statement = "DELETE FROM netaclaw_agent WHERE id = ?";
        record::delete(&mut writer, by, &agent, statement).await?;
        commit(writer).await?;
        Ok(())
    }
}

impl SqlAdminStore {
    /// Before the write lock is taken: the disk may be slow.
    async fn check_directories(&self, spec: &AgentSpec) -> Result<(), AdminError> {
        let Some(data_dir) = self.data_dir.clone() else {
            return Ok(());
        };
        let spec = spec.clone();
        let check = move || check_apart(&spec, &data_dir).and_then(|()| check_exist(&spec));
        let checked = tokio::task::spawn_blocking(check).await;
        checked.map_err(|error| AdminError::store("the agent's directories", error))??;
        Ok(())
    }
}

type Row = (String, String, i64, String, i64, i64, i64);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, isDefault, data, rev, createdAt, updatedAt FROM netaclaw_agent ",
            $rest
        )
    };
}

pub(super) async fn read_agents(connection: &mut AnyConnection) -> Result<Vec<Agent>> {
    let rows = read_rows(connection).await?;
    rows.into_iter().map(agent_of).collect()
}

async fn read_rows(connection: &mut AnyConnection) -> Result<Vec<Row>> {
    let rows = sqlx::query_as(select!("ORDER BY name"));
    Ok(rows.fetch_all(connection).await?)
}

/// Apart from those that can be read, those that cannot.
pub(super) async fn read_agents_apart(
    connection: &mut AnyConnection,
) -> Result<(Vec<Agent>, Vec<UnreadableAgent>)> {
    let rows = read_rows(connection).await?;
    let (mut agents, mut unreadable) = (Vec::new(), Vec::new());
    for row in rows {
        let (id, name) = (row.0.clone(), row.1.clone());
        match agent_of(row) {
            Ok(agent) => agents.push(agent),
            Err(error) => unreadable.push(UnreadableAgent {
                id,
                name,
                why: AdminError::from(error).to_string(),
            }),
        }
    }
    Ok((agents, unreadable))
}

async fn read_agent(connection: &mut AnyConnection, id: &AgentId) -> Result<Agent> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    agent_of(found(row, KIND, id.as_str(), [])?)
}

/// What has a column of its own counts before what is in `data`.
fn agent_of((id, name, is_default, data, rev, created_at, updated_at): Row) -> Result<Agent> {
    let spec: AgentSpec =
        serde_json::from_str(&data).map_err(|error| unreadable(KIND, &name, error))?;
    Ok(Agent {
        id: AgentId::new(id),
        spec: AgentSpec {
            name,
            is_default: is_default != 0,
            ..spec
        },
        stamp: stamp_of(rev, created_at, updated_at),
    })
}

/// Adds an agent. The first one is always the default.
pub(super) async fn insert_agent(
    writer: &mut AnyConnection,
    by: &Actor,
    mut spec: AgentSpec,
) -> Result<Agent> {
    const INSERT: &str = "INSERT INTO netaclaw_agent \
         (id, name, isDefault, data, rev, createdAt, updatedAt) VALUES (?, ?, ?, ?, ?, ?, ?)";
    check_agent(&spec, &read_channels(writer).await?)?;
    let agents = read_agents(writer).await?;
    spec.is_default |= !agents.iter().any(|agent| agent.spec.is_default);
    let agent = Agent {
        id: AgentId::new(new_id()),
        spec,
        stamp: first_stamp(),
    };
    let Agent { id, spec, stamp } = &agent;
    if spec.is_default {
        clear_default(writer, by, agents).await?;
    }
    let inserted = sqlx::query(INSERT)
        .bind(id.as_str())
        .bind(&spec.name)
        .bind(i64::from(spec.is_default))
        .bind(json(spec))
        .bind(column(stamp.rev))
        .bind(stamp.created_at)
        .bind(stamp.updated_at)
        .execute(&mut *writer)
        .await;
    or_name_taken(inserted, KIND, &spec.name)?;
    record::audit_create(writer, by, &agent).await?;
    Ok(agent)
}

async fn change_agent(
    writer: &mut AnyConnection,
    by: &Actor,
    before: Agent,
    spec: AgentSpec,
) -> Result<Agent> {
    check_agent(&spec, &read_channels(writer).await?)?;
    if before.spec.is_default && !spec.is_default {
        return Err(Invalid::new("isDefault", Problem::DefaultNeeded).into());
    }
    let fields = changed_fields(&before.spec, &spec);
    if fields.is_empty() {
        return Ok(before);
    }
    if spec.is_default && !before.spec.is_default {
        let agents = read_agents(writer).await?;
        clear_default(writer, by, agents).await?;
    }
    let agent = Agent {
        id: before.id,
        spec,
        stamp: next_stamp(before.stamp),
    };
    write_agent(writer, &agent).await?;
    record::audit_update(writer, by, &agent, fields).await?;
    Ok(agent)
}

/// The default agent is one among others from now on.
async fn clear_default(writer: &mut AnyConnection, by: &Actor, agents: Vec<Agent>) -> Result<()> {
    for mut agent in agents {
        if !agent.spec.is_default {
            continue;
        }
        agent.spec.is_default = false;
        agent.stamp = next_stamp(agent.stamp);
        write_agent(writer, &agent).await?;
        let fields = vec!["isDefault".to_owned()];
        record::audit_update(writer, by, &agent, fields).await?;
    }
    Ok(())
}

async fn write_agent(writer: &mut AnyConnection, agent: &Agent) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_agent \
         SET name = ?, isDefault = ?, data = ?, rev = ?, updatedAt = ? WHERE id = ?";
    let Agent { id, spec, stamp } = agent;
    let updated = sqlx::query(UPDATE)
        .bind(&spec.name)
        .bind(i64::from(spec.is_default))
        .bind(json(spec))
        .bind(column(stamp.rev))
        .bind(stamp.updated_at)
        .bind(id.as_str())
        .execute(writer)
        .await;
    or_name_taken(updated, KIND, &spec.name)?;
    Ok(())
}
