//! Calls that need an approval, over real sockets.

use crate::http::request;
use crate::whole::{Home, Whole};
use netaclaw_protocol::ApprovalMode;
use netaclaw_testkit::fake_model::{FakeModel, Reply};
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server whose agent asks before every call.
struct World {
    _dir: TempDir,
    home: Home,
    model: FakeModel,
    server: Whole,
}

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let model = FakeModel::start().await;
        let home = Home::prepared(dir.path(), &model, None).await;
        home.change_agent(|spec| spec.approval = ApprovalMode::Always)
            .await;
        let server = Whole::start(&home).await;
        Self {
            _dir: dir,
            home,
            model,
            server,
        }
    }

    /// The next process over the same directory.
    async fn restart(self) -> Self {
        self.server.stop().await;
        let server = Whole::start(&self.home).await;
        Self { server, ..self }
    }

    /// The model will look at a directory and then say that it is done.
    fn looks_at(&self, path: &str) {
        let args = json!({ "path": path }).to_string();
        let script = self.model.script();
        script.push(Reply::tool_call("call", "ls", &args));
        script.push(Reply::text("Done."));
    }

    /// A new session in which the agent asks, with a client that sees it.
    async fn asked(&self) -> (String, Client, Value) {
        self.looks_at(".");
        let mut client = self.server.client().await;
        client.call("sessions_watch", json!({})).await;
        let ack = client.call("chat", json!({"content": "look"})).await;
        let id = ack["sessionId"].as_str().unwrap().to_owned();
        let opened = client.call("session_open", json!({"sessionId": id})).await;
        let asked = match &opened["snapshot"]["approvals"][0] {
            Value::Null => client.wait("approval_request", |_| true).await["data"].clone(),
            shown => shown.clone(),
        };
        (id, client, asked)
    }

    /// The last text to the model about a call.
    fn told(&self) -> String {
        let request = self.model.script().last_request();
        let messages = request.body["messages"].as_array().unwrap().clone();
        let result = messages.iter().rev().find(|one| one["role"] == "tool");
        result.unwrap()["content"].to_string()
    }

    async fn end(self) {
        self.server.stop().await;
    }
}

fn answer(session: &str, asked: &Value, more: Value) -> Value {
    let mut answer = json!({"sessionId": session, "approvalId": asked["approvalId"]});
    let fields = more.as_object().unwrap().clone();
    answer.as_object_mut().unwrap().extend(fields);
    answer
}

#[tokio::test]
async fn a_call_waits_for_consent_and_then_runs() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    assert_eq!(
        (&asked["toolName"], &asked["args"]),
        (&json!("ls"), &json!({"path": "."}))
    );
    assert_eq!(
        (&asked["risk"], &asked["toolCallId"]),
        (&json!("read"), &json!("call"))
    );
    assert_eq!(asked["hash"].as_str().unwrap().len(), 64);
    client.listed(|item| item["waiting"] == true).await;
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    assert_eq!(
        client.call("approval_response", allow.clone()).await,
        json!({"ok": true})
    );
    let decided = client.wait("approval_decided", |_| true).await;
    assert_eq!(decided["data"]["outcome"], "allowed");
    client
        .wait("done", |data| data["outcome"] == "completed")
        .await;
    client.listed(|item| item["waiting"] == false).await;
    assert!(world.told().contains("notes.txt"), "{}", world.told());
    let late = client.call("approval_response", allow).await;
    assert_eq!(
        (&late["ok"], &late["code"], &late["message"]),
        (
            &json!(false),
            &json!("conflict"),
            &json!("this call has already been allowed")
        )
    );
    world.end().await;
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model_in_the_persons_words() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let deny = json!({"decision": "deny", "reason": " not that directory "});
    let answered = client.call("approval_response", answer(&id, &asked, deny));
    assert_eq!(answered.await, json!({"ok": true}));
    client.wait("done", |_| true).await;
    let told = world.told();
    assert!(
        told.contains("denied the call of `ls`: not that directory"),
        "{told}"
    );
    assert!(!told.contains("notes.txt"));
    world.end().await;
}

#[tokio::test]
async fn two_tabs_and_a_reload_see_it_and_one_answer_counts() {
    let world = World::new().await;
    let (id, mut first, asked) = world.asked().await;
    // A reload, or a second tab: the snapshot shows it again.
    let mut second = world.server.client().await;
    let opened = second.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(opened["snapshot"]["approvals"], json!([asked]));
    assert_eq!(opened["snapshot"]["run"]["phase"], "waiting_for_user");
    let deny = answer(&id, &asked, json!({"decision": "deny"}));
    assert_eq!(second.call("approval_response", deny).await["ok"], true);
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    let refused = first.call("approval_response", allow).await;
    assert_eq!(refused["code"], "conflict", "{refused}");
    let decided = first.wait("approval_decided", |_| true).await;
    assert_eq!(decided["data"]["outcome"], "denied");
    first.wait("done", |_| true).await;
    assert!(world.told().contains("denied"));
    world.end().await;
}

