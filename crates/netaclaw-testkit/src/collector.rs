//! A collector of traces, which keeps what it is sent.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// On a port of its own; ends with the value.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    spans: Arc<watch::Sender<Vec<Traced>>>,
    server: JoinHandle<()>,
}

/// A span as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    pub id: Vec<u8>,
    pub parent_id: Vec<u8>,
    pub trace_id: Vec<u8>,
    pub name: String,
    pub attributes: BTreeMap<String, Value>,
    pub events: Vec<String>,
    pub failed: bool,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound listener has one");
        let spans = Arc::new(watch::Sender::default());
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(Arc::clone(&spans));
        let server = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("axum::serve never ends with an error");
        });
        Self {
            address,
            spans,
            server,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until this many spans are there.
    pub async fn spans(&self, count: usize) -> Vec<Traced> {
        let mut heard = self.spans.subscribe();
        let spans = heard.wait_for(|spans| spans.len() >= count).await;
        spans.expect("the collector holds the sender").clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take(
    State(spans): State<Arc<watch::Sender<Vec<Traced>>>>,
    body: Bytes,
) -> (StatusCode, [(header::HeaderName, &'static str); 1]) {
    let kind = [(header::CONTENT_TYPE, "application/x-protobuf")];
    let Ok(request) = ExportTraceServiceRequest::decode(body) else {
        return (StatusCode::BAD_REQUEST, kind);
    };
    let scopes = request.resource_spans.into_iter();
    let scopes = scopes.flat_map(|resource| resource.scope_spans);
    let arrived = scopes.flat_map(|scope| scope.spans).map(traced);
    spans.send_modify(|spans| spans.extend(arrived));
    (StatusCode::OK, kind)
}

fn traced(span: Span) -> Traced {
    let failed = span.status.is_some_and(|status| status.code == 2);
    let attribute = |KeyValue { key, value, .. }: KeyValue| (key, value.map_or(Value::Null, plain));
    Traced {
        id: span.span_id,
        parent_id: span.parent_span_id,
        trace_id: span.trace_id,
        name: span.name,
        attributes: span.attributes.into_iter().map(attribute).collect(),
        events: span.events.into_iter().map(|event| event.name).collect(),
        failed,
    }
}

fn plain(value: AnyValue) -> Value {
    match value.value {
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::IntValue(number)) => json!(number),
        Some(Any::BoolValue(yes)) => json!(yes),
        Some(Any::ArrayValue(items)) => items.values.into_iter().map(plain).collect(),
        _ => Value::Null,
    }
}
