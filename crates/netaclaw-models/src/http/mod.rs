//! HTTP as models need it: three different timeouts, errors by their stage, no redirects, and a
//! request that ends as soon as its answer is dropped.

mod reply;
mod stream;

pub(crate) use reply::{error_reply, read_json};
pub(crate) use stream::{Decoder, HttpAnswer, Progress};

use crate::error::{Detail, ModelError, NetworkStage, TimeoutStage};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use std::error::Error;
use std::sync::{Once, OnceLock};
use std::time::Duration;

/// The timeouts. There is none for a whole answer: a model that keeps sending is working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first byte of the answer; models read long contexts for minutes.
    pub first_byte: Duration,
    /// Between two pieces of the answer. Pings and comments count as pieces.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
        }
    }
}

/// How long the last bytes of an answer may take that has said all it had to say.
const ENDING_MAX: Duration = Duration::from_secs(2);

/// The connections of the whole program to model servers; shared by all channels.
#[derive(Debug)]
pub struct Transport {
    timeouts: Timeouts,
    /// The system's certificates take time to read and megabytes to keep, which who has only
    /// models on this machine need not spend. So each is made when first used.
    plain: OnceLock<Result<Client, String>>,
    direct: OnceLock<Result<Client, String>>,
    proxied: OnceLock<Result<Client, String>>,
}

impl Transport {
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            plain: OnceLock::new(),
            direct: OnceLock::new(),
            proxied: OnceLock::new(),
        }
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// The client for an address. A proxy from the environment is used, but never for this machine,
    /// which the proxy could not reach.
    pub fn client(&self, url: &Url) -> Result<&Client, ModelError> {
        let (slot, way) = match (is_local(url), url.scheme()) {
            (true, "http") => (&self.plain, ConnectionRoute::Plain),
            (true, _) => (&self.direct, ConnectionRoute::Direct),
            (false, _) => (&self.proxied, ConnectionRoute::ThroughProxy),
        };
        slot.get_or_init(|| build(self.timeouts.connect, way))
            .as_ref()
            .map_err(|reason| ModelError::Network {
                stage: NetworkStage::Tls,
                detail: Detail::text(reason),
            })
    }

    /// A request that posts a JSON document.
    pub(crate) fn post_json(
        &self,
        url: Url,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<RequestBuilder, ModelError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let client = self.client(&url)?;
        Ok(client.post(url).headers(headers).body(body))
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, ModelError> {
        tokio::time::timeout(self.timeouts.first_byte, request.send())
            .await
            .map_err(|_| ModelError::Timeout {
                stage: TimeoutStage::FirstByte,
                after: self.timeouts.first_byte,
            })?
            .map_err(|error| self.failed(error))
    }

    /// Reads the rest of an answer in the background, so that its connection is free for the next
    /// request. The connection of a server that does not end in time is closed. No owner joins the
    /// task: it ends within [`ENDING_MAX`], stores nothing, and a runtime that shuts down drops it
    /// with its connection.
    fn read_out(rest: stream::Events) {
        tokio::spawn(async move {
            // Nothing depends on whether it ended.
            drop(tokio::time::timeout(ENDING_MAX, rest.read_out()).await);
        });
    }

    fn failed(&self, error: reqwest::Error) -> ModelError {
        if error.is_connect() && error.is_timeout() {
            return ModelError::Timeout {
                stage: TimeoutStage::Connect,
                after: self.timeouts.connect,
            };
        }
        ModelError::Network {
            stage: stage_of(&error),
            detail: Detail::text(cause_of(error)),
        }
    }
}

impl Default for Transport {
    fn default() -> Self {
        Self::new(Timeouts::default())
    }
}

enum ConnectionRoute {
    /// To this machine, without encryption.
    Plain,
    /// To this machine.
    Direct,
    /// By a proxy, if the environment names one.
    ThroughProxy,
}

fn build(connect_timeout: Duration, way: ConnectionRoute) -> Result<Client, String> {
    install_crypto();
    let builder = Client::builder()
        .user_agent(concat!("netaclaw/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        // A redirect would carry the key to wherever it points.
        .redirect(redirect::Policy::none())
        // A compressed stream arrives in lumps.
        .no_gzip()
        .tcp_nodelay(true);
    let builder = match way {
        ConnectionRoute::Plain => builder.no_proxy().tls_certs_only([]),
        ConnectionRoute::Direct => builder.no_proxy(),
        ConnectionRoute::ThroughProxy => builder,
    };
    builder.build().map_err(cause_of)
}

/// Without a provider of cryptography the first secure connection would panic.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        if rustls::crypto::ring::default_provider()
            .install_default()
            .is_err()
        {
            tracing::debug!("another cryptography provider is already installed");
        }
    });
}

fn is_local(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

fn stage_of(error: &reqwest::Error) -> NetworkStage {
    if error.is_dns() {
        NetworkStage::Dns
    } else if is_tls(error) {
        NetworkStage::Tls
    } else if error.is_connect() {
        NetworkStage::Connect
    } else {
        NetworkStage::Request
    }
}

/// Whether encryption is at the bottom of an error.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    // `io::Error` hides what it wraps from `source`, so it has to be asked itself.
    let wrapped = error
        .downcast_ref::<std::io::Error>()
        .and_then(|io| io.get_ref());
    error.is::<rustls::Error>()
        || wrapped.is_some_and(|inner| is_tls(inner))
        || error.source().is_some_and(is_tls)
}

/// The innermost cause as text. The address is left out: it may hold a key.
fn cause_of(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = cause.to_string();
        source = cause.source();
    }
    text
}

/// A header that no log shows.
pub(crate) fn secret_header(
    headers: &mut HeaderMap,
    name: &'static str,
    prefix: &str,
    key: &SecretString,
) -> Result<(), ModelError> {
    let text = format!("{prefix}{}", key.expose_secret().trim());
    let mut value = HeaderValue::from_str(&text)
        .map_err(|_| ModelError::Auth(Detail::text("the API key contains invalid characters")))?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}
