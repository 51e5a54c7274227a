//! Every command: what it answers, and what it is refused with.

use crate::agent::{Act, say};
use crate::http::request;
use crate::server::Server;
use netaclaw_protocol::COMMAND_BYTES_MAX;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};

/// A session with one message and its answer.
async fn talked(server: &Server, client: &mut Client) -> String {
    server.script.act([say("Hi"), Act::End]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    assert_eq!(ack["ok"], true, "{ack}");
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    let open = client.call("session_open", json!({"sessionId": id})).await;
    if open["snapshot"]["run"]["status"] != "idle" {
        client
            .wait("run_status", |data| data["status"] == "idle")
            .await;
    }
    id
}

#[tokio::test]
async fn unknown_events_and_wrong_types_are_refused_and_the_socket_stays_open() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for (name, payload, part) in [
        ("dance", json!({}), "dance"),
        ("chat", json!({"content": 7}), "content: invalid type"),
        ("chat", json!({}), "missing field `content`"),
        ("chat", json!({"content": " "}), "empty"),
        ("chat", json!("hello"), "invalid type"),
        (
            "chat",
            json!({"content": "a", "mode": "later"}),
            "mode: unknown variant",
        ),
        ("stop", json!({}), "missing field `sessionId`"),
        ("stop", json!([1]), "invalid type"),
        (
            "session_open",
            json!({"sessionId": "s", "lastSeq": -1}),
            "lastSeq: invalid value",
        ),
        (
            "switch_leaf",
            json!({"sessionId": "s"}),
            "missing field `leafEntryId`",
        ),
        (
            "set_thinking_level",
            json!({"sessionId": "s", "level": "lots"}),
            "level: unknown variant",
        ),
        (
            "queue_edit",
            json!({"sessionId": "s", "action": "dance"}),
            "unknown variant",
        ),
    ] {
        let answer = client.call(name, payload).await;
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!("bad_request")),
            "{answer}"
        );
        assert!(
            answer["message"].as_str().unwrap().contains(part),
            "{answer}"
        );
    }
    let large = client
        .call("chat", json!({"content": "x".repeat(2 << 20)}))
        .await;
    assert_eq!(large["code"], "too_large");
    assert_eq!(large["reason"]["code"], "command_too_large", "{large}");
    assert_eq!(large["reason"]["bytesMax"], 1 << 20, "{large}");
    let absent = client.call("stop", json!({"sessionId": "nowhere"})).await;
    assert_eq!(absent["code"], "not_found");
    let words = json!({"zh": "没有这个会话", "en": absent["message"]});
    assert_eq!(absent["words"], words, "people read it in their language");
    assert_eq!(absent["reason"], json!({"code": "no_session"}));
    let agent = client
        .call("chat", json!({"content": "a", "agentName": "missing"}))
        .await;
    assert_eq!(agent["code"], "not_found");
    let missing = json!({"code": "no_record", "kind": "agent", "name": "missing", "nearest": null});
    assert_eq!(agent["reason"], missing);
    client.tell("dance", json!({})).await;
    let error = client.wait("error", |_| true).await;
    assert_eq!(error["data"]["code"], "bad_request");
    assert_eq!(client.call("ping", Value::Null).await, json!({"ok": true}));
    client.wait("pong", |_| true).await;
}

/// What the layer below does not read to its end it cannot answer; clients have to look before they
/// send.
#[tokio::test]
async fn a_frame_that_is_far_too_long_ends_its_socket_and_no_other() {
    let server = Server::start().await;
    let (mut client, mut other) = (server.client().await, server.client().await);
    let long = "x".repeat(COMMAND_BYTES_MAX * 4);
    client.start("chat", json!({"content": long})).await;
    client.until_disconnected().await;
    talked(&server, &mut other).await;
    server.stop().await;
}

#[tokio::test]
async fn a_command_that_panics_is_answered_and_the_socket_lives() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let chat = json!({"content": "Hello", "agentName": "broken", "requestId": "q1"});
    for _ in 0..2 {
        let answer = client.call("chat", chat.clone()).await;
        assert_eq!(answer["code"], "internal", "{answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(!message.contains("asked for it"), "{message}");
    }
    talked(&server, &mut client).await;
    server.stop().await;
}

