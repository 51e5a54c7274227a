//! The whole engine as a server runs it: agents and channels from a database, real model clients,
//! and at the other end a strict fake of the suppliers.

use async_trait::async_trait;
use netaclaw_admin::{Actor, AgentStore, ChannelStore, Expect, FirstStart};
use netaclaw_admin::{AdminStore, DEFAULT_AGENT};
use netaclaw_agents::{AdminAgentSource, ModelSettings};
use netaclaw_engine::{Engine, EngineError, Providers};
use netaclaw_governance::{ApprovedCall, Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_models::{RetryPolicy, Timeouts, Transport};
use netaclaw_protocol::{
    Ack, AgentSpec, ChannelId, ChannelModel, ChannelSpec, ChannelStatus, Chat, ChatAck, KeyChange,
    Opened, SessionId, SessionOpen, Supplier, ToolCategory, ToolLabel, ToolRisk, ToolStatus,
};
use netaclaw_session::{NewSession, SessionTreeProvider};
use netaclaw_store::{
    AdminDatabase, AdminSettings, FileProvider, FileSettings, Fsync, SecretKey, SqlAdminStore,
};
use netaclaw_testkit::engine::{Client, Faulty, ann, message, short, within};
use netaclaw_testkit::fake_model::{FakeModel, Recorded, Script};
use netaclaw_tools::spawn::SpawnGate;
use netaclaw_tools::{
    EgressPolicy, Ls, MemorySave, MemorySearch, Tool, ToolContext, ToolOutput, ToolRegistry,
    WebFetch,
};
use serde_json::json;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// Both APIs; every test of what reaches a model runs on each.
pub(crate) const APIS: [Supplier; 2] = [Supplier::Openai, Supplier::Anthropic];
pub(crate) const KEY: &str = "sk-fake-marker-4711";

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) agents: Arc<AdminAgentSource>,
    pub(crate) fake: FakeModel,
    pub(crate) admin: Arc<SqlAdminStore>,
    pub(crate) channel: ChannelId,
    /// Lets a call of the tool `slow` end.
    pub(crate) gate: Arc<Semaphore>,
    dir: TempDir,
}

/// The options of a test.
pub(crate) struct Setting {
    pub(crate) supplier: Supplier,
    pub(crate) base_url: Option<String>,
    pub(crate) tools: Option<bool>,
    pub(crate) window: u64,
    pub(crate) timeouts: Timeouts,
    pub(crate) retry: RetryPolicy,
    pub(crate) gate: SpawnGate,
    /// What `web_fetch` reaches, instead of the internet.
    pub(crate) reach: Option<Arc<dyn EgressPolicy>>,
    /// Where sessions are kept instead of in files.
    pub(crate) sessions: Option<Arc<dyn SessionTreeProvider>>,
}

impl Setting {
    pub(crate) fn of(supplier: Supplier) -> Self {
        Self {
            supplier,
            base_url: None,
            tools: Some(true),
            window: 100_000,
            timeouts: Timeouts::default(),
            // One attempt: what fails is seen at once.
            retry: RetryPolicy {
                attempts: 1,
                ..RetryPolicy::default()
            },
            gate: SpawnGate::closed(),
            reach: None,
            sessions: None,
        }
    }
}

impl World {
    pub(crate) async fn start(supplier: Supplier) -> Self {
        Self::with(Setting::of(supplier)).await
    }

    /// Its sessions are in this store.
    pub(crate) async fn over(store: &Arc<Faulty>) -> Self {
        Self::with(Setting {
            sessions: Some(Arc::clone(store) as _),
            ..Setting::of(Supplier::Openai)
        })
        .await
    }