#[tokio::test]
async fn consent_for_the_session_is_for_the_same_arguments_only() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let always = json!({"decision": "allow", "remember": true});
    client
        .call("approval_response", answer(&id, &asked, always))
        .await;
    let decided = client.wait("approval_decided", |_| true).await;
    assert_eq!(decided["data"]["outcome"], "allowed_for_session");
    client.wait("done", |_| true).await;

    world.looks_at(".");
    client
        .call("chat", json!({"sessionId": id, "content": "again"}))
        .await;
    client.wait("done", |_| true).await;
    assert!(world.told().contains("notes.txt"));
    let asked_so_far = client.names();
    let asked_so_far = asked_so_far
        .iter()
        .filter(|name| **name == "approval_request");
    assert!(asked_so_far.count() <= 1);

    world.looks_at("..");
    client
        .call("chat", json!({"sessionId": id, "content": "up"}))
        .await;
    let other = client
        .wait("approval_request", |data| data["args"]["path"] == "..")
        .await;
    assert_ne!(other["data"]["hash"], asked["hash"]);
    let deny = answer(&id, &other["data"], json!({"decision": "deny"}));
    client.call("approval_response", deny).await;
    client.wait("done", |_| true).await;
    world.end().await;
}

#[tokio::test]
async fn words_in_the_chat_are_no_consent() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    world.model.script().push(Reply::text("Next."));
    let said = client
        .call("chat", json!({"sessionId": id, "content": "yes"}))
        .await;
    assert_eq!(said["disposition"], "queued");
    let mut other = world.server.client().await;
    let opened = other.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(opened["snapshot"]["approvals"], json!([asked]));
    let deny = answer(&id, &asked, json!({"decision": "deny"}));
    client.call("approval_response", deny).await;
    client.wait_count("done", 2).await;
    world.end().await;
}

#[tokio::test]
async fn a_stop_closes_it() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    client.call("stop", json!({"sessionId": id})).await;
    let closed = client.wait("approval_decided", |_| true).await;
    assert_eq!(closed["data"]["outcome"], "closed");
    client
        .wait("done", |data| data["outcome"] == "stopped")
        .await;
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    assert_eq!(
        client.call("approval_response", allow).await["code"],
        "not_found"
    );
    let mut fresh = world.server.client().await;
    let opened = fresh.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(opened["snapshot"]["approvals"], json!([]));
    world.end().await;
}

#[tokio::test]
async fn decisions_are_on_the_audit_list_without_the_arguments() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let deny = json!({"decision": "deny", "reason": "a secret reason"});
    client
        .call("approval_response", answer(&id, &asked, deny))
        .await;
    client.wait("done", |_| true).await;
    let audit = request(world.server.address, "GET", "/admin/netaclaw/audit")
        .send()
        .await;
    let act = audit.json()["items"][0].clone();
    assert_eq!(
        (&act["action"], &act["kind"], &act["targetName"]),
        (&json!("deny"), &json!("tool"), &json!("ls"))
    );
    assert_eq!(act["targetId"], asked["approvalId"]);
    let fields = act["fields"].to_string();
    for part in [id.as_str(), asked["hash"].as_str().unwrap(), "scope:once"] {
        assert!(fields.contains(part), "{fields}");
    }
    assert!(!audit.text.contains("secret"));
    world.end().await;
}

#[tokio::test]
async fn what_is_switched_off_while_somebody_is_asked_does_not_run() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let switched = request(world.server.address, "PATCH", "/admin/netaclaw/tools/ls")
        .json(json!({"status": "disabled"}))
        .send()
        .await;
    assert_eq!(switched.status, 200);
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    client.call("approval_response", allow).await;
    client.wait("done", |_| true).await;
    let told = world.told();
    assert!(told.contains("disabled it for all agents"), "{told}");
    assert!(!told.contains("notes.txt"));
    world.end().await;
}

