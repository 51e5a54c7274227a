//! Which tools an agent has, by what is stored at the moment.

use crate::mcp::{ConfiguredMcp, known_tool};
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AdminStore, BUILTIN_TOOLS, KnownTool, ToolSync, global_status,
};
use netaclaw_governance::{
    CurrentTools, ModelAbilities, ResolveInput, ResolvedTools, Seat, ToolManifest, ToolResolver,
    Undecided,
};
use netaclaw_protocol::{Agent, AgentId, AgentSpec, ToolRecord, ToolStatus};
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
    pub(crate) builtin: Arc<ToolRegistry>,
    pub(crate) gate: Arc<SpawnGate>,
    pub(crate) mcp: Option<Arc<ConfiguredMcp>>,
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
    /// All tools there are at this moment.
    pub(crate) fn registry(&self) -> Arc<ToolRegistry> {
        match &self.mcp {
            Some(mcp) => mcp.registry(),
            None => Arc::clone(&self.builtin),
        }
    }

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
        let records = self.admin.tools().await?;
        let known = self.known(&records, spec);
        let main = known.resolve(spec, model, Seat::Main);
        Ok(match seat {
            ToolSeat::Main => main,
            ToolSeat::Subagent => {
                let granted = spec.subagent_config.allowed_tool_names.as_deref();
                let seat = Seat::Subagent {
                    parent: &main,
                    granted,
                };
                known.resolve(spec, model, seat)
            }
        })
    }

    /// What there is to resolve at this moment.
    fn known(&self, records: &[ToolRecord], spec: &AgentSpec) -> KnownTools {
        let mut catalogue = self.registry().catalogue();
        let mut environment: BTreeMap<String, String> = self
            .spawner(spec)
            .unavailable()
            .map(|reason| (BASH.to_owned(), reason))
            .into_iter()
            .collect();
        if let Some(mcp) = &self.mcp {
            let missing = mcp.missing(&spec.mcp_servers, records);
            catalogue.extend(missing.unseen);
            environment.extend(missing.reasons);
        }
        KnownTools {
            catalogue,
            global: global_status(records),
            environment,
            caution: self.spawner(spec).caution(),
        }
    }

    pub(crate) fn spawner(&self, spec: &AgentSpec) -> Spawner {
        Spawner {
            gate: Arc::clone(&self.gate),
            sandbox: spec.sandbox,
        }
    }

    /// Gives every built-in tool its row, and marks those that are gone.
    pub(crate) async fn sync(&self) -> Result<(), AdminError> {
        let catalogue = self.builtin.catalogue();
        let known: Vec<KnownTool> = catalogue.iter().map(|tool| known_tool(tool)).collect();
        let by = Actor::system();
        let ToolSync { added, gone, back } =
            self.admin.sync_tools(&by, BUILTIN_TOOLS, &known).await?;
        if !(added.is_empty() && gone.is_empty() && back.is_empty()) {
            tracing::info!(?added, ?gone, ?back, "the catalogue of tools has changed");
        }
        Ok(())
    }
}

/// The tools there are, and what is known about all of them.
struct KnownTools {
    catalogue: Vec<Arc<ToolManifest>>,
    global: BTreeMap<String, ToolStatus>,
    /// Tools that cannot work here and now, each with what is missing.
    environment: BTreeMap<String, String>,
    /// What people must know about programs that are started here.
    caution: Option<String>,
}

impl KnownTools {
    fn resolve(&self, agent: &AgentSpec, model: ModelAbilities, seat: Seat<'_>) -> ResolvedTools {
        let tools = ToolResolver::resolve(&ResolveInput {
            catalogue: &self.catalogue,
            global: &self.global,
            agent,
            model,
            environment: &self.environment,
            seat,
        });
        match &self.caution {
            Some(caution) => tools.cautioned(BASH, caution.clone()),
            None => tools,
        }
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
