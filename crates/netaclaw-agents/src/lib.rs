//! Agents as people configure them, made ready to run: the engine's `AgentSource` on top of the
//! admin store.

mod compaction;
mod instructions;
mod mcp;
mod memory;
mod models;
mod preview;
mod run;
mod scans;
mod served;
mod skills;
mod snapshot;
mod source;
mod tool_refusals;
mod tools;
mod trouble;
mod workspace;

pub use mcp::{AdminMcpServers, McpDesk, test_mcp_server};
pub use models::ModelSettings;
pub use netaclaw_tools::mcp::McpStanding;
pub use preview::{AgentPreviews, PreviewFor};
pub use served::{AgentToolbox, Unasked};
pub use skills::{SkillByHand, SkillHome};
pub use source::AdminAgentSource;
pub use tools::ToolSeat;
