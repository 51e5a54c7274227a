use super::ContractHarness;
use super::subject::{by, key, seeded};
use crate::{
    AdminStore, DEFAULT_AGENT, Expect, FIRST_USER, FirstStart, LocalModels, Seeded, open_models,
};
use futures::future::join_all;
use netaclaw_protocol::{Language, ProviderKind, Role, Supplier};
use secrecy::ExposeSecret;

async fn channel_names(store: &dyn AdminStore) -> Vec<String> {
    let channels = store.channels().await.unwrap();
    channels
        .into_iter()
        .map(|channel| channel.spec.name)
        .collect()
}

pub(super) async fn a_first_start_without_anything_gives_a_demo(harness: &dyn ContractHarness) {
    let store = harness.open().await;
    let seeded = store.seed(FirstStart::default()).await.unwrap();
    assert_eq!(seeded, Seeded::Now);
    assert_eq!(channel_names(&*store).await, ["demo"]);
    let agent = store.default_agent().await.unwrap();
    assert_eq!(
        (agent.spec.name.as_str(), agent.spec.label.as_str()),
        (DEFAULT_AGENT, "General")
    );
    let opened = open_models(&store.config_snapshot().await.unwrap(), &agent.spec).unwrap();
    assert_eq!(opened.main.choice.model, "demo");
    let user = store.user_named(FIRST_USER).await.unwrap();
    assert_eq!((user.spec.role, user.password_set), (Role::Admin, false));
    assert_eq!(store.dictionary().await.unwrap()[0].entries.len(), 2);
    store.ping().await.unwrap();
}

pub(super) async fn a_first_start_uses_the_best_key(harness: &dyn ContractHarness) {
    let store = harness.open().await;
    let first = FirstStart {
        language: Language::Chinese,
        session_provider: ProviderKind::Mysql,
        keys: vec![
            (Supplier::Deepseek, "sk-deepseek-key-1".into()),
            (Supplier::Anthropic, key()),
        ],
        ollama: Some(LocalModels {
            base_url: Some("http://127.0.0.1:11434/v1".to_owned()),
            models: vec!["qwen3:8b".to_owned()],
        }),
    };
    store.seed(first).await.unwrap();
    assert_eq!(
        channel_names(&*store).await,
        ["anthropic", "deepseek", "ollama", "demo"]
    );
    let agent = store.default_agent().await.unwrap().spec;
    assert_eq!(
        (agent.label.as_str(), agent.session_provider.as_str()),
        ("通用", "mysql")
    );
    let opened = open_models(&store.config_snapshot().await.unwrap(), &agent)
        .unwrap()
        .main;
    assert_eq!(opened.choice.channel_name, "anthropic");
    assert_eq!(
        opened.channel.api_key.unwrap().expose_secret(),
        key().expose_secret()
    );
}

pub(super) async fn a_first_start_is_once(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let again = FirstStart {
        keys: vec![(Supplier::Openai, key())],
        ..FirstStart::default()
    };
    assert_eq!(store.seed(again.clone()).await.unwrap(), Seeded::Before);
    let other = harness.open().await;
    assert_eq!(other.seed(again).await.unwrap(), Seeded::Before);
    assert_eq!(channel_names(&*other).await, ["demo"]);
    assert_eq!(other.agents().await.unwrap().len(), 1);
}

pub(super) async fn what_was_deleted_after_a_first_start_stays_away(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let mut agent = store.default_agent().await.unwrap();
    agent.spec.model_config.channel_id = None;
    store
        .update_agent(by(), &agent.id, Expect::Any, agent.spec)
        .await
        .unwrap();
    let demo = store.channel_named("demo").await.unwrap().id;
    store
        .delete_channel(by(), &demo, Expect::Any)
        .await
        .unwrap();
    let other = harness.open().await;
    other.seed(FirstStart::default()).await.unwrap();
    assert!(channel_names(&*other).await.is_empty());
}

pub(super) async fn of_many_first_starts_one_counts(harness: &dyn ContractHarness) {
    let starters = (0..6).map(|_| async {
        let store = harness.open().await;
        store.seed(FirstStart::default()).await.unwrap()
    });
    let outcomes = join_all(starters).await;
    let now = outcomes.iter().filter(|outcome| **outcome == Seeded::Now);
    assert_eq!(now.count(), 1);
    let store = harness.open().await;
    assert_eq!(channel_names(&*store).await, ["demo"]);
    assert_eq!(store.agents().await.unwrap().len(), 1);
    assert_eq!(store.users().await.unwrap().len(), 1);
}
