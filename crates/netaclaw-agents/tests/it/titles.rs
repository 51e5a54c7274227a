//! Titles: the first line at once, then a title of the auxiliary model or of the agent's own, and
//! nothing ever waits for it.

use crate::world::World;
use netaclaw_admin::{AUXILIARY_CHANNEL_ID, Actor, DictionaryStore, NETACLAW_GROUP};
use netaclaw_engine::UpdateSession;
use netaclaw_protocol::{SessionChange, SessionId, Supplier};
use netaclaw_testkit::engine::{ann, within};
use netaclaw_testkit::fake_model::Reply;

/// Only requests for titles quote an answer like this.
const TITLE_REQUEST: &str = "<assistant>";

async fn title(world: &World, session: &SessionId) -> Option<String> {
    let meta = world.engine.session(&ann(), session).await.unwrap();
    meta.title
}

#[tokio::test]
async fn an_auxiliary_model_titles_a_session_without_clients() {
    for named_by in ["agent", "dictionary"] {
        let world = World::start(Supplier::Openai).await;
        let auxiliary = world.add_channel("small", Supplier::Anthropic).await;
        match named_by {
            "agent" => {
                let id = Some(auxiliary);
                world
                    .change_agent(|spec| spec.auxiliary_model_channel_id = id)
                    .await;
            }
            _ => {
                let (group, name) = (NETACLAW_GROUP, AUXILIARY_CHANNEL_ID);
                let by = Actor::system();
                let put = world
                    .admin
                    .put_dict_value(&by, group, name, auxiliary.as_str());
                put.await.unwrap();
            }
        }
        let (reply, hold) = Reply::text("\"Greeting a fake.\"").holding_after(0);
        world.script().when(TITLE_REQUEST, reply);
        let session = world.bare_session().await;
        world.chat(&session, "Hello there\nmore").await;
        within(hold.reached()).await;
        assert_eq!(
            title(&world, &session).await.as_deref(),
            Some("Hello there")
        );
        let request = world.script().last_request();
        assert_eq!(
            request.path, "/v1/messages",
            "the auxiliary channel was asked"
        );
        assert_eq!(request.refused, None);
        assert!(
            request
                .last_user_text()
                .contains("Hello from the fake model.")
        );

        // A client that joins now receives it, and a further message does not wait for it.
        let (client, _) = world.open(&session).await;
        world.chat(&session, "And now?").await;
        within(client.done(1)).await;
        hold.release();
        let named = |data: &serde_json::Value| data["session"]["title"] == "Greeting a fake";
        within(client.wait("session_updated", named)).await;
        assert_eq!(
            title(&world, &session).await.as_deref(),
            Some("Greeting a fake")
        );
        world.chat(&session, "Once more").await;
        within(client.done(2)).await;
        let asked = world.requests();
        let titles = asked
            .iter()
            .filter(|r| r.last_user_text().contains(TITLE_REQUEST));
        assert_eq!(titles.count(), 1, "once is enough");
    }
}

#[tokio::test]
async fn a_name_given_by_the_user_stays() {
    let world = World::start(Supplier::Openai).await;
    let auxiliary = Some(world.channel.clone());
    world
        .change_agent(|spec| spec.auxiliary_model_channel_id = auxiliary)
        .await;
    let (reply, hold) = Reply::text("A title").holding_after(0);
    world.script().when(TITLE_REQUEST, reply);
    let (session, client) = world.session().await;
    world.chat(&session, "Hello").await;
    within(client.done(1)).await;
    within(hold.reached()).await;
    let renamed = SessionChange {
        title: Some("Mine".to_owned()),
        ..SessionChange::default()
    };
    let changed = world
        .engine
        .execute(
            &ann(),
            UpdateSession {
                session_id: session.clone(),
                change: renamed,
            },
        )
        .await;
    changed.unwrap();
    hold.release();
    within(world.script().aborted(1)).await;
    world.chat(&session, "And now?").await;
    within(client.done(2)).await;
    assert_eq!(title(&world, &session).await.as_deref(), Some("Mine"));
}

#[tokio::test]
async fn the_agents_own_model_names_the_session_if_no_other_is_set() {
    let world = World::start(Supplier::Openai).await;
    let reply = Reply::text("Title: **Greeting**");
    world.script().when(TITLE_REQUEST, reply);
    let (session, client) = world.session().await;
    world.chat(&session, "Hello there\nmore").await;
    within(client.done(1)).await;
    let named = |data: &serde_json::Value| data["session"]["title"] == "Greeting";
    within(client.wait("session_updated", named)).await;
    world.chat(&session, "And now?").await;
    within(client.done(2)).await;
    let asked = world.requests();
    let mut titles = asked
        .iter()
        .filter(|r| r.last_user_text().contains(TITLE_REQUEST));
    let title_request = titles.next().unwrap();
    assert!(title_request.body["tools"].is_null(), "a short request");
    assert_eq!(titles.count(), 0, "one request is enough");
}

#[tokio::test]
async fn a_model_that_fails_is_asked_twice_and_the_first_line_stays() {
    for auxiliary in [false, true] {
        let world = World::start(Supplier::Openai).await;
        if auxiliary {
            let channel = Some(world.channel.clone());
            world
                .change_agent(|spec| spec.auxiliary_model_channel_id = channel)
                .await;
        }
        world.script().when(TITLE_REQUEST, Reply::status(400));
        let (session, client) = world.session().await;
        // Each answer, and the title that is asked for after the first two.
        for (turn, requests) in [(1, 2), (2, 4), (3, 5)] {
            world.chat(&session, "Hello").await;
            let done = within(client.done(turn)).await.pop().unwrap();
            assert_eq!(done["data"]["outcome"], "completed");
            within(world.script().asked(requests)).await;
        }
        world.chat(&session, "And now?").await;
        within(client.done(4)).await;
        assert_eq!(world.requests().len(), 6, "no third request for a title");
        assert_eq!(title(&world, &session).await.as_deref(), Some("Hello"));
        let errors = client.events();
        assert!(errors.iter().all(|event| event["type"] != "error"));
    }
}
