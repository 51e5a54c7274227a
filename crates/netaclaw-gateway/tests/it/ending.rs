//! The end of a server, and of connections that nothing comes from.

use crate::server::{Server, TOKEN};
use netaclaw_gateway::GatewaySettings;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Far more than any of this takes; a test that hangs would say nothing.
const LONG: Duration = Duration::from_secs(20);

async fn began(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// All that comes until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let read = tokio::time::timeout(LONG, stream.read_to_string(&mut text)).await;
    // A connection that was cut off may end with an error.
    read.expect("the connection is closed").unwrap_or_default();
    text
}

async fn impatient() -> Server {
    let settings = GatewaySettings {
        close_grace: Duration::from_millis(200),
        ..GatewaySettings::default()
    };
    Server::start_with(settings).await
}

#[tokio::test]
async fn half_a_request_does_not_keep_a_server_alive() {
    let server = impatient().await;
    let mut stream = began(&server, "GET / HT").await;
    // By now the server has read what there is.
    server.client().await;
    tokio::time::timeout(LONG, server.stop())
        .await
        .expect("the server ends");
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn half_a_body_does_not_keep_a_server_alive() {
    let server = impatient().await;
    let head = format!(
        "POST /admin/netaclaw/agents HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\n\
         content-length: 20\r\n\r\n{{\"name\"",
        server.address
    );
    let mut stream = began(&server, &head).await;
    server.client().await;
    tokio::time::timeout(LONG, server.stop())
        .await
        .expect("the server ends");
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn who_has_asked_before_the_end_is_answered() {
    let server = Server::start().await;
    let head = format!(
        "POST /admin/netaclaw/agents HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\n\
         content-length: 17\r\n\r\n",
        server.address
    );
    let mut stream = began(&server, &head).await;
    let mut client = server.client().await;
    server.shutdown.cancel();
    client.until_disconnected().await;
    stream.write_all(br#"{"name":"helper"}"#).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    tokio::time::timeout(LONG, server.serving)
        .await
        .expect("the server ends")
        .unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_is_closed() {
    let settings = GatewaySettings {
        head_within: Duration::from_millis(200),
        ..GatewaySettings::default()
    };
    let server = Server::start_with(settings).await;
    let mut half = began(&server, "GET /healthz HTTP/1.1\r\nhost:").await;
    let mut silent = began(&server, "").await;
    assert_eq!(rest(&mut half).await, "");
    assert_eq!(rest(&mut silent).await, "");
    // A connection with a request in time is kept for the next request, and then closed as well.
    let whole = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let mut kept = began(&server, &whole).await;
    let answer = rest(&mut kept).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.stop().await;
}
