//! Which credentials are accepted, and which are not.

use crate::http::{plain, request};
use crate::server::{Server, TOKEN};
use netaclaw_admin::{Actor, Expect, FIRST_USER, PasswordChange, TokenStore, UserStore};
use netaclaw_protocol::{
    NewUser, Role, TokenId, TokenScope, TokenSpec, User, UserSpec, UserStatus,
};
use netaclaw_store::SqlAdminStore;
use netaclaw_testkit::socket::Client;
use secrecy::ExposeSecret;
use serde_json::json;
use std::time::{Duration, Instant};

async fn refusal(server: &Server, auth: serde_json::Value) -> String {
    match Client::connect(server.address, auth).await {
        Ok(_) => panic!("it was let in"),
        Err(message) => message,
    }
}

#[tokio::test]
async fn sockets_need_a_credential_that_counts() {
    let server = Server::start().await;
    for auth in [json!({}), json!({"token": "wrong"}), json!({"token": null})] {
        let message = refusal(&server, auth).await;
        assert!(message.starts_with("unauthorized: "), "{message}");
    }
    let message = refusal(&server, json!({"token": 7})).await;
    assert!(message.starts_with("bad_request: "), "{message}");
    let message = refusal(&server, json!({"token": TOKEN, "events": ["new"]})).await;
    assert!(message.starts_with("bad_request: "), "{message}");
    let crew = Client::connect_to(server.address, "/crew", json!({"token": TOKEN})).await;
    assert_eq!(crew.err().as_deref(), Some("Invalid namespace"));
    server.client().await;
}

#[tokio::test]
async fn a_token_of_the_store_counts_until_it_is_revoked() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let mut client = server.client_with(json!({ "token": token })).await;
    assert_eq!(client.call("ping", json!({})).await, json!({"ok": true}));

    let id = TokenId::new(token.split('_').nth(1).unwrap());
    server
        .admin
        .revoke_token(&Actor::system(), &id)
        .await
        .unwrap();
    let message = refusal(&server, json!({ "token": token })).await;
    assert_eq!(message, "unauthorized: the token has been revoked");
    // The open socket may have been closed before its next command.
    let answer = client.try_call("ping", json!({})).await;
    assert!(answer.is_none_or(|answer| answer["code"] == "unauthorized"));
    ends_unauthorized(&mut client).await;
}

async fn ends_unauthorized(client: &mut Client) {
    client.until_disconnected().await;
    let last = client.events.last().unwrap();
    assert_eq!(last["data"]["code"], "unauthorized");
}

/// A browser that logs in with this token: the cookie that it keeps.
async fn browser(server: &Server, token: &str) -> String {
    let login = plain(server.address, "POST", "/admin/netaclaw/login")
        .json(json!({ "token": token }))
        .send()
        .await;
    assert_eq!(login.status, 200);
    let cookie = login.header("set-cookie");
    cookie.split(';').next().unwrap().to_owned()
}

/// The status that a browser's request gets.
async fn status_of(server: &Server, cookie: &str) -> u16 {
    let me = plain(server.address, "GET", "/admin/netaclaw/me").header("cookie", cookie);
    me.send().await.status
}

#[tokio::test]
async fn a_revoked_token_ends_the_browsers_that_came_in_with_it() {
    let server = Server::start().await;
    let (user, token) = server.user("ann", TokenScope::Full).await;
    let (_, other) = server.user("bob", TokenScope::Full).await;
    let cookie = browser(&server, &token).await;
    let others = browser(&server, &other).await;
    let secret = |cookie: &str| json!({ "token": cookie.split_once('=').unwrap().1 });
    let mut watching = server.client_with(secret(&cookie)).await;
    let mut beside = server.client_with(secret(&others)).await;
    assert_eq!(status_of(&server, &cookie).await, 200);

    let id = token.split('_').nth(1).unwrap();
    let path = format!("/admin/netaclaw/tokens/{id}");
    let revoked = request(server.address, "DELETE", &path).send().await;
    assert_eq!(revoked.status, 200);
    // There is no request and no time passes: the server itself disconnects the socket.
    ends_unauthorized(&mut watching).await;
    assert_eq!(status_of(&server, &cookie).await, 401);
    let message = refusal(&server, secret(&cookie)).await;
    assert_eq!(message, "unauthorized: the token has been revoked");
    let tokens = server.admin.tokens_of(&user.id).await.unwrap();
    assert_eq!(tokens.len(), 2);
    assert!(tokens.iter().all(|token| token.revoked_at.is_some()));

    assert_eq!(status_of(&server, &others).await, 200);
    assert_eq!(beside.call("ping", json!({})).await, json!({"ok": true}));
}

