//! The tools of an agent without a session, for other programs, under the same governance.

use crate::source::AdminAgentSource;
use crate::tools::AgentTools;
use crate::workspace::{extra_roots, with_scratch};
use async_trait::async_trait;
use netaclaw_engine::EngineError;
use netaclaw_governance::{
    Approval, Concurrency, Consent, CurrentTools, Decision, ModelAbilities, ProposedCall,
    ResolvedTool, ResolvedTools, Undecided, decide,
};
use netaclaw_protocol::{ForeignContent, TodoItem, TodoList, ToolCategory};
use netaclaw_tools::mcp::{ServedTool, ServedTools};
use netaclaw_tools::skills::SkillDirs;
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{
    Clarifier, ClarifyAnswer, ClarifyQuestion, ImageUse, MemoryError, MemoryFact, MemoryService,
    Provenance, ServiceError, TodoService, ToolContext, ToolOutput, ToolRegistry, Updates,
    Workspace, execute,
};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

/// What happens to calls that need an approval, as no user is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadlessApproval {
    Refuse,
    /// Starting this process approves all of them.
    Allow,
}

/// An agent's tools, as far as they need no session.
pub struct HeadlessTools {
    tools: AgentTools,
    registry: Arc<ToolRegistry>,
    workspace: Arc<Workspace>,
    spawner: Spawner,
    skills: SkillDirs,
    approval: HeadlessApproval,
    /// Held alone by calls that must run alone.
    turn: RwLock<()>,
}

impl AdminAgentSource {
    /// The built-in tools of an agent, in its workspace; `None` is the default agent.
    pub async fn toolbox(
        &self,
        agent: Option<&str>,
        approval: HeadlessApproval,
    ) -> Result<HeadlessTools, EngineError> {
        let spec = self.agent_named(agent).await?.spec;
        let opened = self
            .open_workspace(self.cwd_of(&spec), extra_roots(&spec))
            .await?;
        let spawner = self.sources.spawner(&spec, "served tools");
        let workspace = with_scratch(opened.0, &spawner);
        Ok(HeadlessTools {
            tools: AgentTools {
                sources: self.sources.clone(),
                agent: agent.map(str::to_owned),
                // The client is expected to read images; otherwise it would not call.
                model: ModelAbilities {
                    tools: true,
                    vision: true,
                },
            },
            registry: Arc::clone(&self.sources.builtin),
            skills: self.sources.skills.places(&spec, workspace.root()),
            workspace: Arc::new(workspace),
            spawner,
            approval,
            turn: RwLock::default(),
        })
    }
}

impl HeadlessTools {
    fn decided(&self, current: Result<&ResolvedTools, &Undecided>, call: ProposedCall) -> Decision {
        let offered = match current {
            Ok(tools) => tools,
            Err(_) => {
                let reason =
                    "The call was not run, because the decision about it failed.".to_owned();
                return Decision::Deny { reason };
            }
        };
        let reason = match offered.get(&call.tool_name) {
            Some(tool) if is_served(tool) => None,
            Some(tool) => {
                let name = tool.name();
                Some(format!(
                    "The tool `{name}` works only in a session of NetaClaw."
                ))
            }
            None => {
                Some("There is no such tool; `tools/list` lists the available ones.".to_owned())
            }
        };
        if let Some(reason) = reason {
            return Decision::Deny { reason };
        }
        // What the other program has read is unknown here.
        let decided = decide(offered, current, &ForeignContent::default(), call);
        match (decided, self.approval) {
            (Decision::Ask(asked), HeadlessApproval::Allow) => {
                let approval = Approval {
                    hash: asked.request().hash.clone(),
                    consent: Consent::Given,
                };
                asked.answer(&approval, current)
            }
            (Decision::Ask(asked), HeadlessApproval::Refuse) => {
                let name = &asked.request().tool_name;
                let reason = format!(
                    "`{name}` needs approval, and there is no user to ask. Start `netaclaw mcp \
                     serve` with --yes, or change the agent's `approval`."
                );
                Decision::Deny { reason }
            }
            (decided, _) => decided,
        }
    }

    fn context(&self, cancel: CancellationToken) -> ToolContext {
        let no_session = Arc::new(NoSession);
        ToolContext {
            workspace: Arc::clone(&self.workspace),
            cancel,
            updates: Updates::ignored(),
            images: ImageUse::Seen,
            spawner: self.spawner.clone(),
            todo: Arc::clone(&no_session) as _,
            clarifier: Arc::clone(&no_session) as _,
            memory: no_session,
            skills: self.skills.clone(),
        }
    }
}

/// Not those that belong to a session or a user.
fn is_served(tool: &ResolvedTool) -> bool {
    !matches!(
        tool.manifest().category,
        ToolCategory::Session
            | ToolCategory::Memory
            | ToolCategory::Agents
            | ToolCategory::External
    )
}

#[async_trait]
impl ServedTools for HeadlessTools {
    async fn list(&self) -> Result<Vec<ServedTool>, String> {
        let tools = self.tools.current().await;
        let tools = tools.map_err(|error| error.to_string())?;
        let served = tools.enabled().filter(|tool| is_served(tool));
        let served = served.map(|tool| {
            let manifest = tool.manifest();
            ServedTool {
                name: manifest.name.clone(),
                label: manifest.label.en.clone(),
                description: manifest.description.to_string(),
                schema: Value::clone(&tool.model_schema()),
                risk: manifest.risk,
            }
        });
        Ok(served.collect())
    }

    async fn call(&self, name: &str, args: Value, cancel: CancellationToken) -> ToolOutput {
        let current = self.tools.current().await;
        let call = ProposedCall {
            tool_call_id: "mcp".to_owned(),
            tool_name: name.to_owned(),
            args,
        };
        let approved = match self.decided(current.as_ref(), call) {
            Decision::Allow(approved) => approved,
            Decision::Deny { reason } => return ToolOutput::error(reason),
            Decision::Ask(_) => return ToolOutput::error("The call was not run."),
        };
        let concurrency = approved.manifest().concurrency;
        let run = execute(&self.registry, approved, self.context(cancel));
        match concurrency {
            Concurrency::Exclusive => {
                let _alone = self.turn.write().await;
                run.await.output
            }
            Concurrency::Parallel => {
                let _beside = self.turn.read().await;
                run.await.output
            }
        }
    }
}

/// Services without a session: no to-do list, no user to ask, and no memories.
pub(crate) struct NoSession;

#[async_trait]
impl TodoService for NoSession {
    async fn list(&self) -> TodoList {
        TodoList::default()
    }

    async fn replace(&self, _items: Vec<TodoItem>) -> Result<TodoList, ServiceError> {
        Err(ServiceError::Unavailable)
    }
}

#[async_trait]
impl Clarifier for NoSession {
    async fn ask(&self, _question: ClarifyQuestion) -> Result<ClarifyAnswer, ServiceError> {
        Err(ServiceError::Unavailable)
    }
}

#[async_trait]
impl MemoryService for NoSession {
    async fn save(
        &self,
        _text: &str,
        _replaces: Option<&str>,
        _provenance: Provenance,
    ) -> Result<MemoryFact, MemoryError> {
        Err(MemoryError::Unavailable)
    }

    async fn search(
        &self,
        _query: &str,
        _provenance: Provenance,
    ) -> Result<Vec<MemoryFact>, MemoryError> {
        Err(MemoryError::Unavailable)
    }
}
