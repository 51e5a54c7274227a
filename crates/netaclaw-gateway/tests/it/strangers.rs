//! What clients without a credential can cost: raw connections that send too much, too slowly, or
//! are too many.

use crate::http::plain;
use crate::server::Server;
use netaclaw_gateway::{ConnectionLimits, GatewaySettings};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Far more than a client needs to join.
const TOO_MUCH: usize = 64 << 10;

async fn websocket(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {address}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The answer and the first packet, which has the session id.
    let mut seen = Vec::new();
    while !contains(&seen, b"pingInterval") {
        let mut more = [0; 1024];
        let read = stream.read(&mut more).await.unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&more[..read]);
    }
    stream
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The head of a text frame with this many bytes, masked with zeros.
fn frame_head(bytes: u64) -> Vec<u8> {
    let mut head = vec![0x81, 0xff];
    head.extend_from_slice(&bytes.to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    head
}

/// What a server that waits for the whole frame would take of it.
const PART_OF_FRAME: usize = 2 << 20;
const FRAME: u64 = 3_000_000;

/// Begins a frame of three megabytes and sends most of it. Whether the server closed the
/// connection before.
async fn is_cut(stream: &mut TcpStream) -> bool {
    stream.write_all(&frame_head(FRAME)).await.unwrap();
    let mut sent = 0;
    while sent < PART_OF_FRAME {
        match stream.write(&[b'2'; 4096]).await {
            Ok(written) => sent += written,
            Err(_) => return true,
        }
        if is_closed(stream) {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

fn is_closed(stream: &TcpStream) -> bool {
    let mut byte = [0; 256];
    matches!(stream.try_read(&mut byte), Ok(0))
}

#[tokio::test]
async fn a_socket_that_has_not_joined_may_send_little() {
    let server = Server::start().await;
    let mut stream = websocket(server.address).await;
    assert!(is_cut(&mut stream).await);
    // One that has joined may send a whole command.
    let mut client = server.client().await;
    let long = "x".repeat(500_000);
    let ack = client.call("chat", json!({ "content": long })).await;
    assert_eq!(ack["ok"], true, "{ack}");
}

#[tokio::test]
async fn a_poll_that_has_not_joined_may_send_little() {
    let server = Server::start().await;
    let opened = plain(server.address, "GET", "/socket.io/?EIO=4&transport=polling");
    let opened = opened.send().await;
    let (_, told) = opened.text.split_once('{').unwrap();
    let told: serde_json::Value = serde_json::from_str(&format!("{{{told}")).unwrap();
    let sid = told["sid"].as_str().unwrap();
    let path = format!("/socket.io/?EIO=4&transport=polling&sid={sid}");
    let long = format!("40/netaclaw,{{\"token\":\"{}\"}}", "x".repeat(TOO_MUCH));
    let refused = plain(server.address, "POST", &path)
        .text(&long)
        .send()
        .await;
    assert!(refused.status >= 400, "{refused:?}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = Server::start_with(GatewaySettings {
        body_within: Duration::from_millis(200),
        ..GatewaySettings::default()
    })
    .await;
    for path in [
        "/admin/netaclaw/login",
        "/socket.io/?EIO=4&transport=polling&sid=AAAAAAAAAAAAAAAA",
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: 100\r\n\r\n{{",
            server.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
}

#[tokio::test]
async fn connections_of_one_address_are_limited() {
    let server = Server::start_with(GatewaySettings {
        connections: ConnectionLimits {
            total_max: 0,
            per_address_max: 3,
        },
        ..GatewaySettings::default()
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(websocket(server.address).await);
    }
    let asked = plain(server.address, "GET", "/healthz").send().await;
    assert_eq!(asked.status, 200);
    held.push(websocket(server.address).await);
    // Nothing is asked, so that nothing is left unread and the answer arrives.
    let refused = greeting(server.address).await;
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    assert!(refused.contains("\"code\":\"rate_limited\""), "{refused}");
    // An upgraded connection counts until it ends.
    drop(held.pop());
    while !asks_and_is_answered(server.address).await {}
}

/// What the server says to a connection that says nothing, up to its end.
async fn greeting(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    said
}

async fn asks_and_is_answered(address: SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let ask = format!("GET /healthz HTTP/1.0\r\nHost: {address}\r\n\r\n");
    let mut said = String::new();
    stream.write_all(ask.as_bytes()).await.is_ok()
        && stream.read_to_string(&mut said).await.is_ok()
        && said.starts_with("HTTP/1.0 200")
}

/// Frames that are never finished, from many sockets: what they cost the process.
#[tokio::test(flavor = "multi_thread")]
async fn half_open_frames_cost_little() {
    const SOCKETS: u64 = 300;
    let server = Server::start().await;
    let mut held = Vec::new();
    for _ in 0..SOCKETS {
        held.push(websocket(server.address).await);
    }
    let before = most_memory_kb();
    for stream in &mut held {
        stream.write_all(&frame_head(FRAME)).await.unwrap();
        for _ in 0..60 {
            // Some of them are cut off before they have sent all.
            if stream.write_all(&[b'2'; 4096]).await.is_err() {
                break;
            }
        }
    }
    for stream in &mut held {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap_or_default();
    }
    let grown = most_memory_kb().saturating_sub(before);
    assert!(grown < SOCKETS * 40, "{grown} kB more");
}

/// The most that this process ever had.
fn most_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
