use super::ContractHarness;
use super::subject::{
    KEY, agent_spec, assert_conflict, assert_invalid, by, channel_spec, key, model, new_channel,
    seeded,
};
use crate::{
    AUXILIARY_CHANNEL_ID, AdminError, AdminStore, Expect, ModelChoiceError, NETACLAW_GROUP, UsedBy,
    open_auxiliary, open_models,
};
use netaclaw_protocol::{
    AgentSpec, ChannelId, ChannelModel, ChannelSpec, ChannelStatus, KeyChange, ModelFallback,
    ModelPrice, RecordKind, Supplier,
};
use secrecy::ExposeSecret;

pub(super) async fn a_channel_comes_back_as_it_was_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let spec = ChannelSpec {
        name: "Großes 模型".to_owned(),
        supplier: Supplier::Azure,
        base_url: Some("https://r.example/openai?api-version=2026-01-01".to_owned()),
        models: vec![
            ChannelModel {
                context_window: Some(1_000_000),
                max_output: Some(64_000),
                vision: Some(true),
                tools: Some(false),
                thinking: Some(true),
                price: Some(ModelPrice {
                    input: 0.1,
                    output: 1.25,
                    cache_read: 0.0,
                    cache_write: 3.0,
                }),
                ..model("one")
            },
            model("two"),
        ],
        is_auxiliary: true,
        status: ChannelStatus::Disabled,
    };
    let made = store
        .create_channel(by(), spec.clone(), None)
        .await
        .unwrap();
    assert_eq!((&made.spec, made.stamp.rev), (&spec, 1));
    assert!(!made.api_key_set);
    let other = harness.open().await;
    assert_eq!(other.channel(&made.id).await.unwrap(), made);
    assert_eq!(other.channel_named(&spec.name).await.unwrap(), made);
    // The oldest comes first.
    assert_eq!(other.channels().await.unwrap().last(), Some(&made));
}

async fn opened_key(store: &dyn AdminStore, id: &ChannelId) -> Option<String> {
    let channel = store.open_channel(id).await.unwrap();
    channel.api_key.map(|key| key.expose_secret().to_owned())
}

pub(super) async fn a_key_goes_in_and_comes_out_only_to_be_used(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let made = new_channel(&*store, "c").await;
    assert!(made.api_key_set);
    assert_eq!(made.api_key_last4.as_deref(), Some("4711"));
    let other = harness.open().await;
    assert_eq!(opened_key(&*other, &made.id).await.as_deref(), Some(KEY));

    let channels = other.channels().await.unwrap();
    let opened = other.open_channel(&made.id).await.unwrap();
    let audit = other.audit(1, 100).await.unwrap();
    for text in [
        format!("{made:?} {channels:?} {opened:?} {audit:?}"),
        serde_json::to_string(&(&made, &channels, &audit)).unwrap(),
    ] {
        assert!(!text.contains("marker"), "{text}");
    }
}

pub(super) async fn a_key_is_kept_replaced_and_cleared(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let id = new_channel(&*store, "c").await.id;
    let change = |key| store.update_channel(by(), &id, Expect::Any, channel_spec("c"), key);

    let kept = change(KeyChange::Keep).await.unwrap();
    assert_eq!((kept.stamp.rev, kept.api_key_set), (1, true));
    assert_eq!(opened_key(&*store, &id).await.as_deref(), Some(KEY));
    let renamed = store.update_channel(
        by(),
        &id,
        Expect::Any,
        channel_spec("renamed"),
        KeyChange::Keep,
    );
    assert!(renamed.await.unwrap().api_key_set);
    assert_eq!(opened_key(&*store, &id).await.as_deref(), Some(KEY));

    let replaced = change(KeyChange::Set(" sk-other-key-1234\n".into())).await;
    assert_eq!(replaced.unwrap().api_key_last4.as_deref(), Some("1234"));
    let opened = opened_key(&*store, &id).await;
    assert_eq!(opened.as_deref(), Some("sk-other-key-1234"));
    assert_invalid(change(KeyChange::Set(" \n".into())).await, "apiKey");

    let cleared = change(KeyChange::Clear).await.unwrap();
    assert_eq!((cleared.api_key_set, cleared.api_key_last4), (false, None));
    assert_eq!(opened_key(&*store, &id).await, None);
}

