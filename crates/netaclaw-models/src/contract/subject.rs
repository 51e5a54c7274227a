//! The helpers through which the suite touches a client.

use super::{ContractHarness, Scene, ScenePart};
use crate::client::{ModelEvent, ModelStream};
use crate::error::ModelError;
use crate::request::ModelRequest;
use futures::StreamExt;
use netaclaw_protocol::{AssistantMessage, Message, UserContent, UserMessage};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) fn user(text: &str) -> Message {
    Message::User(UserMessage {
        content: UserContent::Text(text.into()),
        timestamp: 1,
    })
}

pub(super) fn text(text: &str) -> ScenePart {
    ScenePart::Text(text.into())
}

pub(super) fn asking(harness: &dyn ContractHarness, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: harness.model(),
        messages,
        ..ModelRequest::default()
    }
}

pub(super) fn stream(
    harness: &dyn ContractHarness,
    request: ModelRequest,
    cancel: &CancellationToken,
) -> ModelStream {
    harness.client().stream(Arc::new(request), cancel.clone())
}

/// A short chat and all its events.
pub(super) async fn chat(harness: &dyn ContractHarness) -> Vec<ModelEvent> {
    harness.arrange(Scene::with_text([text("Good morning, and welcome back.")]));
    let request = asking(harness, vec![user("Good morning!")]);
    events(harness, request).await
}

pub(super) async fn events(
    harness: &dyn ContractHarness,
    request: ModelRequest,
) -> Vec<ModelEvent> {
    stream(harness, request, &CancellationToken::new())
        .collect()
        .await
}

/// Plays a scene to a plain question.
pub(super) async fn play(harness: &dyn ContractHarness, scene: Scene) -> Vec<ModelEvent> {
    harness.arrange(scene);
    events(harness, asking(harness, vec![user("Go on.")])).await
}

/// Plays a scene that must end well.
pub(super) async fn answer(harness: &dyn ContractHarness, scene: Scene) -> AssistantMessage {
    done(play(harness, scene).await)
}

#[track_caller]
pub(super) fn done(events: Vec<ModelEvent>) -> AssistantMessage {
    match events.last() {
        Some(ModelEvent::Done(message)) => message.clone(),
        other => panic!("no answer but {other:?}"),
    }
}

/// Plays a scene that must fail.
pub(super) async fn failure(
    harness: &dyn ContractHarness,
    scene: Scene,
) -> (ModelError, AssistantMessage) {
    failed(play(harness, scene).await)
}

#[track_caller]
pub(super) fn failed(events: Vec<ModelEvent>) -> (ModelError, AssistantMessage) {
    match events.last() {
        Some(ModelEvent::Failed { error, partial }) => (error.clone(), partial.clone()),
        other => panic!("no failure but {other:?}"),
    }
}

/// Reads until a piece of the answer has arrived.
pub(super) async fn until_content(stream: &mut ModelStream) -> String {
    while let Some(event) = stream.next().await {
        if let ModelEvent::PartDelta { delta, .. } = event {
            return delta;
        }
    }
    panic!("the stream ended before its first word")
}

/// The texts of a message, one after the other.
pub(super) fn said(message: &AssistantMessage) -> String {
    let texts = message.content.iter().filter_map(|block| match block {
        netaclaw_protocol::ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
