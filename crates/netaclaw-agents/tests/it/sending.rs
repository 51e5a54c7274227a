//! A message is never lost, whenever it is sent: it starts a run, waits, steers, answers a
//! question, or is refused with a reason.

use crate::world::{APIS, Setting, World};
use netaclaw_engine::EngineError;
use netaclaw_models::RetryPolicy;
use netaclaw_protocol::{
    Attachment, Chat, ChatMode, Disposition, QueueChange, QueueEdit, SessionId, Stop, Supplier,
};
use netaclaw_testkit::engine::{Act, Client, Server, ann, message, within};
use netaclaw_testkit::fake_model::{Fault, Reply};
use serde_json::json;
use std::time::Duration;

/// Sends in every mode during a run, twice with the same request id.
async fn send_all(world: &World, session: &SessionId) {
    let send = async |text: &str, mode: ChatMode| {
        let chat = Chat {
            mode,
            request_id: Some(format!("request {text}")),
            ..message(session, text)
        };
        let ack = world.send(chat.clone()).await.unwrap();
        let again = world.send(chat.clone()).await.unwrap();
        assert!(!ack.deduped && again.deduped, "{text}");
        assert_eq!(
            (&again.answer.item_id, again.answer.disposition),
            (&ack.answer.item_id, ack.answer.disposition)
        );
        let other = Chat {
            content: "something else".to_owned(),
            ..chat
        };
        let refused = world.send(other).await;
        assert!(matches!(refused, Err(EngineError::Conflict(_))));
        ack.answer.disposition
    };
    assert_eq!(send("two", ChatMode::Queue).await, Disposition::Queued);
    assert_eq!(send("steer", ChatMode::Steer).await, Disposition::Steered);
    assert_eq!(send("three", ChatMode::Queue).await, Disposition::Queued);
    let empty = world.send(message(session, "  ")).await;
    assert!(matches!(empty, Err(EngineError::BadRequest(_))));
}

fn users(path: &[String]) -> Vec<&str> {
    let users = path.iter().filter_map(|line| line.strip_prefix("user: "));
    users.collect()
}

/// All runs end well, and every message was answered once and in order.
async fn check_all_answered(world: &World, session: &SessionId, client: &Client, runs: usize) {
    for done in within(client.done(runs)).await {
        assert_eq!(done["data"]["outcome"], "completed", "{done}");
    }
    within(client.wait("queue_update", |data| data["items"] == json!([]))).await;
    let path = world.path(session).await;
    assert_eq!(users(&path), ["one", "steer", "two", "three"], "{path:?}");
    assert!(path.last().unwrap().starts_with("assistant: "));
    for request in world.requests() {
        assert_eq!(request.refused, None);
    }
}

#[tokio::test]
async fn while_the_model_speaks() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let (reply, hold) = Reply::text("a long answer").holding_after(2);
        world.script().push(reply);
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(hold.reached()).await;
        send_all(&world, &session).await;
        hold.release();
        check_all_answered(&world, &session, &client, 3).await;
    }
}

#[tokio::test]
async fn while_a_tool_runs() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        world.script().push(Reply::tool_call("c1", "slow", "{}"));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("tool_call_started", |_| true)).await;
        send_all(&world, &session).await;
        world.gate.add_permits(1);
        check_all_answered(&world, &session, &client, 3).await;
        let path = world.path(&session).await;
        let steer = path.iter().position(|line| line == "user: steer").unwrap();
        assert_eq!(
            path[steer - 1],
            "toolResult: slow is done",
            "right behind the tools"
        );
    }
}

/// A message that steers a run keeps its files.
#[tokio::test]
async fn a_picture_goes_into_the_run() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        world.script().push(Reply::tool_call("c1", "slow", "{}"));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("tool_call_started", |_| true)).await;
        let steer = Chat {
            mode: ChatMode::Steer,
            attachments: vec![Attachment {
                id: None,
                name: "p.png".to_owned(),
                mime_type: "image/png".to_owned(),
                data: Some("iVBORw0KGgo=".to_owned()),
            }],
            ..message(&session, "look at this")
        };
        let ack = world.send(steer).await.unwrap();
        assert_eq!(ack.answer.disposition, Disposition::Steered);
        let waits = within(client.wait("queue_update", |_| true)).await;
        assert_eq!(waits["data"]["items"][0]["attachments"][0]["name"], "p.png");
        world.gate.add_permits(1);
        let done = within(client.done(1)).await;
        assert_eq!(done[0]["data"]["outcome"], "completed");
        assert_eq!(world.requests().len(), 2, "the same run");
        let seen = world.script().last_request();
        assert_eq!(seen.refused, None);
        let seen = seen.body.to_string();
        assert!(seen.contains("look at this") && seen.contains("iVBORw0KGgo="));
    }
}

