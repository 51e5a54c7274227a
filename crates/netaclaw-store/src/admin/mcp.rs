//! MCP servers in their table, their secrets sealed.

use super::SqlAdminStore;
use super::database::commit;
use super::fault::{Result, found, or_name_taken, unreadable};
use super::record::{self, column, first_stamp, json, new_id, next_stamp, stamp_of};
use super::revision_cache::Area;
use super::seal::Sealer;
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, ConfiguredMcpServer, Expect, McpSecrets, McpSecretsChange, McpStore,
    changed_fields, check_mcp_roots, check_mcp_secrets, check_mcp_server,
};
use netaclaw_protocol::{McpServerId, McpServerSpec, McpServerView, RecordKind};
use secrecy::{ExposeSecret, SecretString};
use sqlx::AnyConnection;
use std::collections::BTreeMap;

const KIND: RecordKind = RecordKind::McpServer;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, data, sealedSecrets, secretNames, rev, createdAt, updatedAt \
             FROM netaclaw_mcp_server ",
            $rest
        )
    };
}

#[async_trait]
impl McpStore for SqlAdminStore {
    async fn mcp_servers(&self) -> Result<Vec<McpServerView>, AdminError> {
        let rows = read_rows(&mut *self.database.connection().await?).await?;
        let views = rows.into_iter().map(|row| Ok(server_of(row)?.view));
        Ok(views.collect::<Result<_>>()?)
    }

    async fn mcp_server(&self, id: &McpServerId) -> Result<McpServerView, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_server(&mut reader, id).await?.view)
    }

    async fn mcp_server_named(&self, name: &str) -> Result<McpServerView, AdminError> {
        let servers = self.mcp_servers().await?;
        let server = servers.iter().find(|server| server.spec.name == name);
        let names = servers.iter().map(|server| server.spec.name.as_str());
        Ok(found(server.cloned(), KIND, name, names)?)
    }

    async fn open_mcp_server(
        &self,
        id: &McpServerId,
    ) -> Result<(McpServerSpec, McpSecrets), AdminError> {
        let mut reader = self.database.connection().await?;
        let stored = read_server(&mut reader, id).await?;
        let secrets = stored.secrets(&self.sealer)?;
        Ok((stored.view.spec, secrets))
    }

    async fn create_mcp_server(
        &self,
        by: &Actor,
        spec: McpServerSpec,
        secrets: McpSecrets,
    ) -> Result<McpServerView, AdminError> {
        const INSERT: &str = "INSERT INTO netaclaw_mcp_server \
             (id, name, data, sealedSecrets, secretNames, rev, createdAt, updatedAt) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        check_mcp_server(&spec)?;
        self.check_roots(&spec).await?;
        let mut stored = StoredMcpServer {
            view: McpServerView {
                id: McpServerId::new(new_id()),
                spec,
                secret_names: Vec::new(),
                stamp: first_stamp(),
            },
            sealed: None,
        };
        stored.set_secrets(&self.sealer, &secrets)?;
        let mut writer = self.database.writer(Area::Configuration).await?;
        let StoredMcpServer { view, sealed } = stored;
        let name = &view.spec.name;
        let inserted = sqlx::query(INSERT)
            .bind(view.id.as_str())
            .bind(name)
            .bind(json(&view.spec))
            .bind(sealed)
            .bind(json(&view.secret_names))
            .bind(column(view.stamp.rev))
            .bind(view.stamp.created_at)
            .bind(view.stamp.updated_at)
            .execute(&mut *writer)
            .await;
        or_name_taken(inserted, KIND, name)?;
        record::audit_create(&mut writer, by, &view).await?;
        commit(writer).await?;
        Ok(view)
    }

    async fn update_mcp_server(
        &self,
        by: &Actor,
        id: &McpServerId,
        expect: Expect,
        spec: McpServerSpec,
        secrets: McpSecretsChange,
    ) -> Result<McpServerView, AdminError> {
        check_mcp_server(&spec)?;
        self.check_roots(&spec).await?;
        let mut writer = self.database.writer(Area::Configuration).await?;
        let mut stored = read_server(&mut writer, id).await?;
        record::expect(expect, &stored.view)?;
        let mut fields = changed_fields(&stored.view.spec, &spec);
        stored.view.spec = spec;
        if let McpSecretsChange::Set(new) = &secrets {
            // Secrets that are replaced as a whole need not be readable.
            let old = match new.values().any(Option::is_none) {
                true => stored.secrets(&self.sealer)?,
                false => McpSecrets::new(),
            };
            let is_unchanged = new.values().all(Option::is_none) && new.len() == old.len();
            if !is_unchanged || new.is_empty() && !stored.view.secret_names.is_empty() {
                stored.set_secrets(&self.sealer, &secrets.apply(old)?)?;
                fields.push("secrets".to_owned());
            }
        }
        if !fields.is_empty() {
            stored.view.stamp = next_stamp(stored.view.stamp);
            write_server(&mut writer, &stored).await?;
            record::audit_update(&mut writer, by, &stored.view, fields).await?;
        }
        commit(writer).await?;
        Ok(stored.view)
    }

    async fn delete_mcp_server(
        &self,
        by: &Actor,
        id: &McpServerId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let server = read_server(&mut writer, id).await?.view;
        record::expect(expect, &server)?;
        let statement = "DELETE FROM netaclaw_mcp_server WHERE id = ?";
        record::delete(&mut writer, by, &server, statement).await?;
        commit(writer).await?;
        Ok(())
    }
}

