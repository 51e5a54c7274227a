//! Lists of sessions: what is on them, and how they stay true without being read again.

use crate::agent::{Act, say};
use crate::http::{plain, request};
use crate::server::Server;
use netaclaw_protocol::TokenScope;
use netaclaw_testkit::socket::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

const SESSIONS: &str = "/admin/netaclaw/sessions";

/// Waits for an event of the list about a session that fits.
async fn told(client: &mut Client, session: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let of_session = |item: &Value| item["sessionId"] == session && fits(item);
    client.listed(of_session).await
}

/// A client that watches its list, and the first page.
async fn watching(server: &Server, watch: Value) -> (Client, Value) {
    let mut client = server.client().await;
    let page = client.call("sessions_watch", watch).await;
    assert_eq!(page["ok"], true, "{page}");
    (client, page)
}

async fn listed(server: &Server, query: &str) -> Vec<Value> {
    let path = format!("{SESSIONS}{query}");
    let page = request(server.address, "GET", &path).send().await.json();
    let items = page["items"].as_array().unwrap();
    assert_eq!(page["total"], items.len());
    items.clone()
}

#[tokio::test]
async fn a_list_follows_a_session_without_clients() {
    let server = Server::start().await;
    let (mut client, _) = watching(&server, json!({})).await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    client.call("session_close", json!({"sessionId": id})).await;
    let running = told(&mut client, &id, |item| item["running"] == true).await;
    assert_eq!(running["status"], "active");
    assert!(running.get("cwd").is_none() && running.get("metadata").is_none());
    assert_eq!(listed(&server, "").await[0]["running"], true);

    server.script.act([say("Hi"), Act::End]);
    let done = told(&mut client, &id, |item| item["unread"] == true).await;
    assert_eq!(done["running"], false);
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let item = &listed(&server, "?q=HELL&status=active").await[0];
    assert_eq!(
        (&item["unread"], &item["messageCount"]),
        (&json!(true), &json!(2))
    );

    client.call("session_open", json!({"sessionId": id})).await;
    told(&mut client, &id, |item| {
        item["unread"] == false && item["title"] == "Hello"
    })
    .await;
    let after = &listed(&server, "").await[0];
    assert_eq!(after["unread"], false);
    assert_eq!(after["updatedAt"], item["updatedAt"], "reading is no news");
}

#[tokio::test]
async fn changes_by_rest_reach_open_pages_and_lists() {
    let server = Server::start().await;
    let (mut client, _) = watching(&server, json!({})).await;
    server.script.act([say("Hi"), Act::End]);
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let path = format!("{SESSIONS}/{id}");
    let change = async |body: Value| {
        let answer = request(server.address, "PATCH", &path).json(body).send();
        answer.await.json()
    };
    // No client has it open, and the list receives its changes all the same.
    assert_eq!(change(json!({"title": "One"})).await["title"], "One");
    told(&mut client, &id, |item| item["title"] == "One").await;

    client.call("session_open", json!({"sessionId": id})).await;
    change(json!({"title": "Two", "status": "archived"})).await;
    let seen = |data: &Value| data["session"]["status"] == "archived";
    let event = client.wait("session_updated", seen).await;
    assert_eq!(event["data"]["session"]["title"], "Two");
    told(&mut client, &id, |item| item["status"] == "archived").await;
    assert_eq!(listed(&server, "?status=active").await.len(), 0);
    assert_eq!(listed(&server, "?status=archived").await.len(), 1);
    let wrong = change(json!({"titel": "x"})).await;
    assert_eq!(wrong["code"], "bad_request");
}

#[tokio::test]
async fn quick_changes_of_a_session_are_merged_for_the_list() {
    let server = Server::start().await;
    let (mut client, _) = watching(&server, json!({})).await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    server.script.act([say("Hi"), Act::End]);
    told(&mut client, &id, |item| item["title"] == "Hello").await;
    let begun = Instant::now();
    let path = format!("{SESSIONS}/{id}");
    for number in 1..=20 {
        let title = json!({"title": format!("Name {number}")});
        let renamed = request(server.address, "PATCH", &path).json(title).send();
        assert_eq!(renamed.await.status, 200);
    }
    told(&mut client, &id, |item| item["title"] == "Name 20").await;
    let quarters = begun.elapsed().as_millis() / 250;
    let titles = client.lists.iter().map(|item| item["title"].as_str());
    let renames = titles.filter(|title| title.is_some_and(|title| title.starts_with("Name ")));
    let events = renames.count() as u128;
    assert!(
        events <= quarters + 2,
        "{events} events in {quarters} quarters of a second"
    );
}

