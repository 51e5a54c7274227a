//! The prompt and the tools that an agent would have, for administrators.

use crate::compaction::tool_tokens;
use crate::memory::AgentMemory;
use crate::source::AdminAgentSource;
use crate::tools::{STARTS_PROGRAMS, ToolAudience};
use crate::trouble::admin_error;
use async_trait::async_trait;
use netaclaw_engine::EngineError;
use netaclaw_governance::{ModelAbilities, ToolManifest};
use netaclaw_protocol::{
    AgentId, AgentPreview, AgentSpec, LocalizedText, ModelInfo, NotFound, PromptLayer,
    PromptPreview, RecordKind, SkillDetail, SkillView, TodoList, ToolDetail, ToolInfo,
    ToolIsolation, ToolRecord, ToolStatus, ToolUser,
};
use netaclaw_runtime::ModelAccess;
use netaclaw_runtime::prompt::{Layer, Prompt, PromptSources};
use netaclaw_tools::spawn::Isolation;
use serde_json::Value;
use std::sync::Arc;

/// Returns the tools, and previews an agent with a given configuration.
#[async_trait]
pub trait AgentPreviews: Send + Sync + 'static {
    /// All that are or were there.
    async fn tools(&self) -> Result<Vec<ToolInfo>, EngineError>;

    /// One of them, and what every agent makes of it.
    async fn tool(&self, name: &str) -> Result<ToolDetail, EngineError>;

    /// Every skill that an agent finds, usable or not; `None` is the default agent.
    async fn skills(&self, agent: Option<&str>) -> Result<Vec<SkillView>, EngineError>;

    /// One of them, with its instructions.
    async fn skill(&self, agent: Option<&str>, name: &str) -> Result<SkillDetail, EngineError>;

    /// Works for agents that could not run as well, and says why.
    async fn preview(
        &self,
        spec: &AgentSpec,
        whom: PreviewFor<'_>,
    ) -> Result<AgentPreview, EngineError>;
}

/// The user and the role for which an agent is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct PreviewFor<'a> {
    pub seat: ToolAudience,
    /// Whose memory the agent would have.
    pub user: Option<&'a str>,
}

#[async_trait]
impl AgentPreviews for AdminAgentSource {
    async fn tools(&self) -> Result<Vec<ToolInfo>, EngineError> {
        // The page shows a row for every tool, also if no server was started since.
        self.sync_tools().await.map_err(admin_error)?;
        let records = self.sources.admin.tools().await.map_err(admin_error)?;
        let catalogue = self.snapshot().await?.registry.catalogue();
        let manifest = |name: &str| catalogue.iter().find(|tool| tool.name == name);
        let isolation = isolation(self.sources.gate.probe_isolation().await);
        let info = |record: ToolRecord| {
            let manifest = manifest(&record.name).map(|manifest| &**manifest);
            let starts_programs = STARTS_PROGRAMS.contains(&record.name.as_str());
            ToolInfo {
                isolation: starts_programs.then_some(isolation),
                ..info(record, manifest)
            }
        };
        Ok(records.into_iter().map(info).collect())
    }

    async fn tool(&self, name: &str) -> Result<ToolDetail, EngineError> {
        let known = self.tools().await?;
        let Some(tool) = known.into_iter().find(|tool| tool.record.name == name) else {
            let missing = self.sources.admin.tool(name).await.map(drop);
            missing.map_err(admin_error)?;
            let missing = NotFound::NoRecord {
                kind: RecordKind::Tool,
                name: name.to_owned(),
                nearest: None,
            };
            return Err(missing.into());
        };
        let mut agents = Vec::new();
        let snapshot = self.snapshot().await?;
        for agent in snapshot.config.agents.clone() {
            let (abilities, ..) = abilities(self.model_of(&snapshot, &agent));
            let resolved = self.sources.tools_of(&snapshot, &agent, abilities);
            let shown = resolved.await.projection();
            let mut lines = shown.runtime_diagnostic.into_iter();
            agents.extend(
                lines
                    .find(|line| line.tool_name == name)
                    .map(|diagnostic| ToolUser {
                        agent_id: agent.id,
                        agent_name: agent.spec.name,
                        agent_label: agent.spec.label,
                        diagnostic,
                    }),
            );
        }
        Ok(ToolDetail { tool, agents })
    }