#[tokio::test]
async fn a_changed_password_ends_the_browsers_that_came_in_with_it() {
    let server = Server::start().await;
    let spec = UserSpec {
        name: "ann".to_owned(),
        label: String::new(),
        role: Role::Admin,
        status: UserStatus::Enabled,
    };
    let new = NewUser {
        spec,
        password: Some("correct horse".into()),
    };
    let ann = server.admin.create_user(&Actor::system(), new).await;
    let path = format!("/admin/netaclaw/users/{}", ann.unwrap().id.as_str());
    let change = |password: &str| json!({"name": "ann", "label": "", "role": "admin", "status": "enabled", "password": password});
    let old = by_password(&server, "correct horse").await;
    let here = by_password(&server, "correct horse").await;
    let secret = |cookie: &str| json!({ "token": cookie.split_once('=').unwrap().1 });
    let mut watching = server.client_with(secret(&old)).await;
    let mut beside = server.client_with(secret(&here)).await;

    let origin = format!("http://{}", server.address);
    let changed = plain(server.address, "PUT", &path)
        .header("cookie", here.clone())
        .header("origin", origin);
    let changed = changed.json(change("battery staple")).send().await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    // There is no request and no time passes: the server itself disconnects the socket.
    ends_unauthorized(&mut watching).await;
    assert_eq!(status_of(&server, &old).await, 401);
    assert_eq!(status_of(&server, &here).await, 200);
    assert_eq!(beside.call("ping", json!({})).await, json!({"ok": true}));

    // An administrator changes it: no browser stays logged in.
    let changed = request(server.address, "PUT", &path).json(change("and once more"));
    assert_eq!(changed.send().await.status, 200);
    ends_unauthorized(&mut beside).await;
    assert_eq!(status_of(&server, &here).await, 401);
}

/// A user without configuration rights changes their own password, and nothing but that.
#[tokio::test]
async fn people_change_their_own_password_by_showing_the_old_one() {
    let server = Server::start().await;
    let spec = UserSpec {
        name: "ann".to_owned(),
        label: "Ann".to_owned(),
        role: Role::User,
        status: UserStatus::Enabled,
    };
    let new = NewUser {
        spec: spec.clone(),
        password: Some("correct horse".into()),
    };
    let ann = server.admin.create_user(&Actor::system(), new).await;
    let ann = ann.unwrap().id;
    let other = by_password(&server, "correct horse").await;
    let here = by_password(&server, "correct horse").await;
    let origin = format!("http://{}", server.address);
    let change = async |cookie: &str, current: &str, password: &str| {
        let asked = plain(server.address, "PUT", "/admin/netaclaw/me/password");
        let asked = asked.header("cookie", cookie).header("origin", &origin);
        let body = json!({"current": current, "password": password});
        asked.json(body).send().await
    };

    let wrong = change(&here, "a guess at it", "battery staple").await;
    assert_eq!(wrong.status, 400, "who is logged in stays so");
    assert_eq!(wrong.json()["details"]["field"], "current");
    let short = change(&here, "correct horse", "short").await;
    assert_eq!(short.status, 400);
    assert_eq!(short.json()["details"]["field"], "password");
    assert_eq!(status_of(&server, &other).await, 200, "nothing has changed");

    let changed = change(&here, "correct horse", "battery staple").await;
    assert_eq!(changed.status, 204, "{}", changed.text);
    assert_eq!(status_of(&server, &other).await, 401);
    assert_eq!(status_of(&server, &here).await, 200);
    assert_eq!(server.admin.user(&ann).await.unwrap().spec, spec);
    by_password(&server, "battery staple").await;

    // Guessing takes as long here as at the login.
    for _ in 0..5 {
        let wrong = change(&here, "another guess", "battery staple").await;
        assert_eq!(wrong.status, 400);
    }
    let waits = change(&here, "battery staple", "even longer").await;
    assert_eq!(waits.status, 429);
}