impl SqlAdminStore {
    /// Before the write lock is taken: the disk may be slow.
    async fn check_roots(&self, spec: &McpServerSpec) -> Result<(), AdminError> {
        let Some(data_dir) = self.data_dir.clone() else {
            return Ok(());
        };
        let roots = spec.roots.clone();
        let checked = tokio::task::spawn_blocking(move || check_mcp_roots(&roots, &data_dir)).await;
        checked
            .map_err(|error| AdminError::store("the directories of the MCP server", error))??;
        Ok(())
    }
}

/// A server with what clients do not see of it.
struct StoredMcpServer {
    view: McpServerView,
    sealed: Option<Vec<u8>>,
}

impl StoredMcpServer {
    fn secrets(&self, sealer: &Sealer) -> Result<McpSecrets, AdminError> {
        let Some(sealed) = &self.sealed else {
            return Ok(McpSecrets::new());
        };
        let opened = sealer.open(self.view.id.as_str(), sealed);
        let opened: Option<BTreeMap<String, String>> =
            opened.and_then(|text| serde_json::from_str(text.expose_secret()).ok());
        let opened = opened.ok_or_else(|| AdminError::McpSealed {
            server: self.view.spec.name.clone(),
        })?;
        let secrets = opened.into_iter().map(|(name, value)| (name, value.into()));
        Ok(secrets.collect())
    }

    fn set_secrets(&mut self, sealer: &Sealer, secrets: &McpSecrets) -> Result<()> {
        check_mcp_secrets(secrets)?;
        self.view.secret_names = secrets.keys().cloned().collect();
        self.sealed = None;
        if !secrets.is_empty() {
            let plain: BTreeMap<&str, &str> = secrets
                .iter()
                .map(|(name, value)| (name.as_str(), value.expose_secret()))
                .collect();
            let text = SecretString::from(json(&plain));
            self.sealed = Some(sealer.seal(self.view.id.as_str(), &text)?);
        }
        Ok(())
    }
}

type Row = (
    String,
    String,
    String,
    Option<Vec<u8>>,
    String,
    i64,
    i64,
    i64,
);

/// With their secrets; without servers that cannot be read, as the others can be used all the same.
pub(super) async fn read_servers_and_secrets(
    connection: &mut AnyConnection,
    sealer: &Sealer,
) -> Result<Vec<ConfiguredMcpServer>> {
    let mut servers = Vec::new();
    for row in read_rows(connection).await? {
        match server_of(row) {
            Ok(stored) => servers.push(ConfiguredMcpServer {
                secrets: stored.secrets(sealer).ok(),
                spec: stored.view.spec,
            }),
            Err(error) => tracing::warn!(?error, "skipped an unreadable MCP server"),
        }
    }
    Ok(servers)
}

async fn read_rows(connection: &mut AnyConnection) -> Result<Vec<Row>> {
    let rows = sqlx::query_as(select!("ORDER BY id"));
    Ok(rows.fetch_all(connection).await?)
}

async fn read_server(connection: &mut AnyConnection, id: &McpServerId) -> Result<StoredMcpServer> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    server_of(found(row, KIND, id.as_str(), [])?)
}

/// What has a column of its own counts before what is in `data`.
fn server_of(row: Row) -> Result<StoredMcpServer> {
    let (id, name, data, sealed, secret_names, rev, created_at, updated_at) = row;
    let unread = |error| unreadable(KIND, &name, error);
    let spec: McpServerSpec = serde_json::from_str(&data).map_err(unread)?;
    let secret_names = serde_json::from_str(&secret_names).map_err(unread)?;
    let view = McpServerView {
        id: McpServerId::new(id),
        spec: McpServerSpec { name, ..spec },
        secret_names,
        stamp: stamp_of(rev, created_at, updated_at),
    };
    Ok(StoredMcpServer { view, sealed })
}

async fn write_server(writer: &mut AnyConnection, stored: &StoredMcpServer) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_mcp_server SET name = ?, data = ?, sealedSecrets = ?, \
         secretNames = ?, rev = ?, updatedAt = ? WHERE id = ?";
    let StoredMcpServer { view, sealed } = stored;
    let updated = sqlx::query(UPDATE)
        .bind(&view.spec.name)
        .bind(json(&view.spec))
        .bind(sealed.as_deref())
        .bind(json(&view.secret_names))
        .bind(column(view.stamp.rev))
        .bind(view.stamp.updated_at)
        .bind(view.id.as_str())
        .execute(writer)
        .await;
    or_name_taken(updated, KIND, &view.spec.name)?;
    Ok(())
}
