//! The input of a run.

use crate::clock::Clock;
use crate::prompt::PromptSources;
use netaclaw_governance::{CurrentTools, ResolvedTools};
use netaclaw_models::ModelClient;
use netaclaw_protocol::{
    ContentBlock, EntryId, ForeignContent, LocalizedError, ModelInfo, RunId, SessionId,
    ThinkingLevel, TodoList,
};
use netaclaw_tools::skills::SkillDirs;
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{MemoryService, ToolRegistry, Workspace};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One run of an agent. The session is passed separately, as the host.
#[derive(Clone)]
pub struct RunInput {
    pub run_id: RunId,
    /// Where the steps of its calls can be read later.
    pub session_id: SessionId,
    pub agent: AgentSettings,
    pub prompt: PromptSources,
    pub model: ModelAccess,
    pub registry: Arc<ToolRegistry>,
    /// What of the registry this agent has, and why.
    pub tools: ResolvedTools,
    /// Asked again for every turn and every call: what was switched off since does not run.
    pub current_tools: Arc<dyn CurrentTools>,
    /// The tools that were last announced to the model in this session, if any.
    pub told_tools: Option<Vec<String>>,
    pub workspace: Arc<Workspace>,
    /// How its tools start programs.
    pub spawner: Spawner,
    pub memory: Arc<dyn MemoryService>,
    /// Where its skills are found.
    pub skills: SkillDirs,
    /// What the run begins with, before it asks the model.
    pub pending: Option<PendingCalls>,
    /// Stops the run.
    pub cancel: CancellationToken,
    pub clock: Arc<dyn Clock>,
}

/// Calls of a stored answer that never began, because their run died during an approval or a
/// question. They are decided on like any other.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingCalls {
    pub entry_id: EntryId,
    /// The blocks of the answer that are these calls.
    pub calls: Vec<ContentBlock>,
    /// The list in force.
    pub todo: TodoList,
    /// What the model had read from outside when it made them.
    pub foreign: ForeignContent,
}

/// The agent, as far as the loop is concerned.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    pub system_prompt: String,
    pub temperature: Option<f64>,
    /// `None` leaves it to the model.
    pub max_output_tokens: Option<u64>,
    /// Instead of the session's own level, for runs without a user to set one.
    pub thinking: Option<ThinkingLevel>,
    pub limits: RunLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Answers of the model, with the tools they call.
    pub turns: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { turns: 50 }
    }
}

/// The client and the name of the model.
#[derive(Clone)]
pub struct ModelAccess {
    pub client: Arc<dyn ModelClient>,
    pub info: ModelInfo,
    /// The channel's name, which answers carry as their provider.
    pub provider: String,
    /// How the supplier refused tools a while ago. The model is not offered any then, whatever
    /// `info` says elsewhere.
    pub tools_refused: Option<LocalizedError>,
}