#[tokio::test]
async fn without_a_password_or_a_full_credential_there_is_none_to_change() {
    let server = Server::start().await;
    let (_, token) = server.user("bob", TokenScope::Full).await;
    let cookie = browser(&server, &token).await;
    let me = plain(server.address, "GET", "/admin/netaclaw/me").header("cookie", cookie.clone());
    assert_eq!(me.send().await.json()["passwordSet"], false);
    let asked = plain(server.address, "PUT", "/admin/netaclaw/me/password")
        .header("cookie", cookie)
        .header("origin", format!("http://{}", server.address));
    let body = json!({"current": "", "password": "battery staple"});
    assert_eq!(asked.json(body).send().await.status, 403);
}

/// A browser in which Ann logs in: the cookie that it keeps.
async fn by_password(server: &Server, password: &str) -> String {
    let login = plain(server.address, "POST", "/admin/netaclaw/login")
        .json(json!({ "name": "ann", "password": password }));
    let login = login.send().await;
    assert_eq!(login.status, 200, "{}", login.text);
    let cookie = login.header("set-cookie");
    cookie.split(';').next().unwrap().to_owned()
}

/// It takes one second, and here another one for a machine that is busy with other tests.
const WITHIN: Duration = Duration::from_secs(2);

#[tokio::test]
async fn what_another_process_revokes_ends_open_sockets_and_requests_within_a_second() {
    let server = Server::start().await;
    let elsewhere = server.admin_elsewhere().await;
    let (_, token) = server.user("ann", TokenScope::Full).await;
    let (bob, bobs) = server.user("bob", TokenScope::Full).await;
    let mut by_token = server.client_with(json!({ "token": token })).await;
    let mut by_user = server.client_with(json!({ "token": bobs })).await;
    let mut by_access_token = server.client().await;
    let me = || plain(server.address, "GET", "/admin/netaclaw/me");
    assert_eq!(me().bearer(&token).send().await.status, 200);

    let by = Actor::system();
    let id = TokenId::new(token.split('_').nth(1).unwrap());
    let began = Instant::now();
    elsewhere.revoke_token(&by, &id).await.unwrap();
    ends_unauthorized(&mut by_token).await;
    assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());
    assert_eq!(me().bearer(&token).send().await.status, 401);

    let began = Instant::now();
    disable(&elsewhere, &bob).await;
    ends_unauthorized(&mut by_user).await;
    assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());

    // The user of the access token, whose commands were answered until then.
    let answer = by_access_token.call("ping", json!({})).await;
    assert_eq!(answer, json!({"ok": true}));
    let second = second_administrator(&elsewhere).await;
    let owner = elsewhere.user_named(FIRST_USER).await.unwrap();
    let began = Instant::now();
    disable(&elsewhere, &owner).await;
    ends_unauthorized(&mut by_access_token).await;
    assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());
    assert_eq!(me().bearer(TOKEN).send().await.status, 401);
    assert_eq!(me().bearer(&second).send().await.status, 200);
}

