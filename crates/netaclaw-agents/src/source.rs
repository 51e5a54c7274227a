//! The engine's `AgentSource` on the admin store.

use crate::mcp::AdminMcpServers;
use crate::models::{ModelSettings, threshold_percent};
use crate::skills::opening;
use crate::snapshot::{AgentSnapshot, Sources};
use crate::tool_refusals::ToolRefusals;
use crate::trouble::admin_error;
use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AdminStore, CLARIFY_TIMEOUT, approval_act, check_choice, open_auxiliary,
    session_provider,
};
use netaclaw_engine::{
    AgentRef, AgentSource, ApprovalAct, ApprovalLifetime, Caller, ChosenModel, CompactionSetup,
    EngineError, Measure, Overhead, PrepareRun, PreparedRun, SkillCommand, SkillOpening,
    TitleModel, ToolsToApprove,
};
use netaclaw_governance::{ModelAbilities, edit_tools, one_tool};
use netaclaw_protocol::{
    Agent, ApprovalDecision, ApprovalWithin, AuditAction, ChannelId, EntryId, ModelRef, RecordKind,
    SessionId, SessionMeta, StandingApproval, UserId, now_ms,
};
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::spawn::SpawnGate;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The agents of the admin store.
pub struct AdminAgentSource {
    pub(crate) sources: Sources,
    pub(crate) models: ModelSettings,
    pub(crate) tool_refusals: Arc<ToolRefusals>,
}

impl AdminAgentSource {
    pub fn new(
        admin: Arc<dyn AdminStore>,
        models: ModelSettings,
        registry: Arc<ToolRegistry>,
        cwd: PathBuf,
    ) -> Self {
        Self {
            sources: Sources::new(admin, registry, cwd),
            models,
            tool_refusals: Arc::default(),
        }
    }

    /// Lets tools start programs, through this gate.
    pub fn with_gate(mut self, gate: Arc<SpawnGate>) -> Self {
        self.sources.gate = gate;
        self
    }

    /// Adds the tools of MCP servers.
    pub fn with_mcp(mut self, mcp: Arc<AdminMcpServers>) -> Self {
        self.sources.mcp = Some(mcp);
        self
    }

    /// Tells the store which tools there are. For the start of a server.
    pub async fn sync_tools(&self) -> Result<(), AdminError> {
        self.sources.sync_tools().await
    }

    pub(crate) fn admin(&self) -> &dyn AdminStore {
        &*self.sources.admin
    }

    pub(crate) async fn snapshot(&self) -> Result<Arc<AgentSnapshot>, EngineError> {
        self.sources.snapshot().await.map_err(admin_error)
    }

    /// By id or name; `None` is the default agent.
    pub(crate) async fn agent_named(&self, agent: Option<&str>) -> Result<Agent, EngineError> {
        let snapshot = self.snapshot().await?;
        let agent = snapshot.config.agent(agent).map_err(admin_error)?;
        Ok(agent.clone())
    }

    /// Who acts, for the audit log, and the name of the user.
    async fn actor_of(&self, by: &Caller) -> Result<(Actor, String), EngineError> {
        match self.admin().user(&UserId::new(&by.user_id)).await {
            Ok(user) => Ok((Actor::user(&user), user.spec.name)),
            // Accounts come and go; what was decided is written down all the same.
            Err(AdminError::NotFound { .. }) => Ok((Actor::system(), by.user_id.clone())),
            Err(error) => Err(admin_error(error)),
        }
    }

    /// The session's agent, with the model that was chosen for the session.
    pub(crate) fn agent_of(
        &self,
        snapshot: &AgentSnapshot,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<Agent, EngineError> {
        let agent = snapshot.config.agent(session.agent_id.as_deref());
        let mut agent = agent.map_err(admin_error)?.clone();
        if let Some(chosen) = model {
            let config = &mut agent.spec.model_config;
            config.channel_id = Some(ChannelId::new(chosen.channel_id));
            config.model = Some(chosen.model_id);
        }
        Ok(agent)
    }
}

#[async_trait]
impl AgentSource for AdminAgentSource {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        let agent = self.agent_named(agent).await?;
        Ok(AgentRef {
            id: agent.id.to_string(),
            name: agent.spec.name.clone(),
            provider: session_provider(&agent.spec).kind,
            think_level: agent.spec.model_config.think_level,
            cwd: self.cwd_of(&agent.spec).to_string_lossy().into_owned(),
        })
    }

    async fn check_model(
        &self,
        agent: Option<&str>,
        model: &ChosenModel,
    ) -> Result<(), EngineError> {
        let config = &self.snapshot().await?.config;
        let agent = config.agent(agent).map_err(admin_error)?;
        let channel = ChannelId::new(&model.channel_id);
        check_choice(&agent.spec, &config.channels, &channel, &model.model_id)
            .map_err(EngineError::WrongChoice)
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
        self.prepare_run(run).await
    }

    fn session_deleted(&self, session: &SessionId) {
        self.sources.gate.forget(session.as_str());
    }

