//! The built-in tools, and the steps between the loop and a tool.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bash;
mod builtin;
mod edit;
mod escape;
mod execute;
mod gate;
mod mcp;
mod mcp_http;
mod read;
mod search;
mod skills;
mod walls;
mod web_fetch;
mod write;

use netaclaw_tools::contract::{approve, context};
use netaclaw_tools::{Executed, ToolContext, ToolRegistry, execute};
use serde_json::Value;
use std::path::Path;

/// Calls a built-in tool in a workspace.
async fn call(root: &Path, tool: &str, args: Value) -> Executed {
    call_in(context(root), tool, args).await
}

async fn call_in(context: ToolContext, tool: &str, args: Value) -> Executed {
    let registry = ToolRegistry::builtin();
    let approved = approve(&registry, tool, args);
    execute(&registry, approved, context).await
}