async fn disable(store: &SqlAdminStore, user: &User) {
    let now = store.user(&user.id).await.unwrap();
    let off = UserSpec {
        status: UserStatus::Disabled,
        ..now.spec
    };
    let (by, expect) = (Actor::system(), Expect::Rev(now.stamp.rev));
    let changed = store.update_user(&by, &user.id, expect, off, PasswordChange::Keep);
    changed.await.unwrap();
}

/// One has to be left. Returns a token of theirs.
async fn second_administrator(store: &SqlAdminStore) -> String {
    let new = NewUser {
        spec: UserSpec {
            name: "eve".to_owned(),
            label: String::new(),
            role: Role::Admin,
            status: UserStatus::Enabled,
        },
        password: None,
    };
    let by = Actor::system();
    let user = store.create_user(&by, new).await.unwrap();
    let spec = TokenSpec {
        user_id: user.id,
        label: "eve".to_owned(),
        scope: TokenScope::Full,
        expires_at: None,
    };
    let issued = store.issue_token(&by, spec).await.unwrap();
    issued.secret.expose_secret().to_owned()
}

/// Nothing changes when a token expires.
#[tokio::test]
async fn a_silent_socket_is_closed_when_its_token_has_expired() {
    let server = Server::start().await;
    let (user, _) = server.user("ann", TokenScope::Full).await;
    let soon = jiff::Timestamp::now().as_millisecond() + 1000;
    let spec = TokenSpec {
        user_id: user.id,
        label: "short".to_owned(),
        scope: TokenScope::Full,
        expires_at: Some(soon),
    };
    let issued = server.admin.issue_token(&Actor::system(), spec).await;
    let token = issued.unwrap().secret;
    let auth = json!({ "token": token.expose_secret() });
    let mut client = server.client_with(auth).await;
    while jiff::Timestamp::now().as_millisecond() <= soon {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5)).await;
    tokio::time::resume();
    ends_unauthorized(&mut client).await;
}

#[tokio::test]
async fn a_browser_that_comes_in_with_another_token_ends_with_that_one() {
    let server = Server::start().await;
    let (user, first) = server.user("ann", TokenScope::Full).await;
    let spec = TokenSpec {
        user_id: user.id.clone(),
        label: "second".to_owned(),
        scope: TokenScope::Full,
        expires_at: Some(jiff::Timestamp::now().as_millisecond() + 3_600_000),
    };
    let by = Actor::system();
    let second = server.admin.issue_token(&by, spec).await.unwrap();
    let cookie = browser(&server, &first).await;
    let link = format!("/?token={}", second.secret.expose_secret());
    let entered = plain(server.address, "GET", &link).header("cookie", cookie.clone());
    let entered = entered.header("sec-fetch-site", "none").send().await;
    let renewed = entered.header("set-cookie").split(';').next().unwrap();
    assert_ne!(renewed, "");
    assert_eq!(status_of(&server, &cookie).await, 401);
    // It expires no later than the token it was issued with, which is not a reason for a new one
    // every time.
    let again = plain(server.address, "GET", &link).header("cookie", renewed);
    let again = again.send().await;
    assert_eq!((again.status, again.header("set-cookie")), (303, ""));

    let revoked = server.admin.revoke_token(&by, &second.token.id).await;
    revoked.unwrap();
    assert_eq!(status_of(&server, renewed).await, 401);
}

#[tokio::test]
async fn a_disabled_user_is_disconnected_at_once() {
    let server = Server::start().await;
    let (user, token) = server.user("ann", TokenScope::Full).await;
    let mut client = server.client_with(json!({ "token": token })).await;
    let path = format!("/admin/netaclaw/users/{}", user.id.as_str());
    let off = json!({"name": "ann", "label": "", "role": "user", "status": "disabled"});
    let changed = request(server.address, "PUT", &path).json(off).send().await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    ends_unauthorized(&mut client).await;
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let server = Server::start().await;
    let (user, _) = server.user("ann", TokenScope::Full).await;
    let soon = jiff::Timestamp::now().as_millisecond() + 50;
    let spec = TokenSpec {
        user_id: user.id,
        label: "short".to_owned(),
        scope: TokenScope::Full,
        expires_at: Some(soon),
    };
    let issued = server
        .admin
        .issue_token(&Actor::system(), spec)
        .await
        .unwrap();
    let auth = json!({ "token": issued.secret.expose_secret() });
    while jiff::Timestamp::now().as_millisecond() <= soon {
        tokio::task::yield_now().await;
    }
    let message = refusal(&server, auth).await;
    assert_eq!(message, "unauthorized: the token has expired");
}

