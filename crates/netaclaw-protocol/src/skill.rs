//! Skills as screens see them.

use crate::{LocalizedText, SessionId, SkillProblem, ToolLabel};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A skill, available or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillView {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<ToolLabel>,
    pub description: String,
    /// Its texts for people, by language: `en` and `zh`. Missing texts are those for the model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub translations: BTreeMap<String, SkillTexts>,
    pub source: SkillSource,
    pub state: SkillState,
    /// Why it is unavailable; empty if it is available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SkillProblemView>,
    /// Problems that do not make it unavailable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SkillProblemView>,
    /// Whether it has a program to run.
    pub is_executable: bool,
    /// The input of the program, as JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    pub timeout_ms: u64,
}

/// The texts of a skill in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct SkillTexts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// By the name of the property of the input.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub input: BTreeMap<String, SkillInputTexts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct SkillInputTexts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
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
    /// Its other files, relative to its folder.
    pub files: Vec<String>,
}

/// Where a skill was found. If two have the same name, the earlier source in this list wins.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// A directory from the agent's settings.
    Agent,
    /// The data directory of the server.
    Data,
    Workspace,
    /// Built into NetaClaw.
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
    /// Its files are not a valid skill.
    Invalid,
    /// Another skill with the same name takes precedence.
    Shadowed,
    /// The agent does not select it.
    NotChosen,
}

/// A problem of a skill that should be corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkillProblemView {
    #[serde(flatten)]
    pub words: LocalizedText,
    /// The code and the parameters of the text.
    #[schema(value_type = Object)]
    pub reason: SkillProblem,
}

impl From<&SkillProblem> for SkillProblemView {
    fn from(problem: &SkillProblem) -> Self {
        Self {
            words: problem.words(),
            reason: problem.clone(),
        }
    }
}

/// Runs a skill in a new session, to see what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillTry {
    /// Its arguments by name.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub input: Value,
    /// The agent whose workspace and limits apply. Default: the default agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
}

/// The session and the call of the trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SkillTried {
    pub session_id: SessionId,
    pub tool_call_id: String,
}
