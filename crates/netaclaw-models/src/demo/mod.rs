//! The built-in model: no network, no API key, no knowledge.
//!
//! It exists so that everything around a model can be tried: it streams, thinks if the request
//! enables it, calls the tools that the user names in plain language, and compacts a conversation
//! by quoting it. It follows fixed rules, gives the same answer to the same request, and says so.

mod arguments;
mod plan;
mod rules;
mod summary;
mod words;

use crate::answer::{Answer, AnswerMeta};
use crate::catalogue::ApiFamily;
use crate::client::{ModelClient, ModelEvent, ModelStream};
use crate::error::ModelError;
use crate::request::{ModelRequest, PromptCache};
use crate::tokens;
use futures::{StreamExt, stream};
use netaclaw_protocol::{StopReason, Usage};
use plan::{Plan, plan};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the demo pauses between two pieces, so that streaming can be seen.
const PAUSE: Duration = Duration::from_millis(12);

#[derive(Clone, Debug)]
pub struct DemoClient {
    provider: String,
    pause: Duration,
}

impl DemoClient {
    /// `provider` is the name of the channel.
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            pause: PAUSE,
        }
    }

    /// Another pause between pieces; zero for none.
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

impl ModelClient for DemoClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let answer = Answer::new(AnswerMeta {
            api: ApiFamily::Demo.as_str(),
            provider: self.provider.clone(),
            model: request.model.clone(),
            price: None,
            unseen_images: 0,
        });
        let speech = DemoAnswer {
            answer,
            request: Some(request),
            pieces: VecDeque::new(),
            calls: 0,
            pause: self.pause,
            cancel,
        };
        stream::unfold(speech, |mut speech| async move {
            let event = speech.next().await?;
            Some((event, speech))
        })
        .boxed()
    }
}

/// The next step of the answer.
enum Piece {
    Thinking(String),
    Text(String),
    CallStart { id: String, name: String },
    CallArguments(String),
    End { usage: Usage, reason: StopReason },
}

struct DemoAnswer {
    answer: Answer,
    /// Taken when the stream is first polled.
    request: Option<Arc<ModelRequest>>,
    pieces: VecDeque<Piece>,
    /// The part of the call that is being made.
    calls: usize,
    pause: Duration,
    cancel: CancellationToken,
}

impl DemoAnswer {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.answer.next_event() {
                return Some(event);
            }
            if self.answer.is_ended() {
                return None;
            }
            if let Some(request) = self.request.take() {
                // No user reads the answers to requests of the program itself.
                if request.cache == PromptCache::Off {
                    self.pause = Duration::ZERO;
                }
                self.pieces = pieces(&request);
            } else if !self.pause.is_zero() {
                tokio::select! {
                    () = self.cancel.cancelled() => {}
                    () = tokio::time::sleep(self.pause) => {}
                }
            }
            if self.cancel.is_cancelled() {
                self.answer.fail(ModelError::Cancelled);
                continue;
            }
            match self.pieces.pop_front()? {
                Piece::Thinking(text) => self.answer.thinking(&text),
                Piece::Text(text) => self.answer.text(&text),
                Piece::CallStart { id, name } => self.calls = self.answer.call(&id, &name),
                Piece::CallArguments(json) => self.answer.arguments(self.calls, &json),
                Piece::End { usage, reason } => {
                    self.answer.usage(usage);
                    self.answer.finish(reason);
                }
            }
        }
    }
}

/// The whole answer as steps.
fn pieces(request: &ModelRequest) -> VecDeque<Piece> {
    let Plan {
        thinking,
        mut text,
        calls,
    } = plan(request);
    let reason = match request.max_output_tokens {
        Some(max) if tokens::estimate_text(&text) > max => {
            text = words::cut(&text, max);
            StopReason::Length
        }
        _ if calls.is_empty() => StopReason::Stop,
        _ => StopReason::ToolUse,
    };
    let mut said = tokens::estimate_text(&thinking) + tokens::estimate_text(&text);
    let mut pieces = VecDeque::new();
    pieces.extend(words::split(&thinking).map(|s| Piece::Thinking(s.to_owned())));
    pieces.extend(words::split(&text).map(|s| Piece::Text(s.to_owned())));
    if reason != StopReason::Length {
        for call in calls {
            let arguments = call.arguments.to_string();
            said += tokens::estimate_text(&arguments) + tokens::estimate_text(&call.name);
            pieces.push_back(Piece::CallStart {
                id: call.id,
                name: call.name,
            });
            let fragments = words::split(&arguments);
            pieces.extend(fragments.map(|s| Piece::CallArguments(s.to_owned())));
        }
    }
    let usage = Usage {
        input: tokens::estimate_request(request),
        output: said,
        ..Usage::default()
    };
    pieces.push_back(Piece::End { usage, reason });
    pieces
}

#[cfg(test)]
mod tests;
