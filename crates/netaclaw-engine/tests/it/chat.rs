//! Messages and their effects.

use netaclaw_engine::{Caller, EngineError};
use netaclaw_protocol::{
    BadRequest, Busy, Chat, ChatMode, ClarifyResponse, Conflict, Disposition, QueueChange,
    QueueEdit, Retry, RunState, Stop, SwitchLeaf,
};
use netaclaw_testkit::engine::{Act, Server, ann};
use serde_json::json;

#[tokio::test]
async fn a_message_is_answered_and_titled_and_told_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let ack = server.chat(None, "Hello there\nmore").await;
    assert_eq!(ack.disposition, Disposition::Started);
    let (client, _) = server.open(&ack.session_id).await;
    server
        .script
        .act([Act::Say("Hi "), Act::Say("you"), Act::End]);
    let done = client.done(1).await;
    assert_eq!(done[0]["data"]["outcome"], "completed");
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    assert_eq!(
        server.path(&ack.session_id).await,
        ["user: Hello there\nmore", "assistant: Hi you"]
    );
    let meta = server
        .engine
        .session(&ann(), &ack.session_id)
        .await
        .unwrap();
    assert_eq!(meta.title.as_deref(), Some("Hello there"));
    let seqs: Vec<u64> = client
        .events()
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert!(
        seqs.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{seqs:?}"
    );
    let meter = client.wait("token_update", |_| true).await;
    assert_eq!(
        meter["data"]["context"],
        json!({"usedTokens": 100, "maxTokens": 1000,
        "percent": 10, "thresholdPercent": 70, "estimated": false, "windowSource": "channel"})
    );
}

#[tokio::test]
async fn a_message_during_a_run_waits_and_then_runs_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    for text in ["two", "three"] {
        assert_eq!(
            server.chat(Some(&session), text).await.disposition,
            Disposition::Queued
        );
    }
    server.script.act([
        Act::Say("1"),
        Act::End,
        Act::Say("2"),
        Act::End,
        Act::Say("3"),
        Act::End,
    ]);
    client.done(3).await;
    client
        .wait("queue_update", |data| data["items"] == json!([]))
        .await;
    let expected = [
        "user: one",
        "assistant: 1",
        "user: two",
        "assistant: 2",
        "user: three",
        "assistant: 3",
    ];
    assert_eq!(server.path(&session).await, expected);
}

#[tokio::test]
async fn a_queue_can_be_edited_and_a_stop_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    let mut items = Vec::new();
    for text in ["two", "three", "four"] {
        items.push(server.chat(Some(&session), text).await.item_id.unwrap());
    }
    let ann = ann();
    let change = |change| {
        server.engine.execute(
            &ann,
            QueueEdit {
                session_id: session.clone(),
                change,
                request_id: None,
            },
        )
    };
    change(QueueChange::Edit {
        item_id: items[0].clone(),
        content: "TWO".to_owned(),
    })
    .await
    .unwrap();
    change(QueueChange::Remove {
        item_id: items[1].clone(),
    })
    .await
    .unwrap();
    let queue = change(QueueChange::Move {
        item_id: items[2].clone(),
        position: 0,
    })
    .await
    .unwrap();
    let texts: Vec<_> = queue
        .answer
        .queue
        .items
        .iter()
        .map(|item| item.content.as_str())
        .collect();
    assert_eq!(texts, ["four", "TWO"]);
    assert!(
        change(QueueChange::Remove {
            item_id: items[1].clone()
        })
        .await
        .is_err()
    );

    server.script.act([Act::Say("half")]);
    client.wait("assistant_stream_delta", |_| true).await;
    assert_eq!(
        server
            .engine
            .execute(&ann, Stop::of(&session))
            .await
            .unwrap()
            .answer
            .status,
        RunState::Stopping
    );
    assert_eq!(client.done(1).await[0]["data"]["outcome"], "stopped");
    client
        .wait("queue_update", |data| data["held"] == true)
        .await;
    assert_eq!(
        server.path(&session).await,
        ["user: one", "assistant: half (aborted)"]
    );
    server.script.act([Act::End, Act::End]);
    change(QueueChange::Resume).await.unwrap();
    client.done(3).await;
    let path = server.path(&session).await;
    assert_eq!(
        path[2..],
        ["user: four", "assistant: ", "user: TWO", "assistant: "]
    );
}

