//! Agents as they are configured, made ready to run.

use crate::governed::{AgentTools, Governed, ToolSeat};
use crate::instructions::instruction_files;
use crate::looks::Looks;
use crate::mcp::ConfiguredMcp;
use crate::memory::AgentMemory;
use crate::skills::{Skills, opening};
use crate::tool_refusals::ToolRefusals;
use async_trait::async_trait;
use metrics::histogram;
use netaclaw_admin::{
    Act, Actor, AdminError, AdminStore, CLARIFY_TIMEOUT, Configured, ModelChoiceError, OpenModel,
    check_choice, open_models, open_title_model, session_provider,
};
use netaclaw_engine::{
    AgentRef, AgentSource, Caller, ChosenModel, CompactionSetup, ConsentAct, ConsentScope,
    EngineError, Measure, Overhead, PrepareRun, PreparedRun, Runner, SkillCommand, SkillOpening,
    StoreFailure, TitleModel,
};
use netaclaw_governance::ModelAbilities;
use netaclaw_models::{
    FallbackClient, ModelClient, RetryClient, RetryPolicy, Route, Transport, client_for,
};
use netaclaw_protocol::{
    Agent, AgentSpec, ApprovalDecision, AuditAction, ChannelId, EntryId, ModelInfo, RecordKind,
    SessionId, SessionMeta, Trouble, TroubleKind, UserId, now_ms,
};
use netaclaw_runtime::prompt::{Environment, InstructionFile, PromptSources, Prompts};
use netaclaw_runtime::{
    AgentSettings, Lately, ModelAccess, RunHost, RunInput, RunLimits, RunReport, SystemClock,
    run_agent,
};
use netaclaw_tools::skills::{SkillPlaces, Vision};
use netaclaw_tools::spawn::{SpawnGate, Spawner};
use netaclaw_tools::{Hidden, ToolRegistry, Workspace};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The agents of the admin store.
pub struct ConfiguredAgents {
    pub(crate) governed: Governed,
    models: ModelSettings,
    tool_refusals: Arc<ToolRefusals>,
    workplaces: Looks<(PathBuf, Vec<PathBuf>), Workplace>,
    prompts: Arc<Prompts>,
    /// Ways to models, each with the agent whose model it is.
    opened: Lately<(Arc<Configured>, AgentSpec), ModelAccess>,
}

/// A workspace and what its project tells agents.
#[derive(Clone)]
struct Workplace {
    roots: Arc<[PathBuf]>,
    instructions: Vec<InstructionFile>,
}

/// How models are asked, whichever they are.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    pub transport: Arc<Transport>,
    pub retry: RetryPolicy,
}

impl ConfiguredAgents {
    pub fn new(
        admin: Arc<dyn AdminStore>,
        models: ModelSettings,
        registry: Arc<ToolRegistry>,
        cwd: PathBuf,
    ) -> Self {
        Self {
            governed: Governed {
                admin,
                builtin: registry,
                gate: Arc::new(SpawnGate::closed()),
                mcp: None,
                skills: Skills::default(),
                cwd,
                resolved: Lately::default(),
            },
            models,
            tool_refusals: Arc::default(),
            workplaces: Looks::default(),
            prompts: Arc::default(),
            opened: Lately::default(),
        }
    }

    /// Lets tools start programs, through this gate.
    pub fn with_gate(mut self, gate: Arc<SpawnGate>) -> Self {
        self.governed.gate = gate;
        self
    }

    /// Adds the tools of MCP servers.
    pub fn with_mcp(mut self, mcp: Arc<ConfiguredMcp>) -> Self {
        self.governed.mcp = Some(mcp);
        self
    }

    /// Tells the store which tools there are. For the start of a server.
    pub async fn sync_tools(&self) -> Result<(), AdminError> {
        self.governed.sync().await
    }

    pub(crate) fn admin(&self) -> &dyn AdminStore {
        &*self.governed.admin
    }

    pub(crate) fn client(&self, open: OpenModel) -> (Arc<dyn ModelClient>, ModelInfo, String) {
        let info = open.channel.model_info(&open.choice.model);
        let name = open.channel.name.clone();
        let plain = client_for(Arc::new(open.channel), Arc::clone(&self.models.transport));
        (
            Arc::new(RetryClient::new(plain, self.models.retry)),
            info,
            name,
        )
    }

