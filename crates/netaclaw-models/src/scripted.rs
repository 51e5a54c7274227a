//! A client whose answers a test gives, one event at a time.
//!
//! The test holds the [`Script`], waits for a call and feeds it; between two events it can inspect
//! the state, and nothing moves on its own. Answers may also be prepared in advance.

use crate::answer::{Answer, AnswerMeta};
use crate::client::{ModelClient, ModelEvent, ModelStream};
use crate::error::ModelError;
use crate::request::ModelRequest;
use futures::{StreamExt, stream};
use netaclaw_protocol::{StopReason, Usage};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The client's side.
pub struct ScriptedClient {
    provider: String,
    shared: Arc<Shared>,
    calls_tx: mpsc::UnboundedSender<ScriptedCall>,
}

/// The test's side.
pub struct Script {
    shared: Arc<Shared>,
    calls_rx: mpsc::UnboundedReceiver<ScriptedCall>,
}

#[derive(Default)]
struct Shared {
    prepared: Mutex<VecDeque<Vec<Step>>>,
    requests: Mutex<Vec<Arc<ModelRequest>>>,
}

/// One thing a scripted model does.
#[derive(Clone, Debug)]
pub enum Step {
    Text(String),
    Thinking(String),
    ThinkingSignature(String),
    RedactedThinking(String),
    ToolCall {
        id: String,
        name: String,
        arguments: Value,
    },
    /// Begins a call; its arguments follow as fragments.
    CallStart {
        id: String,
        name: String,
    },
    CallFragment {
        id: String,
        fragment: String,
    },
    Usage(Usage),
    /// An event as it is, for what wrappers of clients add.
    Raw(Box<ModelEvent>),
    Finish(StopReason),
    Fail(ModelError),
    /// Says nothing more until the call is cancelled or dropped.
    Hang,
}

impl ScriptedClient {
    pub fn new(provider: impl Into<String>) -> (Self, Script) {
        let shared = Arc::new(Shared::default());
        // Unbounded: a test that does not look must not stop what it tests.
        let (calls_tx, calls_rx) = mpsc::unbounded_channel();
        let client = Self {
            provider: provider.into(),
            shared: shared.clone(),
            calls_tx,
        };
        (client, Script { shared, calls_rx })
    }
}

impl Script {
    /// Prepares the answer to the next call that has none; such a call does not come to
    /// [`Script::call`].
    pub fn prepare(&self, steps: impl IntoIterator<Item = Step>) {
        lock(&self.shared.prepared).push_back(steps.into_iter().collect());
    }

    /// Waits for the next call without a prepared answer.
    pub async fn call(&mut self) -> ScriptedCall {
        self.calls_rx
            .recv()
            .await
            .expect("the client lives as long as the test")
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        lock(&self.shared.requests).clone()
    }
}

/// A call that waits for the test.
pub struct ScriptedCall {
    pub request: Arc<ModelRequest>,
    steps_tx: mpsc::UnboundedSender<Step>,
}

impl ScriptedCall {
    /// Sends one step. Ignored if the receiver is gone, as the output of a real server would be.
    pub fn step(&self, step: Step) {
        if self.steps_tx.send(step).is_err() {
            tracing::debug!("the stream of the scripted model was dropped");
        }
    }

    pub fn text(&self, text: &str) {
        self.step(Step::Text(text.into()));
    }

    pub fn tool_call(&self, id: &str, name: &str, arguments: Value) {
        self.step(Step::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
        });
    }

    pub fn finish(&self, reason: StopReason) {
        self.step(Step::Finish(reason));
    }

    pub fn fail(&self, error: ModelError) {
        self.step(Step::Fail(error));
    }

    /// Waits until the stream was dropped or came to its end.
    pub async fn closed(&self) {
        self.steps_tx.closed().await;
    }
}

impl ModelClient for ScriptedClient {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream {
        let answer = Answer::new(AnswerMeta {
            api: "scripted",
            provider: self.provider.clone(),
            model: request.model.clone(),
            price: None,
            unseen_images: 0,
        });
        let opening = StreamStart {
            shared: self.shared.clone(),
            calls_tx: self.calls_tx.clone(),
            request,
        };
        let play = ScriptedStream {
            answer,
            opening: Some(opening),
            steps_rx: None,
            calls: Vec::new(),
            cancel,
        };
        stream::unfold(play, |mut play| async move {
            let event = play.next().await?;
            Some((event, play))
        })
        .boxed()
    }
}

/// What is needed to begin, which happens when the stream is first polled.
struct StreamStart {
    shared: Arc<Shared>,
    calls_tx: mpsc::UnboundedSender<ScriptedCall>,
    request: Arc<ModelRequest>,
}

impl StreamStart {
    fn open(self) -> mpsc::UnboundedReceiver<Step> {
        let (steps_tx, steps_rx) = mpsc::unbounded_channel();
        lock(&self.shared.requests).push(self.request.clone());
        let prepared = lock(&self.shared.prepared).pop_front();
        let call = ScriptedCall {
            request: self.request,
            steps_tx,
        };
        match prepared {
            Some(steps) => steps.into_iter().for_each(|step| call.step(step)),
            None if self.calls_tx.send(call).is_err() => {
                tracing::debug!("the script was dropped; the call fails");
            }
            None => {}
        }
        steps_rx
    }
}

struct ScriptedStream {
    answer: Answer,
    opening: Option<StreamStart>,
    steps_rx: Option<mpsc::UnboundedReceiver<Step>>,
    /// Open calls by their ids.
    calls: Vec<(String, usize)>,
    cancel: CancellationToken,
}

impl ScriptedStream {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.answer.next_event() {
                return Some(event);
            }
            if self.answer.is_ended() {
                self.steps_rx = None;
                return None;
            }
            if let Some(opening) = self.opening.take() {
                self.steps_rx = Some(opening.open());
            }
            let steps_rx = self.steps_rx.as_mut()?;
            let step = tokio::select! {
                biased;
                () = self.cancel.cancelled() => Some(Step::Fail(ModelError::Cancelled)),
                step = steps_rx.recv() => step,
            };
            // A script that stops in the middle is a connection that broke.
            let step = step.unwrap_or(Step::Fail(ModelError::StreamBroken(Default::default())));
            match step {
                Step::Raw(event) => return Some(*event),
                Step::Hang => {
                    self.cancel.cancelled().await;
                    self.answer.fail(ModelError::Cancelled);
                }
                step => self.take(step),
            }
        }
    }

    fn take(&mut self, step: Step) {
        let answer = &mut self.answer;
        match step {
            Step::Text(text) => answer.text(&text),
            Step::Thinking(text) => answer.thinking(&text),
            Step::ThinkingSignature(signature) => answer.sign(&signature),
            Step::RedactedThinking(data) => answer.redacted_thinking(&data),
            Step::ToolCall {
                id,
                name,
                arguments,
            } => {
                let part = answer.call(&id, &name);
                answer.arguments(part, &arguments.to_string());
                answer.end(part);
            }
            Step::CallStart { id, name } => {
                let part = answer.call(&id, &name);
                self.calls.push((id, part));
            }
            Step::CallFragment { id, fragment } => {
                if let Some((_, part)) = self.calls.iter().rfind(|(open, _)| *open == id) {
                    answer.arguments(*part, &fragment);
                }
            }
            Step::Usage(usage) => answer.usage(usage),
            Step::Finish(reason) => answer.finish(reason),
            Step::Fail(error) => answer.fail(error),
            Step::Raw(_) | Step::Hang => unreachable!("handled by the caller"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Plain collections are whole after every statement, so a panic elsewhere leaves no harm.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
