//! The port to the global tool settings.

use crate::audit::Actor;
use crate::error::Result;
use crate::store::Expect;
use async_trait::async_trait;
use netaclaw_protocol::{ToolCategory, ToolLabel, ToolRecord, ToolRisk, ToolStatus};
use std::collections::BTreeMap;

/// The tools that come with NetaClaw, as a source.
pub const BUILTIN_TOOLS: &str = "builtin";

#[async_trait]
pub trait ToolStore: Send + Sync {
    /// Every tool that is or was there, by name.
    async fn tools(&self) -> Result<Vec<ToolRecord>>;
    async fn tool(&self, name: &str) -> Result<ToolRecord>;
    /// Synchronizes the tools of a source. New ones get a row; missing ones keep theirs, with what
    /// an administrator has set, and are marked.
    async fn sync_tools(&self, by: &Actor, source: &str, known: &[KnownTool]) -> Result<ToolSync>;
    /// Sets the global setting; `None` leaves it to the catalog.
    async fn switch_tool(
        &self,
        by: &Actor,
        name: &str,
        expect: Expect,
        status: Option<ToolStatus>,
    ) -> Result<ToolRecord>;
}

/// What a source says about one of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownTool {
    pub name: String,
    pub label: ToolLabel,
    pub category: ToolCategory,
    pub risk: ToolRisk,
}

/// What was news, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSync {
    pub added: Vec<String>,
    pub gone: Vec<String>,
    pub back: Vec<String>,
}

/// The global settings that were made.
pub fn global_status(tools: &[ToolRecord]) -> BTreeMap<String, ToolStatus> {
    let set = |tool: &ToolRecord| Some((tool.name.clone(), tool.status?));
    tools.iter().filter_map(set).collect()
}