    pub(crate) async fn configured(&self) -> Result<Arc<Configured>, EngineError> {
        let began = Instant::now();
        let configured = self.admin().configured().await;
        histogram!("netaclaw_store_seconds", "store" => "admin", "call" => "configured")
            .record(began.elapsed());
        configured.map_err(admin_error)
    }

    /// The session's agent, with the model that was chosen for the session.
    pub(crate) fn agent_of(
        &self,
        configured: &Configured,
        session: &SessionMeta,
        model: Option<ChosenModel>,
    ) -> Result<Agent, EngineError> {
        let agent = configured.agent(session.agent_id.as_deref());
        let mut agent = agent.map_err(admin_error)?.clone();
        if let Some(chosen) = model {
            let config = &mut agent.spec.model_config;
            config.channel_id = Some(ChannelId::new(chosen.channel_id));
            config.model = Some(chosen.model_id);
        }
        Ok(agent)
    }

    /// The agent's model, with its fallback behind it.
    pub(crate) fn model(
        &self,
        configured: &Arc<Configured>,
        spec: &AgentSpec,
    ) -> Result<ModelAccess, EngineError> {
        let current = |known: &Arc<Configured>| Arc::ptr_eq(known, configured);
        let same = self
            .opened
            .find(|(known, opened)| current(known) && opened == spec);
        let mut access = match same {
            Some(access) => access,
            None => {
                let access = self.open(configured, spec)?;
                self.opened.keep(|(known, _)| current(known));
                let of = (Arc::clone(configured), spec.clone());
                self.opened.add(of, access.clone());
                access
            }
        };
        access.tools_refused = self.tool_refusals.get(&access.provider, &access.info.name);
        access.info.tools &= access.tools_refused.is_none();
        Ok(access)
    }

    /// The same, as far as it is configured.
    fn open(&self, configured: &Configured, spec: &AgentSpec) -> Result<ModelAccess, EngineError> {
        let models = open_models(configured, spec).map_err(admin_error)?;
        let (client, info, provider) = self.client(models.main);
        let client = match models.fallback {
            None => client,
            Some(fallback) => {
                let (other, other_info, other_name) = self.client(fallback);
                let route = |name: &String, info: &ModelInfo, client| Route {
                    channel: name.clone(),
                    model: info.name.clone(),
                    client,
                };
                let first = route(&provider, &info, client);
                Arc::new(FallbackClient::new(
                    first,
                    [route(&other_name, &other_info, other)],
                ))
            }
        };
        Ok(ModelAccess {
            client,
            info,
            provider,
            tools_refused: None,
        })
    }

    /// The agent's model for programs of its skills, if it sees and they may use the network.
    fn vision(configured: &Configured, spec: &AgentSpec, info: &ModelInfo) -> Option<Vision> {
        if !info.vision || !spec.sandbox.network {
            return None;
        }
        let open = open_models(configured, spec).ok()?.main;
        Some(Vision {
            url: open.channel.openai_chat_url()?,
            model: open.choice.model,
            key: open.channel.api_key,
        })
    }

    /// What the prompt of a new session of the agent is made of.
    pub(crate) async fn prompt_of(&self, spec: &AgentSpec) -> Result<PromptSources, EngineError> {
        let (workspace, instructions) = self
            .open_workspace(self.cwd_of(spec), extra_roots(spec))
            .await?;
        let places = self.governed.skills.places(spec, workspace.root());
        Ok(PromptSources {
            skills: self.governed.skills.lines(&places).await,
            ..prompt_sources(&workspace, instructions)
        })
    }

