//! One run of a configured agent, from what is stored to what the loop is given.

use crate::governed::{AgentTools, ToolSeat};
use crate::memory::AgentMemory;
use crate::models::threshold_percent;
use crate::source::AdminAgentSource;
use crate::tool_refusals::ToolRefusals;
use crate::workspace::{extra_roots, prompt_sources, with_scratch};
use async_trait::async_trait;
use netaclaw_engine::{EngineError, PrepareRun, PreparedRun, Runner};
use netaclaw_governance::ModelAbilities;
use netaclaw_protocol::Agent;
use netaclaw_runtime::prompt::PromptSources;
use netaclaw_runtime::{
    AgentSettings, RunHost, RunInput, RunLimits, RunReport, SystemClock, run_agent,
};
use netaclaw_tools::skills::SkillPlaces;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl AdminAgentSource {
    pub(crate) async fn prepare_run(
        &self,
        run: PrepareRun<'_>,
    ) -> Result<PreparedRun, EngineError> {
        let configured = self.configured().await?;
        let Agent { id, spec, .. } = self.agent_of(&configured, run.session, run.model)?;
        let model = self.model(&configured, &spec)?;
        let root = self.root_of(run.session, &spec);
        let admin = Arc::clone(&self.governed.admin);
        let memory = AgentMemory::new(admin, id, run.session.user_id.as_deref())
            .of_session(&run.session.session_id);
        let about = run.session.first_message.as_deref().unwrap_or_default();
        // Both look elsewhere, and neither needs the other.
        let (opened, facts) = tokio::join!(
            self.workplace(root, extra_roots(&spec)),
            memory.facts(about),
        );
        let (workspace, instructions) = opened?;
        let spawner = self
            .governed
            .spawner(&spec, run.session.session_id.as_str());
        let workspace = with_scratch(workspace, &spawner);
        let skills = SkillPlaces {
            vision: Self::vision(&configured, &spec, &model.info),
            ..self.governed.skills.places(&spec, workspace.root())
        };
        let abilities = ModelAbilities {
            tools: model.info.tools,
            vision: model.info.vision,
        };
        if let Some(mcp) = &self.governed.mcp {
            mcp.first_hello().await;
        }
        let governed = &self.governed;
        let tools = governed.resolve(&configured, &spec, abilities, ToolSeat::Main);
        let tools = tools.await;
        let current_tools = AgentTools {
            governed: self.governed.clone(),
            agent: run.session.agent_id.clone(),
            model: abilities,
        };
        let info = model.info.clone();
        let threshold_percent = threshold_percent(&spec);
        let prompt = PromptSources {
            memory: facts,
            skills: self.governed.skills.lines(&skills).await,
            ..prompt_sources(&workspace, instructions)
        };
        let input = RunInput {
            run_id: run.run_id.clone(),
            session_id: run.session.session_id.clone(),
            agent: AgentSettings {
                system_prompt: spec.system_prompt,
                temperature: spec.model_config.temperature,
                max_output_tokens: spec.model_config.max_tokens,
                thinking: None,
                limits: RunLimits::default(),
            },
            prompt,
            prompts: Arc::clone(&self.prompts),
            model,
            registry: self.governed.registry(),
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
        Ok(PreparedRun {
            model: info,
            threshold_percent,
            runner: Box::new(AgentRunner {
                input,
                tool_refusals: Arc::clone(&self.tool_refusals),
            }),
        })
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
