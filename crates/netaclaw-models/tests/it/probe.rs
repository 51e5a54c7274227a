//! Testing a connection, and the explanation when it does not work.

use crate::harness::channel;
use netaclaw_models::{Channel, ModelError, NetworkStage, Timeouts, Transport, test_connection};
use netaclaw_protocol::Supplier;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use std::sync::Arc;

#[tokio::test]
async fn a_working_channel_shows_its_models() {
    let server = FakeModel::start().await;
    server.script().set_models(["b", "a"]);
    let transport = Arc::new(Transport::default());
    for supplier in [Supplier::Openai, Supplier::Anthropic] {
        let channel = Arc::new(channel(&server, supplier));
        let report = test_connection(&channel, &transport).await.unwrap();
        assert_eq!(report.models, ["a", "b"]);
    }
    let demo = Arc::new(Channel::new("demo", Supplier::Demo));
    let report = test_connection(&demo, &transport).await.unwrap();
    assert_eq!(report.models, ["demo"]);
}

#[tokio::test]
async fn a_supplier_without_a_list_is_asked_for_a_word() {
    let server = FakeModel::start().await;
    server.script().hide_models();
    server.script().push(Reply::text("hi"));
    let transport = Arc::new(Transport::default());
    let mut channel = channel(&server, Supplier::Compatible);
    let report = test_connection(&Arc::new(channel.clone()), &transport)
        .await
        .unwrap();
    assert_eq!(report.models, Vec::<String>::new());
    assert_eq!(server.script().requests().len(), 2);

    channel.models.clear();
    let error = test_connection(&Arc::new(channel), &transport).await;
    assert!(
        matches!(error, Err(ModelError::WrongAddress(_))),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_wrong_key_is_reported_in_plain_words() {
    let server = FakeModel::start().await;
    server.script().set_key("the right one");
    let transport = Arc::new(Transport::default());
    for supplier in [Supplier::Openai, Supplier::Azure, Supplier::Anthropic] {
        let channel = Arc::new(channel(&server, supplier));
        let error = test_connection(&channel, &transport).await.unwrap_err();
        assert!(matches!(error, ModelError::Auth(_)), "{error:?}");
        let words = error.words().en;
        assert!(words.contains("did not accept the API key"), "{words}");
        assert!(!words.contains("sk-test-key"), "{words}");
    }
    server.script().set_key("sk-test-key");
    for supplier in [Supplier::Openai, Supplier::Azure, Supplier::Anthropic] {
        let channel = Arc::new(channel(&server, supplier));
        assert!(test_connection(&channel, &transport).await.is_ok());
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_by_stage() {
    let transport = Arc::new(Transport::new(Timeouts::default()));
    let stage = async |base_url: &str| {
        let mut channel = Channel::new("c", Supplier::Compatible);
        channel.base_url = Some(base_url.into());
        match test_connection(&Arc::new(channel), &transport).await {
            Err(ModelError::Network { stage, .. }) => stage,
            other => panic!("{other:?}"),
        }
    };
    // No server listens on this port; it is reserved and unused.
    assert_eq!(stage("http://127.0.0.1:1/v1").await, NetworkStage::Connect);
    assert_eq!(
        stage("http://does-not-exist.invalid/v1").await,
        NetworkStage::Dns
    );

    // A server without encryption, asked for it.
    let server = FakeModel::start().await;
    let secure = server.openai_url().replace("http://", "https://");
    assert_eq!(stage(&secure).await, NetworkStage::Tls);
}

#[tokio::test]
async fn an_invalid_address_is_reported() {
    let transport = Arc::new(Transport::default());
    for address in ["", "localhost:1234", "nonsense"] {
        let mut channel = Channel::new("c", Supplier::Compatible);
        channel.base_url = Some(address.into());
        let error = test_connection(&Arc::new(channel), &transport).await;
        assert!(
            matches!(error, Err(ModelError::WrongAddress(_))),
            "{error:?}"
        );
    }
}
