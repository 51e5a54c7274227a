//! The address of the server: free, or taken by a NetaClaw, or by something else.

use super::check::Check;
use crate::app::App;
use crate::config::Config;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server on this machine answers at once.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest answer that is read; the description of the API is by far the longest.
const ANSWER_MAX: u64 = 4 << 20;

pub(super) async fn look(app: &App, config: &Config) -> Vec<Check> {
    let lang = app.lang;
    let fail = |what: String, why, todo| vec![Check::fail("listen", what, why, todo)];
    let Ok(address) = config.server.listen.parse::<SocketAddr>() else {
        let what = format!("{:?}", config.server.listen);
        return fail(what, lang.not_an_address(), lang.listen_example());
    };
    let what = lang.listen_word(address);
    match TcpListener::bind(address) {
        Ok(_) => vec![Check::ok("listen", what, lang.port_free())],
        Err(error) if error.kind() == ErrorKind::AddrInUse => match find_server(address).await {
            Some(version) => vec![running(app, config, address, what, &version).await],
            None => fail(what, lang.port_taken(), lang.listen_elsewhere()),
        },
        Err(error) => fail(what, error.to_string(), lang.listen_elsewhere()),
    }
}

async fn running(
    app: &App,
    config: &Config,
    address: SocketAddr,
    what: String,
    version: &str,
) -> Check {
    let lang = app.lang;
    let ours = env!("CARGO_PKG_VERSION");
    if version != ours {
        let said = lang.other_version(version, ours);
        return Check::warn("listen", what, said, lang.restart_it());
    }
    let kept = || std::fs::read_to_string(config.token_file()).ok();
    let token = app.env.token.clone();
    let token = token.or_else(|| kept().map(|text| text.trim().to_owned().into()));
    let knows_us = match token {
        Some(token) => matches!(get(address, "/v1/models", Some(&token)).await, Ok((200, _))),
        None => false,
    };
    match knows_us {
        true => Check::ok("listen", what, lang.server_runs(version)),
        // Two servers on one machine are nothing wrong, but then one has to move.
        false => Check::warn(
            "listen",
            what,
            lang.strange_server(version),
            lang.listen_elsewhere(),
        ),
    }
}

/// The version of the NetaClaw that listens there, if it is one.
async fn find_server(address: SocketAddr) -> Option<String> {
    let (200, body) = get(address, "/healthz", None).await.ok()? else {
        return None;
    };
    if body != b"ok" {
        return None;
    }
    let (_, body) = get(address, "/openapi.json", None).await.ok()?;
    let about: Value = serde_json::from_slice(&body).ok()?;
    let about = &about["info"];
    (about["title"] == "NetaClaw").then(|| about["version"].as_str().map(str::to_owned))?
}

/// One request in the oldest and shortest form of HTTP, which every server understands.
async fn get(
    address: SocketAddr,
    path: &str,
    token: Option<&SecretString>,
) -> io::Result<(u16, Vec<u8>)> {
    let asked = async {
        let mut stream = TcpStream::connect(reachable(address)).await?;
        let bearer =
            token.map(|token| format!("Authorization: Bearer {}\r\n", token.expose_secret()));
        let request = format!(
            "GET {path} HTTP/1.0\r\nHost: {address}\r\n{}\r\n",
            bearer.unwrap_or_default()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER_MAX).read_to_end(&mut answer).await?;
        taken_apart(&answer).ok_or_else(|| io::Error::from(ErrorKind::InvalidData))
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await;
    asked.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// The address to go to for a server that listens everywhere.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        _ => address,
    }
}

/// Status and body.
fn taken_apart(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    Some((status.parse().ok()?, answer[end + 4..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_apart_and_nonsense_is_not() {
        let answer = b"HTTP/1.1 200 OK\r\nserver: x\r\n\r\nok\r\n\r\n";
        assert_eq!(taken_apart(answer), Some((200, b"ok\r\n\r\n".to_vec())));
        assert_eq!(taken_apart(b"SSH-2.0-OpenSSH\r\n\r\n"), None);
        assert_eq!(taken_apart(b"HTTP/1.1 two\r\n\r\n"), None);
        assert_eq!(taken_apart(b""), None);
    }
}
