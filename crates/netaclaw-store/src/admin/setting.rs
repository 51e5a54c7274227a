//! Settings in their table.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, found, unreadable};
use super::record::{self, column, first_stamp, next_stamp, stamp_of};
use super::revision_cache::Area;
use async_trait::async_trait;
use netaclaw_admin::{Actor, AdminError, Expect, SettingStore, check_setting};
use netaclaw_protocol::{AuditAction, RecordKind, Setting};
use serde_json::Value;
use sqlx::AnyConnection;

const KIND: RecordKind = RecordKind::Setting;

#[async_trait]
impl SettingStore for SqlAdminStore {
    async fn settings(&self) -> Result<Vec<Setting>, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_settings(&mut reader).await?)
    }

    async fn setting(&self, name: &str) -> Result<Option<Setting>, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_setting(&mut reader, name).await?)
    }

    async fn put_setting(
        &self,
        by: &Actor,
        name: &str,
        expect: Expect,
        value: Value,
    ) -> Result<Setting, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let known = read_setting(&mut writer, name).await?;
        if let Expect::Rev(_) = expect {
            let known = found(known.as_ref(), KIND, name, [])?;
            record::expect(expect, known)?;
        }
        let setting = write_setting(&mut writer, by, known, name, value).await?;
        commit(writer).await?;
        Ok(setting)
    }

    async fn delete_setting(
        &self,
        by: &Actor,
        name: &str,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let settings = read_settings(&mut writer).await?;
        let setting = settings.iter().find(|setting| setting.name == name);
        let names = settings.iter().map(|setting| setting.name.as_str());
        let setting = found(setting, KIND, name, names)?;
        record::expect(expect, setting)?;
        let statement = "DELETE FROM netaclaw_setting WHERE name = ?";
        record::delete(&mut writer, by, setting, statement).await?;
        commit(writer).await?;
        Ok(())
    }
}

type Row = (String, String, i64, i64, i64);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT name, value, rev, createdAt, updatedAt FROM netaclaw_setting ",
            $rest
        )
    };
}

async fn read_settings(connection: &mut AnyConnection) -> Result<Vec<Setting>> {
    let rows = read_rows(connection).await?;
    rows.into_iter().map(setting_of).collect()
}

async fn read_rows(connection: &mut AnyConnection) -> Result<Vec<Row>> {
    let rows = sqlx::query_as(select!("ORDER BY name"));
    Ok(rows.fetch_all(connection).await?)
}

/// Without those that cannot be read: each has a default, and the others count all the same.
pub(super) async fn read_settings_apart(connection: &mut AnyConnection) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    for row in read_rows(connection).await? {
        match setting_of(row) {
            Ok(setting) => settings.push(setting),
            Err(error) => tracing::warn!(?error, "skipped an unreadable setting"),
        }
    }
    Ok(settings)
}

pub(super) async fn read_setting(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<Option<Setting>> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE name = ?"))
        .bind(name)
        .fetch_optional(connection)
        .await?;
    row.map(setting_of).transpose()
}

fn setting_of((name, value, rev, created_at, updated_at): Row) -> Result<Setting> {
    let value = serde_json::from_str(&value).map_err(|error| unreadable(KIND, &name, error))?;
    Ok(Setting {
        name,
        value,
        stamp: stamp_of(rev, created_at, updated_at),
    })
}

/// Writes a setting over what is known of it, or for the first time.
pub(super) async fn write_setting(
    writer: &mut AnyConnection,
    by: &Actor,
    known: Option<Setting>,
    name: &str,
    value: Value,
) -> Result<Setting> {
    const INSERT: &str = "INSERT INTO netaclaw_setting (value, rev, updatedAt, createdAt, name) \
         VALUES (?, ?, ?, ?, ?)";
    const UPDATE: &str = "UPDATE netaclaw_setting \
         SET value = ?, rev = ?, updatedAt = ?, createdAt = ? WHERE name = ?";
    check_setting(name, &value)?;
    let (statement, action, stamp) = match known {
        Some(setting) if setting.value == value => return Ok(setting),
        Some(setting) => (UPDATE, AuditAction::Update, next_stamp(setting.stamp)),
        None => (INSERT, AuditAction::Create, first_stamp()),
    };
    sqlx::query(statement)
        .bind(value.to_string())
        .bind(column(stamp.rev))
        .bind(stamp.updated_at)
        .bind(stamp.created_at)
        .bind(name)
        .execute(&mut *writer)
        .await?;
    let setting = Setting {
        name: name.to_owned(),
        value,
        stamp,
    };
    record::audit(writer, by, action, &setting, Vec::new()).await?;
    Ok(setting)
}
