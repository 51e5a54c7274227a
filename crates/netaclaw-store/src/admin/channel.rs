//! Channels in their table, their keys sealed.

use super::SqlAdminStore;
use super::agent::read_agents;
use super::database::commit;
use super::dictionary::read_value;
use super::fault::{Result, found, or_name_taken, unreadable};
use super::record::{self, column, first_stamp, json, new_id, next_stamp, stamp_of};
use super::revision_cache::Area;
use super::seal::Sealer;
use async_trait::async_trait;
use netaclaw_admin::{
    AUXILIARY_CHANNEL_ID, Actor, AdminError, ChannelKey, ChannelStore, Expect, Invalid,
    NETACLAW_GROUP, Problem, UsedBy, changed_fields, check_channel, last4, model_channel,
};
use netaclaw_models::Channel;
use netaclaw_protocol::{AgentSpec, ChannelId, ChannelSpec, ChannelView, KeyChange, RecordKind};
use secrecy::{ExposeSecret, SecretString};
use sqlx::AnyConnection;
use std::collections::HashMap;

const KIND: RecordKind = RecordKind::Channel;

#[async_trait]
impl ChannelStore for SqlAdminStore {
    async fn channels(&self) -> Result<Vec<ChannelView>, AdminError> {
        Ok(read_channels(&mut *self.database.connection().await?).await?)
    }

    async fn channel(&self, id: &ChannelId) -> Result<ChannelView, AdminError> {
        let mut reader = self.database.connection().await?;
        Ok(read_channel(&mut reader, id).await?.view)
    }

    async fn channel_named(&self, name: &str) -> Result<ChannelView, AdminError> {
        let channels = self.channels().await?;
        let channel = channels.iter().find(|channel| channel.spec.name == name);
        let names = channels.iter().map(|channel| channel.spec.name.as_str());
        Ok(found(channel.cloned(), KIND, name, names)?)
    }

    async fn open_channel(&self, id: &ChannelId) -> Result<Channel, AdminError> {
        let mut reader = self.database.connection().await?;
        let StoredChannel { view, sealed_key } = read_channel(&mut reader, id).await?;
        let open = |sealed: Vec<u8>| {
            let key = self.sealer.open(id.as_str(), &sealed);
            key.ok_or_else(|| AdminError::Sealed {
                channel: view.spec.name.clone(),
            })
        };
        let key = sealed_key.map(open).transpose()?;
        Ok(model_channel(&view.spec, key))
    }

    async fn create_channel(
        &self,
        by: &Actor,
        spec: ChannelSpec,
        key: Option<SecretString>,
    ) -> Result<ChannelView, AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let channel = insert_channel(&mut writer, &self.sealer, by, spec, key).await?;
        commit(writer).await?;
        Ok(channel)
    }

    async fn update_channel(
        &self,
        by: &Actor,
        id: &ChannelId,
        expect: Expect,
        spec: ChannelSpec,
        key: KeyChange,
    ) -> Result<ChannelView, AdminError> {
        check_channel(&spec)?;
        let mut writer = self.database.writer(Area::Configuration).await?;
        let mut stored = read_channel(&mut writer, id).await?;
        record::expect(expect, &stored.view)?;
        let mut fields = changed_fields(&stored.view.spec, &spec);
        stored.view.spec = spec;
        if stored.change_key(&self.sealer, key)? {
            fields.push("apiKey".to_owned());
        }
        if !fields.is_empty() {
            stored.view.stamp = next_stamp(stored.view.stamp);
            write_channel(&mut writer, &stored).await?;
            record::audit_update(&mut writer, by, &stored.view, fields).await?;
        }
        commit(writer).await?;
        Ok(stored.view)
    }

    async fn delete_channel(
        &self,
        by: &Actor,
        id: &ChannelId,
        expect: Expect,
    ) -> Result<(), AdminError> {
        let mut writer = self.database.writer(Area::Configuration).await?;
        let channel = read_channel(&mut writer, id).await?.view;
        record::expect(expect, &channel)?;
        let by_whom = users_of(&mut writer, id).await?;
        if !by_whom.is_empty() {
            return Err(AdminError::InUse {
                kind: KIND,
                name: channel.spec.name,
                by: by_whom,
            });
        }
        let statement = "DELETE FROM netaclaw_channel WHERE id = ?";
        record::delete(&mut writer, by, &channel, statement).await?;
        commit(writer).await?;
        Ok(())
    }
}

/// A channel with what clients do not see of it.
struct StoredChannel {
    view: ChannelView,
    sealed_key: Option<Vec<u8>>,
}

impl StoredChannel {
    /// Whether the key was changed.
    fn change_key(&mut self, sealer: &Sealer, change: KeyChange) -> Result<bool> {
        let key = match change {
            KeyChange::Keep => return Ok(false),
            KeyChange::Clear if self.sealed_key.is_none() => return Ok(false),
            KeyChange::Clear => None,
            KeyChange::Set(key) => Some(key),
        };
        self.set_key(sealer, key)?;
        Ok(true)
    }

    fn set_key(&mut self, sealer: &Sealer, key: Option<SecretString>) -> Result<()> {
        let Some(key) = key else {
            self.sealed_key = None;
            self.view.api_key_set = false;
            self.view.api_key_last4 = None;
            return Ok(());
        };
        // People paste keys with the line break that follows them.
        let key = SecretString::from(key.expose_secret().trim());
        if key.expose_secret().is_empty() {
            return Err(Invalid::new("apiKey", Problem::Empty).into());
        }
        self.sealed_key = Some(sealer.seal(self.view.id.as_str(), &key)?);
        self.view.api_key_set = true;
        self.view.api_key_last4 = last4(key.expose_secret());
        Ok(())
    }
}