#[tokio::test]
async fn a_message_is_answered_and_its_events_are_in_order() {
    let server = Server::start().await;
    let mut sender = server.client().await;
    let ack = sender.call("chat", json!({"content": "Hello"})).await;
    assert_eq!(ack["disposition"], "started");
    let mut client = server.client().await;
    let id = ack["sessionId"].as_str().unwrap();
    let open = client.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(open["mode"], "snapshot");
    assert_eq!(open["snapshot"]["run"]["status"], "running");
    assert_eq!(client.before_ack, 0, "no event comes before the answer");
    server.script.act([say("Hi "), say("you"), Act::End]);
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "completed");
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    let first = open["seq"].as_u64().unwrap() + 1;
    let expected: Vec<u64> = (first..).take(client.seqs().len()).collect();
    assert_eq!(client.seqs(), expected, "contiguous from the answer on");
    assert_eq!(client.text("assistant_stream_delta"), "Hi you");
    assert_eq!(
        client.text("token"),
        "Hi you",
        "the older form says the same"
    );
    assert_eq!(server.path(id).await, ["user: Hello", "assistant: Hi you"]);
}

#[tokio::test]
async fn groups_of_events_can_be_chosen() {
    let server = Server::start().await;
    for (events, has, has_not) in [
        (json!(["current"]), "assistant_stream_delta", "token"),
        (json!(["legacy"]), "token", "assistant_stream_delta"),
    ] {
        let auth = json!({"token": crate::server::TOKEN, "events": events});
        let mut client = server.client_with(auth).await;
        let ack = client.call("chat", json!({"content": "Hello"})).await;
        client
            .call("session_open", json!({"sessionId": ack["sessionId"]}))
            .await;
        server.script.act([say("Hi"), Act::End]);
        client.wait("done", |_| true).await;
        assert!(client.names().contains(&has), "{:?}", client.names());
        assert!(!client.names().contains(&has_not), "{:?}", client.names());
    }
}

#[tokio::test]
async fn a_first_message_chooses_model_and_thinking_once() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let chat = json!({
        "content": "Hello",
        "requestId": "q1",
        "model": {"channelId": "work", "modelId": "large"},
        "thinkingLevel": "high",
    });
    let ack = client.call("chat", chat.clone()).await;
    assert_eq!(ack["feed"]["seq"], 0, "the choice is heard of too: {ack}");
    let again = client.call("chat", chat).await;
    assert_eq!(again["deduped"], true);
    server.script.act([say("Hi"), Act::End]);
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    let open = json!({"sessionId": ack["sessionId"]});
    let opened = client.call("session_open", open).await;
    let snapshot = &opened["snapshot"];
    assert_eq!(snapshot["thinkingLevel"], "high");
    let kinds = snapshot["entries"].as_array().unwrap().iter();
    let kinds: Vec<&Value> = kinds.map(|entry| &entry["type"]).collect();
    let chosen = [
        "model_change",
        "thinking_level_change",
        "message",
        "message",
    ];
    assert_eq!(kinds, chosen, "before the message, and once");
    assert_eq!(snapshot["entries"][0]["modelId"], "large");
}

#[tokio::test]
async fn the_client_that_starts_a_session_gets_its_first_event() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let chat = json!({"content": "Hello", "requestId": "q1"});
    let ack = client.call("chat", chat.clone()).await;
    assert_eq!(ack["feed"]["seq"], 0, "{ack}");
    let again = client.call("chat", chat).await;
    assert_eq!(
        (&again["deduped"], &again["feed"]),
        (&json!(true), &Value::Null)
    );
    server.script.act([say("Hi"), Act::End]);
    let idle = |data: &Value| data["status"] == "idle";
    client.wait("run_status", idle).await;
    assert_eq!(client.text("assistant_stream_delta"), "Hi");
    let seqs = client.seqs();
    let all: Vec<u64> = (1..=seqs.len() as u64).collect();
    assert_eq!(seqs, all, "every event, once");

    // Opening it continues from the client's last event, or from the start.
    let id = &ack["sessionId"];
    let from =
        |seq: Option<&u64>| json!({"sessionId": id, "epoch": ack["feed"]["epoch"], "lastSeq": seq});
    let opened = client.call("session_open", from(seqs.last())).await;
    assert_eq!(opened["mode"], "live", "{opened}");
    let opened = client.call("session_open", from(Some(&0))).await;
    assert_eq!(opened["mode"], "replay");
    let next = json!({"sessionId": id, "content": "More"});
    server.script.act([say("Hi again"), Act::End]);
    client.call("chat", next).await;
    client.wait_count("done", 3).await;
    let twice: Vec<u64> = client.seqs().split_off(seqs.len());
    let all: Vec<u64> = (1..=twice.len() as u64).collect();
    assert_eq!(twice, all, "the old ones again, and the new ones once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_message_that_is_sent_twice_at_once_is_heard_of_once() {
    let server = Server::start().await;
    // Whether two commands really run concurrently is a matter of luck.
    for round in 0..20 {
        let mut client = server.client().await;
        let chat = json!({"content": "Hello", "requestId": format!("q{round}")});
        let first = client.start("chat", chat.clone()).await;
        let second = client.start("chat", chat).await;
        let (first, second) = (client.answer(first).await, client.answer(second).await);
        assert_eq!(first["sessionId"], second["sessionId"]);
        assert_eq!(
            (&second["deduped"], &second["feed"]),
            (&json!(true), &Value::Null),
            "{second}"
        );
        server.script.act([say("Hi"), Act::End]);
        let idle = |data: &Value| data["status"] == "idle";
        client.wait("run_status", idle).await;
        let seqs = client.seqs();
        let all: Vec<u64> = (1..=seqs.len() as u64).collect();
        assert_eq!(seqs, all, "every event, once");
    }
}