    async fn open_skill(
        &self,
        session: &SessionMeta,
        command: &SkillCommand,
        message: &EntryId,
    ) -> Result<SkillOpening, EngineError> {
        let snapshot = self.snapshot().await?;
        let spec = self.agent_of(&snapshot, session, None)?.spec;
        let root = self.root_of(session, &spec);
        let skills = self.sources.skills.places(&spec, &root);
        opening(command, &skills, message, now_ms()).await
    }

    async fn measure(&self, session: &SessionMeta, model: Option<ChosenModel>) -> Option<Measure> {
        let snapshot = self.snapshot().await.ok()?;
        let agent = self.agent_of(&snapshot, session, model).ok()?;
        let model = self.model_of(&snapshot, &agent).ok()?;
        Some(Measure {
            model_ref: ModelRef {
                provider: model.provider,
                model_id: model.info.name.clone(),
            },
            model: model.info,
            threshold_percent: threshold_percent(&agent.spec),
        })
    }

    async fn record_approval(&self, by: &Caller, act: ApprovalAct<'_>) -> Result<(), EngineError> {
        let (by, _) = self.actor_of(by).await?;
        let asked = act.asked;
        let scope = match act.scope {
            ApprovalLifetime::Once => "once",
            ApprovalLifetime::Session => "session",
            ApprovalLifetime::Agent => "agent",
        };
        let act = netaclaw_admin::Act {
            action: match act.decision {
                ApprovalDecision::Allow => AuditAction::Allow,
                ApprovalDecision::Deny => AuditAction::Deny,
            },
            kind: RecordKind::Tool,
            target_id: asked.approval_id.clone(),
            target_name: asked.tool_name.clone(),
            fields: vec![
                format!("session:{}", act.session),
                format!("call:{}", asked.hash),
                format!("scope:{scope}"),
            ],
        };
        self.admin().record_act(&by, act).await.map_err(admin_error)
    }

    async fn standing_approvals(
        &self,
        session: &SessionMeta,
    ) -> Result<Vec<StandingApproval>, EngineError> {
        let (Some(user), Some(agent)) = (&session.user_id, &session.agent_id) else {
            return Ok(Vec::new());
        };
        let approvals = self.admin().approvals_for(&UserId::new(user), agent).await;
        approvals.map_err(admin_error)
    }

    async fn grant_approval(
        &self,
        by: &Caller,
        new: StandingApproval,
    ) -> Result<StandingApproval, EngineError> {
        let (actor, name) = self.actor_of(by).await?;
        let new = StandingApproval {
            granted_by: name,
            ..new
        };
        let granted = match new.within {
            ApprovalWithin::Agent => self.admin().grant_approval(&actor, new.clone()).await,
            ApprovalWithin::Session => {
                let act = approval_act(AuditAction::Create, &new);
                self.admin().record_act(&actor, act).await
            }
        };
        granted.map_err(admin_error)?;
        Ok(new)
    }

    async fn record_revoked(
        &self,
        by: &Caller,
        approval: &StandingApproval,
    ) -> Result<(), EngineError> {
        let (actor, _) = self.actor_of(by).await?;
        let act = approval_act(AuditAction::Revoke, approval);
        self.admin()
            .record_act(&actor, act)
            .await
            .map_err(admin_error)
    }

    async fn tools_to_approve(
        &self,
        session: &SessionMeta,
        which: ToolsToApprove<'_>,
    ) -> Result<BTreeMap<String, String>, EngineError> {
        let snapshot = self.snapshot().await?;
        let agent = self.agent_of(&snapshot, session, None)?;
        // What a model can do disables tools, but does not change them.
        let model = ModelAbilities {
            tools: true,
            vision: true,
        };
        let tools = self.sources.tools_of(&snapshot, &agent, model).await;
        Ok(match which {
            ToolsToApprove::Edits => edit_tools(&tools),
            ToolsToApprove::One(name) => match tools.get(name) {
                Some(tool) if tool.needs_approval() => one_tool(&tools, name),
                _ => BTreeMap::new(),
            },
        })
    }

    async fn compaction(
        &self,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<CompactionSetup, EngineError> {
        self.compaction_setup(session, model).await
    }

    async fn overhead(
        &self,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<Overhead, EngineError> {
        self.overhead_of(session, model).await
    }

    async fn question_timeout(&self) -> Option<Duration> {
        match self.snapshot().await {
            Ok(snapshot) => {
                let timeout = snapshot.config.setting(CLARIFY_TIMEOUT)?.as_u64();
                timeout.map(Duration::from_millis)
            }
            Err(error) => {
                // Without a limit the question waits: going on without the answer is worse.
                tracing::warn!(
                    %error,
                    "failed to read the timeout of questions; questions will not expire"
                );
                None
            }
        }
    }

    async fn title_model(&self, session: &SessionMeta) -> Result<Option<TitleModel>, EngineError> {
        let config = &self.snapshot().await?.config;
        let agent = config.agent(session.agent_id.as_deref());
        let open = open_auxiliary(config, &agent.map_err(admin_error)?.spec);
        let (client, info, _) = self.client(open.map_err(admin_error)?);
        Ok(Some(TitleModel {
            client,
            model: info.name,
        }))
    }
}
