//! Which tools an agent has, by what is stored at the moment.

use crate::mcp::{ConfiguredMcp, known_tool};
use crate::skills::Skills;
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AdminStore, BUILTIN_TOOLS, Configured, KnownTool, ToolSync, global_status,
};
use netaclaw_governance::{
    CurrentTools, ModelAbilities, ResolveInput, ResolvedTools, Seat, ToolManifest, ToolResolver,
    Undecided,
};
use netaclaw_protocol::{Agent, AgentSpec, ToolRecord};
use netaclaw_runtime::Lately;
use netaclaw_tools::spawn::{SpawnGate, Spawner};
use netaclaw_tools::{EXECUTE_SKILL, ToolRegistry};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The tools that start programs.
pub(crate) const STARTS_PROGRAMS: [&str; 2] = ["bash", EXECUTE_SKILL];

/// Everything that has a say about tools.
#[derive(Clone)]
pub(crate) struct Governed {
    pub(crate) admin: Arc<dyn AdminStore>,
    pub(crate) builtin: Arc<ToolRegistry>,
    pub(crate) gate: Arc<SpawnGate>,
    pub(crate) mcp: Option<Arc<ConfiguredMcp>>,
    pub(crate) skills: Skills,
    /// Where agents work that name no directory of their own.
    pub(crate) cwd: PathBuf,
    /// Asked again and again, before every call of a tool, and nearly always with the same answer.
    pub(crate) resolved: Lately<ResolvedFrom, ResolvedTools>,
}

/// Everything that decides about the tools of an agent that nobody has delegated to.
pub(crate) struct ResolvedFrom {
    configured: Arc<Configured>,
    spec: AgentSpec,
    model: ModelAbilities,
    here: ToolsHere,
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

    /// By id or name; `None` is the default agent.
    pub(crate) async fn agent(&self, agent: Option<&str>) -> Result<Agent, AdminError> {
        self.admin.configured().await?.agent(agent).cloned()
    }

    /// Which tools the agent has with such a model, and why.
    pub(crate) async fn resolve(
        &self,
        configured: &Arc<Configured>,
        spec: &AgentSpec,
        model: ModelAbilities,
        seat: ToolSeat,
    ) -> ResolvedTools {
        let here = self.here(&configured.tools, spec).await;
        let same = |from: &ResolvedFrom| {
            Arc::ptr_eq(&from.configured, configured)
                && from.model == model
                && from.here == here
                && from.spec == *spec
        };
        let main = self.resolved.find(same).unwrap_or_else(|| {
            let main = here.resolve(&configured.tools, spec, model, Seat::Main);
            let from = ResolvedFrom {
                configured: Arc::clone(configured),
                spec: spec.clone(),
                model,
                here: here.clone(),
            };
            self.resolved
                .keep(|from| Arc::ptr_eq(&from.configured, configured));
            self.resolved.add(from, main.clone());
            main
        });
        match seat {
            ToolSeat::Main => main,
            ToolSeat::Subagent => {
                let granted = spec.subagent_config.allowed_tool_names.as_deref();
                let seat = Seat::Subagent {
                    parent: &main,
                    granted,
                };
                here.resolve(&configured.tools, spec, model, seat)
            }
        }
    }

    /// What there is to resolve at this moment.
    async fn here(&self, records: &[ToolRecord], spec: &AgentSpec) -> ToolsHere {
        let mut catalogue = self.registry().catalogue();
        let places = self.skills.places(spec, &self.cwd_of(spec));
        let mut environment = self.skills.missing(&places).await;
        if let Some(reason) = self.spawner(spec, "").unavailable() {
            environment.extend(STARTS_PROGRAMS.map(|tool| (tool.to_owned(), reason.clone())));
        }
        if let Some(mcp) = &self.mcp {
            let missing = mcp.missing(&spec.mcp_servers, records);
            catalogue.extend(missing.unseen);
            environment.extend(missing.reasons);
        }
        ToolsHere {
            catalogue,
            environment,
            caution: self.spawner(spec, "").caution(),
        }
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

/// The tools there are, and what is known about all of them here and now.
#[derive(Clone)]
struct ToolsHere {
    catalogue: Vec<Arc<ToolManifest>>,
    /// Tools that cannot work here and now, each with what is missing.
    environment: BTreeMap<String, String>,
    /// What people must know about programs that are started here.
    caution: Option<String>,
}

impl PartialEq for ToolsHere {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, two): (&Arc<ToolManifest>, &Arc<ToolManifest>)| {
            Arc::ptr_eq(one, two) || one == two
        };
        self.environment == other.environment
            && self.caution == other.caution
            && self.catalogue.len() == other.catalogue.len()
            && self.catalogue.iter().zip(&other.catalogue).all(same)
    }
}

impl ToolsHere {
    fn resolve(
        &self,
        records: &[ToolRecord],
        agent: &AgentSpec,
        model: ModelAbilities,
        seat: Seat<'_>,
    ) -> ResolvedTools {
        let tools = ToolResolver::resolve(&ResolveInput {
            catalogue: &self.catalogue,
            global: &global_status(records),
            agent,
            model,
            environment: &self.environment,
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
        let configured = self.governed.admin.configured().await;
        let configured = configured.map_err(undecided)?;
        let agent = configured.agent(self.agent.as_deref());
        let spec = &agent.map_err(undecided)?.spec;
        let resolved = self
            .governed
            .resolve(&configured, spec, self.model, ToolSeat::Main);
        Ok(resolved.await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is otherwise has to be resolved anew.
    #[test]
    fn what_is_otherwise_here_is_not_taken_for_the_same() {
        let here = ToolsHere {
            catalogue: ToolRegistry::builtin().catalogue(),
            environment: BTreeMap::from([("bash".to_owned(), "no sandbox".to_owned())]),
            caution: None,
        };
        // The same tools, described by somebody else.
        let mut same = here.clone();
        let copies = here.catalogue.iter().map(|tool| ToolManifest::clone(tool));
        same.catalogue = copies.map(Arc::new).collect();
        assert!(here == here.clone() && here == same);
        let changes: [fn(&mut ToolsHere); 6] = [
            |here| here.environment.clear(),
            |here| drop(here.environment.insert("ls".to_owned(), "gone".to_owned())),
            |here| {
                drop(
                    here.environment
                        .insert("bash".to_owned(), "else".to_owned()),
                )
            },
            |here| here.caution = Some("nothing is locked in".to_owned()),
            |here| drop(here.catalogue.pop()),
            |here| Arc::make_mut(&mut here.catalogue[0]).risk = netaclaw_protocol::ToolRisk::Exec,
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut changed = here.clone();
            change(&mut changed);
            assert!(here != changed, "change {at}");
        }
    }
}