#[tokio::test]
async fn a_refused_first_message_subscribes_to_nothing() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let gone = json!([{"id": "missing", "name": "a.png"}]);
    let refused = client
        .call(
            "chat",
            json!({"content": "Hello", "attachments": gone, "requestId": "q1"}),
        )
        .await;
    assert_eq!(refused["ok"], false, "{refused}");
    let mut other = server.client().await;
    server.script.act([say("Hi"), Act::End]);
    let ack = other
        .call("chat", json!({"content": "Hello", "requestId": "q1"}))
        .await;
    other.wait("done", |_| true).await;
    assert_eq!(ack["ok"], true, "{ack}");
    client.call("ping", json!({})).await;
    client.wait("pong", |_| true).await;
    assert_eq!(client.seqs(), Vec::<u64>::new());
}

#[tokio::test]
async fn a_refused_first_message_leaves_no_session() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.call("sessions_watch", json!({})).await;
    let image = json!([{"name": "a.png", "data": "bm8gaW1hZ2U="}]);
    for (chat, code) in [
        (
            json!({"content": "Hello", "attachments": [{"id": "admin.gone", "name": "a.png"}]}),
            "bad_request",
        ),
        (
            json!({"content": "Hello", "attachments": image, "requestId": "q1"}),
            "bad_request",
        ),
        (
            json!({"content": "Hello", "leafEntryId": "nowhere", "requestId": "q2"}),
            "stale_parent",
        ),
    ] {
        let refused = client.call("chat", chat).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let image_url = json!({"url": "data:image/png;base64,bm8gaW1hZ2U="});
    let said = json!([{"type": "image_url", "image_url": image_url}]);
    let asked = json!({"model": "default", "messages": [{"role": "user", "content": said}]});
    let refused = request(server.address, "POST", "/v1/chat/completions").json(asked);
    assert_eq!(refused.send().await.status, 400);

    let sessions = request(server.address, "GET", "/admin/netaclaw/sessions");
    assert_eq!(sessions.send().await.json()["total"], 0);
    client.call("ping", json!({})).await;
    assert_eq!(client.lists, Vec::<Value>::new(), "nor was one told of");
}

#[tokio::test]
async fn a_stop_that_overtakes_its_message_counts() {
    let server = Server::start().await;
    let mut client = server.client().await;
    // The agent has no script, so that only a stop ends its runs.
    let early = client.call("stop", json!({"requestId": "q1"})).await;
    assert_eq!(early, json!({"ok": true, "status": "idle"}));
    let chat = json!({"content": "Hello", "requestId": "q1"});
    let ack = client.call("chat", chat).await;
    assert_eq!(ack["disposition"], "started", "{ack}");
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "stopped");

    let id = &ack["sessionId"];
    let early = json!({"sessionId": id, "requestId": "q2"});
    assert_eq!(client.call("stop", early).await["status"], "idle");
    let chat =
        |text: &str, request: &str| json!({"sessionId": id, "content": text, "requestId": request});
    client.call("chat", chat("two", "q2")).await;
    client.wait_count("done", 2).await;
    // It was meant for that message alone, and a late one finds its run by the request too.
    let ack = client.call("chat", chat("three", "q3")).await;
    assert_eq!(ack["disposition"], "started");
    server.script.act([say("three it is"), Act::End]);
    client.wait_count("done", 3).await;
    client.call("chat", chat("four", "q4")).await;
    let late = json!({"sessionId": id, "requestId": "q4"});
    assert_eq!(client.call("stop", late).await["status"], "stopping");
    client.wait_count("done", 4).await;
    let refused = client.call("stop", json!({})).await;
    assert_eq!(refused["code"], "bad_request");
}

