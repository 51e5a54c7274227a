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

use crate::answer::{Answer, AnswerMeta};
use crate::catalogue::{self, ApiFamily, Auth};
use crate::channel::Channel;
use crate::client::{ModelClient, ModelStream};
use crate::error::ModelError;
use crate::http::{HttpAnswer, Transport, secret_header};
use crate::payload::unseen_images;
use crate::request::ModelRequest;
pub(crate) use decode::ChatDecoder;
use reqwest::Url;
use reqwest::header::HeaderMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A channel to a server with the chat completions API.
#[derive(Debug)]
pub struct OpenaiClient {
    channel: Arc<Channel>,
    transport: Arc<Transport>,
    url: Result<Url, ModelError>,
}

impl OpenaiClient {
    pub fn new(channel: Arc<Channel>, transport: Arc<Transport>) -> Self {
        let url = channel.endpoint("chat/completions");
        Self {
            channel,
            transport,
            url,
        }
    }
}

impl ModelClient for OpenaiClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let channel = self.channel.clone();
        let transport = self.transport.clone();
        let url = self.url.clone();
        let resolved = catalogue::resolve(&channel, &request.model);
        let quirks = &catalogue::supplier(channel.supplier).quirks;
        let answer = HttpAnswer {
            transport: transport.clone(),
            key: channel.api_key.clone(),
            decoder: ChatDecoder::new(quirks),
            answer: Answer::new(AnswerMeta {
                api: ApiFamily::OpenaiChat.as_str(),
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
    if let Some(key) = &channel.api_key {
        match catalogue::supplier(channel.supplier).quirks.auth {
            Auth::Bearer => secret_header(&mut headers, "authorization", "Bearer ", key)?,
            Auth::Header(name) => secret_header(&mut headers, name, "", key)?,
        }
    }
    Ok(headers)
}
