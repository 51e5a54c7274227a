//! Anthropic's Messages API, and the servers that offer it too.
//!
//! The one place that knows this wire format.

mod decode;
pub(crate) mod encode;
mod events;
mod wire;

use crate::catalogue::ApiFamily;
use crate::channel::Channel;
use crate::client::{ModelClient, ModelStream};
use crate::endpoint::{Endpoint, WireFormat};
use crate::error::ModelError;
use crate::http::{Transport, secret_header};
use crate::request::ModelRequest;
pub(crate) use decode::MessagesDecoder;
use reqwest::header::{HeaderMap, HeaderValue};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const API_VERSION: &str = "2023-06-01";

/// A channel to a server with the Messages API.
#[derive(Debug)]
pub struct AnthropicClient(Endpoint);

impl AnthropicClient {
    pub fn new(channel: Arc<Channel>, transport: Arc<Transport>) -> Self {
        Self(Endpoint::new(channel, transport, "v1/messages"))
    }
}

impl ModelClient for AnthropicClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let format = WireFormat {
            api: ApiFamily::AnthropicMessages,
            headers,
            body: encode::body,
            decoder: MessagesDecoder::default(),
        };
        self.0.stream(request, cancel, format)
    }
}

/// The headers of every request to the channel.
pub(crate) fn headers(channel: &Channel) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static(API_VERSION));
    if let Some(key) = &channel.api_key {
        secret_header(&mut headers, "x-api-key", "", key)?;
    }
    Ok(headers)
}