#[tokio::test]
async fn a_request_sent_twice_has_one_effect() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let chat = json!({"content": "Hello", "requestId": "q1"});
    let first = client.call("chat", chat.clone()).await;
    // As after a connection that broke before the answer: another socket, no session known.
    let mut again = server.client().await;
    let second = again.call("chat", chat).await;
    assert_eq!(second["sessionId"], first["sessionId"]);
    assert_eq!(
        (&first["deduped"], &second["deduped"]),
        (&Value::Null, &json!(true))
    );
    let other = again
        .call("chat", json!({"content": "Bye", "requestId": "q1"}))
        .await;
    assert_eq!(other["code"], "conflict");
    let id = first["sessionId"].as_str().unwrap();
    assert_eq!(server.path(id).await, ["user: Hello"]);

    let level = json!({"sessionId": id, "level": "high", "requestId": "q2"});
    assert_eq!(
        client.call("set_thinking_level", level.clone()).await,
        json!({"ok": true})
    );
    let repeated = client.call("set_thinking_level", level).await;
    assert_eq!(repeated, json!({"ok": true, "deduped": true}));
    let other = json!({"sessionId": id, "level": "low", "requestId": "q2"});
    assert_eq!(
        client.call("set_thinking_level", other).await["code"],
        "conflict"
    );
}

#[tokio::test]
async fn commands_that_change_a_session() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let id = talked(&server, &mut client).await;
    let open = client.call("session_open", json!({"sessionId": id})).await;
    let path = open["snapshot"]["activePath"].as_array().unwrap().clone();
    let user = path[0].clone();

    let renamed = client
        .call("rename", json!({"sessionId": id, "title": "New"}))
        .await;
    assert_eq!(renamed["session"]["title"], "New");
    client
        .wait("session_updated", |data| data["session"]["title"] == "New")
        .await;
    let labelled = json!({"sessionId": id, "entryId": user, "label": "start"});
    assert_eq!(client.call("label", labelled).await, json!({"ok": true}));
    client
        .wait("session_updated", |data| data["labels"].is_object())
        .await;
    let model = json!({"sessionId": id, "channelId": "c", "modelId": "m"});
    assert_eq!(client.call("set_model", model).await, json!({"ok": true}));
    let forked = client
        .call("fork", json!({"sessionId": id, "entryId": user}))
        .await;
    assert_ne!(forked["sessionId"], json!(id));
    let switched = json!({"sessionId": id, "leafEntryId": user});
    assert_eq!(
        client.call("switch_leaf", switched).await,
        json!({"ok": true, "status": "moved"})
    );
    client
        .wait("session_leaf_changed", |data| data["leafEntryId"] == user)
        .await;
    let gone = json!({"sessionId": id, "leafEntryId": "ffffffff"});
    assert_eq!(
        client.call("switch_leaf", gone).await["code"],
        "stale_parent"
    );
    let summary = json!({"sessionId": id, "leafEntryId": user, "summarize": true});
    assert_eq!(
        client.call("switch_leaf", summary).await,
        json!({"ok": true, "status": "moved"}),
        "nothing is left, so there is nothing to tell"
    );
    let compact = json!({"sessionId": id, "instructions": "x", "requestId": "compact-1"});
    assert_eq!(
        client.call("compact", compact.clone()).await,
        json!({"ok": true, "status": "started"})
    );
    client.wait("compaction_start", |_| true).await;
    client.wait("compaction_error", |_| true).await;
    client
        .wait("run_status", |data| data["status"] == "idle")
        .await;
    assert_eq!(
        client.call("compact", compact).await,
        json!({"ok": true, "status": "started", "deduped": true})
    );
    assert_eq!(
        client
            .call("dismiss_compaction", json!({"sessionId": id}))
            .await,
        json!({"ok": true})
    );
    client.wait("compaction_dismissed", |_| true).await;
    let approval = json!({"sessionId": id, "approvalId": "a", "decision": "allow"});
    assert_eq!(
        client.call("approval_response", approval).await["code"],
        "not_found"
    );
    let answer = json!({"sessionId": id, "requestId": "q", "answer": "a"});
    assert_eq!(
        client.call("clarify_response", answer).await["code"],
        "not_found"
    );
    let queue = client
        .call("queue_edit", json!({"sessionId": id, "action": "resume"}))
        .await;
    assert_eq!(queue["queue"]["items"], json!([]));
    let stale = json!({"sessionId": id, "content": "x", "leafEntryId": "ffffffff"});
    assert_eq!(client.call("chat", stale).await["code"], "stale_parent");
    assert_eq!(
        client.call("stop", json!({"sessionId": id})).await["status"],
        "idle"
    );
}

