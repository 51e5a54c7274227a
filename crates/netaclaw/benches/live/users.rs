//! People with a token each.

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Makes a user, and a token for them.
pub(crate) async fn make(address: SocketAddr, admin: &str, at: usize) -> anyhow::Result<String> {
    let user =
        json!({"name": format!("user-{at}"), "label": "", "role": "user", "status": "enabled"});
    let user = post(address, admin, "/admin/netaclaw/users", &user).await?;
    let token = json!({"userId": user["id"], "label": "bench", "scope": "full", "expiresAt": null});
    let token = post(address, admin, "/admin/netaclaw/tokens", &token).await?;
    let secret = token["secret"].as_str().context("a token has a secret")?;
    Ok(secret.to_owned())
}

async fn post(address: SocketAddr, token: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    ensure!(head.starts_with("HTTP/1.1 201"), "{path}: {answer}");
    Ok(serde_json::from_str(body)?)
}