    /// The workspace of a run, and what its project says. Runs that begin in the same moment share
    /// the look at the disk; what each of them has seen of files is its own.
    async fn workplace(
        &self,
        root: PathBuf,
        extra: Vec<PathBuf>,
    ) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
        let hidden = self.governed.gate.hidden();
        let look = || async {
            let opened = open_workspace(root.clone(), extra.clone(), hidden.clone());
            let (workspace, instructions) = opened.await?;
            let roots = workspace.roots().into();
            Ok::<_, EngineError>(Workplace {
                roots,
                instructions,
            })
        };
        let place = (root.clone(), extra.clone());
        let Workplace {
            roots,
            instructions,
        } = self.workplaces.look(place, look).await?;
        let workspace = Workspace::of_roots(roots.to_vec()).hiding(hidden.clone());
        Ok((workspace, instructions))
    }

    /// A workspace of the agent, for those who need one only for a moment.
    pub(crate) async fn open_workspace(
        &self,
        root: PathBuf,
        extra: Vec<PathBuf>,
    ) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
        open_workspace(root, extra, self.governed.gate.hidden().clone()).await
    }

    /// Where the session works.
    pub(crate) fn root_of(&self, session: &SessionMeta, spec: &AgentSpec) -> PathBuf {
        match session.cwd.as_str() {
            "" => self.cwd_of(spec),
            cwd => PathBuf::from(cwd),
        }
    }

    pub(crate) fn cwd_of(&self, spec: &AgentSpec) -> PathBuf {
        self.governed.cwd_of(spec)
    }
}