pub(super) async fn a_channel_is_changed_only_at_the_expected_revision(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let made = new_channel(&*store, "c").await;
    let change = |rev, name: &str, key| {
        store.update_channel(by(), &made.id, Expect::Rev(rev), channel_spec(name), key)
    };
    let spec = channel_spec("d");
    let changed = change(1, "d", KeyChange::Keep).await.unwrap();
    assert_eq!((&changed.spec, changed.stamp.rev), (&spec, 2));
    let late = change(1, "e", KeyChange::Set("another-secret-key".into())).await;
    assert_conflict(late, RecordKind::Channel, 2);
    let gone = store.delete_channel(by(), &made.id, Expect::Rev(1)).await;
    assert_conflict(gone, RecordKind::Channel, 2);
    assert_eq!(store.channel(&made.id).await.unwrap(), changed);
    assert_eq!(opened_key(&*store, &made.id).await.as_deref(), Some(KEY));
    let taken = change(2, "demo", KeyChange::Keep).await;
    assert!(matches!(taken, Err(AdminError::Taken { .. })));
    store
        .delete_channel(by(), &made.id, Expect::Rev(2))
        .await
        .unwrap();
}

pub(super) async fn a_channel_that_breaks_a_rule_is_not_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let made = new_channel(&*store, "c").await;
    let wrong = ChannelSpec {
        base_url: Some("https://user:pw@host/v1".to_owned()),
        ..channel_spec("d")
    };
    let created = store.create_channel(by(), wrong.clone(), Some(key()));
    assert_invalid(created.await, "baseUrl");
    let updated = store.update_channel(by(), &made.id, Expect::Any, wrong, KeyChange::Clear);
    assert_invalid(updated.await, "baseUrl");
    assert_eq!(store.channel(&made.id).await.unwrap(), made);
}

pub(super) async fn a_channel_in_use_cannot_be_deleted(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let id = new_channel(&*store, "c").await.id;
    let mut spec = agent_spec("a");
    spec.model_config.fallback = Some(ModelFallback {
        channel_id: id.clone(),
        model: None,
    });
    let agent = store.create_agent(by(), spec).await.unwrap();
    let set = |value: &str| {
        let value = value.to_owned();
        let store = &store;
        async move {
            let entry = store.put_dict_value(by(), NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, &value);
            entry.await.unwrap();
        }
    };
    set(id.as_str()).await;
    match store.delete_channel(by(), &id, Expect::Any).await {
        Err(AdminError::InUse { by, .. }) => {
            let agent = UsedBy::Agent {
                name: "a".to_owned(),
            };
            let entry = UsedBy::DictEntry {
                group: NETACLAW_GROUP.to_owned(),
                name: AUXILIARY_CHANNEL_ID.to_owned(),
            };
            assert_eq!(by, [agent, entry]);
        }
        other => panic!("{other:?}"),
    }
    set("").await;
    store
        .delete_agent(by(), &agent.id, Expect::Any)
        .await
        .unwrap();
    store.delete_channel(by(), &id, Expect::Any).await.unwrap();
}

pub(super) async fn an_agent_opens_its_models(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let id = new_channel(&*store, "main").await.id;
    let mut spec = agent_spec("a");
    spec.model_config.channel_id = Some(id.clone());
    let opened = open_models(&store.config_snapshot().await.unwrap(), &spec).unwrap();
    assert_eq!(opened.main.choice.model, "gpt-5");
    assert_eq!(opened.main.channel.name, "main");
    let key = opened.main.channel.api_key.as_ref().unwrap();
    assert_eq!(key.expose_secret(), KEY);
    assert!(!format!("{opened:?}").contains("marker"));

    let disabled = ChannelSpec {
        status: ChannelStatus::Disabled,
        ..channel_spec("main")
    };
    let disabled = store.update_channel(by(), &id, Expect::Any, disabled, KeyChange::Keep);
    disabled.await.unwrap();
    let error = open_models(&store.config_snapshot().await.unwrap(), &spec).unwrap_err();
    assert!(matches!(
        error,
        AdminError::Model(ModelChoiceError::ChannelDisabled { .. })
    ));
}

pub(super) async fn the_auxiliary_model_follows_agent_and_dictionary(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let agent = store.default_agent().await.unwrap();
    let opened = async |spec: &AgentSpec| {
        let config = store.config_snapshot().await.unwrap();
        open_auxiliary(&config, spec).unwrap()
    };
    let own = opened(&agent.spec).await;
    assert_eq!(own.choice.model, "demo");
    let small = new_channel(&*store, "small").await.id;
    let entry = store.put_dict_value(by(), NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, small.as_str());
    entry.await.unwrap();
    let usual = opened(&agent.spec).await;
    assert_eq!(usual.choice.channel_name, "small");
    let mut spec = agent.spec;
    spec.auxiliary_model_id = Some("demo-2".to_owned());
    let named = opened(&spec).await;
    assert_eq!(
        (
            named.choice.channel_name.as_str(),
            named.choice.model.as_str()
        ),
        ("demo", "demo-2")
    );
}
