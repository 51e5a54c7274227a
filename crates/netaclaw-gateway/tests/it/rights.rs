//! Every route and every command with every scope: what a credential may do is entered here by
//! hand.

use crate::http::{plain, request};
use crate::server::Server;
use Right::{Configure, Full, Inspect, Open, Signed, Write};
use netaclaw_admin::{Actor, TokenStore, UserStore};
use netaclaw_protocol::ClientCommand;
use netaclaw_protocol::{NewUser, Role, TokenScope, TokenSpec, UserSpec, UserStatus};
use secrecy::ExposeSecret;
use serde_json::json;
use std::collections::BTreeSet;

/// What a route asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    /// Nothing.
    Open,
    /// Any credential.
    Signed,
    /// Any scope but `read`.
    Write,
    /// The scope `full`.
    Full,
    /// An administrator, with any scope but `chat`.
    Inspect,
    /// An administrator with the scope `full`.
    Configure,
}

impl Right {
    fn has(self, role: Role, scope: TokenScope) -> bool {
        let is_admin = role == Role::Admin;
        match self {
            Open | Signed => true,
            Write => scope != TokenScope::Read,
            Full => scope == TokenScope::Full,
            Inspect => is_admin && scope != TokenScope::Chat,
            Configure => is_admin && scope == TokenScope::Full,
        }
    }
}

