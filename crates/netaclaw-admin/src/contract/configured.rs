use super::ContractHarness;
use super::subject::{agent_spec, by, channel_spec, seeded};
use super::tools::known;
use crate::{AdminStore, BUILTIN_TOOLS, Configured, Expect, open_models};
use netaclaw_protocol::{KeyChange, ToolRisk, ToolStatus};
use secrecy::ExposeSecret;
use std::sync::Arc;

/// What the store says now, which must be what its lists say.
async fn looked(store: &dyn AdminStore) -> Arc<Configured> {
    let configured = store.configured().await.unwrap();
    assert_eq!(configured.agents, store.agents().await.unwrap());
    assert_eq!(configured.channels, store.channels().await.unwrap());
    assert_eq!(configured.tools, store.tools().await.unwrap());
    configured
}

pub(super) async fn runs_are_made_from_what_is_there_at_that_moment(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let before = looked(&*store).await;
    let again = store.configured().await.unwrap();
    assert!(Arc::ptr_eq(&before, &again), "nothing is read twice");

    // Somebody else changes one thing after the other, and each counts at once.
    let other = harness.open().await;
    let tools = [known("read", ToolRisk::Read), known("bash", ToolRisk::Exec)];
    let synced = other.sync_tools(by(), BUILTIN_TOOLS, &tools).await;
    synced.unwrap();
    looked(&*store).await;
    let off = Some(ToolStatus::Disabled);
    let switched = other.switch_tool(by(), "bash", Expect::Any, off).await;
    switched.unwrap();
    looked(&*store).await;
    let spec = channel_spec("a");
    let key = Some("sk-first-key-0001".into());
    let channel = other.create_channel(by(), spec.clone(), key).await.unwrap();
    let mut agent = agent_spec("one");
    agent.model_config.channel_id = Some(channel.id.clone());
    let one = other.create_agent(by(), agent.clone()).await.unwrap();
    let first = looked(&*store).await;
    let set = KeyChange::Set("sk-second-key-0002".into());
    let changed = other.update_channel(by(), &channel.id, Expect::Any, spec, set);
    changed.await.unwrap();
    let second = looked(&*store).await;
    let keys = [first, second].map(|configured| {
        let opened = open_models(&configured, &agent).unwrap().main.channel;
        opened.api_key.unwrap().expose_secret().to_owned()
    });
    assert_eq!(keys, ["sk-first-key-0001", "sk-second-key-0002"]);

    // One goes and another comes: as many as before, and as new.
    let deleted = other.delete_agent(by(), &one.id, Expect::Any).await;
    deleted.unwrap();
    let two = other.create_agent(by(), agent_spec("two")).await.unwrap();
    let configured = looked(&*store).await;
    assert_eq!(configured.agent(Some("two")).unwrap().id, two.id);
    assert_eq!(configured.agent(Some(two.id.as_str())).unwrap().id, two.id);
    assert!(configured.agent(Some("one")).is_err());
    assert!(configured.agent(None).unwrap().spec.is_default);
}