#[tokio::test]
async fn a_token_that_may_only_read_changes_nothing() {
    let server = Server::start().await;
    let (_, token) = server.user("ann", TokenScope::Read).await;
    let mut client = server.client_with(json!({ "token": token })).await;
    let answer = client.call("chat", json!({"content": "hi"})).await;
    assert_eq!(answer["code"], "forbidden");
    let patch = plain(server.address, "PATCH", "/admin/netaclaw/sessions/x").bearer(&token);
    assert_eq!(patch.json(json!({})).send().await.status, 403);
    let list = plain(server.address, "GET", "/admin/netaclaw/sessions").bearer(&token);
    assert_eq!(list.send().await.json()["total"], 0);
}

#[tokio::test]
async fn sessions_of_others_do_not_exist() {
    let server = Server::start().await;
    let (_, ann) = server.user("ann", TokenScope::Full).await;
    let (_, bob) = server.user("bob", TokenScope::Full).await;
    let mut owner = server.client_with(json!({ "token": ann })).await;
    let session = owner.call("chat", json!({"content": "mine"})).await["sessionId"].clone();
    let id = session.as_str().unwrap();

    let mut other = server.client_with(json!({ "token": bob })).await;
    let entry = json!("00000000");
    for (name, payload) in [
        ("chat", json!({"sessionId": id, "content": "hi"})),
        ("stop", json!({"sessionId": id})),
        ("session_open", json!({"sessionId": id})),
        ("rename", json!({"sessionId": id, "title": "x"})),
        (
            "label",
            json!({"sessionId": id, "entryId": entry, "label": "x"}),
        ),
        ("fork", json!({"sessionId": id, "entryId": entry})),
        ("switch_leaf", json!({"sessionId": id, "leafEntryId": null})),
        ("dismiss_compaction", json!({"sessionId": id})),
        (
            "set_thinking_level",
            json!({"sessionId": id, "level": "high"}),
        ),
        (
            "set_model",
            json!({"sessionId": id, "channelId": "c", "modelId": "m"}),
        ),
        (
            "clarify_response",
            json!({"sessionId": id, "requestId": "q", "answer": "a"}),
        ),
        (
            "approval_response",
            json!({"sessionId": id, "approvalId": "a", "decision": "allow"}),
        ),
        ("compact", json!({"sessionId": id})),
        ("queue_edit", json!({"sessionId": id, "action": "resume"})),
    ] {
        assert_eq!(
            other.call(name, payload).await["code"],
            "not_found",
            "{name}"
        );
    }
    for path in ["", "/messages", "/tree", "/export"] {
        let path = format!("/admin/netaclaw/sessions/{id}{path}");
        let answer = plain(server.address, "GET", &path)
            .bearer(&bob)
            .send()
            .await;
        assert_eq!(
            (answer.status, answer.json()["code"].clone()),
            (404, json!("not_found"))
        );
    }
    let list = plain(server.address, "GET", "/admin/netaclaw/sessions").bearer(&bob);
    assert_eq!(list.send().await.json()["total"], 0);
    let admin = request(server.address, "GET", "/admin/netaclaw/sessions?userId=*")
        .send()
        .await;
    assert_eq!(admin.json()["total"], 1, "an administrator sees all");
}

