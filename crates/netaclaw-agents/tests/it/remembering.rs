//! Memories of an agent across sessions.

use crate::world::World;
use netaclaw_admin::{Actor, AgentStore, MemoryStore, UserStore};
use netaclaw_engine::Caller;
use netaclaw_protocol::{
    MemoryAuthor, MemorySpec, NewUser, Role, SessionId, SessionOpen, Supplier, UserId, UserSpec,
    UserStatus,
};
use netaclaw_testkit::engine::{Client, message, within};
use netaclaw_testkit::fake_model::Reply;

pub(crate) async fn user(world: &World, name: &str) -> Caller {
    let new = NewUser {
        spec: UserSpec {
            name: name.to_owned(),
            label: String::new(),
            role: Role::User,
            status: UserStatus::Enabled,
        },
        password: None,
    };
    let user = world.admin.create_user(&Actor::system(), new).await;
    Caller {
        user_id: user.unwrap().id.to_string(),
        is_admin: false,
    }
}

async fn talk(world: &World, who: &Caller, text: &str) -> SessionId {
    let session = world.engine.create_session(who, None, None).await.unwrap();
    let client = Client::default();
    let opening = world
        .engine
        .open(who, SessionOpen::of(&session), client.subscriber());
    within(opening).await.unwrap();
    let sent = world.engine.execute(who, message(&session, text));
    within(sent).await.unwrap();
    within(client.done(1)).await;
    session
}

pub(crate) fn system_of_last(world: &World) -> String {
    let requests = world.requests();
    requests.last().unwrap().body["messages"][0]["content"].to_string()
}

#[tokio::test]
async fn what_is_saved_is_known_in_the_next_session_of_the_same_user() {
    let world = World::start(Supplier::Openai).await;
    let (ann, bob) = (user(&world, "ann").await, user(&world, "bob").await);
    let save = r#"{"text":"用户喜欢喝茶。"}"#;
    world
        .script()
        .push(Reply::tool_call("c1", "memory_save", save));
    world.script().otherwise(Reply::text("好的。"));
    talk(&world, &ann, "我喜欢喝茶，请记住").await;
    assert!(
        world.requests()[1]
            .body
            .to_string()
            .contains("Saved: 用户喜欢喝茶。")
    );

    talk(&world, &ann, "推荐一种饮料").await;
    assert!(system_of_last(&world).contains("- 用户喜欢喝茶。"));
    talk(&world, &bob, "推荐一种饮料").await;
    assert!(
        !system_of_last(&world).contains("喝茶"),
        "it is ann's alone"
    );
}

#[tokio::test]
async fn facts_are_found_and_corrected() {
    let world = World::start(Supplier::Openai).await;
    let ann = user(&world, "ann").await;
    let (id, agent) = (
        UserId::new(&ann.user_id),
        world.admin.default_agent().await.unwrap().id,
    );
    let spec = MemorySpec {
        agent_id: Some(agent),
        text: "The user lives in Bremen.".to_owned(),
    };
    let made = world
        .admin
        .create_memory(&id, MemoryAuthor::User, spec)
        .await
        .unwrap();
    let search = r#"{"query":"where does the user live"}"#;
    world
        .script()
        .push(Reply::tool_call("c1", "memory_search", search));
    let correct = format!(
        r#"{{"text":"The user lives in Kyoto.","replaces":"{}"}}"#,
        made.id
    );
    world
        .script()
        .push(Reply::tool_call("c2", "memory_save", &correct));
    let unknown = r#"{"text":"x","replaces":"no-such-id"}"#;
    world
        .script()
        .push(Reply::tool_call("c3", "memory_save", unknown));
    world.script().push(Reply::text("Noted."));
    talk(&world, &ann, "I have moved to Kyoto.").await;
    let requests = world.requests();
    let found = requests[1].body.to_string();
    assert!(
        found.contains(&format!("The user lives in Bremen. (id {}", made.id)),
        "{found}"
    );
    assert!(
        requests[3]
            .body
            .to_string()
            .contains("there is no fact with the id")
    );
    let kept = world.admin.memories(&id).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].spec.text, "The user lives in Kyoto.");
    assert_eq!(kept[0].author, MemoryAuthor::Agent);
}
