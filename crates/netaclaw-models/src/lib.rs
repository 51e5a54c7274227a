#![doc = include_str!("../README.md")]

mod answer;
mod anthropic;
mod catalogue;
mod channel;
mod client;
#[cfg(feature = "contract")]
pub mod contract;
mod demo;
mod endpoint;
mod error;
mod fallback;
mod http;
mod openai;
pub mod payload;
mod probe;
mod registry;
mod request;
mod retry;
pub mod scripted;
mod thinking;
pub mod tokens;

pub use answer::GrowingAnswer;
pub use anthropic::AnthropicClient;
pub use catalogue::{ApiFamily, SUPPLIERS, SupplierInfo, known_models, look_up, supplier};
pub use channel::{Channel, ChannelStatus};
pub use client::{FailedAnswer, ModelClient, ModelEvent, ModelStream, StreamPart, complete};
pub use demo::DemoClient;
pub use error::{Detail, ModelError, NetworkStage, TimeoutStage};
pub use fallback::{FallbackClient, Route};
pub use http::{Timeouts, Transport};
pub use openai::OpenaiClient;
pub use probe::{ConnectionReport, list_models, test_connection};
pub use registry::client_for;
pub use request::{ModelRequest, PromptCache, SystemPrompt, ToolDefinition};
pub use retry::{RetryClient, RetryPolicy};

#[cfg(test)]
mod tests;
