use super::ContractHarness;
use super::subject::{assert_conflict, assert_invalid, assert_not_found, by, seeded};
use crate::{AUXILIARY_CHANNEL_ID, AdminError, AdminStore, Expect, NETACLAW_GROUP};
use netaclaw_protocol::{DictInfo, DictInfoSpec, DictType, DictTypeId, DictTypeSpec, RecordKind};
use serde_json::json;

fn group_spec(key: &str) -> DictTypeSpec {
    DictTypeSpec {
        key: key.to_owned(),
        name: "组".to_owned(),
    }
}

fn entry_spec(name: &str, order_num: i32) -> DictInfoSpec {
    DictInfoSpec {
        name: name.to_owned(),
        value: "值 🦀".to_owned(),
        order_num,
        remark: "why".to_owned(),
    }
}

async fn new_group(store: &dyn AdminStore, key: &str) -> DictType {
    store.create_dict_type(by(), group_spec(key)).await.unwrap()
}

async fn new_entry(store: &dyn AdminStore, group: &DictTypeId, spec: DictInfoSpec) -> DictInfo {
    store.create_dict_info(by(), group, spec).await.unwrap()
}

pub(super) async fn the_dictionary_keeps_groups_and_entries(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let group = new_group(&*store, "colours").await;
    let last = new_entry(&*store, &group.id, entry_spec("a", 2)).await;
    let first = new_entry(&*store, &group.id, entry_spec("b", -1)).await;
    let dictionary = harness.open().await.dictionary().await.unwrap();
    let keys: Vec<&str> = dictionary
        .iter()
        .map(|group| group.spec.key.as_str())
        .collect();
    assert_eq!(keys, ["colours", NETACLAW_GROUP]);
    let expected = DictType {
        entries: vec![first.clone(), last],
        ..group.clone()
    };
    assert_eq!(dictionary[0], expected);

    let again = store.create_dict_type(by(), group_spec("colours"));
    assert!(matches!(again.await, Err(AdminError::Taken { .. })));
    let again = store.create_dict_info(by(), &group.id, entry_spec("a", 5));
    assert!(matches!(again.await, Err(AdminError::Taken { .. })));
    let nowhere = DictTypeId::new("nowhere");
    let homeless = store.create_dict_info(by(), &nowhere, entry_spec("a", 5));
    assert_not_found(homeless.await);
    let dotted = store.create_dict_type(by(), group_spec("a.b"));
    assert_invalid(dotted.await, "key");
    // The same name in another group is another entry.
    let other = new_group(&*store, "other").await;
    assert_ne!(
        new_entry(&*store, &other.id, entry_spec("b", 0)).await.id,
        first.id
    );
}

pub(super) async fn dictionary_values_are_found_by_name(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let read = |group: &'static str, name: &'static str| {
        let store = &store;
        async move { store.dict_value(group, name).await.unwrap() }
    };
    assert_eq!(read(NETACLAW_GROUP, AUXILIARY_CHANNEL_ID).await, None);
    assert_eq!(read("no", "no").await, None);
    let put = |group: &'static str, name: &'static str, value: &'static str| {
        let store = &store;
        async move {
            store
                .put_dict_value(by(), group, name, value)
                .await
                .unwrap()
        }
    };
    let entry = put(NETACLAW_GROUP, AUXILIARY_CHANNEL_ID, "c1").await;
    assert_eq!(entry.stamp.rev, 2);
    assert_eq!(
        read(NETACLAW_GROUP, AUXILIARY_CHANNEL_ID).await.as_deref(),
        Some("c1")
    );
    put("new", "entry", "x").await;
    assert_eq!(read("new", "entry").await.as_deref(), Some("x"));
    assert_eq!(put("new", "entry", "x").await.stamp.rev, 1);
    put("new", "entry", "").await;
    assert_eq!(read("new", "entry").await, None);
}

