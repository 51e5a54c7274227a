//! Testing a channel before it is used.

use crate::catalogue::{ApiFamily, supplier};
use crate::channel::Channel;
use crate::client::complete;
use crate::error::ModelError;
use crate::http::{Transport, error_reply, read_json};
use crate::registry::client_for;
use crate::request::{ModelRequest, PromptCache};
use crate::{anthropic, openai};
use netaclaw_protocol::{ChannelModel, Message, UserContent, UserMessage};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What a channel that works has to show for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionReport {
    /// From the question to the whole answer.
    pub latency: Duration,
    /// The models of the supplier; empty if it keeps them to itself.
    pub models: Vec<String>,
}

/// The names of the models a channel offers, sorted.
pub async fn list_models(
    channel: &Channel,
    transport: &Transport,
) -> Result<Vec<String>, ModelError> {
    let listed = ask_for_list(channel, transport).await;
    listed.map_err(|error| error.sealed(channel.api_key.as_ref()))
}

/// Makes one small request. A supplier without a list of models is asked for a word by the
/// channel's first model for chats.
pub async fn test_connection(
    channel: &Arc<Channel>,
    transport: &Arc<Transport>,
) -> Result<ConnectionReport, ModelError> {
    let start = Instant::now();
    let models = match list_models(channel, transport).await {
        Err(ModelError::WrongAddress(detail)) => {
            let answers = |model: &&ChannelModel| channel.model_info(&model.name).chat;
            let Some(model) = channel.models.iter().find(answers) else {
                return Err(ModelError::WrongAddress(detail));
            };
            request_one_word(channel, transport, &model.name).await?;
            Vec::new()
        }
        listed => listed?,
    };
    Ok(ConnectionReport {
        latency: start.elapsed(),
        models,
    })
}

/// Both APIs wrap their lists alike.
#[derive(Deserialize)]
struct List {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
}

async fn ask_for_list(channel: &Channel, transport: &Transport) -> Result<Vec<String>, ModelError> {
    let (path, headers) = match supplier(channel.supplier).api {
        ApiFamily::OpenaiChat => ("models", openai::headers(channel)?),
        ApiFamily::AnthropicMessages => ("v1/models", anthropic::headers(channel)?),
        ApiFamily::Demo => return Ok(vec!["demo".into()]),
    };
    let url = channel.endpoint(path)?;
    let request = transport.client(&url)?.get(url).headers(headers);
    let response = transport.send(request).await?;
    if !response.status().is_success() {
        return Err(error_reply(transport, response).await);
    }
    let list: List = read_json(transport, response).await?;
    let mut models: Vec<String> = list.data.into_iter().map(|item| item.id).collect();
    models.sort();
    Ok(models)
}

async fn request_one_word(
    channel: &Arc<Channel>,
    transport: &Arc<Transport>,
    model: &str,
) -> Result<(), ModelError> {
    let request = ModelRequest {
        model: model.to_owned(),
        messages: vec![Message::User(UserMessage {
            content: UserContent::Text("Say hi.".into()),
            timestamp: 0,
        })],
        max_output_tokens: Some(16),
        cache: PromptCache::Off,
        ..ModelRequest::default()
    };
    let client = client_for(channel.clone(), transport.clone());
    let stream = client.stream(Arc::new(request), CancellationToken::new());
    match complete(stream).await.map_err(|failed| failed.error) {
        // A thinking model may use up so small a limit before its first word; it answered.
        Ok(_) | Err(ModelError::EmptyAnswer) => Ok(()),
        Err(error) => Err(error),
    }
}
