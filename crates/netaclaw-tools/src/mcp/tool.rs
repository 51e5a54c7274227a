//! A server's tool as one of ours.

use super::list::McpToolInfo;
use super::names::mcp_tool_name;
use super::server::Server;
use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::tool::Tool;
use async_trait::async_trait;
use netaclaw_governance::{ApprovedCall, Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{McpTransport, ToolCategory, ToolLabel, ToolRisk, ToolStatus};
use reqwest::Url;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

const OUTPUT_CAP: usize = 32 << 10;

pub(super) struct McpTool {
    server: Arc<Server>,
    info: McpToolInfo,
}

impl McpTool {
    pub(super) fn new(server: Arc<Server>, info: McpToolInfo) -> Self {
        Self { server, info }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn manifest(&self) -> ToolManifest {
        let (server, info) = (&self.server.spec, &self.info);
        let label = info.title.clone().unwrap_or_else(|| info.name.clone());
        let label = format!("{label} ({})", server.name);
        ToolManifest {
            name: mcp_tool_name(&server.name, &info.name),
            label: ToolLabel {
                zh: label.clone(),
                en: label,
            },
            description: match info.description.is_empty() {
                true => format!(
                    "The tool `{}` of the MCP server `{}`.",
                    info.name, server.name
                ),
                false => info.description.clone(),
            }
            .into(),
            guidance: String::new(),
            category: ToolCategory::External,
            schema: object_schema(&info.schema).into(),
            // The server's own description of its tool is a hint, and never a reason to skip an
            // approval.
            risk: ToolRisk::Exec,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Proxy,
            needs: Vec::new(),
            // The call's own time comes first, with better words.
            timeout: Some(Duration::from_millis(server.timeout_ms) + Duration::from_secs(5)),
            output_cap: OUTPUT_CAP,
            concurrency: Concurrency::Parallel,
            outlet: outlet(&server.transport),
        }
    }

    async fn execute(&self, call: ApprovedCall, context: ToolContext) -> ToolOutput {
        let args = match call.into_args() {
            Value::Object(args) => args,
            _ => Map::new(),
        };
        let output = self.server.call(&self.info.name, args, &context).await;
        output.with_details(json!({
            "server": self.server.spec.name,
            "tool": self.info.name,
        }))
    }
}

/// A program may send its input anywhere. Of an address only the host matters, and the rest of it
/// may hold a key.
fn outlet(transport: &McpTransport) -> EgressTarget {
    let url = match transport {
        McpTransport::Http { url } => Url::parse(url).ok(),
        McpTransport::Stdio { .. } => None,
    };
    let url = url.map(|url| url.origin().ascii_serialization());
    EgressTarget::Server { url }
}

fn object_schema(schema: &Value) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => schema.clone(),
        _ => json!({ "type": "object" }),
    }
}
