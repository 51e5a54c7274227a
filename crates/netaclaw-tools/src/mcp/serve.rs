//! The other side: our tools, for MCP clients.

use crate::output::ToolOutput;
use async_trait::async_trait;
use netaclaw_protocol::{ContentBlock, ToolRisk};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock as McpBlock,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// What is offered, and who decides on every call.
#[async_trait]
pub trait ServedTools: Send + Sync + 'static {
    /// Those that can be used at this moment; `Err` if that cannot be determined.
    async fn list(&self) -> Result<Vec<ServedTool>, String>;

    /// A call that is refused is an output, too.
    async fn call(&self, name: &str, args: Value, cancel: CancellationToken) -> ToolOutput;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServedTool {
    pub name: String,
    pub label: String,
    pub description: String,
    pub schema: Value,
    pub risk: ToolRisk,
}

/// Answers until the other side closes its end. `Err` says what was wrong with its hello.
pub async fn serve_tools(
    tools: Arc<dyn ServedTools>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let served = ServedServer(tools).serve((input, output)).await;
    let served = served.map_err(|error| error.to_string())?;
    served.waiting().await.map_err(|error| error.to_string())?;
    Ok(())
}

struct ServedServer(Arc<dyn ServedTools>);

impl ServerHandler for ServedServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("netaclaw", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.list().await;
        let tools = tools.map_err(|why| ErrorData::internal_error(why, None))?;
        let tools = tools.into_iter().map(described);
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(request.arguments.unwrap_or_default());
        let output = self.0.call(&request.name, args, context.ct).await;
        let content = output.content.into_iter().map(block).collect();
        let result = match output.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        Ok(result.into())
    }
}

fn described(tool: ServedTool) -> Tool {
    let schema = match tool.schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let hints = ToolAnnotations::new().read_only(tool.risk == ToolRisk::Read);
    Tool::new(tool.name, tool.description, schema)
        .with_title(tool.label)
        .with_annotations(hints)
}

fn block(block: ContentBlock) -> McpBlock {
    match block {
        ContentBlock::Text { text } => McpBlock::text(text),
        ContentBlock::Image { data, mime_type } => McpBlock::image(data, mime_type),
        _ => McpBlock::text("(Content that cannot be shown.)"),
    }
}
