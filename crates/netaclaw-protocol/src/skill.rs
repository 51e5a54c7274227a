//! Skills as screens see them.

use crate::{SessionId, ToolLabel};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A skill that was found, usable or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillView {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<ToolLabel>,
    pub description: String,
    pub source: SkillSource,
    pub state: SkillState,
    /// Why it cannot be used; empty when it can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SkillProblem>,
    /// What is not as it should be although it can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SkillProblem>,
    /// Whether it has a program to run.
    pub is_executable: bool,
    /// What the program wants to know, as JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    pub timeout_ms: u64,
}

/// A skill with its instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillDetail {
    #[serde(flatten)]
    pub skill: SkillView,
    /// Markdown.
    pub body: String,
    /// Files beside it, relative to its folder.
    pub files: Vec<String>,
}

/// Where a skill was found. Of two with the same name the one named first here counts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// A directory that the agent names.
    Agent,
    /// The data directory of the server.
    Data,
    Workspace,
    /// It came with NetaClaw.
    Shipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// The agent has it, and it can run.
    Ready,
    /// Something that it needs is missing.
    Unavailable,
    /// It is not made as a skill has to be.
    Invalid,
    /// Another with the same name comes before it.
    Shadowed,
    /// The agent does not use it.
    NotChosen,
}

/// Something about a skill that somebody should mend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillProblem {
    pub zh: String,
    pub en: String,
}

/// Runs a skill to see what it does. It runs in a session of its own, like any other call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillTry {
    /// Its arguments by name.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub input: Value,
    /// The agent whose workspace and limits it gets; absent, the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
}

/// Where the trial can be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillTried {
    pub session_id: SessionId,
    pub tool_call_id: String,
}
