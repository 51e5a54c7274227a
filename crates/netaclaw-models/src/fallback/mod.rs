//! The fallback channel for when the first one fails.

use crate::client::{ModelClient, ModelEvent, ModelStream};
use crate::request::ModelRequest;
use futures::StreamExt;
use futures::stream;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One route to a model: a client, usually with its own retries, and the model's name there.
#[derive(Clone)]
pub struct Route {
    pub client: Arc<dyn ModelClient>,
    /// The channel's name, for the event about the change.
    pub channel: String,
    pub model: String,
}

/// Tries its routes in order, as long as no part of an answer has arrived and the channel failed
/// rather than the request.
pub struct FallbackClient {
    routes: Arc<[Route]>,
}

impl FallbackClient {
    /// The first route is the usual one; its model replaces the request's as every route's does.
    pub fn new(first: Route, others: impl IntoIterator<Item = Route>) -> Self {
        Self {
            routes: std::iter::once(first).chain(others).collect(),
        }
    }
}

impl ModelClient for FallbackClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let mut journey = FallbackState {
            routes: self.routes.clone(),
            at: 0,
            stream: stream::empty().boxed(),
            request,
            cancel,
            committed: false,
        };
        journey.stream = journey.set_out();
        stream::unfold(Box::new(journey), |mut journey| async move {
            let event = journey.next().await?;
            Some((event, journey))
        })
        .boxed()
    }
}

struct FallbackState {
    routes: Arc<[Route]>,
    at: usize,
    stream: ModelStream,
    request: Arc<ModelRequest>,
    cancel: CancellationToken,
    committed: bool,
}

impl FallbackState {
    /// Asks on the current route.
    fn set_out(&self) -> ModelStream {
        let route = &self.routes[self.at];
        let request = if route.model == self.request.model {
            self.request.clone()
        } else {
            Arc::new(ModelRequest {
                model: route.model.clone(),
                ..(*self.request).clone()
            })
        };
        route.client.stream(request, self.cancel.clone())
    }

    async fn next(&mut self) -> Option<ModelEvent> {
        let event = self.stream.next().await?;
        self.committed |= event.is_content();
        let ModelEvent::Failed { error, .. } = &event else {
            return Some(event);
        };
        let may_turn = !self.committed && error.is_channels_fault() && !self.cancel.is_cancelled();
        if !may_turn || self.at + 1 >= self.routes.len() {
            return Some(event);
        }
        let reason = error.clone();
        let name = |route: &Route| format!("{}/{}", route.channel, route.model);
        let from = name(&self.routes[self.at]);
        self.at += 1;
        let to = name(&self.routes[self.at]);
        tracing::warn!(
            %from,
            %to,
            reason = reason.code(),
            "a model channel failed; using the fallback channel"
        );
        self.stream = self.set_out();
        Some(ModelEvent::FallingBack { from, to, reason })
    }
}

#[cfg(test)]
mod tests;
