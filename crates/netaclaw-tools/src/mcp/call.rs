//! One call of a server's tool.

use super::connect::Connection;
use crate::context::{ImageUse, ToolContext};
use crate::output::ToolOutput;
use netaclaw_protocol::{ContentBlock, McpFault};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, ContentBlock as McpBlock, ResourceContents, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use std::time::Duration;

/// Of all pictures of an answer together. As base64 this is the five megabytes that suppliers take.
const IMAGE_CHARS_MAX: usize = 5_000_000;

/// `Err` if the server that could answer is gone.
pub(super) async fn call(
    connection: &Connection,
    tool: &str,
    args: Map<String, Value>,
    time: Duration,
    context: &ToolContext,
) -> Result<ToolOutput, McpFault> {
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::with_timeout(time);
    let peer = &connection.peer;
    let handle = match peer.send_cancellable_request(request, options).await {
        Ok(handle) => handle,
        Err(error) => return failed(connection, error).await,
    };
    let id = handle.id.clone();
    let token = handle.progress_token.clone();
    let _watch = connection.handler.watch(token, context.updates.clone());
    let answer = tokio::select! {
        answer = handle.await_response() => answer,
        () = context.cancel.cancelled() => {
            let stopped = CancelledNotificationParam::new(Some(id), Some("stopped".to_owned()));
            // A server that does not receive it has no caller either.
            peer.notify_cancelled(stopped).await.unwrap_or_default();
            return Ok(ToolOutput::error("The call was cancelled."));
        }
    };
    match answer {
        Ok(ServerResult::CallToolResult(result)) => Ok(output(result, context.images)),
        Ok(_) => Ok(ToolOutput::error(
            "The server sent a response that is not a result.",
        )),
        Err(ServiceError::Timeout { .. }) => Ok(ToolOutput::error(format!(
            "The call timed out: the server did not respond within {} s.",
            time.as_secs_f64()
        ))),
        Err(error) => failed(connection, error).await,
    }
}

async fn failed(connection: &Connection, error: ServiceError) -> Result<ToolOutput, McpFault> {
    match error {
        ServiceError::McpError(error) => {
            let why = error.message;
            Ok(ToolOutput::error(format!(
                "The server rejected the call: {why}"
            )))
        }
        ServiceError::TransportSend(error) if !connection.too_big.is_set() => {
            connection.found_dead.notify_one();
            let why: String = error.to_string().chars().take(400).collect();
            Ok(ToolOutput::error(format!(
                "The server did not accept the call, or its response was not valid: {why}"
            )))
        }
        error => {
            tracing::debug!(%error, "a call of an MCP server failed");
            connection.found_dead.notify_one();
            Err(connection.epitaph().await)
        }
    }
}

fn output(result: CallToolResult, images: ImageUse) -> ToolOutput {
    let mut image_room = match images {
        ImageUse::Seen => Some(IMAGE_CHARS_MAX),
        ImageUse::Unseen => None,
    };
    let blocks = result.content.into_iter();
    let mut content: Vec<ContentBlock> = blocks
        .map(|block| block_of(block, &mut image_room))
        .collect();
    if content.is_empty() {
        let text = match &result.structured_content {
            Some(value) => value.to_string(),
            None => "(no output)".to_owned(),
        };
        content.push(ContentBlock::Text { text });
    }
    ToolOutput {
        content,
        details: None,
        is_error: result.is_error.unwrap_or(false),
        process_end: None,
    }
}

/// `image_room` is the remaining size for images; `None` if the model reads none.
fn block_of(block: McpBlock, image_room: &mut Option<usize>) -> ContentBlock {
    let text = match block {
        McpBlock::Text(text) => text.text,
        McpBlock::Image(image) => match image_room {
            None => format!(
                "(An image, {}. The current model does not support images.)",
                image.mime_type
            ),
            Some(room) if image.data.len() > *room => {
                format!("(An image, {}, too large to be shown.)", image.mime_type)
            }
            Some(room) => {
                *room -= image.data.len();
                return ContentBlock::Image {
                    data: image.data,
                    mime_type: image.mime_type,
                };
            }
        },
        McpBlock::Audio(_) => "(Audio, which cannot be shown.)".to_owned(),
        McpBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { uri, .. } => format!("(A file, {uri}.)"),
            _ => "(A file.)".to_owned(),
        },
        McpBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
        _ => "(Content that cannot be shown.)".to_owned(),
    };
    ContentBlock::Text { text }
}
