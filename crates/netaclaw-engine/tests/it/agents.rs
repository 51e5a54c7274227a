//! Switching the agent of a session with a message.

use netaclaw_engine::{AGENT_ENTRY, EngineError};
use netaclaw_protocol::{
    BadRequest, Chat, ChatMode, Disposition, QueueChange, QueueEdit, SessionId,
};
use netaclaw_testkit::engine::{Act, Server, ann};

fn to(agent: &str, session: &SessionId, text: &str) -> Chat {
    Chat {
        session_id: Some(session.clone()),
        content: text.to_owned(),
        agent_name: Some(agent.to_owned()),
        ..Chat::default()
    }
}

/// What the active path says, the switches between agents included.
async fn path(server: &Server, session: &SessionId) -> Vec<String> {
    let provider = &server.engine.providers().file;
    let path = provider.get_active_path(session).await.unwrap();
    let said = path.iter().filter_map(|entry| {
        let switch = entry.text_field("customType").as_deref() == Some(AGENT_ENTRY);
        match entry.message_json() {
            Some(message) => Some(netaclaw_testkit::engine::short(message)),
            None if switch => entry.field("data").map(str::to_owned),
            None => None,
        }
    });
    said.collect()
}

fn switch(from: &str, to: &str) -> String {
    format!(r#"{{"agentId":"{to}","agentName":"{to}","previousAgentId":"{from}"}}"#)
}

#[tokio::test]
async fn messages_that_wait_bring_their_agents_along() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    let second = Chat {
        mode: ChatMode::Steer,
        ..to("second", &session, "two")
    };
    let ack = server.send(second).await.unwrap();
    assert_eq!(
        ack.answer.disposition,
        Disposition::Queued,
        "another agent does not go on with this run"
    );
    for chat in [
        to("second", &session, "three"),
        to("default", &session, "four"),
    ] {
        server.send(chat).await.unwrap();
    }
    let missing = server.send(to("missing", &session, "five")).await;
    assert!(
        matches!(missing, Err(EngineError::NotFound(_))),
        "{missing:?}"
    );
    for answer in ["1", "2", "3", "4"] {
        server.script.act([Act::Say(answer), Act::End]);
    }
    client.done(4).await;
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    assert_eq!(
        path(&server, &session).await,
        [
            "user: one",
            "assistant: 1",
            &switch("default", "second"),
            "user: two",
            "assistant: 2",
            "user: three",
            "assistant: 3",
            &switch("second", "default"),
            "user: four",
            "assistant: 4",
        ]
    );
}

#[tokio::test]
async fn the_agent_of_a_session_is_kept_and_the_switch_is_on_the_branch_of_its_message() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let ack = server.chat(None, "one").await;
    let session = ack.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Say("1"), Act::End]);
    client.done(1).await;
    let branch = Chat {
        leaf_entry_id: ack.entry_id,
        ..to("second", &session, "two")
    };
    server.send(branch).await.unwrap();
    server.script.act([Act::Say("2"), Act::End]);
    client.done(2).await;
    assert_eq!(
        path(&server, &session).await,
        [
            "user: one",
            &switch("default", "second"),
            "user: two",
            "assistant: 2"
        ]
    );
    let again = Server::start(dir.path());
    let meta = again.engine.session(&ann(), &session).await.unwrap();
    assert_eq!(meta.agent_id.as_deref(), Some("second"));
    assert_eq!(meta.metadata[netaclaw_engine::AGENT_DIRECTORY], "/srv/app");
}

#[tokio::test]
async fn the_command_to_compact_does_not_wait_and_answers_no_question() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Ask("red or blue?")]);
    client.wait("clarify_request", |_| true).await;
    let ack = server.chat(Some(&session), "/COMPACT").await;
    assert_eq!(ack.disposition, Disposition::Compacting);
    let waiting = Chat {
        session_id: Some(session.clone()),
        content: "later".to_owned(),
        mode: ChatMode::Queue,
        ..Chat::default()
    };
    let item_id = server.send(waiting).await.unwrap().answer.item_id.unwrap();
    let edit = |content: &str| QueueEdit {
        session_id: session.clone(),
        change: QueueChange::Edit {
            item_id: item_id.clone(),
            content: content.to_owned(),
        },
        request_id: None,
    };
    let refused = server.engine.execute(&ann(), edit("/compact now")).await;
    assert!(
        matches!(
            refused,
            Err(EngineError::BadRequest(BadRequest::CompactInQueue))
        ),
        "{refused:?}"
    );
    server
        .engine
        .execute(&ann(), edit("//later"))
        .await
        .unwrap();
    let ack = server.chat(Some(&session), "//red").await;
    assert_eq!(ack.disposition, Disposition::AnsweredClarify);
    let answered = client.wait("clarify_answered", |_| true).await;
    assert_eq!(answered["data"]["answer"][0], "/red");
    server
        .script
        .act([Act::Say("1"), Act::End, Act::Say("2"), Act::End]);
    client.done(2).await;
    let said = server.path(&session).await;
    assert!(said.contains(&"user: /later".to_owned()), "{said:?}");
    assert!(!said.concat().contains("ompact"), "{said:?}");
}