#[rustfmt::skip]
const ROUTES: &[(&str, &str, Right)] = &[
    ("GET", "/admin/netaclaw/about", Signed),
    ("GET", "/admin/netaclaw/agents", Signed),
    ("POST", "/admin/netaclaw/agents", Configure),
    ("POST", "/admin/netaclaw/agents/preview", Configure),
    ("DELETE", "/admin/netaclaw/agents/{id}", Configure),
    ("GET", "/admin/netaclaw/agents/{id}", Inspect),
    ("PATCH", "/admin/netaclaw/agents/{id}", Configure),
    ("PUT", "/admin/netaclaw/agents/{id}", Configure),
    ("GET", "/admin/netaclaw/agents/{id}/prompt-preview", Inspect),
    ("GET", "/admin/netaclaw/agents/{id}/tools", Signed),
    ("DELETE", "/admin/netaclaw/approvals", Write),
    ("GET", "/admin/netaclaw/approvals", Signed),
    ("DELETE", "/admin/netaclaw/approvals/{id}", Write),
    ("POST", "/admin/netaclaw/attachments", Write),
    ("DELETE", "/admin/netaclaw/attachments/{id}", Write),
    ("GET", "/admin/netaclaw/attachments/{id}", Signed),
    ("GET", "/admin/netaclaw/audit", Inspect),
    ("GET", "/admin/netaclaw/channels", Inspect),
    ("POST", "/admin/netaclaw/channels", Configure),
    ("POST", "/admin/netaclaw/channels/test", Configure),
    ("DELETE", "/admin/netaclaw/channels/{id}", Configure),
    ("GET", "/admin/netaclaw/channels/{id}", Inspect),
    ("PUT", "/admin/netaclaw/channels/{id}", Configure),
    ("POST", "/admin/netaclaw/channels/{id}/test", Configure),
    ("GET", "/admin/netaclaw/dictionary", Inspect),
    ("POST", "/admin/netaclaw/dictionary", Configure),
    ("DELETE", "/admin/netaclaw/dictionary-entries/{id}", Configure),
    ("PUT", "/admin/netaclaw/dictionary-entries/{id}", Configure),
    ("PUT", "/admin/netaclaw/dictionary-values/{group}/{name}", Configure),
    ("DELETE", "/admin/netaclaw/dictionary/{id}", Configure),
    ("PUT", "/admin/netaclaw/dictionary/{id}", Configure),
    ("POST", "/admin/netaclaw/dictionary/{id}/entries", Configure),
    ("POST", "/admin/netaclaw/login", Open),
    ("POST", "/admin/netaclaw/logout", Signed),
    ("GET", "/admin/netaclaw/mcp-servers", Inspect),
    ("POST", "/admin/netaclaw/mcp-servers", Configure),
    ("POST", "/admin/netaclaw/mcp-servers/test", Configure),
    ("DELETE", "/admin/netaclaw/mcp-servers/{id}", Configure),
    ("GET", "/admin/netaclaw/mcp-servers/{id}", Inspect),
    ("PUT", "/admin/netaclaw/mcp-servers/{id}", Configure),
    ("POST", "/admin/netaclaw/mcp-servers/{id}/test", Configure),
    ("GET", "/admin/netaclaw/me", Signed),
    ("PUT", "/admin/netaclaw/me/password", Full),
    ("GET", "/admin/netaclaw/memories", Signed),
    ("POST", "/admin/netaclaw/memories", Write),
    ("DELETE", "/admin/netaclaw/memories/{id}", Write),
    ("PUT", "/admin/netaclaw/memories/{id}", Write),
    ("POST", "/admin/netaclaw/memories/{id}/confirm", Write),
    ("GET", "/admin/netaclaw/models", Signed),
    ("GET", "/admin/netaclaw/models/defaults", Signed),
    ("POST", "/admin/netaclaw/models/lookup", Inspect),
    ("GET", "/admin/netaclaw/session/messages", Signed),
    ("GET", "/admin/netaclaw/session/process_log", Signed),
    ("GET", "/admin/netaclaw/sessions", Signed),
    ("DELETE", "/admin/netaclaw/sessions/{id}", Write),
    ("GET", "/admin/netaclaw/sessions/{id}", Signed),
    ("PATCH", "/admin/netaclaw/sessions/{id}", Write),
    ("GET", "/admin/netaclaw/sessions/{id}/context", Signed),
    ("GET", "/admin/netaclaw/sessions/{id}/entries/{entry}", Signed),
    ("GET", "/admin/netaclaw/sessions/{id}/entries/{entry}/images/{number}", Signed),
    ("GET", "/admin/netaclaw/sessions/{id}/export", Signed),
    ("POST", "/admin/netaclaw/sessions/{id}/fork", Write),
    ("GET", "/admin/netaclaw/sessions/{id}/messages", Signed),
    ("GET", "/admin/netaclaw/sessions/{id}/snapshot", Signed),
    ("GET", "/admin/netaclaw/sessions/{id}/tree", Signed),
    ("GET", "/admin/netaclaw/settings", Inspect),
    ("DELETE", "/admin/netaclaw/settings/{name}", Configure),
    ("GET", "/admin/netaclaw/settings/{name}", Inspect),
    ("PUT", "/admin/netaclaw/settings/{name}", Configure),
    ("GET", "/admin/netaclaw/skills", Signed),
    ("GET", "/admin/netaclaw/skills/{name}", Signed),
    ("POST", "/admin/netaclaw/skills/{name}/try", Write),
    ("GET", "/admin/netaclaw/suppliers", Inspect),
    ("GET", "/admin/netaclaw/tokens", Full),
    ("POST", "/admin/netaclaw/tokens", Full),
    ("DELETE", "/admin/netaclaw/tokens/{id}", Full),
    ("GET", "/admin/netaclaw/tools", Inspect),
    ("GET", "/admin/netaclaw/tools/{name}", Inspect),
    ("PATCH", "/admin/netaclaw/tools/{name}", Configure),
    ("GET", "/admin/netaclaw/users", Inspect),
    ("POST", "/admin/netaclaw/users", Configure),
    ("DELETE", "/admin/netaclaw/users/{id}", Configure),
    ("GET", "/admin/netaclaw/users/{id}", Inspect),
    ("PUT", "/admin/netaclaw/users/{id}", Configure),
    ("GET", "/healthz", Open),
    ("GET", "/metrics", Inspect),
    ("GET", "/readyz", Open),
    ("POST", "/v1/chat/completions", Write),
    ("GET", "/v1/models", Signed),
    ("GET", "/v1/models/{model}", Signed),
];

/// Users of both roles, with a password, and a token of each scope.
async fn credentials(server: &Server) -> Vec<(Role, TokenScope, String)> {
    let mut all = Vec::new();
    let by = Actor::system();
    for (role, name) in [(Role::User, "ann"), (Role::Admin, "root")] {
        let new = NewUser {
            spec: UserSpec {
                name: name.to_owned(),
                label: String::new(),
                role,
                status: UserStatus::Enabled,
            },
            password: Some("a good password".into()),
        };
        let user = server.admin.create_user(&by, new).await.unwrap();
        for scope in [TokenScope::Read, TokenScope::Chat, TokenScope::Full] {
            let spec = TokenSpec {
                user_id: user.id.clone(),
                label: "test".to_owned(),
                scope,
                expires_at: None,
            };
            let issued = server.admin.issue_token(&by, spec).await.unwrap();
            all.push((role, scope, issued.secret.expose_secret().to_owned()));
        }
    }
    all
}

