//! A channel with the address of one API: what the clients of all wire formats have in common.

use crate::answer::{Answer, AnswerMeta};
use crate::catalogue::{self, ApiFamily, Resolved};
use crate::channel::Channel;
use crate::client::ModelStream;
use crate::error::ModelError;
use crate::http::{Decoder, HttpAnswer, Transport};
use crate::payload::unseen_images;
use crate::request::ModelRequest;
use reqwest::Url;
use reqwest::header::HeaderMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(crate) struct Endpoint {
    channel: Arc<Channel>,
    transport: Arc<Transport>,
    url: Result<Url, ModelError>,
}

/// How a wire format writes requests and reads answers.
pub(crate) struct WireFormat<D> {
    pub(crate) api: ApiFamily,
    pub(crate) headers: fn(&Channel) -> Result<HeaderMap, ModelError>,
    pub(crate) body: fn(&ModelRequest, &Channel, &Resolved) -> Vec<u8>,
    pub(crate) decoder: D,
}

impl Endpoint {
    pub(crate) fn new(channel: Arc<Channel>, transport: Arc<Transport>, path: &str) -> Self {
        let url = channel.endpoint(path);
        Self {
            channel,
            transport,
            url,
        }
    }

    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    pub(crate) fn stream<D: Decoder>(
        &self,
        request: Arc<ModelRequest>,
        cancel: CancellationToken,
        format: WireFormat<D>,
    ) -> ModelStream {
        let WireFormat {
            api,
            headers,
            body,
            decoder,
        } = format;
        let (channel, transport) = (Arc::clone(&self.channel), Arc::clone(&self.transport));
        let url = self.url.clone();
        let resolved = catalogue::resolve(&channel, &request.model);
        let answer = HttpAnswer {
            transport: Arc::clone(&transport),
            key: channel.api_key.clone(),
            decoder,
            answer: Answer::new(AnswerMeta {
                api: api.as_str(),
                provider: channel.name.clone(),
                model: request.model.clone(),
                price: resolved.info.price,
                unseen_images: unseen_images(&request.messages, resolved.info.vision),
            }),
            cancel,
        };
        answer.stream(move || {
            let body = body(&request, &channel, &resolved);
            transport.post_json(url?, headers(&channel)?, body)
        })
    }
}
