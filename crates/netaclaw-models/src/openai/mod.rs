//! OpenAI's chat completions, and the APIs that copied them.
//!
//! The one place that knows this wire format. Differences between suppliers are data in the
//! catalog; what occurs only in answers, such as tool calls without an index, is accepted from all
//! of them.

mod calls;
mod content;
mod decode;
pub(crate) mod encode;
mod think_tags;
mod wire;

use crate::catalogue::{self, ApiFamily, Auth};
use crate::channel::Channel;
use crate::client::{ModelClient, ModelStream};
use crate::endpoint::{Endpoint, WireFormat};
use crate::error::ModelError;
use crate::http::{Transport, secret_header};
use crate::request::ModelRequest;
pub(crate) use decode::ChatDecoder;
use reqwest::header::HeaderMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A channel to a server with the chat completions API.
#[derive(Debug)]
pub struct OpenaiClient(Endpoint);

impl OpenaiClient {
    pub fn new(channel: Arc<Channel>, transport: Arc<Transport>) -> Self {
        Self(Endpoint::new(channel, transport, "chat/completions"))
    }
}

impl ModelClient for OpenaiClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let quirks = &catalogue::supplier(self.0.channel().supplier).quirks;
        let format = WireFormat {
            api: ApiFamily::OpenaiChat,
            headers,
            body: encode::body,
            decoder: ChatDecoder::new(quirks),
        };
        self.0.stream(request, cancel, format)
    }
}

/// The headers of every request to the channel.
pub(crate) fn headers(channel: &Channel) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &channel.api_key {
        match catalogue::supplier(channel.supplier).quirks.auth {
            Auth::Bearer => secret_header(&mut headers, "authorization", "Bearer ", key)?,
            Auth::Header(name) => secret_header(&mut headers, name, "", key)?,
        }
    }
    Ok(headers)
}