/// A route that is not in the table fails here, so that each new one is given its right.
#[tokio::test]
async fn every_route_asks_for_the_right_that_the_table_says() {
    let server = Server::start().await;
    let api = request(server.address, "GET", "/openapi.json").send().await;
    let api = api.json();
    let described: BTreeSet<(String, String)> = api["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            methods.map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let entered: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(entered, described);

    let credentials = credentials(&server).await;
    // Nothing that could be done with it, but a body: rights count before what is asked.
    let body = json!({ "current": "a wrong guess", "password": "battery staple" });
    for (method, path, right) in ROUTES {
        let address = path.replace(['{', '}'], "");
        let without = plain(server.address, method, &address);
        let without = without.json(body.clone()).send().await;
        assert_eq!(
            without.status == 401,
            *right != Open,
            "{method} {path}: {}",
            without.text
        );
        for (role, scope, token) in &credentials {
            let answer = plain(server.address, method, &address).bearer(token);
            let answer = answer.json(body.clone()).send().await;
            let refused = matches!(answer.status, 401 | 403);
            let case = format!(
                "{method} {path} as {role:?} with {scope:?}: {}",
                answer.text
            );
            assert_eq!(refused, !right.has(*role, *scope), "{case}");
            assert!(answer.status < 500, "{case}");
        }
    }
}

/// A token that only chats neither sees nor ends those that may do more.
#[tokio::test]
async fn tokens_are_seen_and_revoked_with_full_scope_only() {
    let server = Server::start().await;
    for (role, scope, token) in credentials(&server).await {
        let list = plain(server.address, "GET", "/admin/netaclaw/tokens").bearer(&token);
        let list = list.send().await;
        if scope != TokenScope::Full {
            assert_eq!(list.status, 403, "{role:?} {scope:?}");
            let own = token.split('_').nth(1).unwrap();
            let path = format!("/admin/netaclaw/tokens/{own}");
            let revoke = plain(server.address, "DELETE", &path).bearer(&token);
            assert_eq!(revoke.send().await.status, 403, "{role:?} {scope:?}");
            continue;
        }
        let seen = list.json()["total"].as_u64().unwrap();
        assert_eq!(seen, if role == Role::Admin { 6 } else { 3 });
    }
}

/// Commands of sockets, with whether reading is enough.
#[rustfmt::skip]
const COMMANDS: &[(&str, Right)] = &[
    ("ping", Signed),
    ("session_open", Signed),
    ("session_close", Signed),
    ("sessions_watch", Signed),
    ("chat", Write),
    ("stop", Write),
    ("set_thinking_level", Write),
    ("set_model", Write),
    ("clarify_response", Write),
    ("approval_response", Write),
    ("accept_edits", Write),
    ("revoke_approval", Write),
    ("compact", Write),
    ("dismiss_compaction", Write),
    ("switch_leaf", Write),
    ("label", Write),
    ("rename", Write),
    ("retry", Write),
    ("fork", Write),
    ("queue_edit", Write),
];

#[tokio::test]
async fn every_command_asks_for_the_right_that_the_table_says() {
    let known: BTreeSet<&str> = ClientCommand::NAMES.iter().copied().collect();
    let entered = COMMANDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, entered, "every command is in the table");
    let server = Server::start().await;
    // The fields of all commands at once, about a session that is not there.
    let payload = json!({
        "sessionId": "nothing", "content": "hi", "level": "high", "channelId": "c", "modelId": "m",
        "requestId": "q", "answer": "a", "approvalId": "a", "decision": "allow", "entryId": "0",
        "leafEntryId": null, "label": "x", "title": "x", "action": "resume",
        "enabled": true,
    });
    for (role, scope, token) in credentials(&server).await {
        let mut client = server.client_with(json!({ "token": token })).await;
        for (command, right) in COMMANDS {
            let answer = client.call(command, payload.clone()).await;
            let case = format!("{command} as {role:?} with {scope:?}: {answer}");
            let refused = answer["code"] == "forbidden";
            assert_eq!(refused, !right.has(role, scope), "{case}");
            assert_ne!(answer["code"], "bad_request", "{case}");
        }
    }
}
