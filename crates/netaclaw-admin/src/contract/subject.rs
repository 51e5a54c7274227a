//! What the tests have in common.

use super::ContractHarness;
use crate::{Actor, AdminError, AdminStore, FirstStart};
use netaclaw_protocol::{
    Agent, AgentSpec, ChannelModel, ChannelSpec, ChannelStatus, ChannelView, RecordKind, Supplier,
};
use secrecy::SecretString;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// What no answer may hold.
pub(super) const KEY: &str = "sk-contract-marker-0815-4711";

pub(super) fn key() -> SecretString {
    KEY.into()
}

/// The actor of the tests.
pub(super) fn by() -> &'static Actor {
    static BY: LazyLock<Actor> = LazyLock::new(Actor::command_line);
    &BY
}

/// A store on which a first start has been.
pub(super) async fn seeded(harness: &dyn ContractHarness) -> Arc<dyn AdminStore> {
    let store = harness.open().await;
    store.seed(FirstStart::default()).await.unwrap();
    store
}

pub(super) fn agent_spec(name: &str) -> AgentSpec {
    AgentSpec {
        name: name.to_owned(),
        ..AgentSpec::default()
    }
}

pub(super) async fn new_agent(store: &dyn AdminStore, name: &str) -> Agent {
    store.create_agent(by(), agent_spec(name)).await.unwrap()
}

pub(super) fn channel_spec(name: &str) -> ChannelSpec {
    ChannelSpec {
        name: name.to_owned(),
        supplier: Supplier::Openai,
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        models: vec![model("gpt-5")],
        is_auxiliary: false,
        status: ChannelStatus::Enabled,
    }
}

pub(super) async fn new_channel(store: &dyn AdminStore, name: &str) -> ChannelView {
    let made = store.create_channel(by(), channel_spec(name), Some(key()));
    made.await.unwrap()
}

pub(super) fn model(name: &str) -> ChannelModel {
    ChannelModel {
        name: name.to_owned(),
        ..ChannelModel::default()
    }
}

/// How soon a change of another process counts.
const PROMISED: Duration = Duration::from_secs(1);

/// Reads again until it is so, which it must be for a read that begins when the promise is due.
pub(super) async fn within_a_second(is_so: impl AsyncFn() -> bool) {
    let changed = Instant::now();
    loop {
        let is_due = changed.elapsed() >= PROMISED;
        if is_so().await {
            return;
        }
        assert!(!is_due, "the change was not seen within a second");
        tokio::task::yield_now().await;
    }
}

/// Fails unless the change was refused because the record is at `current`.
#[track_caller]
pub(super) fn assert_conflict<T>(
    result: Result<T, AdminError>,
    expected: RecordKind,
    current: u64,
) {
    match result.err().unwrap() {
        AdminError::Conflict {
            kind, current: at, ..
        } => assert_eq!((kind, at), (expected, current)),
        other => panic!("{other}"),
    }
}

#[track_caller]
pub(super) fn assert_not_found<T>(result: Result<T, AdminError>) {
    match result.err().unwrap() {
        AdminError::NotFound { .. } => {}
        other => panic!("{other}"),
    }
}

#[track_caller]
pub(super) fn assert_invalid<T>(result: Result<T, AdminError>, field: &str) {
    match result.err().unwrap() {
        AdminError::Invalid(invalid) => assert_eq!(invalid.field, field),
        other => panic!("{other}"),
    }
}