#[tokio::test]
async fn a_link_with_the_token_becomes_a_cookie() {
    let server = Server::start().await;
    let path = format!("/?token={TOKEN}");
    let entered = plain(server.address, "GET", &path).header("sec-fetch-site", "none");
    let entered = entered.send().await;
    assert_eq!((entered.status, entered.header("location")), (303, "/"));
    let cookie = entered.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(
        !cookie.contains(TOKEN),
        "the token itself stays out of the browser"
    );
    let cookie = cookie.split(';').next().unwrap();
    let me = plain(server.address, "GET", "/admin/netaclaw/me").header("cookie", cookie);
    let me = me.send().await.json();
    assert_eq!(me["role"], "admin");
    // The token that this browser was given, so that it can be told from the others.
    let tokens = TokenStore::tokens(&*server.admin).await.unwrap();
    assert_eq!(me["tokenId"], json!(tokens[0].id));

    let wrong = plain(server.address, "GET", "/?token=wrong").send().await;
    assert_eq!(wrong.status, 401);
    let logout = plain(server.address, "POST", "/admin/netaclaw/logout").header("cookie", cookie);
    assert_eq!(logout.send().await.status, 204);
    let me = plain(server.address, "GET", "/admin/netaclaw/me").header("cookie", cookie);
    assert_eq!(me.send().await.status, 401);
}

#[tokio::test]
async fn a_browser_that_comes_again_keeps_its_token() {
    let server = Server::start().await;
    let link = format!("/?token={TOKEN}");
    let tokens = async || TokenStore::tokens(&*server.admin).await.unwrap();
    let enter = || plain(server.address, "GET", &link).header("sec-fetch-site", "none");
    let entered = enter().send().await;
    let cookie = entered.header("set-cookie").split(';').next().unwrap();
    for _ in 0..3 {
        let again = enter().header("cookie", cookie).send().await;
        assert_eq!((again.status, again.header("set-cookie")), (303, ""));
    }
    assert_eq!(tokens().await.len(), 1);
    // Browsers without a cookie get one each, and the oldest leave.
    for _ in 0..25 {
        enter().send().await;
    }
    let tokens = tokens().await;
    let living = tokens.iter().filter(|token| token.revoked_at.is_none());
    assert_eq!(living.count(), 20);
}

#[tokio::test]
async fn a_token_logs_a_browser_in_as_its_user() {
    let server = Server::start().await;
    let (user, token) = server.user("ann", TokenScope::Chat).await;
    let login = |token: String| {
        plain(server.address, "POST", "/admin/netaclaw/login")
            .json(json!({ "token": token }))
            .send()
    };
    let right = login(token.clone()).await;
    let me = right.json();
    assert_eq!(
        (
            right.status,
            &me["userId"],
            &me["scope"],
            &me["mayConfigure"]
        ),
        (200, &json!(user.id), &json!("chat"), &json!(false))
    );
    let cookie = right.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && !cookie.contains(&token),
        "{cookie}"
    );
    for _ in 0..5 {
        assert_eq!(login("neta_x_y".to_owned()).await.status, 401);
    }
    assert_eq!(login("neta_x_y".to_owned()).await.status, 429);
}

#[tokio::test]
async fn other_origins_are_refused_where_it_matters() {
    let server = Server::start().await;
    let foreign = |method: &'static str, path: &'static str| {
        request(server.address, method, path).header("origin", "https://evil.test")
    };
    let write = foreign("POST", "/admin/netaclaw/agents").json(json!({"name": "x"}));
    assert_eq!(write.send().await.status, 403);
    let socket = foreign("GET", "/socket.io/?EIO=4&transport=polling");
    assert_eq!(socket.send().await.status, 403);
    assert_eq!(foreign("GET", "/healthz").send().await.status, 200);
    let own = request(server.address, "GET", "/socket.io/?EIO=4&transport=polling")
        .header("origin", format!("http://{}", server.address));
    assert_eq!(own.send().await.status, 200);
}

