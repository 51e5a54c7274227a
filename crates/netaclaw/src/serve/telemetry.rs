//! Traces of runs, sent to a collector. What is recorded is the engine's matter.

use async_trait::async_trait;
use bytes::Bytes;
use netaclaw_models::Transport;
use opentelemetry::global;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::{Client, Url};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

/// How long a collector may take for one batch. What it does not accept is lost, and nothing waits
/// for it.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last batch may hold up the end of the server.
const LAST_TIMEOUT: Duration = Duration::from_secs(2);

/// Records traces from now on, until it is shut down.
pub(super) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// A server without a working collector runs all the same; the log says why.
    pub(super) fn start(endpoint: Option<&Url>) -> Option<Self> {
        let endpoint = endpoint?;
        let started = Self::to(endpoint);
        if let Err(error) = &started {
            tracing::warn!(%error, "failed to start the export of traces");
        }
        started.ok()
    }

    fn to(endpoint: &Url) -> Result<Self, HttpError> {
        let collector = Collector {
            client: Transport::default().client(endpoint)?.clone(),
            runtime: Handle::current(),
            away: AtomicBool::new(false),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_endpoint(endpoint.as_str())
            .build()?;
        let resource = Resource::builder().with_service_name("netaclaw").build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_batch_exporter(exporter)
            .build();
        global::set_tracer_provider(provider.clone());
        Ok(Self { provider })
    }

    /// Sends what is left.
    pub(super) async fn end(self) {
        let provider = self.provider;
        let last = move || provider.shutdown_with_timeout(LAST_TIMEOUT);
        match tokio::task::spawn_blocking(last).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "failed to export the last traces"),
            Err(error) => tracing::warn!(%error, "failed to export the last traces"),
        }
    }
}

/// The way to the collector: that of the models, with their proxies and certificates.
#[derive(Debug)]
struct Collector {
    client: Client,
    /// Batches are sent from a thread of their own, where no runtime is.
    runtime: Handle,
    /// The last batch was not taken in, and the log says so.
    away: AtomicBool,
}

impl Collector {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, request) = (self.client.clone(), request.try_into()?);
        let send = async move {
            // The address may hold a password, and errors go to the log.
            let failed = reqwest::Error::without_url;
            let answer = client.execute(request).await.map_err(failed)?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                headers.clone_from(answer.headers());
            }
            Ok::<_, reqwest::Error>((response, answer.bytes().await.map_err(failed)?))
        };
        // Whatever has to do with time needs the runtime already to be made.
        let send = async { tokio::time::timeout(SEND_TIMEOUT, send).await };
        let (response, body) = self.runtime.spawn(send).await???;
        Ok(response.body(body)?)
    }

    /// Says once that nothing arrives, and once that it does again.
    fn tell(&self, answered: &Result<Response<Bytes>, HttpError>) {
        let why = match answered {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(response.status().to_string()),
            Err(error) => Some(innermost(&**error).to_string()),
        };
        match (why, self.away.load(Ordering::Relaxed)) {
            (Some(why), false) => {
                tracing::warn!(why, "the collector does not accept traces; they are lost")
            }
            (None, true) => tracing::warn!("the collector accepts traces again"),
            (Some(_), true) | (None, false) => return,
        }
        self.away.fetch_not(Ordering::Relaxed);
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answered = self.send(request).await;
        self.tell(&answered);
        answered
    }
}

fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    error.source().map_or(error, innermost)
}
