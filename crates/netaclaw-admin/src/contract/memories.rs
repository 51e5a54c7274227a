use super::ContractHarness;
use super::subject::{assert_conflict, assert_invalid, assert_not_found, by, new_agent, seeded};
use crate::{AdminStore, Expect, FIRST_USER, MEMORIES_MAX, MEMORY_CHARS_MAX};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemorySpec, NewUser, RecordKind, Role, User, UserSpec,
    UserStatus,
};

fn spec(agent: Option<&AgentId>, text: &str) -> MemorySpec {
    MemorySpec {
        agent_id: agent.cloned(),
        text: text.to_owned(),
    }
}

async fn first_user(store: &dyn AdminStore) -> User {
    store.user_named(FIRST_USER).await.unwrap()
}

async fn other_user(store: &dyn AdminStore) -> User {
    let new = NewUser {
        spec: UserSpec {
            name: "other".to_owned(),
            label: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
        },
        password: None,
    };
    store.create_user(by(), new).await.unwrap()
}

async fn remember(store: &dyn AdminStore, user: &User, spec: MemorySpec) -> Memory {
    let made = store.create_memory(&user.id, MemoryAuthor::Agent, spec);
    made.await.unwrap()
}

fn texts(memories: &[Memory]) -> Vec<&str> {
    let texts = memories.iter().map(|memory| memory.spec.text.as_str());
    texts.collect()
}

pub(super) async fn a_fact_comes_back_as_it_was_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, agent) = (first_user(&*store).await, new_agent(&*store, "a").await.id);
    let made = remember(&*store, &user, spec(Some(&agent), " 喜欢 🍵 \n")).await;
    assert_eq!(made.spec, spec(Some(&agent), "喜欢 🍵"));
    assert_eq!((made.author, made.stamp.rev), (MemoryAuthor::Agent, 1));
    remember(&*store, &user, spec(None, "second")).await;
    let kept = harness.open().await.memories(&user.id).await.unwrap();
    assert_eq!(kept[0], made);
    assert_eq!(texts(&kept), ["喜欢 🍵", "second"]);
}

pub(super) async fn a_fact_is_seen_by_its_user_and_agent_only(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, other) = (first_user(&*store).await, other_user(&*store).await);
    let one = new_agent(&*store, "one").await.id;
    let two = new_agent(&*store, "two").await.id;
    let of_one = remember(&*store, &user, spec(Some(&one), "of one")).await;
    remember(&*store, &user, spec(Some(&two), "of two")).await;
    remember(&*store, &user, spec(None, "of all")).await;
    remember(&*store, &other, spec(Some(&one), "of somebody else")).await;
    let seen = store.memories_for(&user.id, &one).await.unwrap();
    assert_eq!(texts(&seen), ["of one", "of all"]);
    let seen = store.memories(&other.id).await.unwrap();
    assert_eq!(texts(&seen), ["of somebody else"]);

    let changed = store.update_memory(
        &other.id,
        MemoryAuthor::User,
        &of_one.id,
        Expect::Any,
        spec(Some(&one), "stolen"),
    );
    assert_not_found(changed.await);
    assert_not_found(
        store
            .delete_memory(&other.id, &of_one.id, Expect::Any)
            .await,
    );
    assert_eq!(store.memories(&user.id).await.unwrap().len(), 3);
}

pub(super) async fn the_same_words_are_kept_once(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    let agent = new_agent(&*store, "a").await.id;
    let first = remember(&*store, &user, spec(Some(&agent), "tea")).await;
    let again = remember(&*store, &user, spec(Some(&agent), " tea ")).await;
    assert_eq!(again, first);
    remember(&*store, &user, spec(None, "tea")).await;
    assert_eq!(store.memories(&user.id).await.unwrap().len(), 2);
}

pub(super) async fn a_fact_is_changed_only_at_the_expected_revision(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    let made = remember(&*store, &user, spec(None, "tea")).await;
    let change = async |expect, text: &str| {
        let spec = spec(None, text);
        store
            .update_memory(&user.id, MemoryAuthor::User, &made.id, expect, spec)
            .await
    };
    let changed = change(Expect::Rev(1), "coffee").await.unwrap();
    assert_eq!((changed.author, changed.stamp.rev), (MemoryAuthor::User, 2));
    assert_conflict(change(Expect::Rev(1), "milk").await, RecordKind::Memory, 2);
    // The same words again are no change.
    assert_eq!(change(Expect::Any, " coffee").await.unwrap(), changed);
    let gone = store
        .delete_memory(&user.id, &made.id, Expect::Rev(1))
        .await;
    assert_conflict(gone, RecordKind::Memory, 2);
    store
        .delete_memory(&user.id, &made.id, Expect::Rev(2))
        .await
        .unwrap();
    assert_eq!(store.memories(&user.id).await.unwrap(), []);
}

pub(super) async fn a_fact_that_breaks_a_rule_is_not_kept(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    let make = async |spec| {
        store
            .create_memory(&user.id, MemoryAuthor::Agent, spec)
            .await
    };
    assert_invalid(make(spec(None, " \n")).await, "text");
    let long = "长".repeat(MEMORY_CHARS_MAX + 1);
    assert_invalid(make(spec(None, &long)).await, "text");
    make(spec(None, &long[3..])).await.unwrap();
    let nobody = AgentId::new("nobody");
    assert_invalid(make(spec(Some(&nobody), "x")).await, "agentId");
}

pub(super) async fn facts_have_a_number_that_is_not_exceeded(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    for number in 0..MEMORIES_MAX {
        remember(&*store, &user, spec(None, &format!("fact {number}"))).await;
    }
    let one_more = store.create_memory(&user.id, MemoryAuthor::Agent, spec(None, "one more"));
    assert_invalid(one_more.await, "text");
    // What is there already needs no room.
    remember(&*store, &user, spec(None, "fact 7")).await;
}

pub(super) async fn facts_go_with_their_agent_and_their_user(harness: &dyn ContractHarness) {
    let store = seeded(harness).await;
    let (user, other) = (first_user(&*store).await, other_user(&*store).await);
    let agent = new_agent(&*store, "a").await.id;
    remember(&*store, &user, spec(Some(&agent), "of the agent")).await;
    remember(&*store, &user, spec(None, "of all")).await;
    remember(&*store, &other, spec(None, "of the other")).await;
    store.delete_agent(by(), &agent, Expect::Any).await.unwrap();
    assert_eq!(texts(&store.memories(&user.id).await.unwrap()), ["of all"]);
    store
        .delete_user(by(), &other.id, Expect::Any)
        .await
        .unwrap();
    assert_eq!(store.memories(&other.id).await.unwrap(), []);
}
