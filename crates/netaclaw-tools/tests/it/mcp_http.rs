//! Servers over HTTP: answers that are large, too large or without end, and a server that is gone
//! in the middle of a call.

use crate::gate::Yard;
use crate::mcp::{PATIENCE, access, call, servers};
use netaclaw_protocol::{McpFaultCode, McpStatus, McpTransport};
use netaclaw_tools::mcp::{McpAccess, McpServers, try_server};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// Dropped, it is gone with all its connections.
struct HttpServer {
    address: SocketAddr,
    /// A call that is never answered has arrived.
    hangs: Arc<Notify>,
    /// How much of each deluge was taken before the client hung up.
    taken: mpsc::UnboundedReceiver<usize>,
    _job: AbortOnDropHandle<()>,
}

impl HttpServer {
    async fn start(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let hangs = Arc::new(Notify::new());
        let told = Arc::clone(&hangs);
        let (taken_tx, taken) = mpsc::unbounded_channel();
        let job = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(answer(stream, Arc::clone(&told), taken_tx.clone()));
            }
        });
        Self {
            address,
            hangs,
            taken,
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
async fn answer(stream: TcpStream, hangs: Arc<Notify>, taken: mpsc::UnboundedSender<usize>) {
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
    let poured = match first.starts_with("POST /long-list") && asked["method"] == "tools/list" {
        true => Some(DELUGES[0]),
        false => DELUGES
            .into_iter()
            .find(|deluge| asked["params"]["name"] == deluge.name),
    };
    if let Some(deluge) = poured {
        let much = deluge.pour(stream).await;
        // A test that does not ask has ended.
        return taken.send(much).unwrap_or_default();
    }
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

/// An answer longer than the limit.
#[derive(Clone, Copy)]
struct Deluge {
    name: &'static str,
    head: &'static str,
    /// Sent again and again.
    piece: &'static [u8],
    most: usize,
    /// The most that the client may have read of it: one message, and the buffers of sockets.
    taken_max: usize,
}

const MEGABYTE: usize = 1 << 20;
const XS: &[u8] = &[b'x'; 64 << 10];
const DELUGES: [Deluge; 5] = [
    Deluge {
        name: "endless",
        head: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
        piece: XS,
        most: usize::MAX,
        taken_max: 32 * MEGABYTE,
    },
    Deluge {
        name: "declared",
        head: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 41943040\r\n\r\n",
        piece: XS,
        most: 40 * MEGABYTE,
        taken_max: 12 * MEGABYTE,
    },
    Deluge {
        name: "chunked",
        head: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        piece: b"10\r\nxxxxxxxxxxxxxxxx\r\n",
        most: 40 * MEGABYTE,
        taken_max: 32 * MEGABYTE,
    },
    Deluge {
        name: "endless_line",
        head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: {}\n\ndata: ",
        piece: XS,
        most: usize::MAX,
        taken_max: 32 * MEGABYTE,
    },
    Deluge {
        name: "endless_event",
        head: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
        piece: b"data: all of this is one event, as no line is empty\r\n",
        most: usize::MAX,
        taken_max: 32 * MEGABYTE,
    },
];

impl Deluge {
    /// Until the client has had enough. How much it took.
    async fn pour(self, mut stream: BufReader<TcpStream>) -> usize {
        let piece = self.piece.repeat((64 << 10) / self.piece.len() + 1);
        let mut taken = 0;
        let mut next = self.head.as_bytes();
        while taken < self.most && stream.write_all(next).await.is_ok() {
            taken += next.len();
            next = &piece;
        }
        taken
    }
}

fn result_of(method: &str, params: &Value) -> Value {
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => {
            let names = DELUGES.iter().map(|deluge| deluge.name);
            let names = names.chain(["echo", "flood", "hang"]);
            json!({"tools": names.map(tool).collect::<Vec<_>>()})
        }
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
        text.len() < 40 << 10 && text.contains("Output truncated"),
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_the_call_and_the_next_one_works() {
    futures::future::join_all(DELUGES.map(is_survived)).await;
}

async fn is_survived(deluge: Deluge) {
    let name = deluge.name;
    let yard = Yard::new();
    let mut server = HttpServer::start("127.0.0.1:0").await;
    let servers = servers(&yard, vec![server.access(&yard)]).await;
    let tool = format!("mcp__web__{name}");
    let called = tokio::time::timeout(PATIENCE, call(&yard, &servers, &tool, json!({}))).await;
    let output = called.expect("it ends by its length, not by time").output;
    let text = output.joined_text();
    assert!(
        output.is_error && text.contains("a message that is too large: 16 MB"),
        "{name}: {text}"
    );
    let taken = tokio::time::timeout(PATIENCE, server.taken.recv()).await;
    let taken = taken.expect("the client hangs up").unwrap();
    assert!(taken < deluge.taken_max, "{name}: {taken}");
    assert_eq!(echoed_again(&yard, &servers).await, "here", "{name}");
    let fault = servers.statuses()["web"].state.last_fault.clone().unwrap();
    assert_eq!(fault.code, McpFaultCode::TooBig, "{name}");
}

#[tokio::test]
async fn a_list_of_tools_that_is_too_long_says_so() {
    let yard = Yard::new();
    let server = HttpServer::start("127.0.0.1:0").await;
    let mut access = server.access(&yard);
    let url = format!("http://{}/long-list", server.address);
    access.spec.transport = McpTransport::Http { url };
    let tried = tokio::time::timeout(PATIENCE, try_server(&access, &yard.gate)).await;
    let fault = tried.unwrap().unwrap_err();
    assert_eq!(fault.code, McpFaultCode::TooBig, "{fault:?}");
}

#[tokio::test]
async fn a_missing_server_is_reported_in_plain_words() {
    let yard = Yard::new();
    let server = HttpServer::start("127.0.0.1:0").await;
    let access = server.access(&yard);
    drop(server);
    let fault = try_server(&access, &yard.gate).await.unwrap_err();
    assert_eq!(fault.code, McpFaultCode::Unreachable);
    assert!(fault.detail.starts_with("Connection refused"), "{fault:?}");
}

/// Once the server is connected to again.
async fn echoed_again(yard: &Yard, servers: &McpServers) -> String {
    let mut states = servers.watch("web").expect("it is still configured");
    let waited = async {
        loop {
            let back = states.wait_for(|state| state.status == McpStatus::Ready);
            back.await.unwrap();
            let called = call(yard, servers, "mcp__web__echo", json!({})).await;
            if !called.output.is_error {
                return called.output;
            }
        }
    };
    let echoed = tokio::time::timeout(PATIENCE, waited).await.unwrap();
    echoed.joined_text()
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
    assert_eq!(echoed_again(&yard, &servers).await, "here");
}