#[tokio::test]
async fn steering_goes_into_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    let steer = Chat {
        session_id: Some(session.clone()),
        content: "mind this".to_owned(),
        mode: ChatMode::Steer,
        ..Chat::default()
    };
    assert_eq!(
        server.send(steer).await.unwrap().answer.disposition,
        Disposition::Steered
    );
    server.script.act([Act::Say("1"), Act::End]);
    client.done(1).await;
    let path = server.path(&session).await;
    assert_eq!(path, ["user: one", "assistant: 1", "user: mind this"]);
}

#[tokio::test]
async fn the_same_request_has_one_effect() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::End, Act::End]);
    client.done(1).await;
    let chat = |text: &str| Chat {
        session_id: Some(session.clone()),
        content: text.to_owned(),
        request_id: Some("q".to_owned()),
        ..Chat::default()
    };
    let first = server.send(chat("two")).await.unwrap();
    client.done(2).await;
    let again = server.send(chat("two")).await.unwrap();
    assert!(again.deduped && !first.deduped);
    assert_eq!(again.answer.entry_id, first.answer.entry_id);
    assert!(matches!(
        server.send(chat("other")).await,
        Err(EngineError::Conflict(Conflict::RequestIdReused))
    ));
    assert_eq!(
        server
            .path(&session)
            .await
            .iter()
            .filter(|text| *text == "user: two")
            .count(),
        1
    );
    // Also for the next process.
    server
        .engine
        .shut_down(std::time::Duration::from_secs(5))
        .await;
    drop(server);
    let server = Server::start(dir.path());
    let after = server.send(chat("two")).await.unwrap();
    assert!(after.deduped);
    assert_eq!(after.answer.entry_id, first.answer.entry_id);
}

#[tokio::test]
async fn a_question_ends_when_its_time_is_over_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    server.script.ask_for(std::time::Duration::from_millis(50));
    let session = server.chat(None, "paint it").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Ask("Which colour?")]);
    let asked = client.wait("clarify_request", |_| true).await;
    let asked = &asked["data"];
    assert!(
        asked["expiresAt"].is_i64(),
        "the question has an expiry: {asked}"
    );
    let told = client.wait("clarify_answered", |_| true).await;
    assert_eq!(told["data"]["outcome"], "timed_out");
    let late = ClarifyResponse {
        session_id: session.clone(),
        request_id: asked["requestId"].as_str().unwrap().to_owned(),
        answer: json!("blue"),
    };
    let late = server.engine.execute(&ann(), late).await;
    assert!(matches!(
        late,
        Err(EngineError::Conflict(Conflict::QuestionClosed))
    ));
    server.script.act([Act::Say("left as it is"), Act::End]);
    client.done(1).await;
    let path = server.path(&session).await;
    assert!(path[2].starts_with("toolResult: ") && path[2].contains("Do not assume"));
}

#[tokio::test]
async fn a_question_is_answered_once_by_words_or_by_id() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "paint it").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Ask("Which colour?")]);
    let asked = client.wait("clarify_request", |_| true).await;
    let request_id = asked["data"]["requestId"].as_str().unwrap().to_owned();
    let ack = server.chat(Some(&session), "red").await;
    assert_eq!(ack.disposition, Disposition::AnsweredClarify);
    let answer = ClarifyResponse {
        session_id: session.clone(),
        request_id,
        answer: json!("blue"),
    };
    let late = server.engine.execute(&ann(), answer.clone()).await;
    let late = late.unwrap_err();
    assert!(
        matches!(late, EngineError::Conflict(Conflict::QuestionAnswered)),
        "the first one counts"
    );
    let told = client.wait("clarify_answered", |_| true).await;
    assert_eq!(told["data"]["answer"], json!(["red"]));
    server.script.act([Act::Say("painted"), Act::End]);
    client.done(1).await;
    let path = server.path(&session).await;
    assert_eq!(
        path[1..],
        [
            "assistant: calls clarify",
            "toolResult: The user answered: red",
            "assistant: painted"
        ]
    );
    // A client without an acknowledgement retries, also after the run has ended, and must not start
    // a second run.
    let same = ClarifyResponse {
        answer: json!("red"),
        ..answer
    };
    let again = server.engine.execute(&ann(), same).await;
    assert!(again.unwrap().deduped);
}

