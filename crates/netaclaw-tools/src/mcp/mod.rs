//! Tools of other programs, by the Model Context Protocol.
//!
//! Every server has a task of its own that connects, keeps the list of its tools, and reconnects
//! with backoff when the connection is lost. So one server that is down takes away its own tools,
//! with the reason, and nothing else; and they return with the connection.

mod bounded;
mod call;
mod connect;
mod fault;
mod handler;
mod http;
mod list;
mod names;
mod serve;
mod server;
mod servers;
mod stderr_tail;
mod tool;

pub use connect::McpAccess;
pub use fault::explain_fault;
pub use list::{McpToolInfo, try_server};
pub use names::mcp_tool_name;
pub use serve::{ServedTool, ServedTools, serve_tools};
pub use servers::{McpServerStatus, McpServers};
