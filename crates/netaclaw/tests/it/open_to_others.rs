//! A server that other machines can reach must have a user who can log in.

use crate::served::{Server, TOKEN};
use crate::support::Workspace;
use serde_json::json;
use std::process::Stdio;

struct Place {
    workspace: Workspace,
}

impl Place {
    /// With an access token as the server creates it.
    fn new() -> Self {
        let mut workspace = Workspace::new();
        workspace.set("OLLAMA_HOST", "127.0.0.1:1");
        workspace.write("home/.netaclaw/access.token", TOKEN);
        Self { workspace }
    }

    /// The server, or what it says if it does not start.
    async fn serve(&self, arguments: &str) -> Result<Server, String> {
        let mut command = self.workspace.command(&format!("serve {arguments}"));
        command.stderr(Stdio::piped());
        let started = Server::start(command).await;
        started.map_err(|output| {
            assert_eq!(output.status.code(), Some(1));
            String::from_utf8(output.stderr).unwrap()
        })
    }

    async fn open(&self) -> Result<Server, String> {
        self.serve("--listen 0.0.0.0:0").await
    }

    async fn refused(&self) {
        let said = self.open().await.err().expect("the connection is refused");
        assert!(said.contains("no user or token is configured"), "{said}");
        assert!(said.contains("NETACLAW_TOKEN"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[tokio::test]
async fn the_cookie_of_a_browser_does_not_open_a_server_to_others() {
    let place = Place::new();
    place.refused().await;
    let server = place.serve("--listen 127.0.0.1:0").await.unwrap();
    let login = server.http("POST", "login", Some(json!({ "token": TOKEN })));
    assert_eq!(login.await.0, 200);
    let (_, tokens) = server.http("GET", "tokens", None).await;
    assert_eq!(tokens["total"], 1, "a browser's: {tokens}");
    // A second user without any credential.
    let ann = json!({ "name": "ann", "role": "user" });
    assert_eq!(server.http("POST", "users", Some(ann)).await.0, 201);
    server.kill().await;
    place.refused().await;
}

#[tokio::test]
async fn a_password_of_the_first_administrator_does() {
    let place = Place::new();
    let server = place.serve("--listen 127.0.0.1:0").await.unwrap();
    let (_, users) = server.http("GET", "users", None).await;
    let admin = &users["items"][0];
    let path = format!("users/{}", admin["id"].as_str().unwrap());
    let write = json!({ "name": admin["name"], "role": "admin", "password": "long enough" });
    assert_eq!(server.http("PUT", &path, Some(write)).await.0, 200);
    server.kill().await;
    let server = place.open().await.unwrap();
    // The address that is printed is one that can be opened.
    assert!(!server.address.ip().is_unspecified());
    assert_eq!(server.http("GET", "me", None).await.0, 200);
    server.kill().await;
}

#[tokio::test]
async fn a_token_that_lives_does_and_a_revoked_one_does_not() {
    let place = Place::new();
    let server = place.serve("--listen 127.0.0.1:0").await.unwrap();
    let (_, me) = server.http("GET", "me", None).await;
    let token = json!({ "userId": me["userId"], "label": "cli", "scope": "full" });
    let (status, token) = server.http("POST", "tokens", Some(token)).await;
    assert_eq!(status, 201, "{token}");
    server.kill().await;

    let server = place.open().await.unwrap();
    let path = format!("tokens/{}", token["id"].as_str().unwrap());
    assert_eq!(server.http("DELETE", &path, None).await.0, 200);
    server.kill().await;
    place.refused().await;
}