#[tokio::test]
async fn a_panic_ends_its_run_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Panic]);
    assert_eq!(client.done(1).await[0]["data"]["outcome"], "error");
    client
        .wait("error", |data| {
            data["message"].as_str().unwrap().contains("logged")
        })
        .await;
    server.script.act([Act::Say("fine"), Act::End]);
    assert_eq!(
        server.chat(Some(&session), "two").await.disposition,
        Disposition::Started
    );
    client.done(2).await;
    assert_eq!(
        server.path(&session).await.last().unwrap(),
        "assistant: fine"
    );
}

#[tokio::test]
async fn branches_come_from_explicit_parents_and_the_leaf_stays_while_a_run_writes() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let first = server.chat(None, "one").await;
    let session = first.session_id;
    let (client, _) = server.open(&session).await;
    let parent = first.entry_id.unwrap();
    let refused = server
        .engine
        .execute(
            &ann(),
            SwitchLeaf {
                session_id: session.clone(),
                leaf_entry_id: Some(parent.clone()),
                follow: false,
                summarize: false,
                request_id: None,
            },
        )
        .await;
    assert!(matches!(refused, Err(EngineError::Busy(Busy::Running))));
    server
        .script
        .act([Act::Say("1"), Act::End, Act::Say("1b"), Act::End]);
    client.done(1).await;
    let branch = |leaf: &str| Chat {
        session_id: Some(session.clone()),
        content: "again".to_owned(),
        leaf_entry_id: Some(leaf.into()),
        ..Chat::default()
    };
    let wrong = server.send(branch("nowhere0")).await;
    assert!(matches!(wrong, Err(EngineError::StaleParent(_))));
    server.send(branch(parent.as_str())).await.unwrap();
    client.done(2).await;
    assert_eq!(
        server.path(&session).await,
        ["user: one", "user: again", "assistant: 1b"]
    );
    server
        .engine
        .execute(
            &ann(),
            SwitchLeaf {
                session_id: session.clone(),
                leaf_entry_id: Some(parent),
                follow: false,
                summarize: false,
                request_id: None,
            },
        )
        .await
        .unwrap();
    client.wait("session_leaf_changed", |_| true).await;
    assert_eq!(server.path(&session).await, ["user: one"]);
}

#[tokio::test]
async fn another_answer_stands_beside_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let first = server.chat(None, "one").await;
    let (session, asked) = (first.session_id, first.entry_id.unwrap());
    let (client, _) = server.open(&session).await;
    let busy = server
        .engine
        .execute(
            &ann(),
            Retry {
                session_id: session.clone(),
                entry_id: asked.clone(),
                request_id: None,
            },
        )
        .await;
    assert!(matches!(busy, Err(EngineError::Busy(Busy::Running))));
    server
        .script
        .act([Act::Say("1"), Act::End, Act::Say("1b"), Act::End]);
    client.done(1).await;
    server
        .engine
        .execute(
            &ann(),
            Retry {
                session_id: session.clone(),
                entry_id: asked,
                request_id: None,
            },
        )
        .await
        .unwrap();
    client.done(2).await;
    assert_eq!(server.path(&session).await, ["user: one", "assistant: 1b"]);
    let (_, opened) = server.open(&session).await;
    let snapshot = opened.snapshot.unwrap();
    let asked = &snapshot.active_path[0];
    assert_eq!(snapshot.children_by_parent_id[asked.as_str()].len(), 2);
    let answer = snapshot.active_path[1].clone();
    let wrong = server
        .engine
        .execute(
            &ann(),
            Retry {
                session_id: session.clone(),
                entry_id: answer,
                request_id: None,
            },
        )
        .await;
    let wrong = wrong.unwrap_err();
    assert!(matches!(
        wrong,
        EngineError::BadRequest(BadRequest::NotAUserMessage)
    ));
    let gone = server
        .engine
        .execute(
            &ann(),
            Retry {
                session_id: session.clone(),
                entry_id: "nowhere0".into(),
                request_id: None,
            },
        )
        .await;
    assert!(matches!(gone, Err(EngineError::StaleParent(_))));
}