    async fn skills(&self, agent: Option<&str>) -> Result<Vec<SkillView>, EngineError> {
        self.skill_views(agent).await
    }

    async fn skill(&self, agent: Option<&str>, name: &str) -> Result<SkillDetail, EngineError> {
        self.skill_detail(agent, name).await
    }

    async fn preview(
        &self,
        spec: &AgentSpec,
        whom: PreviewFor<'_>,
    ) -> Result<AgentPreview, EngineError> {
        let snapshot = self.snapshot().await?;
        let (abilities, model, no_model) = abilities(self.model_of_draft(&snapshot, spec));
        let sources = &self.sources;
        let tools = sources.tools_of_draft(&snapshot, spec, abilities, whom.seat);
        let tools = tools.await;
        let (sources, no_workspace) = apart(self.prompt_of(&snapshot, spec).await);
        let sources = PromptSources {
            memory: self.memory_of(spec, whom.user).await,
            ..sources.unwrap_or_default()
        };
        let prompt = Prompt::new(&spec.system_prompt, &sources, &tools);
        let layers = prompt.preview(&TodoList::default());
        let tool_tokens = tool_tokens(&tools);
        let problem = no_model.or(no_workspace);
        Ok(AgentPreview {
            tools: tools.projection(),
            prompt: PromptPreview {
                tokens: layers.iter().map(Layer::tokens).sum::<u64>() + tool_tokens,
                tool_tokens,
                layers: layers.into_iter().map(shown).collect(),
            },
            model,
            problem: problem.as_ref().map(|words| words.en.clone()),
            problem_words: problem,
        })
    }
}

impl AdminAgentSource {
    /// The memories of a new session; an agent that is not saved yet has those for all agents.
    async fn memory_of(&self, spec: &AgentSpec, user: Option<&str>) -> Vec<String> {
        let admin = &self.sources.admin;
        let kept = admin.agent_named(&spec.name).await;
        let agent = kept.map_or_else(|_| AgentId::new(""), |agent| agent.id);
        let memory = AgentMemory::new(Arc::clone(admin), agent, user);
        memory.facts("").await
    }
}

/// What the agent's model can do. Without one nothing is known against a tool.
fn abilities(
    model: Result<ModelAccess, EngineError>,
) -> (ModelAbilities, Option<ModelInfo>, Option<LocalizedText>) {
    let (model, no_model) = apart(model);
    let model = model.map(|access| access.info);
    let abilities = ModelAbilities {
        tools: model.as_ref().is_none_or(|model| model.tools),
        vision: model.as_ref().is_none_or(|model| model.vision),
    };
    (abilities, model, no_model)
}

/// The result, or why there is none.
fn apart<T>(found: Result<T, EngineError>) -> (Option<T>, Option<LocalizedText>) {
    match found {
        Ok(found) => (Some(found), None),
        Err(error) => (None, Some(error.refusal().words)),
    }
}

fn info(record: ToolRecord, manifest: Option<&ToolManifest>) -> ToolInfo {
    let timeout = manifest.and_then(|manifest| Some(manifest.timeout?.as_millis()));
    ToolInfo {
        description: manifest.map_or_else(String::new, |manifest| manifest.description.to_string()),
        on_by_default: manifest.is_some_and(|tool| tool.default_status == ToolStatus::Enabled),
        schema: manifest.map_or(Value::Null, |manifest| Value::clone(&manifest.schema)),
        timeout_ms: timeout.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX)),
        isolation: None,
        record,
    }
}

fn isolation(isolation: Isolation) -> ToolIsolation {
    match isolation {
        Isolation::Namespaces => ToolIsolation::Namespaces,
        Isolation::Refused(_) => ToolIsolation::Refused,
        Isolation::Off => ToolIsolation::Off,
    }
}

fn shown(layer: Layer) -> PromptLayer {
    PromptLayer {
        name: layer.name.as_str().to_owned(),
        chars: layer.chars() as u64,
        tokens: layer.tokens(),
        text: layer.text,
        budget: layer.budget as u64,
        omitted: layer.omitted,
    }
}
