//! The compaction setup of configured agents.

use crate::memory::AgentMemory;
use crate::models::threshold_percent;
use crate::source::AdminAgentSource;
use crate::trouble::admin_error;
use crate::workspace::{extra_roots, prompt_sources};
use netaclaw_admin::open_auxiliary;
use netaclaw_compaction::SummaryModel;
use netaclaw_engine::{ChosenModel, CompactionSetup, EngineError, Overhead};
use netaclaw_governance::{ModelAbilities, ResolvedTools};
use netaclaw_models::ToolDefinition;
use netaclaw_models::tokens::estimate_tool;
use netaclaw_protocol::{Agent, SessionMeta, TodoList, ToolRisk};
use netaclaw_runtime::prompt::{LayerName, Prompt, PromptSources};
use std::sync::Arc;

impl AdminAgentSource {
    pub(crate) async fn compaction_setup(
        &self,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<CompactionSetup, EngineError> {
        let snapshot = self.snapshot().await?;
        let agent = self.agent_of(&snapshot, session, model)?;
        let main = self.model_of(&snapshot, &agent)?.info;
        let spec = agent.spec;
        let auxiliary = open_auxiliary(&snapshot.config, &spec).map_err(admin_error)?;
        let (client, info, channel) = self.client(auxiliary);
        let catalogue = snapshot.registry.catalogue();
        let looks_only = catalogue
            .iter()
            .filter(|tool| tool.risk == ToolRisk::Read)
            .map(|tool| tool.name.clone());
        Ok(CompactionSetup {
            model: main,
            threshold_percent: threshold_percent(&spec),
            keep_recent: spec.compaction_keep_recent as usize,
            auxiliary: SummaryModel {
                client,
                channel,
                model: info.name,
                window: info.context_window,
                max_output: info.max_output,
            },
            looks_only: looks_only.collect(),
        })
    }

    /// As a run of the session would have it, but for the date.
    pub(crate) async fn overhead_of(
        &self,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<Overhead, EngineError> {
        let snapshot = self.snapshot().await?;
        let agent = self.agent_of(&snapshot, session, model)?;
        let info = self.model_of(&snapshot, &agent)?.info;
        let abilities = ModelAbilities {
            tools: info.tools,
            vision: info.vision,
        };
        let tools = self.sources.tools_of(&snapshot, &agent, abilities).await;
        let Agent { id, spec, .. } = agent;
        let root = self.root_of(session, &spec);
        // Without its directory the agent could not run, but its words can be counted.
        let workspace = match self.open_workspace(root, extra_roots(&spec)).await {
            Ok((workspace, instructions)) => {
                let places = self.sources.skills.places(&spec, workspace.root());
                PromptSources {
                    skills: snapshot.skill_lines(&places).await,
                    ..prompt_sources(&workspace, instructions)
                }
            }
            Err(_) => PromptSources::default(),
        };
        let admin = Arc::clone(&self.sources.admin);
        let memory = AgentMemory::new(admin, id, session.user_id.as_deref());
        let about = session.first_message.as_deref().unwrap_or_default();
        let sources = PromptSources {
            memory: memory.facts(about).await,
            ..workspace
        };
        let prompt = Prompt::new(&spec.system_prompt, &sources, &tools);
        let mut overhead = Overhead::default();
        for layer in prompt.preview(&TodoList::default()) {
            match layer.name {
                LayerName::Skills => overhead.skills += layer.tokens(),
                _ => overhead.system += layer.tokens(),
            }
        }
        overhead.tools = tool_tokens(&tools);
        Ok(overhead)
    }
}

/// What the definitions of the tools cost in every request.
pub(crate) fn tool_tokens(tools: &ResolvedTools) -> u64 {
    let definitions = tools.enabled().map(|tool| ToolDefinition {
        name: tool.name().to_owned(),
        description: tool.manifest().description.clone(),
        schema: tool.model_schema(),
    });
    definitions.map(|tool| estimate_tool(&tool)).sum()
}
