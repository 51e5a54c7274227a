//! What happens to a connection after its answer.

use crate::harness::channel_at;
use futures::StreamExt;
use netaclaw_models::{
    ModelClient, ModelEvent, ModelRequest, OpenaiClient, RetryClient, RetryPolicy, Transport,
};
use netaclaw_protocol::{Message, Supplier, UserContent, UserMessage};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

async fn last_event(client: &dyn ModelClient) -> ModelEvent {
    let hello = UserMessage {
        content: UserContent::Text("hello".into()),
        timestamp: 1,
    };
    let request = ModelRequest {
        model: "fake-model".into(),
        messages: vec![Message::User(hello)],
        ..ModelRequest::default()
    };
    let mut events = client.stream(Arc::new(request), CancellationToken::new());
    // As a run does: nothing is asked of the stream after its last event.
    loop {
        match events.next().await {
            Some(last @ (ModelEvent::Done(_) | ModelEvent::Failed { .. })) => return last,
            Some(_) => {}
            None => panic!("a stream ends with its last event"),
        }
    }
}

/// A new connection costs several round trips to the supplier before every answer. Most servers end
/// the body only after the last event.
#[tokio::test]
async fn an_answer_leaves_its_connection_to_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client_to(&listener);
    let (heard_tx, heard_rx) = watch::channel(0);
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(answer_all(stream, heard_rx.clone()));
        }
    });
    let mut answers = 0;
    // The client reads the last bytes in the background, so the very next answer may be too early.
    while connections.load(Ordering::Relaxed) == answers {
        assert!(answers < 50, "every answer had a connection of its own");
        let last = last_event(&client).await;
        assert!(matches!(last, ModelEvent::Done(_)), "{last:?}");
        answers += 1;
        heard_tx.send(answers).unwrap();
    }
    server.abort();
}

/// Answers one request after the other, and ends an answer only after the client has received it.
async fn answer_all(mut stream: TcpStream, mut heard: watch::Receiver<usize>) {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    while read_request(&mut stream).await {
        let before = *heard.borrow();
        let chunk = format!("{head}{:x}\r\n{BODY}\r\n", BODY.len());
        if stream.write_all(chunk.as_bytes()).await.is_err()
            || heard.wait_for(|count| *count > before).await.is_err()
            || stream.write_all(b"0\r\n\r\n").await.is_err()
        {
            return;
        }
    }
}

/// Servers close idle connections without a notice.
#[tokio::test]
async fn a_closed_idle_connection_fails_no_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client_to(&listener);
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            answer_once(stream).await;
        }
    });
    for _ in 0..20 {
        let last = last_event(&client).await;
        assert!(matches!(last, ModelEvent::Done(_)), "{last:?}");
    }
    server.abort();
}

/// Answers a request as if more might follow, and hangs up.
async fn answer_once(mut stream: TcpStream) {
    if read_request(&mut stream).await {
        let length = BODY.len();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
        let answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{BODY}");
        // The test checks whether the client is still connected.
        stream.write_all(answer.as_bytes()).await.ok();
    }
}

const BODY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\
                    \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Whether a request came. It ends with the brace that closes its JSON.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    while !seen.ends_with(b"}") {
        if stream.read_buf(&mut seen).await.unwrap_or(0) == 0 {
            return false;
        }
    }
    true
}

/// As runs do it: a failure before the first piece is retried.
fn client_to(server: &TcpListener) -> RetryClient {
    let url = format!("http://{}/v1", server.local_addr().unwrap());
    let channel = channel_at(url, Supplier::Compatible);
    let plain = OpenaiClient::new(Arc::new(channel), Arc::new(Transport::default()));
    let policy = RetryPolicy {
        first_wait: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    RetryClient::new(Arc::new(plain), policy)
}