type Row = (
    String,
    String,
    String,
    Option<Vec<u8>>,
    Option<String>,
    i64,
    i64,
    i64,
);

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, data, sealedKey, keyLast4, rev, createdAt, updatedAt \
             FROM netaclaw_channel ",
            $rest
        )
    };
}

pub(super) async fn read_channels(connection: &mut AnyConnection) -> Result<Vec<ChannelView>> {
    let rows: Vec<Row> = sqlx::query_as(select!("ORDER BY id"))
        .fetch_all(connection)
        .await?;
    let views = rows.into_iter().map(|row| Ok(channel_of(row)?.view));
    views.collect()
}

/// With the keys of those that have one.
pub(super) async fn read_channels_and_keys(
    connection: &mut AnyConnection,
    sealer: &Sealer,
) -> Result<(Vec<ChannelView>, HashMap<ChannelId, ChannelKey>)> {
    let rows: Vec<Row> = sqlx::query_as(select!("ORDER BY id"))
        .fetch_all(connection)
        .await?;
    let (mut views, mut keys) = (Vec::new(), HashMap::new());
    for row in rows {
        let StoredChannel { view, sealed_key } = channel_of(row)?;
        if let Some(sealed) = sealed_key {
            let key = sealer.open(view.id.as_str(), &sealed);
            let key = key.map_or(ChannelKey::Sealed, ChannelKey::Open);
            keys.insert(view.id.clone(), key);
        }
        views.push(view);
    }
    Ok((views, keys))
}

async fn read_channel(connection: &mut AnyConnection, id: &ChannelId) -> Result<StoredChannel> {
    let row: Option<Row> = sqlx::query_as(select!("WHERE id = ?"))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    channel_of(found(row, KIND, id.as_str(), [])?)
}

/// What has a column of its own counts before what is in `data`.
fn channel_of(row: Row) -> Result<StoredChannel> {
    let (id, name, data, sealed_key, api_key_last4, rev, created_at, updated_at) = row;
    let spec: ChannelSpec =
        serde_json::from_str(&data).map_err(|error| unreadable(KIND, &name, error))?;
    let view = ChannelView {
        id: ChannelId::new(id),
        spec: ChannelSpec { name, ..spec },
        api_key_set: sealed_key.is_some(),
        api_key_last4,
        stamp: stamp_of(rev, created_at, updated_at),
    };
    Ok(StoredChannel { view, sealed_key })
}

pub(super) async fn insert_channel(
    writer: &mut AnyConnection,
    sealer: &Sealer,
    by: &Actor,
    spec: ChannelSpec,
    key: Option<SecretString>,
) -> Result<ChannelView> {
    const INSERT: &str = "INSERT INTO netaclaw_channel \
         (id, name, data, sealedKey, keyLast4, rev, createdAt, updatedAt) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    check_channel(&spec)?;
    let mut stored = StoredChannel {
        view: ChannelView {
            id: ChannelId::new(new_id()),
            spec,
            api_key_set: false,
            api_key_last4: None,
            stamp: first_stamp(),
        },
        sealed_key: None,
    };
    stored.set_key(sealer, key)?;
    let StoredChannel { view, sealed_key } = stored;
    let (id, name) = (view.id.as_str(), &view.spec.name);
    let inserted = sqlx::query(INSERT)
        .bind(id)
        .bind(name)
        .bind(json(&view.spec))
        .bind(sealed_key)
        .bind(&view.api_key_last4)
        .bind(column(view.stamp.rev))
        .bind(view.stamp.created_at)
        .bind(view.stamp.updated_at)
        .execute(&mut *writer)
        .await;
    or_name_taken(inserted, KIND, name)?;
    record::audit_create(writer, by, &view).await?;
    Ok(view)
}

async fn write_channel(writer: &mut AnyConnection, stored: &StoredChannel) -> Result<()> {
    const UPDATE: &str = "UPDATE netaclaw_channel \
         SET name = ?, data = ?, sealedKey = ?, keyLast4 = ?, rev = ?, updatedAt = ? WHERE id = ?";
    let StoredChannel { view, sealed_key } = stored;
    let updated = sqlx::query(UPDATE)
        .bind(&view.spec.name)
        .bind(json(&view.spec))
        .bind(sealed_key.as_deref())
        .bind(&view.api_key_last4)
        .bind(column(view.stamp.rev))
        .bind(view.stamp.updated_at)
        .bind(view.id.as_str())
        .execute(writer)
        .await;
    or_name_taken(updated, KIND, &view.spec.name)?;
    Ok(())
}

/// Who would be left without a channel.
async fn users_of(connection: &mut AnyConnection, id: &ChannelId) -> Result<Vec<UsedBy>> {
    let agents = read_agents(connection).await?;
    let agents = agents.into_iter().filter(|agent| names(&agent.spec, id));
    let mut users: Vec<UsedBy> = agents
        .map(|agent| UsedBy::Agent {
            name: agent.spec.name,
        })
        .collect();
    let entry = read_value(connection, NETACLAW_GROUP, AUXILIARY_CHANNEL_ID).await?;
    if entry.as_deref() == Some(id.as_str()) {
        users.push(UsedBy::DictEntry {
            group: NETACLAW_GROUP.to_owned(),
            name: AUXILIARY_CHANNEL_ID.to_owned(),
        });
    }
    Ok(users)
}

fn names(agent: &AgentSpec, id: &ChannelId) -> bool {
    let config = &agent.model_config;
    let fallback = config
        .fallback
        .as_ref()
        .map(|fallback| &fallback.channel_id);
    [
        config.channel_id.as_ref(),
        fallback,
        agent.auxiliary_model_channel_id.as_ref(),
    ]
    .contains(&Some(id))
}
