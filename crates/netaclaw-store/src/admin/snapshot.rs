//! Reads the configuration snapshot in one transaction.

use super::SqlAdminStore;
use super::agent::read_agents_apart;
use super::channel::read_channels_and_keys;
use super::dictionary::read_dictionary;
use super::fault::Result;
use super::mcp::read_servers_and_secrets;
use super::revision_cache::{Area, Cacheable};
use super::setting::read_settings_apart;
use super::tool::read_tools;
use netaclaw_admin::ConfigSnapshot;
use sqlx::AnyConnection;

impl Cacheable for ConfigSnapshot {
    const AREA: Area = Area::Configuration;

    async fn read(
        store: &SqlAdminStore,
        reader: &mut AnyConnection,
        revision: u64,
    ) -> Result<Self> {
        let (agents, unreadable) = read_agents_apart(reader).await?;
        let (channels, keys) = read_channels_and_keys(reader, &store.sealer).await?;
        Ok(Self {
            revision,
            agents,
            unreadable,
            channels,
            keys,
            tools: read_tools(reader).await?,
            mcp_servers: read_servers_and_secrets(reader, &store.sealer).await?,
            dictionary: read_dictionary(reader).await?,
            settings: read_settings_apart(reader).await?,
        })
    }
}