#[tokio::test]
async fn an_image_that_the_model_does_not_receive_is_noted_on_the_answer() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        world
            .change_channel(|spec| spec.models[0].vision = Some(false))
            .await;
        let (session, client) = world.session().await;
        let picture = Chat {
            attachments: vec![Attachment {
                id: None,
                name: "p.png".to_owned(),
                mime_type: "image/png".to_owned(),
                data: Some("iVBORw0KGgo=".to_owned()),
            }],
            ..message(&session, "look")
        };
        world.send(picture).await.unwrap();
        within(client.done(1)).await;
        let seen = world.script().last_request().body.to_string();
        assert!(!seen.contains("iVBORw0KGgo="), "{seen}");
        world.chat(&session, "and now?").await;
        within(client.done(2)).await;
        let answers: Vec<_> = client
            .events()
            .into_iter()
            .filter(|event| event["type"] == "session_entry_added")
            .map(|event| event["data"]["entry"]["message"].clone())
            .filter(|message| message["role"] == "assistant")
            .collect();
        assert_eq!(answers[0]["netaclaw"]["unseenImages"], 1, "{}", answers[0]);
        assert!(answers[1]["netaclaw"]["unseenImages"].is_null());
    }
}

#[tokio::test]
async fn while_a_question_is_open() {
    for supplier in APIS {
        let world = World::start(supplier).await;
        let question = r#"{"question":"Which colour?"}"#;
        world
            .script()
            .push(Reply::tool_call("c1", "clarify", question));
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        within(client.wait("clarify_request", |_| true)).await;
        send_all(&world, &session).await;
        let picture = Chat {
            attachments: vec![Attachment {
                id: None,
                name: "p.png".to_owned(),
                mime_type: "image/png".to_owned(),
                data: Some("iVBORw0KGgo=".to_owned()),
            }],
            ..message(&session, "look")
        };
        let ack = world.send(picture).await.unwrap();
        assert_eq!(
            ack.answer.disposition,
            Disposition::Queued,
            "an answer holds no picture"
        );
        let answer = Chat {
            request_id: Some("answer".to_owned()),
            ..message(&session, "red")
        };
        let ack = world.send(answer.clone()).await.unwrap();
        assert_eq!(ack.answer.disposition, Disposition::AnsweredClarify);
        let again = world.send(answer).await.unwrap();
        assert!(again.deduped);
        assert_eq!(again.answer.disposition, Disposition::AnsweredClarify);
        within(client.done(4)).await;
        let path = world.path(&session).await;
        assert_eq!(users(&path), ["one", "steer", "two", "three", "look"]);
        let answers = path.iter().filter(|line| line.contains("red")).count();
        assert_eq!(answers, 1, "{path:?}");
        let seen = world.script().last_request().body.to_string();
        assert!(seen.contains("iVBORw0KGgo="), "the picture arrived");
    }
}

#[tokio::test]
async fn while_a_retry_is_waited_for() {
    for supplier in APIS {
        let world = World::with(Setting {
            retry: RetryPolicy {
                attempts: 2,
                first_wait: Duration::from_millis(300),
                ..RetryPolicy::default()
            },
            ..Setting::of(supplier)
        })
        .await;
        // Held, so that the run stays active however long the messages take.
        let (reply, hold) = Reply::text("at last").holding_after(0);
        world.script().push(Reply::status(503));
        world.script().push(reply);
        let (session, client) = world.session().await;
        world.chat(&session, "one").await;
        let waits = within(client.wait("run_status", |data| data["phase"] == "retrying")).await;
        let detail = waits["data"]["detail"].as_str().unwrap();
        assert!(detail.contains("trying again in 1 s"), "{detail}");
        let retry = &waits["data"]["retry"];
        let at = retry["at"].as_i64().unwrap();
        assert!(at >= waits["data"]["since"].as_i64().unwrap(), "{retry}");
        let words = &retry["trouble"]["words"];
        assert_eq!(
            words["en"],
            "The model supplier is overloaded or has an outage."
        );
        assert!(words["zh"].as_str().unwrap().ends_with('。'), "{words}");
        assert_eq!(retry["trouble"]["kind"], "overloaded");
        send_all(&world, &session).await;
        hold.release();
        check_all_answered(&world, &session, &client, 3).await;
    }
}

