use super::ContractHarness;
use super::subject::{agent_spec, by, channel_spec, seeded, within_a_second};
use super::tools::known;
use crate::{
    AUXILIARY_CHANNEL_ID, AdminStore, BUILTIN_TOOLS, CLARIFY_TIMEOUT, ConfigSnapshot, Expect,
    NETACLAW_GROUP, open_models,
};
use netaclaw_protocol::{AgentSpec, KeyChange, McpServerSpec, ToolRisk, ToolStatus};
use secrecy::ExposeSecret;
use serde_json::json;
use std::sync::Arc;

/// What the store says now, which must be what its lists say.
async fn looked(store: &dyn AdminStore) -> Arc<ConfigSnapshot> {
    let config = store.config_snapshot().await.unwrap();
    assert_eq!(config.agents, store.agents().await.unwrap());
    assert_eq!(config.channels, store.channels().await.unwrap());
    assert_eq!(config.tools, store.tools().await.unwrap());
    assert_eq!(config.dictionary, store.dictionary().await.unwrap());
    assert_eq!(config.settings, store.settings().await.unwrap());
    let servers = store.mcp_servers().await.unwrap();
    let servers: Vec<McpServerSpec> = servers.into_iter().map(|server| server.spec).collect();
    let known = config.mcp_servers.iter().map(|server| server.spec.clone());
    assert_eq!(known.collect::<Vec<_>>(), servers);
    config
}

pub(super) async fn a_snapshot_has_every_change_of_its_own_store(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let before = looked(&*store).await;
    let again = store.config_snapshot().await.unwrap();
    assert!(Arc::ptr_eq(&before, &again), "nothing is read twice");

    let tools = [known("read", ToolRisk::Read), known("bash", ToolRisk::Exec)];
    let synced = store.sync_tools(by(), BUILTIN_TOOLS, &tools).await;
    synced.unwrap();
    looked(&*store).await;
    let off = Some(ToolStatus::Disabled);
    let switched = store.switch_tool(by(), "bash", Expect::Any, off).await;
    switched.unwrap();
    looked(&*store).await;
    let spec = channel_spec("a");
    let key = Some("sk-first-key-0001".into());
    let channel = store.create_channel(by(), spec.clone(), key).await.unwrap();
    let mut agent = agent_spec("one");
    agent.model_config.channel_id = Some(channel.id.clone());
    let one = store.create_agent(by(), agent.clone()).await.unwrap();
    let first = looked(&*store).await;
    let set = KeyChange::Set("sk-second-key-0002".into());
    let changed = store.update_channel(by(), &channel.id, Expect::Any, spec, set);
    changed.await.unwrap();
    let second = looked(&*store).await;
    assert!(first.revision < second.revision);
    let keys = [first, second].map(|config| {
        let opened = open_models(&config, &agent).unwrap().main.channel;
        opened.api_key.unwrap().expose_secret().to_owned()
    });
    assert_eq!(keys, ["sk-first-key-0001", "sk-second-key-0002"]);

    let put = store.put_dict_value(by(), NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, "c");
    put.await.unwrap();
    let put = store.put_setting(by(), CLARIFY_TIMEOUT, Expect::Any, json!(60_000));
    put.await.unwrap();
    let config = looked(&*store).await;
    let auxiliary = config.dict_value(NETACLAW_GROUP, AUXILIARY_CHANNEL_ID);
    assert_eq!(auxiliary, Some("c"));
    assert_eq!(config.setting(CLARIFY_TIMEOUT), Some(&json!(60_000)));

    // One goes and another comes: as many as before, and as new.
    let deleted = store.delete_agent(by(), &one.id, Expect::Any).await;
    deleted.unwrap();
    let two = store.create_agent(by(), agent_spec("two")).await.unwrap();
    let config = looked(&*store).await;
    assert_eq!(config.agent(Some("two")).unwrap().id, two.id);
    assert_eq!(config.agent(Some(two.id.as_str())).unwrap().id, two.id);
    assert!(config.agent(Some("one")).is_err());
    assert!(config.agent(None).unwrap().spec.is_default);
}

pub(super) async fn a_change_of_another_process_is_seen_within_a_second(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let other = harness.open().await;
    looked(&*store).await;
    let one = other.create_agent(by(), agent_spec("one")).await.unwrap();
    within_a_second(async || {
        let config = store.config_snapshot().await.unwrap();
        config.agent(Some("one")).is_ok()
    })
    .await;
    looked(&*store).await;
    other
        .delete_agent(by(), &one.id, Expect::Any)
        .await
        .unwrap();
    within_a_second(async || {
        let config = store.config_snapshot().await.unwrap();
        config.agent(Some("one")).is_err()
    })
    .await;
}

/// Every snapshot has exactly one default agent, as every state of the store has: to make another
/// one the default changes two rows.
pub(super) async fn a_snapshot_is_of_one_revision(harness: &dyn ContractHarness) {
    const CHANGES: usize = 40;
    let store = seeded(harness).await;
    let other = harness.open().await;
    let spec = |name| AgentSpec {
        is_default: true,
        ..agent_spec(name)
    };
    let (one, two) = (spec("one"), spec("two"));
    let ids = [
        other.create_agent(by(), one.clone()).await.unwrap().id,
        other.create_agent(by(), two.clone()).await.unwrap().id,
    ];
    let writing = async {
        for change in 0..CHANGES {
            let (id, spec) = match change % 2 {
                0 => (&ids[0], one.clone()),
                _ => (&ids[1], two.clone()),
            };
            // Through this store, so that each read has to look again.
            let changed = store.update_agent(by(), id, Expect::Any, spec).await;
            changed.unwrap();
        }
    };
    let reading = async {
        let mut last = 0;
        while last < CHANGES as u64 {
            let config = store.config_snapshot().await.unwrap();
            let defaults = config.agents.iter().filter(|agent| agent.spec.is_default);
            assert_eq!(defaults.count(), 1, "at revision {}", config.revision);
            last = config.revision;
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(writing, reading);
}
