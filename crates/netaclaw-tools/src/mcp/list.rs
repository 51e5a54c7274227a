//! Lists the tools of an MCP server.

use super::connect::{Connection, McpAccess};
use super::fault::fault;
use super::names::mcp_tool_name;
use crate::spawn::SpawnGate;
use futures::future::BoxFuture;
use netaclaw_protocol::{McpFault, McpFaultCode, McpServerSpec, McpToolSummary, ToolChoice};
use rmcp::model::{PaginatedRequestParams, Tool};
use serde_json::{Map, Value};
use std::time::Duration;

/// Listing the tools takes no longer.
const LIST_MAX: Duration = Duration::from_secs(30);
/// Tools of one server; more would leave a model no room for anything else.
const TOOLS_MAX: usize = 200;
const PAGES_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// A tool that needs more words for its arguments is left out.
const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct McpToolInfo {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub schema: Value,
}

impl McpToolInfo {
    pub fn summary(&self, server: &str) -> McpToolSummary {
        McpToolSummary {
            name: self.name.clone(),
            tool_name: mcp_tool_name(server, &self.name),
            description: self.description.clone(),
        }
    }
}

/// Connects once and lists the tools, to see whether that works. Boxed, so that no other crate
/// compiles the whole client for itself.
pub fn try_server<'a>(
    access: &'a McpAccess,
    gate: &'a SpawnGate,
) -> BoxFuture<'a, Result<Vec<McpToolInfo>, McpFault>> {
    Box::pin(async {
        let (connection, line) = Connection::open(access, gate).await?;
        let tools = list(&connection, &access.spec).await;
        // Whether it says good-bye makes no difference.
        line.service.cancel().await.ok();
        tools
    })
}

/// Those that the filter lets through.
pub(super) async fn list(
    connection: &Connection,
    spec: &McpServerSpec,
) -> Result<Vec<McpToolInfo>, McpFault> {
    let listed = tokio::select! {
        listed = tokio::time::timeout(LIST_MAX, all_pages(connection, &spec.tools)) => listed,
        () = connection.too_big.happened() => return Err(connection.epitaph().await),
    };
    listed.unwrap_or_else(|_| {
        let waited = format!("{} s", LIST_MAX.as_secs());
        Err(fault(McpFaultCode::NoTools, waited))
    })
}

async fn all_pages(
    connection: &Connection,
    filter: &ToolChoice,
) -> Result<Vec<McpToolInfo>, McpFault> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let page = connection.peer.list_tools(Some(page)).await;
        let page = match page {
            Ok(page) => page,
            Err(_) if connection.too_big.is_set() => return Err(connection.epitaph().await),
            Err(error) => return Err(fault(McpFaultCode::NoTools, error)),
        };
        let wanted = page.tools.into_iter();
        let wanted = wanted.filter(|tool| is_wanted(filter, &tool.name));
        tools.extend(wanted.filter_map(tool_info).take(TOOLS_MAX - tools.len()));
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= TOOLS_MAX {
            break;
        }
    }
    Ok(tools)
}

fn tool_info(tool: Tool) -> Option<McpToolInfo> {
    let schema = Value::Object(Map::clone(&tool.input_schema));
    if schema.to_string().len() > SCHEMA_BYTES_MAX {
        tracing::warn!(tool.name = %tool.name, "skipped a tool whose schema is too long");
        return None;
    }
    let hints = tool.annotations.as_ref();
    let description = tool.description.as_deref().unwrap_or_default();
    Some(McpToolInfo {
        title: tool
            .title
            .or_else(|| hints.and_then(|hints| hints.title.clone())),
        description: description.chars().take(DESCRIPTION_CHARS_MAX).collect(),
        schema,
        name: tool.name.into_owned(),
    })
}

/// An empty list of what is wanted means everything.
fn is_wanted(filter: &ToolChoice, tool: &str) -> bool {
    let named = |list: &[String]| {
        list.iter().any(|name| match name.strip_suffix('*') {
            Some(prefix) => tool.starts_with(prefix),
            None => name == tool,
        })
    };
    (filter.enabled.is_empty() || named(&filter.enabled)) && !named(&filter.disabled)
}
