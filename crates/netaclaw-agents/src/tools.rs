//! Resolves the tools of an agent from the current snapshot.

use crate::mcp::known_tool;
use crate::snapshot::{AgentSnapshot, Sources};
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, BUILTIN_TOOLS, ConfigSnapshot, KnownTool, ToolSync, global_status,
};
use netaclaw_governance::{
    CurrentTools, ModelAbilities, ResolveInput, ResolvedTools, ToolManifest, ToolResolver,
    ToolScope, Undecided,
};
use netaclaw_protocol::{Agent, AgentSpec};
use netaclaw_tools::EXECUTE_SKILL;
use netaclaw_tools::skills::Skill;
use netaclaw_tools::spawn::Spawner;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The tools that start programs.
pub(crate) const STARTS_PROGRAMS: [&str; 2] = ["bash", EXECUTE_SKILL];

/// The role for which tools are resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolAudience {
    #[default]
    Main,
    /// For an agent that this one would delegate to.
    Subagent,
}

impl Sources {
    /// Which tools a stored agent has with such a model, and why. Resolved once for each version
    /// and state of its skills, because every tool call needs it.
    pub(crate) async fn tools_of(
        &self,
        snapshot: &AgentSnapshot,
        agent: &Agent,
        model: ModelAbilities,
    ) -> ResolvedTools {
        let skills = self.own_skills(snapshot, &agent.spec).await;
        let key = (agent.id.clone(), model);
        if let Some((of, tools)) = snapshot.tools.get(&key)
            && Arc::ptr_eq(&of, &skills)
        {
            return tools;
        }
        let tools = self.resolve(snapshot, &agent.spec, model, &skills);
        snapshot.tools.keep(key, (skills, tools.clone()));
        tools
    }

    /// The same for an agent that may not be stored, from either seat.
    pub(crate) async fn tools_of_draft(
        &self,
        snapshot: &AgentSnapshot,
        spec: &AgentSpec,
        model: ModelAbilities,
        seat: ToolAudience,
    ) -> ResolvedTools {
        let skills = self.own_skills(snapshot, spec).await;
        let main = self.resolve(snapshot, spec, model, &skills);
        match seat {
            ToolAudience::Main => main,
            ToolAudience::Subagent => {
                let granted = spec.subagent_config.allowed_tool_names.as_deref();
                let seat = ToolScope::Subagent {
                    parent: &main,
                    granted,
                };
                let environment = self.environment(snapshot, spec, &skills);
                environment.resolve(&snapshot.config, spec, model, seat)
            }
        }
    }

    fn resolve(
        &self,
        snapshot: &AgentSnapshot,
        spec: &AgentSpec,
        model: ModelAbilities,
        skills: &[Skill],
    ) -> ResolvedTools {
        let environment = self.environment(snapshot, spec, skills);
        environment.resolve(&snapshot.config, spec, model, ToolScope::Main)
    }

    fn environment(
        &self,
        snapshot: &AgentSnapshot,
        spec: &AgentSpec,
        skills: &[Skill],
    ) -> ToolEnvironment {
        let mut catalogue = snapshot.registry.catalogue();
        let mut obstacles = crate::skills::missing(skills);
        let spawner = self.spawner(spec, "");
        if let Some(reason) = spawner.unavailable() {
            obstacles.extend(STARTS_PROGRAMS.map(|tool| (tool.to_owned(), reason.clone())));
        }
        if let Some(mcp) = &snapshot.mcp {
            let missing = mcp.missing(&spec.mcp_servers, &snapshot.config.tools);
            catalogue.extend(missing.unseen);
            obstacles.extend(missing.reasons);
        }
        ToolEnvironment {
            catalogue,
            obstacles,
            caution: spawner.caution(),
        }
    }

    /// The skills in the agent's own directory, which decide whether tools for skills are of use.
    async fn own_skills(&self, snapshot: &AgentSnapshot, spec: &AgentSpec) -> Arc<Vec<Skill>> {
        let places = self.skills.places(spec, &self.cwd_of(spec));
        snapshot.skills_at(&places).await
    }

    pub(crate) fn cwd_of(&self, spec: &AgentSpec) -> PathBuf {
        spec.workspace
            .as_ref()
            .map_or_else(|| self.cwd.clone(), PathBuf::from)
    }

    pub(crate) fn spawner(&self, spec: &AgentSpec, session: &str) -> Spawner {
        Spawner {
            gate: Arc::clone(&self.gate),
            sandbox: spec.sandbox,
            session: Arc::from(session),
        }
    }

    /// Gives every built-in tool its row, and marks those that are gone.
    pub(crate) async fn sync_tools(&self) -> Result<(), AdminError> {
        let catalogue = self.builtin.catalogue();
        let known: Vec<KnownTool> = catalogue.iter().map(|tool| known_tool(tool)).collect();
        let by = Actor::system();
        let ToolSync { added, gone, back } =
            self.admin.sync_tools(&by, BUILTIN_TOOLS, &known).await?;
        if !(added.is_empty() && gone.is_empty() && back.is_empty()) {
            tracing::info!(?added, ?gone, ?back, "the tool catalog has changed");
        }
        Ok(())
    }
}

/// The tools there are, and what this machine and its files say about them.
struct ToolEnvironment {
    catalogue: Vec<Arc<ToolManifest>>,
    /// Tools that cannot be used, each with what is missing.
    obstacles: BTreeMap<String, String>,
    /// The warnings about programs that are started here.
    caution: Option<String>,
}

impl ToolEnvironment {
    fn resolve(
        &self,
        config: &ConfigSnapshot,
        agent: &AgentSpec,
        model: ModelAbilities,
        seat: ToolScope<'_>,
    ) -> ResolvedTools {
        let tools = ToolResolver::resolve(&ResolveInput {
            catalogue: &self.catalogue,
            global: &global_status(&config.tools),
            agent,
            model,
            environment: &self.obstacles,
            seat,
        });
        match &self.caution {
            Some(caution) => STARTS_PROGRAMS
                .into_iter()
                .fold(tools, |tools, tool| tools.cautioned(tool, caution.clone())),
            None => tools,
        }
    }
}

/// The current tools of an agent: a change that an administrator or the owner of the agent makes
/// during a run takes effect for its next call.
pub(crate) struct AgentTools {
    pub(crate) sources: Sources,
    /// Id or name; `None` is the default agent.
    pub(crate) agent: Option<String>,
    pub(crate) model: ModelAbilities,
}

#[async_trait]
impl CurrentTools for AgentTools {
    async fn current(&self) -> Result<ResolvedTools, Undecided> {
        let undecided = |error: AdminError| Undecided::NotReadable(Box::new(error));
        let snapshot = self.sources.snapshot().await.map_err(undecided)?;
        let agent = snapshot.config.agent(self.agent.as_deref());
        let agent = agent.map_err(undecided)?;
        Ok(self.sources.tools_of(&snapshot, agent, self.model).await)
    }
}
