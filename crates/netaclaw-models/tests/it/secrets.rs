//! The key is sent to the supplier, and goes nowhere else.

use crate::harness::channel;
use futures::StreamExt;
use netaclaw_models::{ModelEvent, ModelRequest, Transport, client_for};
use netaclaw_protocol::Supplier;
use netaclaw_testkit::fake_model::{FakeModel, Fault, Reply};
use std::io;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::fmt::MakeWriter;

const KEY: &str = "sk-MARKER-0123456789abcdef";

/// Keeps everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;
    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn the_key_never_shows() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let quotes_it = |status| Fault::Body {
        status,
        content_type: "application/json",
        body: format!(r#"{{"error":{{"message":"bad key {KEY}, sent as Bearer {KEY}"}}}}"#),
    };
    let mut shown = String::new();
    for supplier in [Supplier::Openai, Supplier::Azure, Supplier::Anthropic] {
        for fault in [
            None,
            Some(quotes_it(401)),
            Some(quotes_it(400)),
            Some(quotes_it(429)),
            Some(quotes_it(200)),
            Some(Fault::CutAfter(1)),
        ] {
            let server = FakeModel::start().await;
            let mut channel = channel(&server, supplier);
            channel.api_key = Some(KEY.into());
            // Keys in addresses happen too.
            channel.base_url = channel.base_url.map(|url| format!("{url}?key={KEY}"));
            shown += &format!("{channel:?}");
            server.script().push(Reply {
                fault,
                ..Reply::text("hi")
            });
            let client = client_for(Arc::new(channel), Arc::new(Transport::default()));
            let request = Arc::new(ModelRequest {
                model: "fake-model".into(),
                ..ModelRequest::default()
            });
            let mut stream = client.stream(request, CancellationToken::new());
            while let Some(event) = stream.next().await {
                shown += &format!("{event:?}");
                if let ModelEvent::Failed { error, .. } = event {
                    shown += &format!("{error}");
                    shown += &format!("{:?}{:?}", error.words(), error.trouble("c", "m"));
                }
            }
            let sent = server.script().last_request();
            let header = sent.header("authorization").or(sent.header("x-api-key"));
            let header = header.or(sent.header("api-key")).unwrap();
            assert!(header.contains(KEY));
            shown += &format!("{sent:?}");
        }
    }
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(shown.contains("[key]"));
    // The base URL of a channel is the user's own setting and is shown as it was typed.
    let shown = shown.replace(&format!("?key={KEY}"), "");
    for text in [&shown, &log] {
        if let Some(at) = text.find("MARKER") {
            panic!(
                "{}",
                &text[at.saturating_sub(300)..(at + 60).min(text.len())]
            );
        }
    }
}