#[tokio::test]
async fn while_a_run_is_being_stopped() {
    let world = World::start(Supplier::Openai).await;
    world.script().push(Reply::tool_call("c1", "deaf", "{}"));
    let (session, client) = world.session().await;
    world.chat(&session, "one").await;
    within(client.wait("tool_call_started", |_| true)).await;
    assert_eq!(
        world.chat(&session, "two").await.disposition,
        Disposition::Queued
    );
    world
        .engine
        .execute(&ann(), Stop::of(&session))
        .await
        .unwrap();
    within(client.wait("queue_update", |data| data["held"] == true)).await;
    // The tool ignores the stop for a while, so this one comes before the end of the run.
    assert_eq!(
        world.chat(&session, "three").await.disposition,
        Disposition::Queued
    );
    let outcomes: Vec<_> = within(client.done(2)).await;
    assert_eq!(outcomes[0]["data"]["outcome"], "stopped");
    assert_eq!(outcomes[1]["data"]["outcome"], "completed");
    let path = world.path(&session).await;
    assert_eq!(
        users(&path),
        ["one", "three"],
        "what was sent after the stop runs"
    );

    // Nor does what was held keep later messages from their turn.
    let (reply, hold) = Reply::text("answer").holding_after(1);
    world.script().push(reply);
    world.chat(&session, "four").await;
    within(hold.reached()).await;
    assert_eq!(
        world.chat(&session, "five").await.disposition,
        Disposition::Queued
    );
    hold.release();
    within(client.done(4)).await;
    let queue = world
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: session.clone(),
                change: QueueChange::Resume,
                request_id: None,
            },
        )
        .await;
    let queue = queue.unwrap().answer.queue;
    assert_eq!(queue.items.len(), 1);
    assert_eq!(queue.items[0].content, "two");
    assert!(!queue.held);
    within(client.done(5)).await;
    let path = world.path(&session).await;
    assert_eq!(users(&path), ["one", "three", "four", "five", "two"]);
}

/// A stop holds what waits, also what was to go into the run that was stopped.
#[tokio::test]
async fn a_message_that_was_held_does_not_steer_the_next_run() {
    let world = World::start(Supplier::Openai).await;
    world.script().push(Reply::tool_call("c1", "deaf", "{}"));
    let (session, client) = world.session().await;
    world.chat(&session, "one").await;
    within(client.wait("tool_call_started", |_| true)).await;
    let steer = |text: &str| Chat {
        mode: ChatMode::Steer,
        ..message(&session, text)
    };
    let ack = world.send(steer("left")).await.unwrap();
    assert_eq!(ack.answer.disposition, Disposition::Steered);
    world
        .engine
        .execute(&ann(), Stop::of(&session))
        .await
        .unwrap();
    within(client.wait("queue_update", |data| data["held"] == true)).await;
    within(client.done(1)).await;

    world.script().push(Reply::tool_call("c2", "slow", "{}"));
    world.chat(&session, "two").await;
    within(client.wait("tool_call_started", |data| data["toolCallId"] == "c2")).await;
    world.send(steer("right")).await.unwrap();
    world.gate.add_permits(1);
    within(client.done(2)).await;
    let path = world.path(&session).await;
    assert_eq!(users(&path), ["one", "two", "right"]);

    let resume = QueueChange::Resume;
    let queue = world
        .engine
        .execute(
            &ann(),
            QueueEdit {
                session_id: session.clone(),
                change: resume,
                request_id: None,
            },
        )
        .await;
    assert_eq!(queue.unwrap().answer.queue.items[0].content, "left");
    within(client.done(3)).await;
    let path = world.path(&session).await;
    assert_eq!(users(&path), ["one", "two", "right", "left"]);
}

