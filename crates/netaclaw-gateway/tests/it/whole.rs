//! A whole server as users run it: configured agents, the real loop and tools, and a model that
//! validates its requests. It can be restarted over the data of an earlier one.

use crate::server::TOKEN;
use netaclaw_admin::{Actor, AdminStore, AgentStore, ChannelStore, Expect, FirstStart};
use netaclaw_agents::{AdminAgentSource, ModelSettings};
use netaclaw_engine::{Engine, EngineOptions, Providers};
use netaclaw_gateway::{AuthSettings, Gateway, GatewayOptions, GatewaySettings};
use netaclaw_protocol::{
    AgentSpec, ChannelModel, ChannelSpec, ChannelStatus, Supplier, ThinkingLevel,
};
use netaclaw_session::{SessionError, SessionTreeProvider};
use netaclaw_store::{
    AdminDatabase, AdminSettings, FileProvider, FileSettings, Fsync, Instance, MysqlProvider,
    MysqlSettings, SecretKey, SqlAdminStore,
};
use netaclaw_testkit::fake_model::FakeModel;
use netaclaw_testkit::socket::Client;
use netaclaw_tools::ToolRegistry;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Where a server keeps what must outlive it.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// Holds the configuration and the agent's workspace.
    pub(crate) dir: PathBuf,
    /// Holds the sessions of agents that keep them in files.
    pub(crate) sessions: PathBuf,
    /// Set for agents that keep them in a database.
    pub(crate) mysql_url: Option<String>,
}

impl Home {
    /// A home in a directory, ready for a server whose agent uses this model.
    pub(crate) async fn prepared(dir: &Path, model: &FakeModel, mysql_url: Option<String>) -> Self {
        let home = Self {
            dir: dir.to_owned(),
            sessions: dir.join("sessions"),
            mysql_url,
        };
        home.prepare(&model.openai_url()).await;
        home
    }

    /// Sets up the default agent on a model server and a workspace with a file in it.
    pub(crate) async fn prepare(&self, model_url: &str) {
        let workspace = self.dir.join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::write(workspace.join("notes.txt"), "remember the milk\n").unwrap();
        let admin = self.admin().await;
        admin.seed(FirstStart::default()).await.unwrap();
        let by = Actor::system();
        let channel = ChannelSpec {
            name: "fake".to_owned(),
            supplier: Supplier::Compatible,
            base_url: Some(model_url.to_owned()),
            models: vec![ChannelModel {
                name: "fake-1".to_owned(),
                context_window: Some(100_000),
                thinking: Some(true),
                tools: Some(true),
                ..ChannelModel::default()
            }],
            is_auxiliary: false,
            status: ChannelStatus::Enabled,
        };
        let channel = admin.create_channel(&by, channel, None).await.unwrap();
        let agent = admin.default_agent().await.unwrap();
        let mut spec = agent.spec;
        spec.model_config.channel_id = Some(channel.id);
        spec.model_config.model = None;
        spec.model_config.think_level = ThinkingLevel::Low;
        spec.workspace = Some(workspace.to_string_lossy().into_owned());
        let provider = self.mysql_url.as_ref().map_or("file", |_| "mysql");
        spec.session_provider = provider.to_owned();
        let updated = admin.update_agent(&by, &agent.id, Expect::Any, spec).await;
        updated.unwrap();
        admin.close().await;
    }

