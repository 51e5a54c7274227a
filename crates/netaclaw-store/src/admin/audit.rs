//! The audit list: rows that are only ever added.

use super::SqlAdminStore;
use super::fault::Result;
use super::record::{json, number, of_word, word};
use crate::now_ms;
use async_trait::async_trait;
use netaclaw_admin::{Act, Actor, AdminError, AuditStore};
use netaclaw_protocol::{AuditPage, AuditRecord};
use sqlx::AnyConnection;

/// The largest page.
const PAGE_SIZE_MAX: u32 = 500;
/// As much of a name as its column holds.
const NAME_CHARS_MAX: usize = 200;

#[async_trait]
impl AuditStore for SqlAdminStore {
    async fn audit(&self, page: u32, size: u32) -> Result<AuditPage, AdminError> {
        let (page, size) = (page.max(1), size.clamp(1, PAGE_SIZE_MAX));
        let mut connection = self.database.connection().await?;
        Ok(read_page(&mut connection, page, size).await?)
    }

    async fn record_act(&self, by: &Actor, act: Act) -> Result<(), AdminError> {
        // One row that depends on no other needs no turn.
        let mut connection = self.database.connection().await?;
        Ok(write_act(&mut connection, by, act).await?)
    }
}

/// Adds to the list, in the transaction of the change itself.
pub(super) async fn write_act(writer: &mut AnyConnection, by: &Actor, act: Act) -> Result<()> {
    const INSERT: &str = "INSERT INTO netaclaw_audit \
         (at, who, action, kind, targetId, targetName, fields) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let short = |text: &str| text.chars().take(NAME_CHARS_MAX).collect::<String>();
    sqlx::query(INSERT)
        .bind(now_ms())
        .bind(short(by.as_str()))
        .bind(word(&act.action))
        .bind(word(&act.kind))
        .bind(act.target_id)
        .bind(short(&act.target_name))
        .bind(json(&act.fields))
        .execute(writer)
        .await?;
    Ok(())
}

type Row = (i64, i64, String, String, String, String, String, String);

async fn read_page(connection: &mut AnyConnection, page: u32, size: u32) -> Result<AuditPage> {
    const SELECT: &str = "SELECT id, at, who, action, kind, targetId, targetName, fields \
         FROM netaclaw_audit ORDER BY id DESC LIMIT ? OFFSET ?";
    let total: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM netaclaw_audit")
        .fetch_one(&mut *connection)
        .await?;
    let rows: Vec<Row> = sqlx::query_as(SELECT)
        .bind(i64::from(size))
        .bind(i64::from(page - 1) * i64::from(size))
        .fetch_all(connection)
        .await?;
    Ok(AuditPage {
        items: rows.into_iter().map(record_of).collect::<Result<_>>()?,
        page,
        size,
        total: number(total),
    })
}

fn record_of(row: Row) -> Result<AuditRecord> {
    let (id, at, who, action, kind, target_id, target_name, fields) = row;
    let failed = |error: serde_json::Error| {
        AdminError::store(format!("row {id} of the audit log cannot be read"), error)
    };
    Ok(AuditRecord {
        id: number(id),
        at,
        who,
        action: of_word(action).map_err(failed)?,
        kind: of_word(kind).map_err(failed)?,
        fields: serde_json::from_str(&fields).map_err(failed)?,
        target_id,
        target_name,
    })
}
