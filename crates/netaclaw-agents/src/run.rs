//! One run of a configured agent, from what is stored to what the loop is given.

use crate::memory::AgentMemory;
use crate::models::threshold_percent;
use crate::source::AdminAgentSource;
use crate::tool_refusals::ToolRefusals;
use crate::tools::AgentTools;
use crate::workspace::{extra_roots, prompt_sources, with_scratch};
use async_trait::async_trait;
use netaclaw_engine::{EngineError, PrepareRun, PreparedRun, Runner};
use netaclaw_governance::ModelAbilities;
use netaclaw_runtime::prompt::PromptSources;
use netaclaw_runtime::{
    AgentSettings, RunHost, RunInput, RunLimits, RunReport, SystemClock, run_agent,
};
use netaclaw_tools::skills::SkillDirs;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl AdminAgentSource {
    pub(crate) async fn prepare_run(
        &self,
        run: PrepareRun<'_>,
    ) -> Result<PreparedRun, EngineError> {
        let (input, threshold_percent) = self.run_input(run).await?;
        Ok(PreparedRun {
            model: input.model.info.clone(),
            threshold_percent,
            runner: Box::new(AgentRunner {
                input,
                tool_refusals: Arc::clone(&self.tool_refusals),
            }),
        })
    }

    /// What the run is given, all of it of one version, and when its context is compacted.
    pub(crate) async fn run_input(
        &self,
        run: PrepareRun<'_>,
    ) -> Result<(RunInput, Option<u8>), EngineError> {
        if let Some(mcp) = &self.sources.mcp {
            mcp.await_first_connect().await;
        }
        let snapshot = self.snapshot().await?;
        let agent = self.agent_of(&snapshot, run.session, run.model)?;
        let model = self.model_of(&snapshot, &agent)?;
        let abilities = ModelAbilities {
            tools: model.info.tools,
            vision: model.info.vision,
        };
        let spec = &agent.spec;
        let admin = Arc::clone(&self.sources.admin);
        let memory = AgentMemory::new(admin, agent.id.clone(), run.session.user_id.as_deref())
            .of_session(&run.session.session_id);
        let about = run.session.first_message.as_deref().unwrap_or_default();
        let place = (self.root_of(run.session, spec), extra_roots(spec));
        // None of them needs another.
        let (tools, opened, facts) = tokio::join!(
            self.sources.tools_of(&snapshot, &agent, abilities),
            self.workplace(&snapshot, place),
            memory.facts(about),
        );
        let (workspace, instructions) = opened?;
        let spawner = self.sources.spawner(spec, run.session.session_id.as_str());
        let workspace = with_scratch(workspace, &spawner);
        let skills = SkillDirs {
            vision: Self::vision(&snapshot.config, spec, &model.info),
            ..self.sources.skills.places(spec, workspace.root())
        };
        let current_tools = AgentTools {
            sources: self.sources.clone(),
            agent: run.session.agent_id.clone(),
            model: abilities,
        };
        let threshold_percent = threshold_percent(spec);
        let prompt = PromptSources {
            memory: facts,
            skills: snapshot.skill_lines(&skills).await,
            ..prompt_sources(&workspace, instructions)
        };
        let input = RunInput {
            run_id: run.run_id.clone(),
            session_id: run.session.session_id.clone(),
            agent: AgentSettings {
                system_prompt: agent.spec.system_prompt,
                temperature: agent.spec.model_config.temperature,
                max_output_tokens: agent.spec.model_config.max_tokens,
                thinking: None,
                limits: RunLimits::default(),
            },
            prompt,
            model,
            registry: Arc::clone(&snapshot.registry),
            tools,
            current_tools: Arc::new(current_tools),
            told_tools: run.told_tools,
            pending: run.pending,
            workspace: Arc::new(workspace),
            spawner,
            memory: Arc::new(memory),
            skills,
            cancel: CancellationToken::new(),
            clock: Arc::new(SystemClock::default()),
        };
        Ok((input, threshold_percent))
    }
}

struct AgentRunner {
    input: RunInput,
    tool_refusals: Arc<ToolRefusals>,
}

#[async_trait]
impl Runner for AgentRunner {
    async fn run(self: Box<Self>, host: &mut dyn RunHost, cancel: CancellationToken) -> RunReport {
        let input = RunInput {
            cancel,
            ..self.input
        };
        let report = run_agent(input, host).await;
        if let Some(refusal) = report.tools_refused.clone() {
            self.tool_refusals.remember(refusal);
        }
        report
    }
}