#[tokio::test]
async fn deleting_ends_the_run_and_restoring_brings_all_back() {
    let server = Server::start().await;
    let (mut client, _) = watching(&server, json!({})).await;
    let ack = client.call("chat", json!({"content": "Hello"})).await;
    let id = ack["sessionId"].as_str().unwrap().to_owned();
    client.call("session_open", json!({"sessionId": id})).await;
    server.script.act([say("half")]);
    client.wait("assistant_stream_delta", |_| true).await;
    let waiting = json!({"sessionId": id, "content": "next"});
    assert_eq!(client.call("chat", waiting).await["disposition"], "queued");

    let path = format!("{SESSIONS}/{id}");
    let deleted = request(server.address, "DELETE", &path).send().await;
    assert_eq!(deleted.status, 204, "{}", deleted.text);
    let done = client.wait("done", |_| true).await;
    assert_eq!(done["data"]["outcome"], "stopped");
    client.unlisted(&id).await;
    assert_eq!(listed(&server, "").await.len(), 0);
    let refused = json!({"sessionId": id, "content": "more"});
    assert_eq!(client.call("chat", refused).await["ok"], false);

    let back = request(server.address, "PATCH", &path).json(json!({"status": "active"}));
    let back = back.send().await.json();
    assert_eq!(
        (&back["status"], &back["queued"]),
        (&json!("active"), &json!(1))
    );
    assert_eq!(server.path(&id).await, ["user: Hello", "assistant: half"]);
}

#[tokio::test]
async fn a_list_shows_ones_own_and_administrators_more() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let mut ann = server.client_with(json!({ "token": token })).await;
    ann.call("sessions_watch", json!({})).await;
    let (mut admin, _) = watching(&server, json!({})).await;
    let hers = ann.call("chat", json!({"content": "hers"})).await;
    let his = admin.call("chat", json!({"content": "his"})).await;
    let his_id = his["sessionId"].as_str().unwrap();
    told(&mut admin, his_id, |_| true).await;
    let heard = |id: &Value| admin.lists.iter().any(|item| item["sessionId"] == *id);
    assert!(!heard(&hers["sessionId"]), "not on this list");
    assert_eq!(listed(&server, "").await.len(), 1);
    assert_eq!(listed(&server, "?userId=*").await.len(), 2);
    let own = plain(server.address, "GET", "/admin/netaclaw/sessions?userId=*").bearer(&token);
    let own = own.send().await.json();
    assert_eq!(
        (&own["total"], &own["items"][0]["sessionId"]),
        (&json!(1), &hers["sessionId"])
    );
    told(&mut ann, hers["sessionId"].as_str().unwrap(), |_| true).await;
    let own = |item: &Value| item["sessionId"] == hers["sessionId"];
    assert!(ann.lists.iter().all(own), "nothing of others");
    server.script.act([Act::End, Act::End]);
}

/// A session that begins with this message.
async fn session(client: &mut Client, title: &str) -> String {
    let ack = client.call("chat", json!({"content": title})).await;
    ack["sessionId"].as_str().unwrap().to_owned()
}

async fn change(server: &Server, session: &str, body: Value) {
    let path = format!("{SESSIONS}/{session}");
    let changed = request(server.address, "PATCH", &path).json(body).send();
    assert_eq!(changed.await.status, 200);
}