#[tokio::test]
async fn what_a_dead_run_asked_is_dismissed_when_the_conversation_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "paint it").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Ask("Which colour?")]);
    within(client.wait("clarify_request", |_| true)).await;
    // As after a crash: the next process finds the question open and its run dead.
    let copy = tempfile::tempdir().unwrap();
    copy_files(dir.path(), copy.path());
    let server = Server::start(copy.path());
    let (client, opened) = server.open(&session).await;
    assert_eq!(opened.snapshot.unwrap().questions.len(), 1);
    server.script.act([Act::Say("fine"), Act::End]);
    let chat = Chat {
        mode: ChatMode::Queue,
        ..message(&session, "never mind")
    };
    let ack = server.send(chat).await.unwrap();
    assert_eq!(ack.answer.disposition, Disposition::Started);
    within(client.done(1)).await;
    let path = server.path(&session).await;
    assert_eq!(
        path[1..],
        [
            "assistant: calls clarify",
            "toolResult: The user dismissed the question without an answer.",
            "user: never mind",
            "assistant: fine"
        ]
    );
    let (_, opened) = server.open(&session).await;
    assert!(opened.snapshot.unwrap().questions.is_empty());
}

/// The same request is known to the next process, whatever had become of it.
#[tokio::test]
async fn a_restart_forgets_no_request() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Ask("Which?")]);
    within(client.wait("clarify_request", |_| true)).await;
    let request = |id: &str, text: &str, mode| Chat {
        request_id: Some(id.to_owned()),
        mode,
        ..message(&session, text)
    };
    let all = [
        ("a", ChatMode::Auto, Disposition::AnsweredClarify),
        ("b", ChatMode::Queue, Disposition::Queued),
        ("c", ChatMode::Steer, Disposition::Steered),
    ];
    for (id, mode, disposition) in all {
        let ack = server.send(request(id, "text", mode)).await.unwrap();
        assert_eq!(ack.answer.disposition, disposition);
    }
    let copy = tempfile::tempdir().unwrap();
    copy_files(dir.path(), copy.path());
    let server = Server::start(copy.path());
    for (id, mode, disposition) in all {
        let ack = server.send(request(id, "text", mode)).await.unwrap();
        assert!(ack.deduped, "{id}");
        assert_eq!(ack.answer.disposition, disposition);
        let other = server.send(request(id, "other", mode)).await;
        assert!(matches!(other, Err(EngineError::Conflict(_))), "{id}");
    }
}

/// The files as a killed process leaves them.
fn copy_files(from: &std::path::Path, to: &std::path::Path) {
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        match file.file_type().unwrap().is_dir() {
            true => {
                let inner = to.join(file.file_name());
                std::fs::create_dir(&inner).unwrap();
                copy_files(&file.path(), &inner);
            }
            false => {
                std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn the_queue_goes_on_after_every_end_but_a_stop() {
    for supplier in APIS {
        let bad_key = Reply::failing(Fault::Body {
            status: 401,
            content_type: "application/json",
            body: r#"{"error":{"type":"authentication_error","message":"no"}}"#.to_owned(),
        });
        for (reply, outcome) in [
            (Reply::text("well"), "completed"),
            (bad_key, "error"),
            (Reply::failing(Fault::CutAfter(3)), "error"),
            (Reply::failing(Fault::GarbageAfter(1)), "error"),
        ] {
            let world = World::start(supplier).await;
            // A tool that panics ends its call only.
            world
                .script()
                .push(Reply::tool_call("c1", "slow", "{}").and_tool_call("c2", "broken", "{}"));
            world.script().push(reply);
            let (session, client) = world.session().await;
            world.chat(&session, "one").await;
            within(client.wait("tool_call_started", |_| true)).await;
            world.chat(&session, "two").await;
            world.gate.add_permits(1);
            let done = within(client.done(2)).await;
            assert_eq!(done[0]["data"]["outcome"], outcome);
            assert_eq!(done[1]["data"]["outcome"], "completed");
            assert_eq!(users(&world.path(&session).await), ["one", "two"]);
            assert_eq!(world.script().last_request().refused, None);
        }
    }
}