#[tokio::test]
async fn during_a_run_messages_wait_leaves_stay_and_stop_ends_it() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "one"})).await;
    let id = ack["sessionId"].as_str().unwrap();
    client.call("session_open", json!({"sessionId": id})).await;
    server.script.act([say("half")]);
    client.wait("assistant_stream_delta", |_| true).await;
    let queued = client
        .call("chat", json!({"sessionId": id, "content": "two"}))
        .await;
    assert_eq!(queued["disposition"], "queued");
    let steered = json!({"sessionId": id, "content": "now", "mode": "steer"});
    assert_eq!(client.call("chat", steered).await["disposition"], "steered");
    let switch = json!({"sessionId": id, "leafEntryId": null});
    assert_eq!(
        client.call("switch_leaf", switch).await["code"],
        "session_busy"
    );
    assert_eq!(
        client.call("stop", json!({"sessionId": id})).await["status"],
        "stopping"
    );
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "stopped");
    client
        .wait("queue_update", |data| data["held"] == true)
        .await;
}

#[tokio::test]
async fn a_question_is_answered() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let ack = client.call("chat", json!({"content": "one"})).await;
    let id = ack["sessionId"].as_str().unwrap();
    client.call("session_open", json!({"sessionId": id})).await;
    server.script.act([Act::Ask("Which?"), Act::End]);
    let asked = client.wait("clarify_request", |_| true).await;
    assert_eq!(asked["data"]["question"], "Which?");
    let answer = json!({"sessionId": id, "requestId": asked["data"]["requestId"], "answer": "red"});
    let mut second = server.client().await;
    second.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(
        client.call("clarify_response", answer.clone()).await,
        json!({"ok": true})
    );
    // The first one counts, the other tab receives it, and a repetition is not an error.
    let told = second.wait("clarify_answered", |_| true).await;
    assert_eq!(told["data"]["requestId"], asked["data"]["requestId"]);
    assert_eq!(told["data"]["outcome"], "answered");
    assert_eq!(told["data"]["answer"], json!(["red"]));
    let mut other = answer.clone();
    other["answer"] = json!("blue");
    let late = second.call("clarify_response", other).await;
    assert_eq!(late["code"], "conflict");
    client.wait("done", |_| true).await;
    assert_eq!(
        client.call("clarify_response", answer).await,
        json!({"ok": true, "deduped": true})
    );
}

#[tokio::test]
async fn a_slow_command_holds_up_no_other() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let slow = client
        .start("chat", json!({"content": "a", "agentName": "slow"}))
        .await;
    let ack = client.call("chat", json!({"content": "b"})).await;
    let stopped = client
        .call("stop", json!({"sessionId": ack["sessionId"]}))
        .await;
    assert_eq!(stopped["status"], "stopping");
    server.script.source.found.notify_one();
    assert_eq!(client.answer(slow).await["ok"], true);
}

#[tokio::test]
async fn commands_of_a_session_are_carried_out_in_order() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let id = talked(&server, &mut client).await;
    let mut calls = Vec::new();
    for number in 0..100 {
        let title = json!({"sessionId": id, "title": number.to_string()});
        calls.push(client.start("rename", title).await);
    }
    for call in calls {
        assert_eq!(client.answer(call).await["ok"], true);
    }
    client
        .wait("session_updated", |data| data["session"]["title"] == "99")
        .await;
    let titles = client
        .events
        .iter()
        .filter(|event| event["type"] == "session_updated");
    let titles =
        titles.filter_map(|event| event["data"]["session"]["title"].as_str()?.parse().ok());
    assert_eq!(titles.collect::<Vec<u32>>(), (0..100).collect::<Vec<u32>>());
}

#[tokio::test]
async fn a_closed_session_sends_nothing_more() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let id = talked(&server, &mut client).await;
    assert_eq!(
        client.call("session_close", json!({"sessionId": id})).await,
        json!({"ok": true})
    );
    let before = client.events.len();
    client
        .call("rename", json!({"sessionId": id, "title": "New"}))
        .await;
    client.call("ping", json!({})).await;
    client.wait("pong", |_| true).await;
    assert_eq!(client.names()[before..], ["pong"]);
}
