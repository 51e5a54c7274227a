//! Anthropic's Messages API, and the servers that offer it too.
//!
//! The one place that knows this wire format.

mod decode;
pub(crate) mod encode;
mod events;
mod wire;

use crate::answer::{Answer, AnswerMeta};
use crate::catalogue::{self, ApiFamily};
use crate::channel::Channel;
use crate::client::{ModelClient, ModelStream};
use crate::error::ModelError;
use crate::http::{HttpAnswer, Transport, secret_header};
use crate::payload::unseen_images;
use crate::request::ModelRequest;
pub(crate) use decode::MessagesDecoder;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const API_VERSION: &str = "2023-06-01";

/// A channel to a server with the Messages API.
#[derive(Debug)]
pub struct AnthropicClient {
    channel: Arc<Channel>,
    transport: Arc<Transport>,
    url: Result<Url, ModelError>,
}

impl AnthropicClient {
    pub fn new(channel: Arc<Channel>, transport: Arc<Transport>) -> Self {
        let url = channel.endpoint("v1/messages");
        Self {
            channel,
            transport,
            url,
        }
    }
}

impl ModelClient for AnthropicClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let channel = self.channel.clone();
        let transport = self.transport.clone();
        let url = self.url.clone();
        let resolved = catalogue::resolve(&channel, &request.model);
        let answer = HttpAnswer {
            transport: transport.clone(),
            key: channel.api_key.clone(),
            decoder: MessagesDecoder::default(),
            answer: Answer::new(AnswerMeta {
                api: ApiFamily::AnthropicMessages.as_str(),
                provider: channel.name.clone(),
                model: request.model.clone(),
                price: resolved.info.price,
                unseen_images: unseen_images(&request.messages, resolved.info.vision),
            }),
            cancel,
        };
        answer.stream(move || {
            let body = encode::body(&request, &channel, &resolved);
            transport.post_json(url?, headers(&channel)?, body)
        })
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
