use super::ContractHarness;
use super::subject::{agent_spec, by, new_agent, new_channel, seeded};
use crate::{AdminError, Expect};
use futures::future::join_all;
use netaclaw_protocol::AgentSpec;

const WRITERS: usize = 4;

pub(super) async fn of_concurrent_changes_to_a_revision_one_wins(harness: &dyn ContractHarness) {
    let agent = new_agent(&*seeded(harness).await, "a").await;
    let id = &agent.id;
    let writers = (0..WRITERS).map(|number| async move {
        let store = harness.open().await;
        let spec = AgentSpec {
            label: number.to_string(),
            ..agent_spec("a")
        };
        store.update_agent(by(), id, Expect::Rev(1), spec).await
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        join_all(writers).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, WRITERS - 1));
    for error in lost {
        assert!(matches!(
            error,
            Err(AdminError::Conflict { current: 2, .. })
        ));
    }
    let kept = harness.open().await.agent(id).await.unwrap();
    assert_eq!(kept, won.into_iter().next().unwrap().unwrap());
}

pub(super) async fn of_concurrent_records_of_one_name_one_is_made(harness: &dyn ContractHarness) {
    seeded(harness).await;
    let writers = (0..WRITERS).map(|_| async move {
        let store = harness.open().await;
        store.create_agent(by(), agent_spec("same")).await
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        join_all(writers).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, WRITERS - 1));
    for error in lost {
        assert!(matches!(error, Err(AdminError::Taken { .. })));
    }
}

pub(super) async fn concurrent_changes_of_several_processes_are_all_there(
    harness: &dyn ContractHarness,
) {
    const EACH: usize = 10;
    seeded(harness).await;
    let writers = (0..WRITERS).map(|writer| async move {
        let store = harness.open().await;
        for number in 0..EACH {
            let spec = AgentSpec {
                // Every writer sets the default, which touches the rows of others.
                is_default: true,
                ..agent_spec(&format!("w{writer}n{number}"))
            };
            store.create_agent(by(), spec).await.unwrap();
        }
    });
    join_all(writers).await;
    let agents = harness.open().await.agents().await.unwrap();
    assert_eq!(agents.len(), 1 + WRITERS * EACH);
    assert_eq!(
        agents.iter().filter(|agent| agent.spec.is_default).count(),
        1
    );
}

pub(super) async fn a_refused_change_leaves_nothing_behind(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let channel = new_channel(&*store, "c").await;
    let before = (
        store.agents().await.unwrap(),
        store.audit(1, 100).await.unwrap(),
    );
    // It would first end the reign of the default agent, and then fails on its name.
    let spec = AgentSpec {
        is_default: true,
        ..agent_spec("default")
    };
    let taken = store.create_agent(by(), spec).await;
    assert!(matches!(taken, Err(AdminError::Taken { .. })));
    let stale = store
        .delete_channel(by(), &channel.id, Expect::Rev(7))
        .await;
    assert!(matches!(stale, Err(AdminError::Conflict { .. })));
    let after = (
        store.agents().await.unwrap(),
        store.audit(1, 100).await.unwrap(),
    );
    assert_eq!(before, after);
}