#[tokio::test]
async fn a_list_tells_only_of_what_its_filter_lets_through() {
    let server = Server::start().await;
    let mut other = server.client().await;
    server.script.act([Act::End, Act::End]);
    let first = session(&mut other, "first").await;
    let active = json!({"filter": {"status": "active"}, "limit": 1});
    let (mut client, page) = watching(&server, active).await;
    assert_eq!(page["items"][0]["sessionId"], first, "{page}");
    assert_eq!((&page["total"], &page["size"]), (&json!(1), &json!(1)));

    let second = session(&mut other, "second").await;
    told(&mut client, &second, |_| true).await;
    change(&server, &first, json!({"status": "archived"})).await;
    client.unlisted(&first).await;
    client.list_events.clear();
    client.lists.clear();
    // It is not on the list now, whatever happens to it.
    change(&server, &first, json!({"title": "elsewhere"})).await;
    change(&server, &second, json!({"title": "last"})).await;
    told(&mut client, &second, |item| item["title"] == "last").await;
    assert!(client.lists.iter().all(|item| item["sessionId"] == second));
    let removed = client.list_events.iter().map(|event| &event["removed"]);
    assert!(removed.into_iter().all(|removed| *removed == json!([])));

    // Another list takes its place.
    let archived = json!({"filter": {"status": "archived"}});
    let page = client.call("sessions_watch", archived).await;
    assert_eq!(page["items"][0]["title"], "elsewhere");
    client.list_events.clear();
    change(&server, &second, json!({"title": "unseen"})).await;
    change(&server, &first, json!({"status": "active"})).await;
    client.unlisted(&first).await;
    assert!(!client.lists.iter().any(|item| item["title"] == "unseen"));
}

#[tokio::test]
async fn a_client_that_comes_back_gets_a_fresh_first_page() {
    let server = Server::start().await;
    let mut other = server.client().await;
    server.script.act([Act::End]);
    let id = session(&mut other, "first").await;
    let (mut client, _) = watching(&server, json!({})).await;
    change(&server, &id, json!({"title": "one"})).await;
    told(&mut client, &id, |item| item["title"] == "one").await;
    drop(client);
    change(&server, &id, json!({"title": "two"})).await;
    let (mut client, page) = watching(&server, json!({})).await;
    assert_eq!(page["items"][0]["title"], "two");
    change(&server, &id, json!({"title": "three"})).await;
    told(&mut client, &id, |item| item["title"] == "three").await;
}

/// 500 sockets of one user, each with a message to a session of its own. Half of them watch the
/// list, as pages do; the others do not, as programs do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_events_go_to_those_who_watch_and_do_not_grow_with_the_sockets() {
    const SOCKETS: usize = 500;
    let server = Server::start().await;
    server
        .script
        .act(std::iter::repeat_with(|| Act::End).take(SOCKETS));
    let (mut first, page) = watching(&server, json!({"limit": 200})).await;
    let mut watchers = Vec::new();
    let mut others = Vec::new();
    for _ in 0..SOCKETS / 2 {
        watchers.push(watching(&server, json!({"limit": 200})).await.0);
        others.push(server.client().await);
    }
    let began = Instant::now();
    let mut sessions = Vec::new();
    for (at, client) in watchers.iter_mut().chain(&mut others).enumerate() {
        sessions.push(session(client, &format!("message {at}")).await);
    }
    for client in watchers.iter_mut().chain(&mut others) {
        client.wait("done", |_| true).await;
    }
    for client in &others {
        assert_eq!(client.list_events, Vec::<Value>::new(), "it does not watch");
    }
    // The latest state is sent last, and everything else before or with it.
    let last = sessions.last().unwrap();
    change(&server, last, json!({"title": "the end"})).await;
    for client in std::iter::once(&mut first).chain(&mut watchers) {
        told(client, last, |item| item["title"] == "the end").await;
        let events = client.list_events.len();
        let most = began.elapsed().as_millis() / 250 + 2;
        assert!(events as u128 <= most, "{events} events, {most} at most");
    }
    let list = first.list_after(&page);
    assert_eq!(list.len(), SOCKETS);
    for client in &watchers {
        assert_eq!(client.list_after(&page), list, "all have the same");
    }
    for session in &sessions {
        let path = format!("{SESSIONS}/{session}");
        let now = request(server.address, "GET", &path).send().await.json();
        assert_eq!(list[session], now);
    }
}