#[tokio::test]
async fn sessions_of_others_do_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let bob = Caller {
        user_id: "bob".to_owned(),
        is_admin: false,
    };
    assert!(matches!(
        server.engine.execute(&bob, Stop::of(&session)).await,
        Err(EngineError::NoSession)
    ));
    let admin = Caller {
        user_id: "root".to_owned(),
        is_admin: true,
    };
    assert_eq!(
        server
            .engine
            .execute(&admin, Stop::of(&session))
            .await
            .unwrap()
            .answer
            .status,
        RunState::Stopping
    );
}

#[tokio::test]
async fn a_session_with_a_chosen_id_is_made_once_and_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let id = netaclaw_protocol::SessionId::new("chosen-1");
    for _ in 0..2 {
        let made = server
            .engine
            .create_session(&ann(), None, Some(id.clone()))
            .await;
        assert_eq!(made.unwrap(), id);
    }
    let bob = Caller {
        user_id: "bob".to_owned(),
        is_admin: false,
    };
    let taken = server.engine.create_session(&bob, None, Some(id)).await;
    assert!(matches!(taken, Err(EngineError::NoSession)));
}

#[tokio::test]
async fn an_answer_is_updated_with_each_result_of_its_calls() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "look").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Call("ls"), Act::End]);
    client.done(1).await;
    let executions = |event: &serde_json::Value| {
        let entry = &event["data"]["entry"];
        (
            entry["id"].clone(),
            entry["metadata"]["toolExecutions"].clone(),
        )
    };
    let added = client
        .wait("session_entry_added", |data| {
            data["entry"]["metadata"].is_object()
        })
        .await;
    let (answer, pending) = executions(&added);
    assert_eq!(pending[0]["status"], "pending");
    let (updated, ended) = executions(&client.wait("session_entry_updated", |_| true).await);
    assert_eq!(
        (&updated, &ended[0]["status"]),
        (&answer, &json!("completed"))
    );

    // A client that opens the session now sees the same.
    let (_, opened) = server.open(&session).await;
    let opened = serde_json::to_value(opened).unwrap();
    let entries = opened["snapshot"]["entries"].as_array().unwrap();
    let shown = entries.iter().find(|entry| entry["id"] == answer).unwrap();
    assert_eq!(shown["metadata"]["toolExecutions"], ended);
}

#[tokio::test]
async fn a_stop_between_two_answers_is_recorded_and_the_meter_keeps_its_reading() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let session = server.chat(None, "one").await.session_id;
    let (client, _) = server.open(&session).await;
    server.script.act([Act::Say("1"), Act::End]);
    client.done(1).await;
    server.chat(Some(&session), "two").await;
    server.script.act([Act::NeedConsent("bash")]);
    client.wait("approval_request", |_| true).await;
    let stop = Stop {
        session_id: Some(session.clone()),
        request_id: None,
    };
    server.engine.execute(&ann(), stop).await.unwrap();
    client.done(2).await;
    let path = server.path(&session).await;
    assert_eq!(path.last().unwrap(), "assistant:  (aborted)", "{path:?}");
    let meters = client.events().into_iter();
    let mut meters = meters.filter(|event| event["type"] == "token_update");
    let last = meters.next_back().unwrap();
    let used = last["data"]["context"]["usedTokens"].as_u64().unwrap();
    assert!(used >= 100, "{last}");
}
