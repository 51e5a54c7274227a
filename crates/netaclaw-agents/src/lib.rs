//! Configured agents, made ready to run: the engine's `AgentSource` on top of the admin store.

mod compaction;
mod headless;
mod instructions;
mod mcp;
mod memory;
mod models;
mod preview;
mod run;
mod scan_cache;
mod skills;
mod snapshot;
mod source;
mod tool_refusals;
mod tools;
mod trouble;
mod workspace;

pub use headless::{HeadlessApproval, HeadlessTools};
pub use mcp::{AdminMcpServers, McpStatusSource, test_mcp_server};
pub use models::ModelSettings;
pub use netaclaw_tools::mcp::McpServerStatus;
pub use preview::{AgentPreviews, PreviewFor};
pub use skills::{SharedSkillDirs, SkillByHand};
pub use source::AdminAgentSource;
pub use tools::ToolAudience;