    pub(crate) async fn with(setting: Setting) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fake = FakeModel::start().await;
        fake.script().set_key(KEY);
        let admin = Arc::new(admin(&dir).await);
        let base_url = setting
            .base_url
            .unwrap_or_else(|| url(&fake, setting.supplier));
        let mut spec = channel_spec("fake", setting.supplier, base_url);
        spec.models[0].tools = setting.tools;
        spec.models[0].context_window = Some(setting.window);
        let channel = add_channel(&admin, spec).await;
        let gate = Arc::new(Semaphore::new(0));
        let models = ModelSettings {
            transport: Arc::new(Transport::new(setting.timeouts)),
            retry: setting.retry,
        };
        let registry = Arc::new(match setting.reach {
            Some(reach) => tools_with(reach),
            None => tools(&gate),
        });
        let workspace = dir.path().join("work");
        std::fs::create_dir(&workspace).unwrap();
        let store = Arc::clone(&admin) as Arc<dyn AdminStore>;
        let agents = AdminAgentSource::new(store, models, registry, workspace);
        let agents = Arc::new(agents.with_gate(Arc::new(setting.gate)));
        let file = setting.sessions.unwrap_or_else(|| {
            let (dir, fsync) = (dir.path().join("sessions"), Fsync::Off);
            Arc::new(FileProvider::new(FileSettings { dir, fsync }))
        });
        let engine = Engine::new(Providers { file, mysql: None }, Arc::clone(&agents) as _);
        let world = Self {
            engine,
            agents,
            fake,
            admin,
            channel: channel.clone(),
            gate,
            dir,
        };
        world
            .change_agent(|spec| spec.model_config.channel_id = Some(channel))
            .await;
        world
    }

    pub(crate) fn script(&self) -> &Script {
        self.fake.script()
    }

    pub(crate) async fn change_agent(&self, change: impl FnOnce(&mut AgentSpec)) {
        let agent = self.admin.agent_named(DEFAULT_AGENT).await.unwrap();
        let mut spec = agent.spec;
        change(&mut spec);
        self.admin
            .update_agent(&Actor::system(), &agent.id, Expect::Any, spec)
            .await
            .unwrap();
    }

    pub(crate) async fn change_channel(&self, change: impl FnOnce(&mut ChannelSpec)) {
        let mut spec = self.admin.channel(&self.channel).await.unwrap().spec;
        change(&mut spec);
        let (by, keep) = (Actor::system(), KeyChange::Keep);
        let changed = self
            .admin
            .update_channel(&by, &self.channel, Expect::Any, spec, keep);
        changed.await.unwrap();
    }

    /// A further channel to the same fake.
    pub(crate) async fn add_channel(&self, name: &str, supplier: Supplier) -> ChannelId {
        let spec = channel_spec(name, supplier, url(&self.fake, supplier));
        add_channel(&self.admin, spec).await
    }

    pub(crate) async fn send(&self, chat: Chat) -> Result<Ack<ChatAck>, EngineError> {
        within(self.engine.execute(&ann(), chat)).await
    }

    pub(crate) async fn chat(&self, session: &SessionId, text: &str) -> ChatAck {
        self.send(message(session, text)).await.unwrap().answer
    }

    /// An empty session with a client on it.
    pub(crate) async fn session(&self) -> (SessionId, Client) {
        let made = self.engine.create_session(&ann(), None, None).await;
        let session = made.unwrap();
        let (client, _) = self.open(&session).await;
        (session, client)
    }

    /// A session that the engine has not opened yet.
    pub(crate) async fn bare_session(&self) -> SessionId {
        let new = NewSession {
            user_id: Some(ann().user_id),
            ..NewSession::default()
        };
        let provider = &self.engine.providers().file;
        provider.create_session(new).await.unwrap().session_id
    }

    pub(crate) async fn open(&self, session: &SessionId) -> (Client, Opened) {
        let (client, caller) = (Client::default(), ann());
        let subscriber = client.subscriber();
        let opening = self
            .engine
            .open(&caller, SessionOpen::of(session), subscriber);
        let (opened, _) = within(opening).await.unwrap();
        (client, opened)
    }

    /// The messages on the active path as `role: text`.
    pub(crate) async fn path(&self, session: &SessionId) -> Vec<String> {
        let provider = &self.engine.providers().file;
        let path = provider.get_active_path(session).await.unwrap();
        let messages = path.iter().filter_map(|entry| entry.message_json());
        messages.map(short).collect()
    }

    /// What the models were asked.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.script().requests()
    }

    /// A further channel whose model has a window of its own.
    pub(crate) async fn add_narrow_channel(&self, name: &str, window: u64) -> ChannelId {
        let mut spec = channel_spec(name, Supplier::Openai, url(&self.fake, Supplier::Openai));
        spec.models[0].context_window = Some(window);
        add_channel(&self.admin, spec).await
    }

    pub(crate) async fn disable(&self, id: &ChannelId) {
        let view = self.admin.channel(id).await.unwrap();
        let mut spec = view.spec;
        spec.status = ChannelStatus::Disabled;
        let (by, key) = (Actor::system(), KeyChange::Keep);
        let updated = self.admin.update_channel(&by, id, Expect::Any, spec, key);
        updated.await.unwrap();
    }

    /// The admin store as another process has it.
    pub(crate) async fn other_process(&self) -> SqlAdminStore {
        open_admin(&self.dir).await
    }

    pub(crate) fn sessions_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("sessions")
    }

    /// Another process over the sessions as they are in a directory.
    pub(crate) fn engine_over(&self, dir: std::path::PathBuf) -> Engine {
        let fsync = Fsync::Off;
        let file = Arc::new(FileProvider::new(FileSettings { dir, fsync }));
        let agents = Arc::clone(&self.agents) as _;
        Engine::new(Providers { file, mysql: None }, agents)
    }

    pub(crate) fn work_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }
}