#[async_trait]
impl AgentSource for ConfiguredAgents {
    async fn find(&self, agent: Option<&str>) -> Result<AgentRef, EngineError> {
        let agent = self.governed.agent(agent).await.map_err(admin_error)?;
        Ok(AgentRef {
            id: agent.id.to_string(),
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
        let configured = self.configured().await?;
        let agent = configured.agent(agent).map_err(admin_error)?;
        let channel = ChannelId::new(&model.channel_id);
        check_choice(&agent.spec, &configured.channels, &channel, &model.model_id)
            .map_err(|error| EngineError::WrongChoice(Box::new(AdminError::from(error).words())))
    }

    async fn prepare(&self, run: PrepareRun<'_>) -> Result<PreparedRun, EngineError> {
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

    fn session_deleted(&self, session: &SessionId) {
        self.governed.gate.forget(session.as_str());
    }

    async fn open_skill(
        &self,
        session: &SessionMeta,
        command: &SkillCommand,
        message: &EntryId,
    ) -> Result<SkillOpening, EngineError> {
        let configured = self.configured().await?;
        let spec = self.agent_of(&configured, session, None)?.spec;
        let root = self.root_of(session, &spec);
        let skills = self.governed.skills.places(&spec, &root);
        opening(command, &skills, message, now_ms()).await
    }

    async fn measure(&self, session: &SessionMeta, model: Option<ChosenModel>) -> Option<Measure> {
        let configured = self.configured().await.ok()?;
        let spec = self.agent_of(&configured, session, model).ok()?.spec;
        let model = self.model(&configured, &spec).ok()?.info;
        Some(Measure {
            model,
            threshold_percent: threshold_percent(&spec),
        })
    }

    async fn record_consent(&self, by: &Caller, act: ConsentAct<'_>) -> Result<(), EngineError> {
        let user = self.admin().user(&UserId::new(&by.user_id)).await;
        let by = match user {
            Ok(user) => Actor::user(&user),
            // Accounts come and go; what was decided is written down all the same.
            Err(AdminError::NotFound { .. }) => Actor::system(),
            Err(error) => return Err(admin_error(error)),
        };
        let asked = act.asked;
        let scope = match act.scope {
            ConsentScope::Once => "once",
            ConsentScope::Session => "session",
        };
        let act = Act {
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
        match self.admin().setting(CLARIFY_TIMEOUT).await {
            Ok(setting) => setting?.value.as_u64().map(Duration::from_millis),
            Err(error) => {
                // Better to wait for ever than to go on without the answer.
                tracing::warn!(%error, "it is not known how long questions stay open");
                None
            }
        }
    }

    async fn title_model(&self, session: &SessionMeta) -> Result<Option<TitleModel>, EngineError> {
        let agent = self.governed.agent(session.agent_id.as_deref()).await;
        let spec = agent.map_err(admin_error)?.spec;
        let open = open_title_model(self.admin(), &spec).await;
        Ok(open.map_err(admin_error)?.map(|open| {
            let (client, info, _) = self.client(open);
            TitleModel {
                client,
                model: info.name,
            }
        }))
    }
}

/// 0 is never.
pub(crate) fn threshold_percent(spec: &AgentSpec) -> Option<u8> {
    match spec.compaction_threshold {
        0 => None,
        percent => u8::try_from(percent).ok(),
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

/// The directories that the agent's settings add to its workspace.
pub(crate) fn extra_roots(spec: &AgentSpec) -> Vec<PathBuf> {
    spec.extra_roots.iter().map(PathBuf::from).collect()
}

/// Adds the directory where long outputs of the session's commands are kept, so that file tools can
/// read on in them.
pub(crate) fn with_scratch(workspace: Workspace, spawner: &Spawner) -> Workspace {
    match spawner.gate.is_closed() {
        true => workspace,
        false => workspace.with_root(spawner.scratch().dir().to_owned()),
    }
}

/// Opens the directories and reads the instruction files from the root of the file tree down.
async fn open_workspace(
    root: PathBuf,
    extra: Vec<PathBuf>,
    hidden: Hidden,
) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
    let open = move || {
        let workspace = Workspace::new(&root, &extra)?.hiding(hidden.clone());
        let mut roots = workspace.roots().iter();
        if roots.any(|root| hidden.contains(root)) {
            return Ok(None);
        }
        let instructions = instruction_files(workspace.root());
        Ok(Some((workspace, instructions)))
    };
    let opened: std::io::Result<_> = blocking(open).await;
    let opened = opened.map(|opened| opened.ok_or_else(hidden_workspace));
    opened.map_err(|error| {
        // The kind of the error says enough, and no path.
        let why = error.kind();
        EngineError::NotReady(Box::new(Trouble::new(
            TroubleKind::NotReady,
            format!("智能体的工作目录无法打开（{why}）。请在智能体设置中改正。"),
            format!(
                "The agent's workspace cannot be opened ({why}). Correct it in the agent's settings."
            ),
        )))
    })?
}

fn hidden_workspace() -> EngineError {
    EngineError::NotReady(Box::new(Trouble::new(
        TroubleKind::NotReady,
        "智能体的工作目录位于存放服务器数据或密钥的位置，工具不能在其中工作。\
         请在智能体设置中选择其他目录，或从其他目录启动服务。",
        "The agent's workspace lies where the data of the server or keys are kept, and tools must not \
         work there. Choose another one in the agent's settings, or start the server elsewhere.",
    )))
}

/// Runs work that blocks where it may. A panic goes on as one.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

pub(crate) fn prompt_sources(
    workspace: &Workspace,
    instructions: Vec<InstructionFile>,
) -> PromptSources {
    PromptSources {
        environment: environment(workspace.root()),
        instructions,
        ..PromptSources::default()
    }
}

fn environment(workspace: &Path) -> Environment {
    let name = workspace.file_name().unwrap_or(workspace.as_os_str());
    Environment {
        date: jiff::Zoned::now().date().to_string(),
        cwd: name.to_string_lossy().into_owned(),
        platform: std::env::consts::OS.to_owned(),
    }
}

pub(crate) fn admin_error(error: AdminError) -> EngineError {
    match error {
        AdminError::NotFound { .. } => EngineError::NotFound(error.to_string()),
        AdminError::Invalid(_) | AdminError::Model(_) | AdminError::Sealed { .. } => {
            EngineError::NotReady(Box::new(setup_trouble(&error)))
        }
        AdminError::Store { .. } => EngineError::Internal(Box::new(StoreFailure::new(error))),
        other => EngineError::Internal(Box::new(other)),
    }
}

/// What has to be set right before the agent can run, and where.
fn setup_trouble(error: &AdminError) -> Trouble {
    let zh = match error {
        AdminError::Model(ModelChoiceError::NoChannel) => {
            "没有可用的模型渠道。请添加或启用一个渠道。".to_owned()
        }
        AdminError::Model(ModelChoiceError::ChannelMissing { id, .. }) => {
            format!("渠道“{id}”不存在。请另选一个渠道。")
        }
        AdminError::Model(ModelChoiceError::ChannelDisabled { name, .. }) => {
            format!("渠道“{name}”已停用。请启用它，或另选一个渠道。")
        }
        AdminError::Model(ModelChoiceError::NoModel { name, .. }) => {
            format!("渠道“{name}”没有模型。请为它添加模型，或在智能体中指定模型。")
        }
        AdminError::Sealed { channel } => {
            format!("渠道“{channel}”的密钥无法解密。请恢复密钥文件，或重新填写该渠道的密钥。")
        }
        other => format!("智能体的设置有误：{other}"),
    };
    Trouble::new(TroubleKind::NotReady, zh, error.to_string())
}
