//! A whole gateway on a port of its own, over files in a temporary directory.

use crate::agent::Script;
use netaclaw_admin::{Actor, AdminStore, FirstStart, TokenStore, UserStore};
use netaclaw_agents::{AdminAgentSource, AdminMcpServers, ModelSettings};
use netaclaw_engine::{Engine, EngineOptions, Providers, UserLimits};
use netaclaw_gateway::{Assets, AuthSettings, Gateway, GatewayOptions, GatewaySettings};
use netaclaw_protocol::{
    NewUser, Role, SessionId, TokenScope, TokenSpec, User, UserSpec, UserStatus,
};
use netaclaw_store::{
    AdminDatabase, AdminSettings, FileAttachments, FileProvider, FileSettings, Fsync, SecretKey,
    SqlAdminStore,
};
use netaclaw_testkit::socket::Client;
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::spawn::SpawnGate;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "access-token-of-the-test";

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) script: Script,
    pub(crate) engine: Engine,
    pub(crate) admin: Arc<SqlAdminStore>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<()>,
    dir: TempDir,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(GatewaySettings::default()).await
    }

    pub(crate) async fn start_with(settings: GatewaySettings) -> Self {
        Self::start_as(settings, AuthSettings::default(), |options| options).await
    }

    /// With settings about who comes in; the access token is that of the tests.
    pub(crate) async fn start_with_auth(auth: AuthSettings) -> Self {
        Self::start_as(GatewaySettings::default(), auth, |options| options).await
    }

    pub(crate) async fn start_with_assets(assets: Arc<dyn Assets>) -> Self {
        let settings = GatewaySettings::default();
        let auth = AuthSettings::default();
        Self::start_as(settings, auth, |options| GatewayOptions {
            assets: Some(assets),
            ..options
        })
        .await
    }

    /// With limits for users.
    pub(crate) async fn start_limited(limits: UserLimits) -> Self {
        let (settings, auth) = (GatewaySettings::default(), AuthSettings::default());
        Self::start_whole(settings, auth, limits, |options| options).await
    }

    pub(crate) async fn start_as(
        settings: GatewaySettings,
        auth: AuthSettings,
        finish: impl FnOnce(GatewayOptions) -> GatewayOptions,
    ) -> Self {
        Self::start_whole(settings, auth, UserLimits::default(), finish).await
    }

    async fn start_whole(
        settings: GatewaySettings,
        auth: AuthSettings,
        limits: UserLimits,
        finish: impl FnOnce(GatewayOptions) -> GatewayOptions,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let admin = Arc::new(admin_store(dir.path()).await);
        admin.seed(FirstStart::default()).await.unwrap();
        let script = Script::new();
        let file = FileProvider::new(FileSettings {
            dir: dir.path().join("sessions"),
            fsync: Fsync::Off,
        });
        let providers = Providers {
            file: Arc::new(file),
            mysql: None,
        };
        let files = FileAttachments::new(dir.path().join("attachments"));
        let options = EngineOptions {
            attachments: Some(Arc::new(files)),
            limits,
            ..EngineOptions::default()
        };
        let source = Arc::clone(&script.source) as _;
        let engine = Engine::with_options(providers, source, options);
        let auth = AuthSettings {
            access_token: Some(TOKEN.into()),
            ..auth
        };
        let agents = AdminAgentSource::new(
            Arc::clone(&admin) as _,
            ModelSettings::default(),
            Arc::new(ToolRegistry::builtin()),
            dir.path().to_owned(),
        );
        let mcp = AdminMcpServers::start(
            Arc::clone(&admin) as _,
            Arc::new(SpawnGate::closed()),
            Arc::new(ToolRegistry::builtin()),
        );
        let mcp = Arc::new(mcp.await.unwrap());
        let agents = agents.with_mcp(Arc::clone(&mcp));
        let options = finish(GatewayOptions {
            previews: Some(Arc::new(agents)),
            mcp: Some(mcp),
            ..GatewayOptions::default()
        });
        let store = Arc::clone(&admin) as _;
        let gateway = Gateway::new(engine.clone(), store, auth, settings, options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(gateway.serve(listener, shutdown.clone()));
        Self {
            address,
            script,
            engine,
            admin,
            shutdown,
            serving,
            dir,
        }
    }

    /// The admin store as another process has it open.
    pub(crate) async fn admin_elsewhere(&self) -> SqlAdminStore {
        admin_store(self.dir.path()).await
    }

    /// A client with the access token.
    pub(crate) async fn client(&self) -> Client {
        self.client_with(json!({ "token": TOKEN })).await
    }

    pub(crate) async fn client_with(&self, auth: Value) -> Client {
        Client::connect(self.address, auth).await.unwrap()
    }

    /// A user without a password, and a token of theirs.
    pub(crate) async fn user(&self, name: &str, scope: TokenScope) -> (User, String) {
        let new = NewUser {
            spec: UserSpec {
                name: name.to_owned(),
                label: String::new(),
                role: Role::User,
                status: UserStatus::Enabled,
            },
            password: None,
        };
        let by = Actor::system();
        let user = self.admin.create_user(&by, new).await.unwrap();
        let spec = TokenSpec {
            user_id: user.id.clone(),
            label: "test".to_owned(),
            scope,
            expires_at: None,
        };
        let issued = self.admin.issue_token(&by, spec).await.unwrap();
        (user, issued.secret.expose_secret().to_owned())
    }

    /// The texts on the active path, with their roles.
    pub(crate) async fn path(&self, session: &str) -> Vec<String> {
        let provider = &self.engine.providers().file;
        let path = provider.get_active_path(&SessionId::new(session)).await;
        let path = path.unwrap();
        path.iter()
            .filter_map(|entry| entry.message_json())
            .map(short)
            .collect()
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.serving.await.unwrap();
    }
}

fn short(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    format!("{}: {text}", message["role"].as_str().unwrap())
}

async fn admin_store(dir: &Path) -> SqlAdminStore {
    let settings = AdminSettings {
        database: AdminDatabase::Sqlite {
            file: dir.join("admin.db"),
        },
        secret_key: SecretKey::from_text(&"00".repeat(32).into()).unwrap(),
    };
    SqlAdminStore::open(settings).await.unwrap()
}