async fn admin(dir: &TempDir) -> SqlAdminStore {
    let store = open_admin(dir).await;
    store.seed(FirstStart::default()).await.unwrap();
    store
}

async fn open_admin(dir: &TempDir) -> SqlAdminStore {
    let opened = SqlAdminStore::open(AdminSettings {
        database: AdminDatabase::Sqlite {
            file: dir.path().join("admin.db"),
        },
        secret_key: SecretKey::load_or_create(&dir.path().join("secret.key")).unwrap(),
    });
    opened.await.unwrap()
}

fn url(fake: &FakeModel, supplier: Supplier) -> String {
    match supplier {
        Supplier::Anthropic => fake.anthropic_url(),
        _ => fake.openai_url(),
    }
}

fn channel_spec(name: &str, supplier: Supplier, base_url: String) -> ChannelSpec {
    ChannelSpec {
        name: name.to_owned(),
        supplier,
        base_url: Some(base_url),
        models: vec![ChannelModel {
            name: "fake-model".to_owned(),
            context_window: Some(100_000),
            max_output: Some(16_000),
            vision: Some(true),
            tools: Some(true),
            thinking: Some(true),
            chat: None,
            price: None,
        }],
        is_auxiliary: false,
        status: ChannelStatus::Enabled,
    }
}

async fn add_channel(admin: &SqlAdminStore, spec: ChannelSpec) -> ChannelId {
    let key = Some(KEY.to_owned().into());
    let made = admin.create_channel(&Actor::system(), spec, key).await;
    made.unwrap().id
}

/// Some of the built-in tools, in a world of a test's own.
fn tools_with(reach: Arc<dyn EgressPolicy>) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    let tools: [Arc<dyn Tool>; 4] = [
        Arc::new(WebFetch::with_reach(reach)),
        Arc::new(MemorySave),
        Arc::new(MemorySearch),
        Arc::new(Ls),
    ];
    for tool in tools {
        registry.add(tool).unwrap();
    }
    registry
}

/// The built-in tools and three that misbehave.
fn tools(gate: &Arc<Semaphore>) -> ToolRegistry {
    let mut registry = ToolRegistry::builtin();
    for manner in [Manner::Slow(Arc::clone(gate)), Manner::Deaf, Manner::Broken] {
        registry.add(Arc::new(Rude(manner))).unwrap();
    }
    registry
}

struct Rude(Manner);

enum Manner {
    /// Ends when the test lets it, or when it is cancelled.
    Slow(Arc<Semaphore>),
    /// Never ends, and ignores that it is cancelled.
    Deaf,
    Broken,
}

#[async_trait]
impl Tool for Rude {
    fn manifest(&self) -> ToolManifest {
        let name = match self.0 {
            Manner::Slow(_) => "slow",
            Manner::Deaf => "deaf",
            Manner::Broken => "broken",
        };
        ToolManifest {
            name: name.to_owned(),
            label: ToolLabel {
                zh: name.to_owned(),
                en: name.to_owned(),
            },
            description: format!("A tool that is {name}.").into(),
            guidance: String::new(),
            category: ToolCategory::Files,
            schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}}).into(),
            risk: ToolRisk::Read,
            default_status: ToolStatus::Enabled,
            worker: WorkerUse::Never,
            needs: Vec::new(),
            timeout: None,
            output_cap: 10_000,
            concurrency: Concurrency::Parallel,
            outlet: EgressTarget::None,
        }
    }

    async fn execute(&self, _call: ApprovedCall, context: ToolContext) -> ToolOutput {
        match &self.0 {
            Manner::Slow(gate) => tokio::select! {
                permit = gate.acquire() => {
                    permit.unwrap().forget();
                    ToolOutput::text("slow is done")
                }
                () = context.cancel.cancelled() => ToolOutput::error("slow was cancelled"),
            },
            Manner::Deaf => std::future::pending().await,
            Manner::Broken => panic!("as told"),
        }
    }
}