#[tokio::test]
async fn everything_but_health_and_login_needs_a_credential() {
    let server = Server::start().await;
    for (path, expected) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/", 200),
        ("/openapi.json", 200),
        ("/metrics", 401),
        ("/admin/netaclaw/me", 401),
        ("/admin/netaclaw/agents", 401),
        ("/admin/netaclaw/channels", 401),
        ("/admin/netaclaw/audit", 401),
        ("/v1/models", 401),
        ("/admin/netaclaw/nothing", 404),
    ] {
        let answer = plain(server.address, "GET", path).send().await;
        assert_eq!(answer.status, expected, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_ne!(answer.header("x-request-id"), "");
        assert_ne!(answer.header("content-security-policy"), "");
    }
    let metrics = request(server.address, "GET", "/metrics").send().await;
    assert!(
        metrics.text.contains("netaclaw_http_errors_total"),
        "{}",
        metrics.text
    );
}

/// The initial access token belongs to a user, and ends with that user.
#[tokio::test]
async fn the_access_token_counts_as_long_as_its_user_is_there() {
    let server = Server::start().await;
    let spec = |name: &str, status| UserSpec {
        name: name.to_owned(),
        label: String::new(),
        role: Role::Admin,
        status,
    };
    let by = Actor::system();
    let new = NewUser {
        spec: spec("root", UserStatus::Enabled),
        password: None,
    };
    let root = server.admin.create_user(&by, new).await.unwrap();
    let token = TokenSpec {
        user_id: root.id,
        label: "test".to_owned(),
        scope: TokenScope::Full,
        expires_at: None,
    };
    let root = server.admin.issue_token(&by, token).await.unwrap();
    let root = root.secret.expose_secret();
    let me = request(server.address, "GET", "/admin/netaclaw/me")
        .send()
        .await;
    let path = format!(
        "/admin/netaclaw/users/{}",
        me.json()["userId"].as_str().unwrap()
    );
    let statuses = async || {
        let me = request(server.address, "GET", "/admin/netaclaw/me");
        let fact = request(server.address, "POST", "/admin/netaclaw/memories");
        let fact = fact.json(json!({ "text": "a fact" }));
        (me.send().await.status, fact.send().await.status)
    };
    let change = async |name: &str, status: &str| {
        let body = json!({"name": name, "label": "", "role": "admin", "status": status});
        let changed = plain(server.address, "PUT", &path).bearer(root).json(body);
        assert_eq!(changed.send().await.status, 200);
    };
    assert_eq!(statuses().await, (200, 201));
    change("chief", "enabled").await;
    assert_eq!(statuses().await, (200, 201), "a name can change");
    change("chief", "disabled").await;
    assert_eq!(statuses().await, (401, 401));
    change("chief", "enabled").await;
    let mut socket = server.client().await;
    let deleted = plain(server.address, "DELETE", &path).bearer(root);
    assert_eq!(deleted.send().await.status, 204);
    assert_eq!(statuses().await, (401, 401));
    ends_unauthorized(&mut socket).await;
}

/// Where the server works is its own matter.
#[tokio::test]
async fn an_export_shows_directories_to_administrators_only() {
    let server = Server::start().await;
    let (_, ann) = server.user("ann", TokenScope::Full).await;
    let mut owner = server.client_with(json!({ "token": ann })).await;
    let session = owner.call("chat", json!({"content": "mine"})).await["sessionId"].clone();
    let path = format!(
        "/admin/netaclaw/sessions/{}/export",
        session.as_str().unwrap()
    );
    let header = async |request: crate::http::Request<'_>| {
        let answer = request.send().await;
        let line = answer.text.lines().next().unwrap().to_owned();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    let whole = header(request(server.address, "GET", &path)).await;
    assert!(whole["cwd"].is_string(), "{whole}");
    let own = header(plain(server.address, "GET", &path).bearer(&ann)).await;
    let mut expected = whole.clone();
    expected.as_object_mut().unwrap().remove("cwd");
    assert_eq!(own, expected);
}