pub(super) async fn dictionary_records_are_changed_only_at_the_expected_revision(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let group = new_group(&*store, "g").await;
    let entry = new_entry(&*store, &group.id, entry_spec("e", 0)).await;

    let renamed = store.update_dict_type(by(), &group.id, Expect::Rev(1), group_spec("h"));
    let renamed = renamed.await.unwrap();
    assert_eq!((renamed.spec.key.as_str(), renamed.stamp.rev), ("h", 2));
    assert_eq!(renamed.entries, std::slice::from_ref(&entry));
    let late = store.update_dict_type(by(), &group.id, Expect::Rev(1), group_spec("i"));
    assert_conflict(late.await, RecordKind::DictType, 2);

    let changed = store.update_dict_info(by(), &entry.id, Expect::Rev(1), entry_spec("f", 7));
    assert_eq!(changed.await.unwrap().stamp.rev, 2);
    let late = store.update_dict_info(by(), &entry.id, Expect::Rev(1), entry_spec("z", 0));
    assert_conflict(late.await, RecordKind::DictInfo, 2);
    let gone = store.delete_dict_info(by(), &entry.id, Expect::Rev(1));
    assert_conflict(gone.await, RecordKind::DictInfo, 2);
    let gone = store.delete_dict_info(by(), &entry.id, Expect::Rev(2));
    gone.await.unwrap();
    let gone = store.delete_dict_info(by(), &entry.id, Expect::Any);
    assert_not_found(gone.await);
}

pub(super) async fn a_group_takes_its_entries_with_it(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let group = new_group(&*store, "g").await;
    let entry = new_entry(&*store, &group.id, entry_spec("e", 0)).await;
    let gone = store.delete_dict_type(by(), &group.id, Expect::Rev(9));
    assert_conflict(gone.await, RecordKind::DictType, 1);
    store
        .delete_dict_type(by(), &group.id, Expect::Rev(1))
        .await
        .unwrap();
    assert_eq!(store.dictionary().await.unwrap().len(), 1);
    let gone = store.update_dict_info(by(), &entry.id, Expect::Any, entry_spec("e", 1));
    assert_not_found(gone.await);
}

pub(super) async fn settings_hold_any_json(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    assert_eq!(store.setting("clarify.timeoutMs").await.unwrap(), None);
    let values = [
        ("a", json!(null)),
        ("b.c", json!({"x": [1, 2.5, "值", false], "y": null})),
        ("d", json!("a long text ".repeat(10_000))),
    ];
    for (name, value) in &values {
        let put = store.put_setting(by(), name, Expect::Any, value.clone());
        assert_eq!(put.await.unwrap().value, *value);
    }
    let other = harness.open().await;
    for (name, value) in &values {
        let setting = other.setting(name).await.unwrap().unwrap();
        assert_eq!((&setting.value, setting.stamp.rev), (value, 1));
    }
    let names: Vec<String> = other
        .settings()
        .await
        .unwrap()
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert!(names.is_sorted() && names.contains(&"b.c".to_owned()));
    let wrong = store.put_setting(by(), "two words", Expect::Any, json!(1));
    assert_invalid(wrong.await, "name");
}

pub(super) async fn a_setting_is_changed_only_at_the_expected_revision(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let put = |expect, value: i32| store.put_setting(by(), "s", expect, json!(value));
    assert_not_found(store.put_setting(by(), "s", Expect::Rev(1), json!(0)).await);
    assert_eq!(put(Expect::Any, 1).await.unwrap().stamp.rev, 1);
    assert_eq!(put(Expect::Rev(1), 2).await.unwrap().stamp.rev, 2);
    assert_conflict(put(Expect::Rev(1), 3).await, RecordKind::Setting, 2);
    assert_eq!(put(Expect::Rev(2), 2).await.unwrap().stamp.rev, 2);
    let gone = store.delete_setting(by(), "s", Expect::Rev(1)).await;
    assert_conflict(gone, RecordKind::Setting, 2);
    assert_eq!(store.setting("s").await.unwrap().unwrap().value, json!(2));
    store
        .delete_setting(by(), "s", Expect::Rev(2))
        .await
        .unwrap();
    assert_not_found(store.delete_setting(by(), "s", Expect::Any).await);
}