#[tokio::test]
async fn after_a_restart_it_is_shown_again_and_one_answer_lets_the_call_run() {
    let world = World::new().await;
    let (id, _, asked) = world.asked().await;
    let world = world.restart().await;
    let mut first = world.server.client().await;
    let mut second = world.server.client().await;
    for client in [&mut first, &mut second] {
        let opened = client.call("session_open", json!({"sessionId": id})).await;
        assert_eq!(opened["snapshot"]["approvals"], json!([asked]));
        assert_eq!(opened["snapshot"]["run"]["status"], "idle");
    }
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    let taken = second.call("approval_response", allow.clone()).await;
    assert_eq!(taken, json!({"ok": true}));
    let refused = first.call("approval_response", allow).await;
    assert_eq!(refused["reason"], json!({"code": "call_allowed"}));
    for client in [&mut first, &mut second] {
        client.wait("approval_decided", |_| true).await;
        client
            .wait("done", |data| data["outcome"] == "completed")
            .await;
    }
    assert!(world.told().contains("notes.txt"), "{}", world.told());
    world.end().await;
}

#[tokio::test]
async fn after_a_restart_the_call_is_decided_on_anew() {
    let world = World::new().await;
    let (id, _, asked) = world.asked().await;
    let world = world.restart().await;
    let mut client = world.server.client().await;
    client.call("session_open", json!({"sessionId": id})).await;
    let switched = request(world.server.address, "PATCH", "/admin/netaclaw/tools/ls")
        .json(json!({"status": "disabled"}))
        .send()
        .await;
    assert_eq!(switched.status, 200);
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    client.call("approval_response", allow).await;
    client.wait("done", |_| true).await;
    let told = world.told();
    assert!(told.contains("disabled it for all agents"), "{told}");
    assert!(!told.contains("notes.txt"));
    world.end().await;
}

#[tokio::test]
async fn nobody_is_asked_behind_the_openai_api() {
    let world = World::new().await;
    world.looks_at(".");
    let body = json!({"model": "default", "messages": [{"role": "user", "content": "look"}]});
    let answered = request(world.server.address, "POST", "/v1/chat/completions")
        .json(body)
        .send()
        .await;
    let said = answered.json()["choices"][0]["message"]["content"].clone();
    assert_eq!(said, "Done.", "{}", answered.text);
    assert!(
        world.told().contains("there is no user to ask"),
        "{}",
        world.told()
    );
    world.end().await;
}

#[tokio::test]
async fn a_call_looks_the_same_live_in_snapshots_on_pages_and_after_a_restart() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let allow = answer(&id, &asked, json!({"decision": "allow"}));
    client.call("approval_response", allow).await;
    let executions = |entry: &Value| entry["metadata"]["toolExecutions"].clone();
    let updated = client.wait("session_entry_updated", |_| true).await["data"]["entry"].clone();
    let live = executions(&updated);
    client.wait("done", |_| true).await;
    let started = client
        .events
        .iter()
        .find(|event| event["type"] == "tool_call_started");
    let started = started
        .map(|event| event["data"].clone())
        .unwrap_or_default();
    for field in ["runtimeRoute", "workerRoutingHint", "policySources"] {
        assert!(!live[0][field].is_null(), "{live}");
        // It may have begun before the client had opened the session.
        assert!(
            started.is_null() || started[field] == live[0][field],
            "{field}"
        );
    }
    assert_eq!(
        (&live[0]["name"], &live[0]["label"], &live[0]["status"]),
        (&json!("ls"), &json!("List directory"), &json!("completed"))
    );
    // The model answered again, so that the results are not on the page before that answer.
    let page = |entries: &Value| {
        let entries = entries.as_array().unwrap().iter();
        let mut found = entries.filter(|entry| entry["id"] == updated["id"]);
        executions(found.next().expect("the answer is there"))
    };
    let world = world.restart().await;
    let address = world.server.address;
    let get = |path: String| async move {
        let path = format!("/admin/netaclaw/sessions/{path}");
        request(address, "GET", &path).send().await.json()
    };
    assert_eq!(page(&get(format!("{id}/snapshot")).await["entries"]), live);
    let whole = get(format!("{id}/messages?view=full")).await;
    assert_eq!(page(&whole["items"]), live);
    let items = whole["items"].as_array().unwrap();
    let result = items
        .iter()
        .find(|entry| entry["message"]["role"] == "toolResult");
    let before = result.unwrap()["id"].as_str().unwrap();
    let older = get(format!("{id}/messages?view=full&before={before}")).await;
    assert_eq!(page(&older["items"]), live);
    let mut client = world.server.client().await;
    let opened = client.call("session_open", json!({"sessionId": id})).await;
    assert_eq!(page(&opened["snapshot"]["entries"]), live);
    world.end().await;
}
