//! Servers over HTTP that answer with plain JSON: large answers, and one that is gone in the middle of
//! a call.

use crate::gate::Yard;
use crate::mcp::{PATIENCE, access, call, servers};
use netaclaw_protocol::{McpStatus, McpTransport};
use netaclaw_tools::mcp::McpAccess;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// Dropped, it is gone with all its connections.
struct HttpServer {
    address: SocketAddr,
    /// A call that is never answered has come.
    hangs: Arc<Notify>,
    _job: AbortOnDropHandle<()>,
}

impl HttpServer {
    async fn start(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let hangs = Arc::new(Notify::new());
        let told = Arc::clone(&hangs);
        let job = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(answer(stream, Arc::clone(&told)));
            }
        });
        Self {
            address,
            hangs,
            _job: AbortOnDropHandle::new(job),
        }
    }

    fn access(&self, yard: &Yard) -> McpAccess {
        let mut access = access(yard, "web");
        let url = format!("http://{}/mcp", self.address);
        access.spec.transport = McpTransport::Http { url };
        access.spec.timeout_ms = 600_000;
        access.secrets = Some([].into());
        access
    }
}

/// One request for each connection.
async fn answer(stream: TcpStream, hangs: Arc<Notify>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    let mut first = String::new();
    let mut length = 0;
    while stream.read_line(&mut line).await.is_ok_and(|n| n > 2) {
        if first.is_empty() {
            first.clone_from(&line);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, body) = match (asked["method"].as_str(), asked["id"].is_null()) {
        _ if !first.starts_with("POST") => ("405 Method Not Allowed", String::new()),
        (_, true) => ("202 Accepted", String::new()),
        (Some("tools/call"), _) if asked["params"]["name"] == "hang" => {
            hangs.notify_one();
            return std::future::pending().await;
        }
        (method, _) => {
            let result = result_of(method.unwrap_or_default(), &asked["params"]);
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
            ("200 OK", answer.to_string())
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let answer = [head.into_bytes(), body.into_bytes()].concat();
    // A client that has gone has no use for it.
    stream.write_all(&answer).await.unwrap_or_default();
}

fn result_of(method: &str, params: &Value) -> Value {
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => json!({"tools": [tool("echo"), tool("flood"), tool("hang")]}),
        "tools/call" if params["name"] == "flood" => {
            json!({"content": [{"type": "text", "text": "x".repeat(10 << 20)}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "here"}]}),
        _ => json!({}),
    }
}

#[tokio::test]
async fn a_large_answer_is_cut() {
    let yard = Yard::new();
    let server = HttpServer::start("127.0.0.1:0").await;
    let servers = servers(&yard, vec![server.access(&yard)]).await;
    let flood = call(&yard, &servers, "mcp__web__flood", json!({})).await;
    let text = flood.output.joined_text();
    assert!(
        text.len() < 40 << 10 && text.contains("Output cut"),
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn a_server_that_is_gone_in_the_middle_of_a_call_fails_it_and_comes_back() {
    let yard = Yard::new();
    let server = HttpServer::start("127.0.0.1:0").await;
    let address = server.address.to_string();
    let servers = servers(&yard, vec![server.access(&yard)]).await;
    let hangs = Arc::clone(&server.hangs);
    let (hung, ()) = tokio::join!(
        tokio::time::timeout(PATIENCE, call(&yard, &servers, "mcp__web__hang", json!({}))),
        async {
            hangs.notified().await;
            drop(server);
        }
    );
    let hung = hung.expect("it ends with its server, not by time").output;
    assert!(hung.is_error, "{hung:?}");

    let _server = HttpServer::start(&address).await;
    let mut states = servers.watch("web").expect("it is still configured");
    let waited = async {
        loop {
            let back = states.wait_for(|state| state.status == McpStatus::Ready);
            back.await.unwrap();
            let called = call(&yard, &servers, "mcp__web__echo", json!({})).await;
            if !called.output.is_error {
                return called.output;
            }
        }
    };
    let echoed = tokio::time::timeout(PATIENCE, waited).await.unwrap();
    assert_eq!(echoed.joined_text(), "here");
}