/// Whatever the order of changes, the last event of a list agrees with REST.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watched_list_ends_as_rest_shows_it() {
    let server = Server::start().await;
    let mut other = server.client().await;
    let mut random = fastrand::Rng::with_seed(7);
    let filters = [
        json!({}),
        json!({"status": "active"}),
        json!({"status": "archived"}),
    ];
    let mut started = 0;
    for round in 0..4 {
        let mut watchers = Vec::new();
        for filter in &filters {
            let watch = json!({"filter": filter, "limit": 200});
            watchers.push(watching(&server, watch).await);
        }
        let mut sessions = Vec::new();
        for step in 0..60 {
            let pick = random.usize(..sessions.len().max(1));
            let Some(id) = sessions.get(pick).filter(|_| random.u8(..7) > 1) else {
                server.script.act([say("x"), Act::End]);
                sessions.push(session(&mut other, &format!("s{round}.{step}")).await);
                continue;
            };
            let path = format!("{SESSIONS}/{id}");
            let patch = request(server.address, "PATCH", &path);
            match random.u8(..5) {
                0 => {
                    let back = json!({"title": format!("t{step}"), "status": "active"});
                    patch.json(back).send().await;
                }
                1 => drop(patch.json(json!({"status": "archived"})).send().await),
                2 => drop(request(server.address, "DELETE", &path).send().await),
                3 => {
                    let rename =
                        json!({"sessionId": id, "title": "r", "requestId": step.to_string()});
                    other.call("rename", rename).await;
                }
                _ => {
                    let set = json!({"sessionId": id, "level": "high"});
                    other.call("set_thinking_level", set).await;
                }
            }
        }
        server.script.act([Act::End]);
        let sentinel = session(&mut other, "sentinel").await;
        started += sessions.len() + 1;
        other.wait_count("done", started).await;
        // The last change of each, which its run cannot follow.
        for id in &sessions {
            let status = ["active", "archived", "deleted"][random.usize(..3)];
            change(&server, id, json!({ "status": status })).await;
        }
        for (filter, (client, page)) in filters.iter().zip(&mut watchers) {
            let status = filter["status"].as_str().unwrap_or("active");
            let title = format!("{round} {filter}");
            change(
                &server,
                &sentinel,
                json!({"title": title, "status": status}),
            )
            .await;
            told(client, &sentinel, |item| item["title"] == *title).await;
            let query = match filter["status"].as_str() {
                Some(status) => format!("?size=200&status={status}"),
                None => "?size=200".to_owned(),
            };
            let path = format!("{SESSIONS}{query}");
            let rest = request(server.address, "GET", &path).send().await.json();
            let shown: BTreeMap<String, Value> = rest["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| (item["sessionId"].as_str().unwrap().to_owned(), item.clone()))
                .collect();
            let told = client.list_after(page);
            let ids: BTreeSet<_> = told.keys().chain(shown.keys()).collect();
            for id in ids {
                assert_eq!(told.get(id), shown.get(id), "round {round}, {filter}");
            }
        }
    }
}

#[tokio::test]
async fn each_fork_is_left_and_found_again() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut sent = 0;
    let mut say_to = async |client: &mut Client, session: Value, parent: Value, text: &str| {
        server.script.act([say(&format!("re {text}")), Act::End]);
        let mut chat = json!({"content": text});
        for (name, value) in [("sessionId", session), ("leafEntryId", parent)] {
            if !value.is_null() {
                chat[name] = value;
            }
        }
        let ack = client.call("chat", chat).await;
        if sent == 0 {
            let open = json!({"sessionId": ack["sessionId"]});
            let opened = client.call("session_open", open).await;
            sent = usize::from(opened["snapshot"]["run"]["status"] == "running");
        } else {
            sent += 1;
        }
        client.wait_count("done", sent).await;
        ack
    };
    let first = say_to(&mut client, Value::Null, Value::Null, "one").await;
    let id = first["sessionId"].clone();
    let base = format!("{SESSIONS}/{}", id.as_str().unwrap());
    let leaf = async || {
        let path = format!("{base}/tree");
        request(server.address, "GET", &path).send().await.json()["leafEntryId"].clone()
    };
    let root_answer = leaf().await;
    let a = say_to(&mut client, id.clone(), Value::Null, "a").await["entryId"].clone();
    let a_end = leaf().await;
    let b = say_to(&mut client, id.clone(), root_answer, "b").await["entryId"].clone();
    let b_end = leaf().await;

    let switch = async |client: &mut Client, to: &Value| {
        let switch = json!({"sessionId": id, "leafEntryId": to, "follow": true});
        assert_eq!(
            client.call("switch_leaf", switch).await,
            json!({"ok": true, "status": "moved"})
        );
        leaf().await
    };
    assert_eq!(switch(&mut client, &a).await, a_end);
    assert_eq!(
        switch(&mut client, &first["entryId"]).await,
        a_end,
        "where it was left"
    );
    assert_eq!(switch(&mut client, &b).await, b_end);
    assert_eq!(switch(&mut client, &first["entryId"]).await, b_end);
}
