//! Calls that need an approval, over real sockets.

use crate::http::{plain, request};
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
async fn a_denial_reaches_the_model_with_the_users_note() {
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
async fn a_tool_disabled_during_an_approval_does_not_run() {
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
async fn no_approval_is_requested_behind_the_openai_api() {
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

impl World {
    /// The model will write a file and then say that it is done.
    fn writes(&self, path: &str) {
        let args = json!({ "path": path, "content": "x\n" }).to_string();
        let script = self.model.script();
        script.push(Reply::tool_call("call", "write", &args));
        script.push(Reply::text("Done."));
    }

    /// The same in a session, and what is asked, if anything is, before the run ends.
    async fn asked_to_write(
        &self,
        client: &mut Client,
        id: Option<&str>,
        path: &str,
    ) -> (String, Option<Value>) {
        self.writes(path);
        let mut chat = json!({"content": format!("write {path}")});
        if let Some(id) = id {
            chat["sessionId"] = json!(id);
            client.call("session_open", json!({"sessionId": id})).await;
        }
        let ack = client.call("chat", chat).await;
        let id = ack["sessionId"].as_str().unwrap().to_owned();
        let ended = client
            .wait_any(|event, data| {
                (event == "approval_request" && data["args"]["path"] == path)
                    || (event == "done" && data["runId"] == ack["runId"])
            })
            .await;
        let asked = (ended["type"] == "approval_request").then(|| ended["data"].clone());
        (id, asked)
    }

    async fn allow(&self, client: &mut Client, id: &str, asked: &Value, grant: Value) -> Value {
        let allow = json!({"decision": "allow", "grant": grant});
        let answered = client
            .call("approval_response", answer(id, asked, allow))
            .await;
        if answered["ok"] == true {
            client
                .wait("done", |data| data["runId"] == asked["runId"])
                .await;
        }
        answered
    }

    async fn get(&self, path: &str) -> Value {
        let answer = request(self.server.address, "GET", path).send().await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    async fn snapshot(&self, id: &str) -> Value {
        let mut client = self.server.client().await;
        let opened = client.call("session_open", json!({"sessionId": id})).await;
        opened["snapshot"].clone()
    }
}

fn edits(folder: &str, within: &str) -> Value {
    json!({"scope": {"kind": "edits", "folder": folder}, "within": within})
}

/// The approvals by which the last call of a session ran.
fn allowed_by(snapshot: &Value) -> Value {
    let entries = snapshot["entries"].as_array().unwrap();
    let mut results = entries
        .iter()
        .filter(|entry| entry["message"]["role"] == "toolResult");
    results.next_back().unwrap()["message"]["details"]["allowedBy"].clone()
}

#[tokio::test]
async fn a_folder_is_allowed_for_the_session_until_that_is_revoked() {
    let world = World::new().await;
    let mut client = world.server.client().await;
    let (id, asked) = world.asked_to_write(&mut client, None, "src/a.txt").await;
    let asked = asked.unwrap();
    let scopes: Vec<String> = asked["offers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|offer| format!("{} {}", offer["scope"]["kind"], offer["scope"]["folder"]))
        .collect();
    assert_eq!(
        scopes,
        [
            "\"call\" null",
            "\"edits\" \"src\"",
            "\"edits\" \".\"",
            "\"tool\" null"
        ]
    );
    for (wider, code) in [
        (edits("web", "session"), "bad_request"),
        (edits("..", "session"), "bad_request"),
        (
            json!({"scope": {"kind": "commands", "patterns": ["git *"]}, "within": "session"}),
            "bad_request",
        ),
    ] {
        let refused = world.allow(&mut client, &id, &asked, wider).await;
        assert_eq!(
            (&refused["code"], &refused["reason"]["code"]),
            (&json!(code), &json!("grant_not_offered"))
        );
    }
    assert_eq!(
        world
            .allow(&mut client, &id, &asked, edits("src", "session"))
            .await["ok"],
        true
    );
    let standing = client
        .wait("standing_approvals", |data| data["items"][0].is_object())
        .await;
    let approval = standing["data"]["items"][0].clone();
    assert_eq!(
        (&approval["scope"]["folder"], &approval["grantedBy"]),
        (&json!("src"), &json!("admin"))
    );

    // Below the folder nothing is asked, and the call says what allowed it: live and stored.
    let (_, none) = world
        .asked_to_write(&mut client, Some(&id), "src/deep/b.txt")
        .await;
    assert_eq!(none, None);
    let used = client.wait("approval_used", |_| true).await;
    assert_eq!(used["data"]["allowedBy"][0]["id"], approval["id"]);
    let snapshot = world.snapshot(&id).await;
    assert_eq!(allowed_by(&snapshot), used["data"]["allowedBy"]);
    assert_eq!(snapshot["standingApprovals"], json!([approval]));

    // A link that leads out of the folder asks again.
    let workspace = world.home.workspace();
    std::fs::create_dir(workspace.join("web")).unwrap();
    std::os::unix::fs::symlink("../web", workspace.join("src/link")).unwrap();
    let (_, link) = world
        .asked_to_write(&mut client, Some(&id), "src/link/c.txt")
        .await;
    let deny = answer(&id, &link.unwrap(), json!({"decision": "deny"}));
    client.call("approval_response", deny).await;
    client.wait_count("done", 3).await;
    assert!(!workspace.join("web/c.txt").exists());

    // It survives a restart, and ends when it is revoked.
    let world = world.restart().await;
    let mut client = world.server.client().await;
    let (_, none) = world
        .asked_to_write(&mut client, Some(&id), "src/d.txt")
        .await;
    assert_eq!(none, None);
    let listed = world.get("/admin/netaclaw/approvals").await;
    assert_eq!(listed["items"][0]["id"], approval["id"]);
    let path = format!(
        "/admin/netaclaw/approvals/{}?sessionId={id}",
        approval["id"].as_str().unwrap()
    );
    assert_eq!(
        request(world.server.address, "DELETE", &path)
            .send()
            .await
            .status,
        204
    );
    assert_eq!(
        request(world.server.address, "DELETE", &path)
            .send()
            .await
            .status,
        404
    );
    client
        .wait("standing_approvals", |data| data["items"] == json!([]))
        .await;
    let (_, again) = world
        .asked_to_write(&mut client, Some(&id), "src/e.txt")
        .await;
    assert!(again.is_some());
    let audit = world.get("/admin/netaclaw/audit").await;
    let acts: Vec<String> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|act| act["kind"] == "approval")
        .map(|act| {
            format!(
                "{} {}",
                act["action"].as_str().unwrap(),
                act["fields"][0].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(acts, ["revoke edits:src", "create edits:src"]);
    world.end().await;
}

#[tokio::test]
async fn an_agent_is_allowed_in_all_sessions_of_who_granted_it_and_of_no_other_user() {
    let world = World::new().await;
    let mut client = world.server.client().await;
    let (id, asked) = world.asked_to_write(&mut client, None, "a.txt").await;
    let granted = world
        .allow(&mut client, &id, &asked.unwrap(), edits(".", "agent"))
        .await;
    assert_eq!(granted["ok"], true, "{granted}");
    let decided = client.wait("approval_decided", |_| true).await;
    assert_eq!(decided["data"]["outcome"], "allowed_for_agent");
    let (other, none) = world.asked_to_write(&mut client, None, "b.txt").await;
    assert_eq!(none, None);
    assert_eq!(
        allowed_by(&world.snapshot(&other).await)[0]["within"],
        "agent"
    );

    // Another user is asked, and an administrator cannot grant it for them.
    let new = json!({"name": "ann", "label": "", "role": "user", "status": "enabled", "password": "a good password"});
    let ann = request(world.server.address, "POST", "/admin/netaclaw/users")
        .json(new)
        .send()
        .await;
    assert_eq!(ann.status, 201, "{}", ann.text);
    let spec =
        json!({"userId": ann.json()["id"], "label": "t", "scope": "full", "expiresAt": null});
    let token = request(world.server.address, "POST", "/admin/netaclaw/tokens")
        .json(spec)
        .send()
        .await;
    let token = token.json()["secret"].as_str().unwrap().to_owned();
    let mut hers = world.server.client_with(&token).await;
    let (of_ann, asked) = world.asked_to_write(&mut hers, None, "c.txt").await;
    let asked = asked.unwrap();
    client
        .call("session_open", json!({"sessionId": of_ann}))
        .await;
    let refused = world
        .allow(&mut client, &of_ann, &asked, edits(".", "agent"))
        .await;
    assert_eq!(
        refused["reason"]["code"], "approval_of_another_user",
        "{refused}"
    );

    let deny = answer(&of_ann, &asked, json!({"decision": "deny"}));
    hers.call("approval_response", deny).await;
    hers.wait("done", |_| true).await;

    // She sees and revokes her own only; an administrator all.
    let list = |token: &str, path: &'static str| {
        plain(world.server.address, "GET", path)
            .bearer(token)
            .send()
    };
    let own = list(&token, "/admin/netaclaw/approvals").await;
    assert_eq!(own.json()["items"], json!([]));
    assert_eq!(
        list(&token, "/admin/netaclaw/approvals?all=true")
            .await
            .status,
        403
    );
    let all = world.get("/admin/netaclaw/approvals?all=true").await;
    let item = &all["items"][0];
    assert_eq!(
        (&item["within"], &item["userName"]),
        (&json!("agent"), &json!("admin"))
    );
    let path = format!("/admin/netaclaw/approvals/{}", item["id"].as_str().unwrap());
    assert_eq!(
        plain(world.server.address, "DELETE", &path)
            .bearer(&token)
            .send()
            .await
            .status,
        404
    );
    let revoked = request(
        world.server.address,
        "DELETE",
        "/admin/netaclaw/approvals?all=true",
    );
    assert_eq!(revoked.send().await.status, 204);
    let (_, again) = world.asked_to_write(&mut client, None, "d.txt").await;
    assert!(again.is_some());
    world.end().await;
}

#[tokio::test]
async fn edits_are_accepted_until_the_mode_ends_and_a_change_of_the_agent_ends_it_too() {
    let world = World::new().await;
    let (id, mut client, asked) = world.asked().await;
    let deny = answer(&id, &asked, json!({"decision": "deny"}));
    client.call("approval_response", deny).await;
    client.wait("done", |_| true).await;
    let accept = |enabled: bool| json!({"sessionId": id, "enabled": enabled});
    assert_eq!(
        client.call("accept_edits", accept(true)).await,
        json!({"ok": true})
    );
    assert_eq!(
        client.call("accept_edits", accept(true)).await,
        json!({"ok": true})
    );
    assert_eq!(
        world.snapshot(&id).await["standingApprovals"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let (_, none) = world.asked_to_write(&mut client, Some(&id), "a.txt").await;
    assert_eq!(none, None);
    client.call("accept_edits", accept(false)).await;
    let (_, ended) = world.asked_to_write(&mut client, Some(&id), "b.txt").await;
    let deny = answer(&id, &ended.unwrap(), json!({"decision": "deny"}));
    client.call("approval_response", deny).await;
    client.wait_count("done", 3).await;

    client.call("accept_edits", accept(true)).await;
    world
        .home
        .change_agent(|spec| spec.sandbox.network = true)
        .await;
    // A server that starts now has read the change.
    let world = world.restart().await;
    let mut client = world.server.client().await;
    let (_, asked) = world.asked_to_write(&mut client, Some(&id), "c.txt").await;
    assert!(asked.is_some());
    world.end().await;
}
