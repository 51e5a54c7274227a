//! REST: records with revisions, sessions, and who may do what.

use crate::agent::{Act, say};
use crate::http::{plain, request};
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use serde_json::{Value, json};

#[tokio::test]
async fn two_editors_do_not_overwrite_each_other() {
    let server = Server::start().await;
    let call = |method, path| request(server.address, method, path);
    let made = call("POST", "/admin/netaclaw/agents").json(json!({"name": "helper"}));
    let made = made.send().await;
    assert_eq!(
        (made.status, made.header("etag")),
        (201, "\"1\""),
        "{}",
        made.text
    );
    let path = format!(
        "/admin/netaclaw/agents/{}",
        made.json()["id"].as_str().unwrap()
    );
    let change = json!({"label": "one"});
    let first = call("PATCH", &path)
        .header("if-match", "\"1\"")
        .json(change.clone());
    let first = first.send().await;
    assert_eq!(
        (first.status, first.header("etag")),
        (200, "\"2\""),
        "{}",
        first.text
    );

    let late = call("PATCH", &path)
        .header("if-match", "\"1\"")
        .json(change.clone());
    let late = late.send().await;
    assert_eq!(
        (late.status, late.json()["code"].clone()),
        (412, json!("conflict"))
    );
    assert_eq!(late.json()["details"]["currentRev"], 2);
    let by_address = format!("{path}?rev=1");
    let late = call("PATCH", &by_address).json(change).send().await;
    assert_eq!(
        (late.status, late.json()["details"]["currentRev"].clone()),
        (409, json!(2))
    );
    let wrong = call("PATCH", &path)
        .json(json!({"labell": "x"}))
        .send()
        .await;
    assert_eq!(
        (wrong.status, wrong.json()["details"]["field"].clone()),
        (400, json!("labell"))
    );
    let deleted = call("DELETE", &path).header("if-match", "2").send().await;
    assert_eq!(deleted.status, 204);
    assert_eq!(call("GET", &path).send().await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_patch_at_once_keep_each_others_change() {
    let server = Server::start().await;
    let agents = "/admin/netaclaw/agents";
    let made = request(server.address, "POST", agents).json(json!({"name": "helper"}));
    let path = format!(
        "{agents}/{}",
        made.send().await.json()["id"].as_str().unwrap()
    );
    let patch = |change: Value| request(server.address, "PATCH", &path).json(change).send();
    // Whether they really meet is a matter of luck.
    for round in 0..30 {
        let text = round.to_string();
        let (one, other) = tokio::join!(
            patch(json!({"label": text})),
            patch(json!({"description": text}))
        );
        assert_eq!((one.status, other.status), (200, 200), "{}", one.text);
        let agent = request(server.address, "GET", &path).send().await.json();
        let both = (&agent["label"], &agent["description"]);
        assert_eq!(both, (&json!(text), &json!(text)));
    }
}

#[tokio::test]
async fn every_kind_of_record_can_be_made_and_read() {
    let server = Server::start().await;
    let call = |method, path| request(server.address, method, path);
    let channel = json!({"name": "mine", "supplier": "demo", "apiKey": "sk-secret-marker-4711"});
    let made = call("POST", "/admin/netaclaw/channels")
        .json(channel)
        .send()
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert!(!made.text.contains("marker"), "a key never comes out");
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let test = format!("/admin/netaclaw/channels/{id}/test");
    assert_eq!(call("POST", &test).send().await.json()["ok"], true);

    // An unknown setting would only seem to have an effect.
    let setting = call("PUT", "/admin/netaclaw/settings/a.b").json(json!({"value": [1]}));
    assert_eq!(setting.send().await.json()["code"], "not_found");
    assert_eq!(
        call("GET", "/admin/netaclaw/settings/c")
            .send()
            .await
            .status,
        404
    );
    let group = json!({"key": "colours", "name": "Colours"});
    let group = call("POST", "/admin/netaclaw/dictionary")
        .json(group)
        .send()
        .await;
    let group_id = group.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/netaclaw/dictionary/{group_id}/entries");
    let entry = call("POST", &path).json(json!({"name": "red", "value": "#f00"}));
    assert_eq!(entry.send().await.status, 201);
    let user = json!({"name": "ann", "role": "user"});
    let user = call("POST", "/admin/netaclaw/users")
        .json(user)
        .send()
        .await
        .json();
    let token = json!({"userId": user["id"], "label": "cli", "scope": "full"});
    let token = call("POST", "/admin/netaclaw/tokens")
        .json(token)
        .send()
        .await
        .json();
    let secret = token["secret"].as_str().unwrap();
    let me = plain(server.address, "GET", "/admin/netaclaw/me").bearer(secret);
    assert_eq!(me.send().await.json()["name"], "ann");
    let path = format!("/admin/netaclaw/tokens/{}", token["id"].as_str().unwrap());
    assert_eq!(call("DELETE", &path).send().await.status, 200);
    let me = plain(server.address, "GET", "/admin/netaclaw/me").bearer(secret);
    assert_eq!(me.send().await.status, 401);
    let audit = call("GET", "/admin/netaclaw/audit?size=3")
        .send()
        .await
        .json();
    assert_eq!(audit["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn an_agent_shows_its_prompt_and_tools() {
    let server = Server::start().await;
    let call = |method, path| request(server.address, method, path);
    let agents = call("GET", "/admin/netaclaw/agents").send().await.json();
    let base = format!(
        "/admin/netaclaw/agents/{}",
        agents["items"][0]["id"].as_str().unwrap()
    );
    let path = format!("{base}/tools");
    let tools = call("GET", &path).send().await.json();
    let has = |tools: &Value, name: &str| {
        let names = tools["toolNames"].as_array().unwrap();
        names.iter().any(|known| known == name)
    };
    assert!(has(&tools, "read"), "{tools}");
    let path = format!("{base}/prompt-preview");
    let prompt = call("GET", &path).send().await.json();
    assert_eq!(prompt["layers"][0]["name"], "identity");
    let tokens = |of: &Value| of["tokens"].as_u64().unwrap();
    let layers = prompt["layers"].as_array().unwrap();
    let in_layers: u64 = layers.iter().map(tokens).sum();
    let in_tools = prompt["toolTokens"].as_u64().unwrap();
    assert!(in_tools > 1_000, "{in_tools}");
    assert_eq!(tokens(&prompt), in_layers + in_tools);
    let fact = json!({"text": "Prefers tabs"});
    let kept = call("POST", "/admin/netaclaw/memories").json(fact).send();
    assert_eq!(kept.await.status, 201);
    let prompt = call("GET", &path).send().await.json();
    let layers = prompt["layers"].as_array().unwrap();
    let memory = layers.iter().find(|layer| layer["name"] == "memory");
    let memory = memory.unwrap()["text"].as_str().unwrap();
    assert!(memory.contains("Prefers tabs"), "{memory}");

    // What is not saved yet is shown as it would be.
    let edited = json!({
        "name": "x",
        "systemPrompt": "Speak like a pirate.",
        "tools": {"disabled": ["read"]},
        "workspace": "/nowhere/at/all",
    });
    let preview = call("POST", "/admin/netaclaw/agents/preview").json(edited);
    let preview = preview.send().await.json();
    let words = preview["prompt"]["layers"][0]["text"].as_str().unwrap();
    assert!(words.contains("pirate"), "{words}");
    assert!(!has(&preview["tools"], "read"));
    let off = &preview["tools"]["disabledReasons"][0];
    assert_eq!(
        (&off["toolName"], &off["code"]),
        (&json!("read"), &json!("off_for_agent"))
    );
    assert!(
        preview["problem"].as_str().unwrap().contains("workspace"),
        "{preview}"
    );
    let catalogue = call("GET", "/admin/netaclaw/tools").send().await.json();
    let known = catalogue["items"].as_array().unwrap();
    let read = known.iter().find(|tool| tool["name"] == "read").unwrap();
    assert_eq!(
        (&read["risk"], &read["schema"]["type"]),
        (&json!("read"), &json!("object"))
    );
}

#[tokio::test]
async fn channels_can_be_tried_before_they_are_kept() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let call = |method, path| request(server.address, method, path);
    let demo = json!({"name": "new", "supplier": "demo"});
    let tried = call("POST", "/admin/netaclaw/channels/test").json(demo);
    assert_eq!(tried.send().await.json()["ok"], true);
    let broken =
        json!({"name": "new", "supplier": "compatible", "baseUrl": "http://127.0.0.1:1/v1"});
    let tried = call("POST", "/admin/netaclaw/channels/test").json(broken);
    let tried = tried.send().await.json();
    assert_eq!(tried["ok"], false);
    assert!(tried["message"].is_string(), "{tried}");
    let wrong = json!({"name": "", "supplier": "demo"});
    let wrong = call("POST", "/admin/netaclaw/channels/test")
        .json(wrong)
        .send()
        .await;
    assert_eq!(
        (wrong.status, wrong.json()["details"]["field"].clone()),
        (400, json!("name"))
    );

    let suppliers = call("GET", "/admin/netaclaw/suppliers").send().await.json();
    let suppliers = suppliers["items"].as_array().unwrap();
    let openai = suppliers
        .iter()
        .find(|supplier| supplier["id"] == "openai")
        .unwrap();
    assert_eq!(
        (&openai["needsKey"], openai["baseUrl"].is_string()),
        (&json!(true), true)
    );
    // A user with the scope `chat` may choose a model, and sees nothing else of a channel.
    let models = plain(server.address, "GET", "/admin/netaclaw/models").bearer(&token);
    let models = models.send().await.json();
    assert_eq!(models["items"][0]["supplier"], "demo");
    assert!(models["items"][0]["models"][0]["contextWindow"].is_u64());
    assert!(models["items"][0].get("baseUrl").is_none());
    let path = "/admin/netaclaw/models/defaults";
    let defaults = plain(server.address, "GET", path).bearer(&token);
    let defaults = defaults.send().await.json();
    assert_eq!(defaults["items"][0]["model"], "demo", "{defaults}");
}

#[tokio::test]
async fn models_are_looked_up_by_name_for_any_channel() {
    let server = Server::start().await;
    let names = [
        "openai/gpt-4.1-2025-04-14",
        "in-house-7",
        "text-embedding-3-small",
    ];
    let found = request(server.address, "POST", "/admin/netaclaw/models/lookup")
        .json(json!({ "names": names }))
        .send();
    let found = found.await.json();
    let facts = |at: usize| {
        let model = &found["items"][at];
        let facts = ["name", "source", "vision", "chat"].map(|field| model[field].clone());
        json!(facts)
    };
    assert_eq!(facts(0), json!([names[0], "catalogue", true, true]));
    assert_eq!(found["items"][0]["contextWindow"], 1_047_576);
    assert_eq!(facts(1), json!([names[1], "guess", false, true]));
    assert_eq!(facts(2), json!([names[2], "guess", false, false]));
}

#[tokio::test]
async fn the_choice_of_a_chat_says_which_models_are_for_chats() {
    let server = Server::start().await;
    let channel = json!({
        "name": "relay",
        "supplier": "compatible",
        "baseUrl": "http://127.0.0.1:1/v1",
        "models": [
            {"name": "gpt-4.1"},
            {"name": "whisper-1"},
            {"name": "whisper-chat", "chat": true},
            {"name": "gpt-4o", "vision": false},
        ],
    });
    let made = request(server.address, "POST", "/admin/netaclaw/channels").json(channel);
    assert_eq!(made.send().await.status, 201);
    let models = request(server.address, "GET", "/admin/netaclaw/models").send();
    let models = models.await.json();
    let relay = models["items"].as_array().unwrap().iter();
    let relay = relay
        .clone()
        .find(|channel| channel["channelName"] == "relay");
    let facts: Vec<Value> = relay.unwrap()["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| json!([model["name"], model["chat"], model["vision"]]))
        .collect();
    assert_eq!(
        json!(facts),
        json!([
            ["gpt-4.1", true, true],
            ["whisper-1", false, false],
            ["whisper-chat", true, false],
            ["gpt-4o", true, false],
        ])
    );
}

#[tokio::test]
async fn channels_are_listed_by_use_and_status() {
    let server = Server::start().await;
    for (name, is_auxiliary, status) in [
        ("main", false, "enabled"),
        ("small", true, "enabled"),
        ("gone", true, "disabled"),
    ] {
        let channel = json!({
            "name": name, "supplier": "demo", "isAuxiliary": is_auxiliary, "status": status,
        });
        let made = request(server.address, "POST", "/admin/netaclaw/channels").json(channel);
        assert_eq!(made.send().await.status, 201);
    }
    let listed = async |query: &str| {
        let path = format!("/admin/netaclaw/channels?{query}");
        let listed = request(server.address, "GET", &path).send().await;
        assert_eq!(listed.status, 200, "{}", listed.text);
        let listed = listed.json();
        let names = listed["items"].as_array().unwrap().iter();
        let mut names: Vec<String> = names
            .map(|item| item["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        (names, listed["total"].as_u64().unwrap())
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(
        listed("isAuxiliary=true").await,
        (names(&["gone", "small"]), 2)
    );
    let both = "isAuxiliary=true&status=enabled&size=1";
    assert_eq!(listed(both).await, (names(&["small"]), 1));
    let main = listed("isAuxiliary=false&status=enabled").await.0;
    assert!(main.contains(&"main".to_owned()) && !main.contains(&"small".to_owned()));
    for wrong in ["isAuxiliary=perhaps", "status=asleep"] {
        let path = format!("/admin/netaclaw/channels?{wrong}");
        let refused = request(server.address, "GET", &path).send().await;
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
}

#[tokio::test]
async fn messages_are_read_page_by_page_in_both_views() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut session = Value::Null;
    for at in 0..3 {
        server.script.act([say(&format!("answer {at}")), Act::End]);
        let chat = json!({"content": format!("question {at}"), "sessionId": session});
        let ack = client.call("chat", chat).await;
        session = ack["sessionId"].clone();
        client.wait_count("done", at + 1).await;
    }
    let id = session.as_str().unwrap();
    let get = async |path: String| request(server.address, "GET", &path).send().await;
    for view in ["full", "compacted"] {
        let base = format!("/admin/netaclaw/session/messages?sessionId={id}&view={view}");
        let whole = get(base.clone()).await.json();
        assert_eq!(whole.get("cursor"), None);
        let (mut read, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let before = cursor.map_or_else(String::new, |before| format!("&before={before}"));
            let page = get(format!("{base}&limit=2{before}")).await.json();
            assert_eq!(page["total"], whole["total"]);
            let items = page["items"].as_array().unwrap().clone();
            assert!((1..=2).contains(&items.len()), "{page}");
            read.splice(0..0, items);
            match page["cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(json!(read), whole["items"], "{view}");
        assert!(read.len() >= 6);
        let wrong = get(format!("{base}&before=nothing")).await;
        assert_eq!(wrong.status, 409, "{}", wrong.text);
        assert_eq!(get(format!("{base}&limit=0")).await.status, 400);
    }
}

#[tokio::test]
async fn a_server_says_what_it_is() {
    let server = Server::start().await;
    let about = request(server.address, "GET", "/admin/netaclaw/about")
        .send()
        .await;
    let about = about.json();
    assert_eq!(about["protocol"], netaclaw_protocol::PROTOCOL);
    assert_eq!(
        (&about["adminStore"], &about["sessionProviders"]),
        (&json!("sqlite"), &json!(["file"]))
    );
    let me = request(server.address, "GET", "/admin/netaclaw/me")
        .send()
        .await
        .json();
    assert_eq!(
        (&me["mayConfigure"], &me["protocol"]),
        (&json!(true), &about["protocol"])
    );
    let anonymous = plain(server.address, "GET", "/admin/netaclaw/about")
        .send()
        .await;
    assert_eq!(anonymous.status, 401);
}

#[tokio::test]
async fn defaults_are_set_by_name() {
    let server = Server::start().await;
    let path = "/admin/netaclaw/dictionary-values/netaclaw/auxiliary_model_id";
    let put = request(server.address, "PUT", path).json(json!({"value": "small"}));
    assert_eq!(put.send().await.json()["value"], "small");
    let all = request(server.address, "GET", "/admin/netaclaw/dictionary")
        .send()
        .await;
    assert!(all.text.contains("\"small\""), "{}", all.text);
}

#[tokio::test]
async fn users_do_not_configure_the_server() {
    let server = Server::start().await;
    let (user, token) = server.user("ann", TokenScope::Full).await;
    let call = |method, path| plain(server.address, method, path).bearer(&token);
    for (method, path) in [
        ("GET", "/admin/netaclaw/channels"),
        ("POST", "/admin/netaclaw/agents"),
        ("GET", "/admin/netaclaw/users"),
        ("GET", "/admin/netaclaw/settings"),
        ("PUT", "/admin/netaclaw/settings/a"),
        ("GET", "/admin/netaclaw/dictionary"),
        ("GET", "/admin/netaclaw/audit"),
        ("GET", "/metrics"),
    ] {
        let answer = call(method, path).json(json!({})).send().await;
        assert_eq!(answer.status, 403, "{method} {path}");
    }
    let agents = call("GET", "/admin/netaclaw/agents").send().await.json();
    assert_eq!(agents["items"][0]["name"], "default");
    assert!(agents["items"][0].get("systemPrompt").is_none());
    let own = json!({"userId": user.id, "label": "x", "scope": "read"});
    let own = call("POST", "/admin/netaclaw/tokens")
        .json(own)
        .send()
        .await;
    assert_eq!(own.status, 201);
    let others = json!({"userId": "other-user", "label": "x", "scope": "full"});
    let others = call("POST", "/admin/netaclaw/tokens")
        .json(others)
        .send()
        .await;
    assert_eq!(others.status, 403);
}

#[tokio::test]
async fn sessions_are_listed_read_exported_named_and_deleted() {
    let server = Server::start().await;
    let mut client = server.client().await;
    server.script.act([say("Hi"), Act::End]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    let open = client.call("session_open", json!({"sessionId": id})).await;
    if open["snapshot"]["run"]["status"] != "idle" {
        client
            .wait("run_status", |data| data["status"] == "idle")
            .await;
    }
    let base = format!("/admin/netaclaw/sessions/{id}");
    let get = |path: String| async move { request(server.address, "GET", &path).send().await };
    let found = get("/admin/netaclaw/sessions?q=hello&size=1".to_owned())
        .await
        .json();
    assert_eq!(
        (&found["total"], &found["items"][0]["sessionId"]),
        (&json!(1), &json!(id))
    );
    assert_eq!(get(base.clone()).await.json()["sessionId"], json!(id));
    let stored = get(format!("{base}/snapshot")).await.json();
    assert_eq!(stored["session"]["sessionId"], json!(id));
    assert!(
        stored["session"].get("cwd").is_none(),
        "a path of the server"
    );
    let full = get(format!("{base}/messages?view=full&limit=1"))
        .await
        .json();
    assert_eq!(full["items"].as_array().unwrap().len(), 1);
    let cursor = full["cursor"].as_str().unwrap();
    let older = get(format!("{base}/messages?before={cursor}")).await.json();
    assert!(!older["items"].as_array().unwrap().is_empty());
    assert_eq!(full["foldedCount"], 0);
    let context = get(format!("{base}/messages?view=compacted")).await.json();
    let by_query = get(format!("/admin/netaclaw/session/messages?sessionId={id}"));
    assert_eq!(
        by_query.await.json(),
        context,
        "what the model sees comes unasked"
    );
    assert_eq!(context["items"].as_array().unwrap().len(), 2);
    let tree = get(format!("{base}/tree")).await.json();
    assert_eq!(
        (&tree["entries"][0]["role"], &tree["entries"][0]["preview"]),
        (&json!("user"), &json!("Hello"))
    );
    let entry = tree["entries"][0]["id"].as_str().unwrap();
    let whole = get(format!("{base}/entries/{entry}")).await.json();
    assert_eq!(whole["message"]["content"], "Hello");
    assert_eq!(get(format!("{base}/entries/nothing")).await.status, 404);
    let fork = format!("{base}/fork");
    let fork = request(server.address, "POST", &fork).json(json!({"entryId": entry}));
    let fork = fork.send().await;
    assert_eq!(
        (fork.status, fork.json()["messageCount"].clone()),
        (201, json!(1))
    );
    let fork = format!(
        "/admin/netaclaw/sessions/{}",
        fork.json()["sessionId"].as_str().unwrap()
    );
    assert_eq!(
        request(server.address, "DELETE", &fork).send().await.status,
        204
    );
    let export = get(format!("{base}/export")).await;
    let first: serde_json::Value =
        serde_json::from_str(export.text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["type"], &first["id"]),
        (&json!("session"), &json!(id))
    );

    let change =
        request(server.address, "PATCH", &base).json(json!({"title": "T", "status": "archived"}));
    let changed = change.send().await.json();
    assert_eq!(
        (&changed["title"], &changed["status"]),
        (&json!("T"), &json!("archived"))
    );
    assert_eq!(
        request(server.address, "DELETE", &base).send().await.status,
        204
    );
    let left = get("/admin/netaclaw/sessions".to_owned()).await.json();
    assert_eq!(left["total"], 0);
    for read in ["", "/export", "/messages", "/snapshot", "/tree", "/context"] {
        let answer = get(format!("{base}{read}")).await;
        assert_eq!(answer.status, 404, "{read} of a deleted session");
    }
    let change = |change| request(server.address, "PATCH", &base).json(change).send();
    assert_eq!(change(json!({"title": "late"})).await.status, 404);
    assert_eq!(change(json!({"status": "active"})).await.status, 200);
    assert_eq!(get(format!("{base}/export")).await.status, 200, "restored");
}

#[tokio::test]
async fn delete_now_ends_the_run_and_leaves_nothing_of_a_session() {
    let server = Server::start().await;
    let mut client = server.client().await;
    // The run is active while it is deleted.
    server.script.act([say("Hi")]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    let base = format!("/admin/netaclaw/sessions/{id}");
    let delete = |query: &'static str| {
        let path = format!("{base}{query}");
        async move { request(server.address, "DELETE", &path).send().await.status }
    };
    assert_eq!(delete("?now=maybe").await, 400);
    assert_eq!(delete("?now=true").await, 204);
    assert_eq!(delete("?now=true").await, 404);
    let restore = request(server.address, "PATCH", &base).json(json!({"status": "active"}));
    assert_eq!(restore.send().await.status, 404);
    let deleted = "/admin/netaclaw/sessions?status=deleted";
    let deleted = request(server.address, "GET", deleted).send().await.json();
    assert_eq!(deleted["total"], 0);

    // Also what was deleted before.
    server.script.act([say("Hi"), Act::End]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    let base = format!("/admin/netaclaw/sessions/{id}");
    for (query, status) in [("", 204), ("?now=true", 204), ("?now=true", 404)] {
        let path = format!("{base}{query}");
        let answer = request(server.address, "DELETE", &path).send().await;
        assert_eq!(answer.status, status, "{query}");
    }
}

/// Every error of a request has the same format.
#[tokio::test]
async fn every_refusal_is_json() {
    let server = Server::start().await;
    for (method, path, status, part) in [
        ("GET", "sessions?page=abc", 400, "page: invalid digit"),
        (
            "GET",
            "sessions?status=lost",
            400,
            "status: unknown variant",
        ),
        ("GET", "audit?size=-1", 400, "size: invalid digit"),
        (
            "GET",
            "sessions/s/messages?view=all",
            400,
            "view: unknown variant",
        ),
        ("GET", "session/messages", 400, "missing field `sessionId`"),
        (
            "GET",
            "session/process_log?sessionId=s",
            400,
            "missing field `operationId`",
        ),
        ("GET", "agents/a/tools?asSubagent=maybe", 400, "asSubagent"),
        ("POST", "agents/preview?asSubagent=maybe", 400, "asSubagent"),
        (
            "GET",
            "memories?agentId=a&agentId=b",
            400,
            "duplicate field",
        ),
        ("GET", "skills?agentId=a&agentId=b", 400, "duplicate field"),
        (
            "GET",
            "skills/s?agentId=a&agentId=b",
            400,
            "duplicate field",
        ),
        ("GET", "agents/%ff", 400, "cannot be parsed"),
        (
            "GET",
            "sessions/s/entries/e/images/first",
            400,
            "cannot be parsed",
        ),
        ("POST", "attachments", 400, "multipart/form-data"),
        ("PUT", "sessions", 405, "does not support PUT"),
        ("DELETE", "me", 405, "does not support DELETE"),
        ("GET", "nothing", 404, "nothing at this address"),
    ] {
        let path = format!("/admin/netaclaw/{path}");
        let refused = request(server.address, method, &path).send().await;
        assert_eq!(refused.status, status, "{path}: {}", refused.text);
        let body = refused.json();
        assert!(body["code"].is_string(), "{path}: {body}");
        assert!(
            body["message"].as_str().unwrap().contains(part),
            "{path}: {body}"
        );
        assert!(body["words"]["zh"].is_string(), "{path}: {body}");
    }
    let refused = request(server.address, "PUT", "/admin/netaclaw/sessions");
    assert_eq!(refused.send().await.header("allow"), "GET,HEAD");
    for (method, path, status) in [
        ("GET", "/v1/chat/completions", 405),
        ("GET", "/v1/models/%ff", 400),
        ("GET", "/v1/embeddings", 404),
    ] {
        let refused = request(server.address, method, path).send().await;
        let message = refused.json()["error"]["message"].clone();
        assert_eq!(refused.status, status, "{path}");
        assert!(message.is_string(), "{path}: {}", refused.text);
    }
}

#[tokio::test]
async fn the_api_describes_itself() {
    let server = Server::start().await;
    let api = request(server.address, "GET", "/openapi.json")
        .send()
        .await
        .json();
    let paths = api["paths"].as_object().unwrap();
    for path in [
        "/admin/netaclaw/agents/{id}",
        "/admin/netaclaw/sessions/{id}/messages",
        "/admin/netaclaw/login",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    assert!(api["components"]["securitySchemes"]["bearer"].is_object());
    let agent = &paths["/admin/netaclaw/agents/{id}"]["put"];
    let body = |part: &Value| part["content"]["application/json"]["schema"]["$ref"].clone();
    assert_eq!(
        body(&agent["requestBody"]),
        "#/components/schemas/AgentSpec"
    );
    assert_eq!(
        body(&agent["responses"]["200"]),
        "#/components/schemas/Agent"
    );
    assert_eq!(
        body(&agent["responses"]["default"]),
        "#/components/schemas/ApiProblem"
    );
    let text = api.to_string();
    let schemas = api["components"]["schemas"].as_object().unwrap();
    for (at, start) in text.match_indices("\"#/components/schemas/") {
        let name = text[at + start.len()..].split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name} is not described");
    }
}

/// The description and the routes agree: routes come with their description but for those that need
/// none, and none are added by hand.
#[tokio::test]
async fn every_route_is_described_and_every_description_is_true() {
    let server = Server::start().await;
    let api = request(server.address, "GET", "/openapi.json").send().await;
    let api = api.json();
    let paths = api["paths"].as_object().unwrap();
    for (path, item) in paths {
        let address = path.replace(['{', '}'], "");
        for method in item.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let answer = plain(server.address, &method, &address).send().await;
            let there = !matches!(answer.status, 404 | 405);
            assert!(there, "{method} {path}: {}", answer.text);
        }
    }
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut by_hand = routes_by_hand(&source);
    by_hand.sort();
    assert_eq!(by_hand, ["/", "/link", "/openapi.json"]);
}

/// The addresses in the source that come without a description.
fn routes_by_hand(dir: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(dir).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(routes_by_hand(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let routes = text.split(".route(\"").skip(1);
        found.extend(routes.map(|rest| rest.split('"').next().unwrap().to_owned()));
    }
    found
}

#[tokio::test]
async fn lists_come_whole_or_in_pages() {
    let server = Server::start().await;
    let get = async |path: &str| {
        let path = format!("/admin/netaclaw/{path}");
        let answer = request(server.address, "GET", &path).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    };
    for list in [
        "agents",
        "channels",
        "dictionary",
        "mcp-servers",
        "memories",
        "models",
        "settings",
        "skills",
        "suppliers",
        "tokens",
        "tools",
        "users",
    ] {
        let whole = get(list).await;
        let total = whole["items"].as_array().unwrap().len();
        assert_eq!(
            (&whole["total"], &whole["page"]),
            (&json!(total), &json!(1)),
            "{list}"
        );
        let second = get(&format!("{list}?page=2&size=1")).await;
        assert_eq!(
            (&second["page"], &second["size"]),
            (&json!(2), &json!(1)),
            "{list}"
        );
        assert_eq!(second["total"], total, "{list}");
        let only: Vec<&Value> = whole["items"]
            .as_array()
            .unwrap()
            .iter()
            .skip(1)
            .take(1)
            .collect();
        assert_eq!(second["items"], json!(only), "{list}");
    }
    let wrong = request(server.address, "GET", "/admin/netaclaw/users?page=two").send();
    assert_eq!(wrong.await.json()["code"], "bad_request");
}
