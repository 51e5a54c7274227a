//! What a first start sets up: all of it in one transaction, and once.

use super::SqlAdminStore;
use super::agent::insert_agent;
use super::channel::insert_channel;
use super::database::commit;
use super::dictionary::{insert_entry, insert_group};
use super::fault::Result;
use super::revision_cache::Area;
use super::setting::{read_setting, write_setting};
use super::user::insert_user;
use async_trait::async_trait;
use netaclaw_admin::{
    AUXILIARY_CHANNEL_ID, AUXILIARY_MODEL_ID, Actor, AdminError, AdminStore, ConfigSnapshot,
    FIRST_USER, FirstStart, NETACLAW_GROUP, Plan, Seeded, plan,
};
use netaclaw_protocol::{AdminStoreKind, DictInfoSpec, DictTypeSpec, Role, UserSpec, UserStatus};
use serde_json::json;
use sqlx::{AnyConnection, Executor};
use std::sync::Arc;

/// Says that a first start has been. What it made may have been changed or deleted since, and
/// stays so.
const SEEDED: &str = "netaclaw.seeded";

#[async_trait]
impl AdminStore for SqlAdminStore {
    async fn seed(&self, first: FirstStart) -> Result<Seeded, AdminError> {
        // Most starts are not the first, and need not wait for their turn to see it.
        let mut connection = self.database.connection().await?;
        if read_setting(&mut connection, SEEDED).await?.is_some() {
            return Ok(Seeded::Before);
        }
        drop(connection);
        let mut writer = self.database.writer(Area::Configuration).await?;
        if read_setting(&mut writer, SEEDED).await?.is_some() {
            return Ok(Seeded::Before);
        }
        self.plant(&mut writer, plan(first)).await?;
        commit(writer).await?;
        Ok(Seeded::Now)
    }

    async fn config_snapshot(&self) -> Result<Arc<ConfigSnapshot>, AdminError> {
        Ok(self.config.get(self).await?)
    }

    fn kind(&self) -> AdminStoreKind {
        self.database.kind()
    }

    async fn ping(&self) -> Result<(), AdminError> {
        // Rows that every login needs: a damaged file still answers `SELECT 1`.
        let mut connection = self.database.connection().await?;
        read_setting(&mut connection, SEEDED).await?;
        let answer = connection
            .fetch_optional("SELECT id, name FROM netaclaw_user ORDER BY id LIMIT 1")
            .await;
        answer.map_err(|error| AdminError::store("the admin store does not respond", error))?;
        Ok(())
    }
}

impl SqlAdminStore {
    async fn plant(&self, writer: &mut AnyConnection, plan: Plan) -> Result<()> {
        let by = Actor::system();
        let mut ids = Vec::new();
        for channel in plan.channels {
            let made = insert_channel(writer, &self.sealer, &by, channel.spec, channel.key).await?;
            ids.push(made.id);
        }
        let mut agent = plan.agent;
        agent.model_config.channel_id = ids.get(plan.agents_channel).cloned();
        insert_agent(writer, &by, agent).await?;
        plant_dictionary(writer, &by).await?;
        let admin = UserSpec {
            name: FIRST_USER.to_owned(),
            label: String::new(),
            role: Role::Admin,
            status: UserStatus::Enabled,
        };
        insert_user(writer, &by, admin, None).await?;
        write_setting(writer, &by, None, SEEDED, json!(true)).await?;
        Ok(())
    }
}

/// The entries that NetaClaw reads, empty, so that users find them.
async fn plant_dictionary(writer: &mut AnyConnection, by: &Actor) -> Result<()> {
    let group = DictTypeSpec {
        key: NETACLAW_GROUP.to_owned(),
        name: "NetaClaw".to_owned(),
    };
    let group = insert_group(writer, by, group).await?;
    for (order_num, name) in (0..).zip([AUXILIARY_CHANNEL_ID, AUXILIARY_MODEL_ID]) {
        let entry = DictInfoSpec {
            name: name.to_owned(),
            value: String::new(),
            order_num,
            remark: String::new(),
        };
        insert_entry(writer, by, &group.id, entry).await?;
    }
    Ok(())
}
