//! Which tools an agent has, by what is stored at the moment.

use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AdminStore, BUILTIN_TOOLS, KnownTool, ToolSync, global_status,
};
use netaclaw_governance::{
    CurrentTools, ModelAbilities, ResolveInput, ResolvedTools, Seat, ToolManifest, ToolResolver,
    Undecided,
};
use netaclaw_protocol::{Agent, AgentId, AgentSpec, ToolStatus};
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::spawn::{SpawnGate, Spawner};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tool that starts programs.
const BASH: &str = "bash";

/// Everything that has a say about tools.
#[derive(Clone)]
pub(crate) struct Governed {
    pub(crate) admin: Arc<dyn AdminStore>,
    pub(crate) registry: Arc<ToolRegistry>,
    pub(crate) gate: Arc<SpawnGate>,
}

/// For whom tools are resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSeat {
    #[default]
    Main,
    /// For an agent that this one would delegate to.
    Subagent,
}

impl Governed {
    pub(crate) async fn agent(&self, agent: Option<&str>) -> Result<Agent, AdminError> {
        let Some(wanted) = agent else {
            return self.admin.default_agent().await;
        };
        match self.admin.agent(&AgentId::new(wanted)).await {
            Err(AdminError::NotFound { .. }) => self.admin.agent_named(wanted).await,
            found => found,
        }
    }

    /// Which tools the agent has with such a model, and why.
    pub(crate) async fn resolve(
        &self,
        spec: &AgentSpec,
        model: ModelAbilities,
        seat: ToolSeat,
    ) -> Result<ResolvedTools, AdminError> {
        let global = global_status(&self.admin.tools().await?);
        let main = self.resolve_with(&global, spec, model, Seat::Main);
        Ok(match seat {
            ToolSeat::Main => main,
            ToolSeat::Subagent => {
                let granted = spec.subagent_config.allowed_tool_names.as_deref();
                let seat = Seat::Subagent {
                    parent: &main,
                    granted,
                };
                self.resolve_with(&global, spec, model, seat)
            }
        })
    }

    fn resolve_with(
        &self,
        global: &BTreeMap<String, ToolStatus>,
        spec: &AgentSpec,
        model: ModelAbilities,
        seat: Seat<'_>,
    ) -> ResolvedTools {
        let tools = ToolResolver::resolve(&ResolveInput {
            catalogue: &self.registry.catalogue(),
            global,
            agent: spec,
            model,
            environment: &self.environment(spec),
            seat,
        });
        match self.spawner(spec).caution() {
            Some(caution) => tools.cautioned(BASH, caution),
            None => tools,
        }
    }

    /// Tools that cannot work here and now, each with what is missing.
    fn environment(&self, spec: &AgentSpec) -> BTreeMap<String, String> {
        let reason = self.spawner(spec).unavailable();
        reason
            .map(|reason| (BASH.to_owned(), reason))
            .into_iter()
            .collect()
    }

    pub(crate) fn spawner(&self, spec: &AgentSpec) -> Spawner {
        Spawner {
            gate: Arc::clone(&self.gate),
            sandbox: spec.sandbox,
        }
    }

    /// Gives every built-in tool its row, and marks those that are gone.
    pub(crate) async fn sync(&self) -> Result<(), AdminError> {
        let catalogue = self.registry.catalogue();
        let known: Vec<KnownTool> = catalogue.iter().map(|tool| known(tool)).collect();
        let by = Actor::system();
        let ToolSync { added, gone, back } =
            self.admin.sync_tools(&by, BUILTIN_TOOLS, &known).await?;
        if !(added.is_empty() && gone.is_empty() && back.is_empty()) {
            tracing::info!(?added, ?gone, ?back, "the catalogue of tools has changed");
        }
        Ok(())
    }
}

fn known(tool: &ToolManifest) -> KnownTool {
    KnownTool {
        name: tool.name.clone(),
        label: tool.label.clone(),
        category: tool.category,
        risk: tool.risk,
    }
}

/// The tools of an agent, each time as they are then: whatever an administrator or the owner of
/// the agent changes during a run counts for its next call.
pub(crate) struct AgentTools {
    pub(crate) governed: Governed,
    /// Id or name; `None` is the default agent.
    pub(crate) agent: Option<String>,
    pub(crate) model: ModelAbilities,
}

#[async_trait]
impl CurrentTools for AgentTools {
    async fn current(&self) -> Result<ResolvedTools, Undecided> {
        let undecided = |error: AdminError| Undecided(error.to_string());
        let agent = self.governed.agent(self.agent.as_deref()).await;
        let spec = agent.map_err(undecided)?.spec;
        let resolved = self.governed.resolve(&spec, self.model, ToolSeat::Main);
        resolved.await.map_err(undecided)
    }
}
