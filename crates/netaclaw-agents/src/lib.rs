//! Agents as people configure them, made ready to run: the engine's `AgentSource` on top of the
//! admin store.

mod agents;
mod compaction;
mod governed;
mod instructions;
mod looks;
mod mcp;
mod memory;
mod preview;
mod served;
mod skills;
mod tool_refusals;

pub use agents::{ConfiguredAgents, ModelSettings};
pub use governed::ToolSeat;
pub use mcp::{ConfiguredMcp, McpDesk, test_mcp_server};
pub use netaclaw_tools::mcp::McpStanding;
pub use preview::{AgentPreviews, PreviewFor};
pub use served::{AgentToolbox, Unasked};
pub use skills::{SkillByHand, SkillHome};