    async fn admin(&self) -> SqlAdminStore {
        let settings = AdminSettings {
            database: AdminDatabase::Sqlite {
                file: self.dir.join("admin.db"),
            },
            secret_key: SecretKey::from_text(&"00".repeat(32).into()).unwrap(),
        };
        SqlAdminStore::open(settings).await.unwrap()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    /// Changes the default agent.
    pub(crate) async fn change_agent(&self, change: impl FnOnce(&mut AgentSpec)) {
        let admin = self.admin().await;
        let agent = admin.default_agent().await.unwrap();
        let mut spec = agent.spec;
        change(&mut spec);
        let by = Actor::system();
        let updated = admin.update_agent(&by, &agent.id, Expect::Any, spec).await;
        updated.unwrap();
        admin.close().await;
    }

    /// The provider in which the agent's sessions are.
    pub(crate) async fn provider(&self) -> Arc<dyn SessionTreeProvider> {
        match &self.mysql_url {
            None => self.files(),
            Some(url) => {
                let settings = MysqlSettings::new(url);
                Arc::new(MysqlProvider::connect(settings).await.unwrap())
            }
        }
    }

    /// The same for a process that serves sessions: it is registered in the data directory, and
    /// takes over from those that died there.
    pub(crate) async fn node(&self) -> Node {
        let (instance, dead) = Instance::register(&self.dir.join("running")).unwrap();
        let sessions: Arc<dyn SessionTreeProvider> = match &self.mysql_url {
            None => self.files(),
            Some(url) => {
                let mut settings = MysqlSettings::new(url);
                settings.node.instance = instance.id().to_owned();
                let provider = MysqlProvider::connect(settings).await.unwrap();
                provider.instances_died(dead.ids()).await.unwrap();
                Arc::new(provider)
            }
        };
        Node { sessions, instance }
    }

    fn files(&self) -> Arc<dyn SessionTreeProvider> {
        Arc::new(FileProvider::new(FileSettings {
            dir: self.sessions.clone(),
            fsync: Fsync::Off,
        }))
    }

    fn providers(&self, sessions: Arc<dyn SessionTreeProvider>) -> Providers {
        match self.mysql_url {
            None => Providers {
                file: sessions,
                mysql: None,
            },
            Some(_) => Providers {
                file: self.files(),
                mysql: Some(sessions),
            },
        }
    }
}

/// A process that serves sessions.
pub(crate) struct Node {
    pub(crate) sessions: Arc<dyn SessionTreeProvider>,
    pub(crate) instance: Instance,
}

/// A running server.
pub(crate) struct Whole {
    pub(crate) address: SocketAddr,
    /// What earlier servers left, being closed.
    pub(crate) sweep: JoinHandle<Result<(), SessionError>>,
    pub(crate) sessions: Arc<dyn SessionTreeProvider>,
    pub(crate) serving: JoinHandle<()>,
    shutdown: CancellationToken,
    admin: Arc<SqlAdminStore>,
    _instance: Instance,
}

impl Whole {
    pub(crate) async fn start(home: &Home) -> Self {
        let node = home.node().await;
        Self::start_over(home, node, GatewaySettings::default()).await
    }

    /// Starts over a provider of the test's own.
    pub(crate) async fn start_over(
        home: &Home,
        Node { sessions, instance }: Node,
        settings: GatewaySettings,
    ) -> Self {
        let admin = Arc::new(home.admin().await);
        let agents = AdminAgentSource::new(
            Arc::clone(&admin) as Arc<dyn AdminStore>,
            ModelSettings::default(),
            Arc::new(ToolRegistry::builtin()),
            home.dir.clone(),
        );
        let agents = Arc::new(agents);
        agents.sync_tools().await.unwrap();
        let providers = home.providers(Arc::clone(&sessions));
        let options = EngineOptions {
            instance: Some(instance.id().to_owned()),
            ..EngineOptions::default()
        };
        let engine = Engine::with_options(providers, Arc::clone(&agents) as _, options);
        let auth = AuthSettings {
            access_token: Some(TOKEN.into()),
            ..AuthSettings::default()
        };
        let sweep = engine.recover_interrupted();
        engine.take_over_dead_sessions();
        let options = GatewayOptions {
            previews: Some(agents),
            ..GatewayOptions::default()
        };
        let gateway = Gateway::new(engine, Arc::clone(&admin) as _, auth, settings, options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(gateway.serve(listener, shutdown.clone()));
        Self {
            address,
            sweep,
            sessions,
            serving,
            shutdown,
            admin,
            _instance: instance,
        }
    }

    /// With the credential of another user.
    pub(crate) async fn client_with(&self, token: &str) -> Client {
        let credentials = json!({"token": token, "events": ["current"]});
        Client::connect(self.address, credentials).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        let client = Client::connect(self.address, credentials()).await;
        client.unwrap()
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.serving.await.unwrap();
        self.admin.close().await;
    }
}

/// The client's handshake; it wants the newer events only.
pub(crate) fn credentials() -> Value {
    json!({"token": TOKEN, "events": ["current"]})
}
