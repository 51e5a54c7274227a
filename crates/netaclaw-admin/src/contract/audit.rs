use super::ContractHarness;
use super::subject::{by, channel_spec, new_agent, new_channel, seeded};
use crate::{Act, Actor, Expect};
use netaclaw_protocol::{AuditAction, AuditRecord, ChannelSpec, KeyChange, RecordKind};
use serde_json::json;

pub(super) async fn every_change_is_written_down_without_its_values(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let before = store.audit(1, 1).await.unwrap().total;
    let agent = new_agent(&*store, "a").await;
    let mut spec = agent.spec.clone();
    spec.system_prompt = "a secret plan".to_owned();
    store
        .update_agent(by(), &agent.id, Expect::Any, spec)
        .await
        .unwrap();
    store
        .delete_agent(by(), &agent.id, Expect::Any)
        .await
        .unwrap();
    let channel = new_channel(&*store, "c").await.id;
    let spec = ChannelSpec {
        is_auxiliary: true,
        ..channel_spec("c")
    };
    let key = KeyChange::Set("sk-another-marker".into());
    store
        .update_channel(by(), &channel, Expect::Any, spec, key)
        .await
        .unwrap();
    let secret = json!("a secret value");
    store
        .put_setting(by(), "s", Expect::Any, secret)
        .await
        .unwrap();

    let page = harness.open().await.audit(1, 100).await.unwrap();
    assert_eq!(page.total, before + 6);
    let told = |record: &AuditRecord| {
        let name = record.target_name.clone();
        (record.action, record.kind, name, record.fields.join(" "))
    };
    let acts: Vec<_> = page.items[..6].iter().rev().map(told).collect();
    let act =
        |action, kind, name: &str, fields: &str| (action, kind, name.to_owned(), fields.to_owned());
    use AuditAction::{Create, Delete, Update};
    use RecordKind::{Agent, Channel, Setting};
    assert_eq!(
        acts,
        [
            act(Create, Agent, "a", ""),
            act(Update, Agent, "a", "systemPrompt"),
            act(Delete, Agent, "a", ""),
            act(Create, Channel, "c", ""),
            act(Update, Channel, "c", "isAuxiliary apiKey"),
            act(Create, Setting, "s", ""),
        ]
    );
    assert!(
        page.items[..6]
            .iter()
            .all(|record| record.who == "command line" && record.at > 0)
    );
    assert_eq!(page.items[6].who, "system");
    let text = serde_json::to_string(&page).unwrap();
    assert!(
        !text.contains("secret") && !text.contains("marker"),
        "{text}"
    );
}

pub(super) async fn the_list_has_pages_and_the_newest_comes_first(harness: &dyn ContractHarness) {
    let store = harness.open().await;
    for number in 0..5 {
        let act = Act {
            action: AuditAction::Login,
            kind: RecordKind::User,
            target_id: number.to_string(),
            target_name: "名".repeat(300),
            fields: Vec::new(),
        };
        store.record_act(&Actor::system(), act).await.unwrap();
    }
    let page = |page, size| {
        let store = &store;
        async move {
            let page = store.audit(page, size).await.unwrap();
            assert_eq!(page.total, 5);
            let ids = page.items.iter().map(|record| record.target_id.as_str());
            ids.collect::<Vec<_>>().join(" ")
        }
    };
    assert_eq!(page(1, 2).await, "4 3");
    assert_eq!(page(3, 2).await, "0");
    assert_eq!(page(4, 2).await, "");
    assert_eq!(page(0, 0).await, "4");
}
