//! `ModelClient`, the port to models, and its events.

use crate::answer::GrowingAnswer;
use crate::error::{Detail, ModelError};
use crate::request::ModelRequest;
use futures::{Stream, StreamExt};
use netaclaw_protocol::{AssistantMessage, ContentBlock, StopReason, Usage};
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One answer while it arrives.
pub type ModelStream = Pin<Box<dyn Stream<Item = ModelEvent> + Send>>;

/// A way to a model.
///
/// The contract, which `contract` tests for every implementation:
/// - `stream` returns at once and does nothing before it is polled. Each failure, also before the
///   first byte, is the last event of the stream and never a panic.
/// - The last event is exactly one [`ModelEvent::Done`] or [`ModelEvent::Failed`]; after it the
///   stream ends.
/// - An answer that has parts begins with [`ModelEvent::AnswerStart`]; the answer in it contains
///   every piece before the event that carries the piece.
/// - Parts start in the order of their indices, 0 first. Every part that started ends before the
///   last event, and `content[index]` of the final message is the block that its end contained.
/// - Cancelling the token ends the stream with [`ModelError::Cancelled`] and what had arrived;
///   dropping the stream ends it without an event. Both release the connection at once.
pub trait ModelClient: Send + Sync {
    fn stream(&self, request: Arc<ModelRequest>, cancel: CancellationToken) -> ModelStream;
}

/// What happens while an answer arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// Comes before the first part: where the text of the answer grows.
    AnswerStart(GrowingAnswer),
    PartStart {
        index: usize,
        part: StreamPart,
    },
    /// More of a part: text, thinking, or a fragment of a tool call's arguments as JSON text.
    PartDelta {
        index: usize,
        delta: String,
    },
    PartEnd {
        index: usize,
        block: ContentBlock,
    },
    /// What the supplier has counted so far; a later one replaces it.
    Usage(Usage),
    /// The request failed before anything arrived and will be made again.
    Retrying {
        /// The attempt that failed, 1 first.
        attempt: u32,
        after_ms: u64,
        reason: ModelError,
    },
    /// The request failed before anything arrived and is now sent to the fallback channel.
    FallingBack {
        from: String,
        to: String,
        reason: ModelError,
    },
    Done(AssistantMessage),
    Failed {
        error: ModelError,
        /// What had arrived, with the stop reason `error` or `aborted`.
        partial: AssistantMessage,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamPart {
    Text,
    Thinking,
    ToolCall { id: String, name: String },
}

impl ModelEvent {
    /// Whether the event shows a piece of the answer. Once one did, nothing may be tried again.
    pub fn is_content(&self) -> bool {
        matches!(
            self,
            Self::AnswerStart(_)
                | Self::PartStart { .. }
                | Self::PartDelta { .. }
                | Self::PartEnd { .. }
        )
    }

    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed { .. })
    }
}

/// An answer that is incomplete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct FailedAnswer {
    #[source]
    pub error: ModelError,
    pub partial: Box<AssistantMessage>,
}

/// Waits for the whole answer, for callers without streaming.
pub async fn complete(mut stream: ModelStream) -> Result<AssistantMessage, FailedAnswer> {
    while let Some(event) = stream.next().await {
        match event {
            ModelEvent::Done(message) => return Ok(message),
            ModelEvent::Failed { error, partial } => {
                return Err(FailedAnswer {
                    error,
                    partial: Box::new(partial),
                });
            }
            _ => {}
        }
    }
    // No client ends like this; if one did, it would be a stream that ended early.
    Err(FailedAnswer {
        error: ModelError::StreamBroken(Detail::default()),
        partial: Box::new(empty_answer()),
    })
}

fn empty_answer() -> AssistantMessage {
    AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        usage: Usage::default(),
        stop_reason: StopReason::Error,
        error_message: None,
        trouble: None,
        netaclaw: None,
        timestamp: 0,
    }
}
