//! Tools and their switches in their table.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, found, unreadable};
use super::record::{self, column, first_stamp, json, next_stamp, of_word, stamp_of, word};
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{Actor, AdminError, Expect, KnownTool, ToolStore, ToolSync};
use netaclaw_protocol::{AuditAction, RecordKind, ToolRecord, ToolStatus};
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Tool;

#[async_trait]
impl ToolStore for SqlAdminStore {
    async fn tools(&self) -> Result<Vec<ToolRecord>, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_tools(&mut reader).await?)
    }

    async fn tool(&self, name: &str) -> Result<ToolRecord, AdminError> {
        let mut reader = self.database.connection().await?;
        let tools = read_tools(&mut reader).await?;
        Ok(one_of(&tools, name)?.clone())
    }

    async fn sync_tools(
        &self,
        by: &Actor,
        source: &str,
        known: &[KnownTool],
    ) -> Result<ToolSync, AdminError> {
        // Usually nothing has changed, and then this does not take the write lock.
        let mut reader = self.database.connection().await?;
        let rows = read_tools(&mut reader).await?;
        drop(reader);
        if changes(&rows, source, known).is_empty() {
            return Ok(ToolSync::default());
        }
        let mut writer = self.database.writer(Area::Configuration).await?;
        let rows = read_tools(&mut writer).await?;
        let mut sync = ToolSync::default();
        for change in changes(&rows, source, known) {
            let tool = &change.tool;
            let (action, fields) = match &change.before {
                None => (AuditAction::Create, Vec::new()),
                Some(before) => (
                    AuditAction::Update,
                    netaclaw_admin::changed_fields(before, tool)
                        .into_iter()
                        .filter(|field| !matches!(field.as_str(), "rev" | "updatedAt"))
                        .collect(),
                ),
            };
            write_tool(&mut writer, tool, change.before.is_some()).await?;
            record::audit(&mut writer, by, action, tool, fields).await?;
            let name = tool.name.clone();
            match (&change.before, tool.present) {
                (None, _) => sync.added.push(name),
                (Some(before), true) if !before.present => sync.back.push(name),
                (Some(before), false) if before.present => sync.gone.push(name),
                _ => {}
            }
        }
        commit(writer).await?;
        Ok(sync)
    }

    async fn switch_tool(
        &self,
        by: &Actor,
        name: &str,
        expect: Expect,
        status: Option<ToolStatus>,
    ) -> Result<ToolRecord, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let tools = read_tools(&mut writer).await?;
        let tool = one_of(&tools, name)?;
        record::expect(expect, tool)?;
        if tool.status == status {
            return Ok(tool.clone());
        }
        let switched = ToolRecord {
            status,
            stamp: next_stamp(tool.stamp),
            ..tool.clone()
        };
        write_tool(&mut writer, &switched, true).await?;
        let fields = vec!["status".to_owned()];
        record::audit_update(&mut writer, by, &switched, fields).await?;
        commit(writer).await?;
        Ok(switched)
    }
}

fn one_of<'a>(tools: &'a [ToolRecord], name: &str) -> Result<&'a ToolRecord> {
    let tool = tools.iter().find(|tool| tool.name == name);
    let names = tools.iter().map(|tool| tool.name.as_str());
    found(tool, KIND, name, names)
}

struct Change {
    before: Option<ToolRecord>,
    tool: ToolRecord,
}

/// What has to be written so that the rows say what the source says.
fn changes(rows: &[ToolRecord], source: &str, known: &[KnownTool]) -> Vec<Change> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let there = known.iter().filter_map(|tool| {
        let before = row(&tool.name).cloned();
        let mut now = ToolRecord {
            name: tool.name.clone(),
            source: source.to_owned(),
            label: tool.label.clone(),
            category: tool.category,
            risk: tool.risk,
            status: before.as_ref().and_then(|row| row.status),
            present: true,
            stamp: before.as_ref().map_or_else(first_stamp, |row| row.stamp),
        };
        if before.as_ref() == Some(&now) {
            return None;
        }
        if before.is_some() {
            now.stamp = next_stamp(now.stamp);
        }
        Some(Change { before, tool: now })
    });
    let gone = rows
        .iter()
        .filter(|row| row.source == source && row.present)
        .filter(|row| known.iter().all(|tool| tool.name != row.name))
        .map(|row| Change {
            before: Some(row.clone()),
            tool: ToolRecord {
                present: false,
                stamp: next_stamp(row.stamp),
                ..row.clone()
            },
        });
    there.chain(gone).collect()
}

type Row = (
    String,
    String,
    String,
    String,
    String,
    Option<String>,
    i64,
    i64,
    i64,
    i64,
);

pub(super) async fn read_tools(connection: &mut AnyConnection) -> Result<Vec<ToolRecord>> {
    const SELECT: &str = "SELECT name, source, label, category, risk, status, present, rev, \
         createdAt, updatedAt FROM netaclaw_tool ORDER BY name";
    let rows: Vec<Row> = sqlx::query_as(SELECT).fetch_all(connection).await?;
    rows.into_iter().map(tool_of).collect()
}

fn tool_of(row: Row) -> Result<ToolRecord> {
    let (name, source, label, category, risk, status, present, rev, created_at, updated_at) = row;
    let failed = |error| unreadable(KIND, &name, error);
    Ok(ToolRecord {
        label: serde_json::from_str(&label).map_err(failed)?,
        category: of_word(category).map_err(failed)?,
        risk: of_word(risk).map_err(failed)?,
        status: status.map(of_word).transpose().map_err(failed)?,
        present: present != 0,
        stamp: stamp_of(rev, created_at, updated_at),
        source,
        name,
    })
}

async fn write_tool(writer: &mut AnyConnection, tool: &ToolRecord, known: bool) -> Result<()> {
    const INSERT: &str = "INSERT INTO netaclaw_tool (source, label, category, risk, status, \
         present, rev, createdAt, updatedAt, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    const UPDATE: &str = "UPDATE netaclaw_tool SET source = ?, label = ?, category = ?, risk = ?, \
         status = ?, present = ?, rev = ?, createdAt = ?, updatedAt = ? WHERE name = ?";
    sqlx::query(if known { UPDATE } else { INSERT })
        .bind(&tool.source)
        .bind(json(&tool.label))
        .bind(word(&tool.category))
        .bind(word(&tool.risk))
        .bind(tool.status.as_ref().map(word))
        .bind(i64::from(tool.present))
        .bind(column(tool.stamp.rev))
        .bind(tool.stamp.created_at)
        .bind(tool.stamp.updated_at)
        .bind(&tool.name)
        .execute(writer)
        .await?;
    Ok(())
}
