use super::ContractHarness;
use super::subject::{assert_conflict, assert_invalid, assert_not_found, by, new_agent, seeded};
use crate::{
    AdminStore, Expect, FIRST_USER, MEMORIES_MAX, MEMORY_CHARS_MAX, MemoryProposal,
    PENDING_MEMORIES_MAX,
};
use netaclaw_protocol::{
    AgentId, Memory, MemoryAuthor, MemoryId, MemorySpec, MemoryStatus, NewUser, RecordKind, Role,
    SessionId, User, UserSpec, UserStatus,
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
    remember(&*store, &other, spec(Some(&one), "of another user")).await;
    let seen = store.memories_for(&user.id, &one).await.unwrap();
    assert_eq!(texts(&seen), ["of one", "of all"]);
    let seen = store.memories(&other.id).await.unwrap();
    assert_eq!(texts(&seen), ["of another user"]);

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
    // The same text again is not a change.
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
    let missing = AgentId::new("missing");
    assert_invalid(make(spec(Some(&missing), "x")).await, "agentId");
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

fn proposal(session: &str, spec: MemorySpec, replaces: Option<&MemoryId>) -> MemoryProposal {
    MemoryProposal {
        spec,
        session_id: SessionId::new(session),
        replaces: replaces.cloned(),
    }
}

pub(super) async fn a_pending_fact_is_no_fact_until_its_user_confirms_it(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let (user, other) = (first_user(&*store).await, other_user(&*store).await);
    let agent = new_agent(&*store, "a").await.id;
    let tea = || proposal("s1", spec(Some(&agent), " tea "), None);
    let made = store.propose_memory(&user.id, tea()).await.unwrap();
    assert_eq!((made.status, made.stamp.rev), (MemoryStatus::Pending, 1));
    assert_eq!(made.session_id, Some(SessionId::new("s1")));
    let again = store.propose_memory(&user.id, tea()).await.unwrap();
    assert_eq!(
        again, made,
        "the same words of the same session are kept once"
    );
    let elsewhere = proposal("s2", spec(None, "spam"), None);
    let spam = store.propose_memory(&user.id, elsewhere).await.unwrap();

    // Another process sees it as pending, and nothing takes it for a fact.
    let store = harness.open().await;
    assert_eq!(store.memories(&user.id).await.unwrap(), []);
    assert_eq!(store.memories_for(&user.id, &agent).await.unwrap(), []);
    let pending = store.pending_memories(&user.id).await.unwrap();
    assert_eq!(pending, [made.clone(), spam.clone()]);
    assert_eq!(store.pending_memories(&other.id).await.unwrap(), []);

    // Only its user decides, on what was seen.
    assert_not_found(store.confirm_memory(&other.id, &made.id, Expect::Any).await);
    assert_not_found(store.delete_memory(&other.id, &made.id, Expect::Any).await);
    let late = store
        .confirm_memory(&user.id, &made.id, Expect::Rev(7))
        .await;
    assert_conflict(late, RecordKind::Memory, 1);
    let confirmed = store
        .confirm_memory(&user.id, &made.id, Expect::Rev(1))
        .await;
    let confirmed = confirmed.unwrap();
    assert_eq!(
        (&confirmed.id, confirmed.status),
        (&made.id, MemoryStatus::Confirmed)
    );
    assert_eq!(
        (confirmed.author, confirmed.stamp.rev),
        (MemoryAuthor::Agent, 2)
    );
    assert_eq!(
        store.memories(&user.id).await.unwrap(),
        std::slice::from_ref(&confirmed)
    );
    let twice = store.confirm_memory(&user.id, &made.id, Expect::Any).await;
    assert_eq!(twice.unwrap(), confirmed);
    let known = store.propose_memory(&user.id, tea()).await.unwrap();
    assert_eq!(known, confirmed, "what is confirmed is not proposed again");

    // Rewritten by its user, it is that user's.
    let words = spec(None, "no spam");
    let (author, expect) = (MemoryAuthor::User, Expect::Rev(1));
    let written = store.update_memory(&user.id, author, &spam.id, expect, words);
    let written = written.await.unwrap();
    assert_eq!(
        (written.author, written.status),
        (author, MemoryStatus::Confirmed)
    );
    assert_eq!(store.pending_memories(&user.id).await.unwrap(), []);

    let gone = proposal("s1", spec(None, "discarded"), None);
    let gone = store.propose_memory(&user.id, gone).await.unwrap();
    let discard = store.delete_memory(&user.id, &gone.id, Expect::Rev(1));
    discard.await.unwrap();
    assert_not_found(store.confirm_memory(&user.id, &gone.id, Expect::Any).await);
    assert_eq!(
        texts(&store.memories(&user.id).await.unwrap()),
        ["tea", "no spam"]
    );
    // They go with their agent and their user, as facts do.
    let of_agent = proposal("s1", spec(Some(&agent), "of the agent"), None);
    store.propose_memory(&user.id, of_agent).await.unwrap();
    store.delete_agent(by(), &agent, Expect::Any).await.unwrap();
    assert_eq!(store.pending_memories(&user.id).await.unwrap(), []);
}

pub(super) async fn a_pending_correction_takes_its_place_when_it_is_confirmed(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    let old = remember(&*store, &user, spec(None, "lives in Bremen")).await;
    let propose = async |session: &str, text: &str, replaces: &MemoryId| {
        let proposal = proposal(session, spec(None, text), Some(replaces));
        store.propose_memory(&user.id, proposal).await.unwrap()
    };
    let new = propose("s1", "lives in Rome", &old.id).await;
    assert_eq!(new.replaces.as_ref(), Some(&old.id));
    assert_eq!(
        store.memories(&user.id).await.unwrap(),
        std::slice::from_ref(&old),
        "nothing is lost"
    );
    // A correction by the same session is one; another session cannot touch it.
    let better = propose("s1", "lives in Kyoto", &new.id).await;
    assert_eq!((&better.id, better.stamp.rev), (&new.id, 2));
    assert_eq!(better.replaces.as_ref(), Some(&old.id));
    let other = propose("s2", "lives in Oslo", &new.id).await;
    assert_ne!(other.id, new.id);
    let confirm = store.confirm_memory(&user.id, &new.id, Expect::Rev(2));
    confirm.await.unwrap();
    let kept = store.memories(&user.id).await.unwrap();
    assert_eq!(texts(&kept), ["lives in Kyoto"]);
}

pub(super) async fn pending_facts_have_a_number_that_is_not_exceeded(
    harness: &dyn ContractHarness,
) {
    let store = seeded(harness).await;
    let user = first_user(&*store).await;
    let propose = async |number: usize| {
        let text = spec(None, &format!("fact {number}"));
        let proposal = proposal(&format!("s{}", number % 7), text, None);
        store.propose_memory(&user.id, proposal).await
    };
    for number in 0..PENDING_MEMORIES_MAX {
        propose(number).await.unwrap();
    }
    assert_invalid(propose(PENDING_MEMORIES_MAX).await, "text");
    // Facts of the user's own do not count against it.
    remember(&*store, &user, spec(None, "tea")).await;
    let pending = store.pending_memories(&user.id).await.unwrap();
    let discard = store.delete_memory(&user.id, &pending[0].id, Expect::Any);
    discard.await.unwrap();
    propose(PENDING_MEMORIES_MAX).await.unwrap();
}
