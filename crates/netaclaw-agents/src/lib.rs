//! Agents as people configure them, made ready to run: the engine's `AgentSource` on top of the
//! admin store.

mod compaction;
mod governed;
mod instructions;
mod looks;
mod mcp;
mod memory;
mod models;
mod preview;
mod run;
mod served;
mod skills;
mod source;
mod tool_refusals;
mod trouble;
mod workspace;

pub use governed::ToolSeat;
pub use mcp::{ConfiguredMcp, McpDesk, test_mcp_server};
pub use models::ModelSettings;
pub use netaclaw_tools::mcp::McpStanding;
pub use preview::{AgentPreviews, PreviewFor};
pub use served::{AgentToolbox, Unasked};
pub use skills::{SkillByHand, SkillHome};
pub use source::AdminAgentSource;
