//! From a channel to its client: one line for each API.

use crate::anthropic::AnthropicClient;
use crate::catalogue::{ApiFamily, supplier};
use crate::channel::Channel;
use crate::client::ModelClient;
use crate::demo::DemoClient;
use crate::http::Transport;
use crate::openai::OpenaiClient;
use std::sync::Arc;

/// The client for a channel's API. It neither retries nor falls back.
pub fn client_for(channel: Arc<Channel>, transport: Arc<Transport>) -> Arc<dyn ModelClient> {
    match supplier(channel.supplier).api {
        ApiFamily::OpenaiChat => Arc::new(OpenaiClient::new(channel, transport)),
        ApiFamily::AnthropicMessages => Arc::new(AnthropicClient::new(channel, transport)),
        ApiFamily::Demo => Arc::new(DemoClient::new(channel.name.clone())),
    }
}
