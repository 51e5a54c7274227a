//! MCP servers as they are configured: connected to for as long as the program runs, and their
//! tools entered in the catalogue.

use async_trait::async_trait;
use netaclaw_admin::{
    Actor, AdminError, AdminStore, ConfigSnapshot, KnownTool, McpSecrets, ToolSync,
};
use netaclaw_governance::{Concurrency, EgressTarget, ToolManifest, WorkerUse};
use netaclaw_protocol::{McpServerSpec, McpServerTest, SharedText, ToolRecord, ToolStatus};
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::mcp::{McpAccess, McpServerStatus, McpServers, try_server};
use netaclaw_tools::spawn::SpawnGate;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;

/// Other processes change the configuration as well, without notice. Runs check more often.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// For how long after startup runs wait for servers that are being connected to.
const FIRST_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The prefix of a server's name in the catalog of tools.
const SOURCE: &str = "mcp:";

/// The status of MCP servers, for pages.
#[async_trait]
pub trait McpStatusSource: Send + Sync + 'static {
    /// The status of every server, by name.
    fn statuses(&self) -> BTreeMap<String, McpServerStatus>;

    /// Connects as a run would, whether the server is kept or not.
    async fn try_server(&self, spec: McpServerSpec, secrets: McpSecrets) -> McpServerTest;

    /// Connects as it is configured now: the configuration has changed.
    fn refresh(&self);
}

/// The servers of the admin store.
pub struct AdminMcpServers {
    servers: Arc<McpServers>,
    followed: Arc<ActiveConfig>,
    gate: Arc<SpawnGate>,
    changed: Arc<Notify>,
    first_connect_deadline: Instant,
    _job: AbortOnDropHandle<()>,
}

impl AdminMcpServers {
    /// Connects, and follows what is configured from then on.
    pub async fn start(
        admin: Arc<dyn AdminStore>,
        gate: Arc<SpawnGate>,
        builtin: Arc<ToolRegistry>,
    ) -> Result<Self, AdminError> {
        let servers = Arc::new(McpServers::new(Arc::clone(&gate), builtin));
        let changed = Arc::new(Notify::new());
        let followed = Arc::new(ActiveConfig::default());
        let follower = ConfigFollower {
            admin,
            servers: Arc::clone(&servers),
            followed: Arc::clone(&followed),
        };
        follower.follow().await?;
        follower.sync().await?;
        let job = tokio::spawn(follower.stay(Arc::clone(&changed)));
        Ok(Self {
            servers,
            followed,
            gate,
            changed,
            first_connect_deadline: Instant::now() + FIRST_CONNECT_TIMEOUT,
            _job: AbortOnDropHandle::new(job),
        })
    }

    /// Waits for servers at startup, so that the first run has their tools. Later runs do not wait:
    /// a server that is new or back offers its tools when it is connected.
    pub(crate) async fn await_first_connect(&self) {
        let left = self
            .first_connect_deadline
            .saturating_duration_since(Instant::now());
        self.servers.settled(left).await;
    }

    /// Connects to the servers of the configuration, and ends the connections to others.
    pub(crate) fn follow(&self, config: &Arc<ConfigSnapshot>) {
        self.followed.follow(&self.servers, config);
    }

    /// All current tools.
    pub(crate) fn tools(&self) -> McpTools {
        // Before the rest: a change in the meantime makes this stale.
        let changes = self.servers.changes();
        McpTools {
            registry: self.servers.registry(),
            obstacles: self.servers.obstacles(),
            by_server: self.servers.tools_by_server(),
            changes,
        }
    }
}

/// The tools of all servers at one moment.
pub(crate) struct McpTools {
    /// With the built-in ones.
    pub(crate) registry: Arc<ToolRegistry>,
    /// Why servers cannot be used, by name.
    obstacles: BTreeMap<String, String>,
    /// Names of tools.
    by_server: BTreeMap<String, Vec<String>>,
    changes: watch::Receiver<()>,
}

impl McpTools {
    /// Whether nothing has changed since.
    pub(crate) fn is_current(&self) -> bool {
        matches!(self.changes.has_changed(), Ok(false))
    }

    /// Tools that cannot be used now or by this agent, with the reason; and those of servers that
    /// are not connected yet, as far as the catalog has them.
    pub(crate) fn missing(&self, chosen: &[String], records: &[ToolRecord]) -> MissingTools {
        let mut missing = MissingTools::default();
        for (server, tools) in &self.by_server {
            let not_chosen = !chosen.is_empty() && !chosen.contains(server);
            let not_chosen =
                not_chosen.then(|| format!("the agent's `mcpServers` does not include `{server}`"));
            let Some(reason) = not_chosen.or_else(|| self.obstacles.get(server).cloned()) else {
                continue;
            };
            let source = source_of(server);
            let remembered = records.iter().filter(|tool| {
                tool.source == source && tool.present && !tools.contains(&tool.name)
            });
            for tool in remembered {
                missing.reasons.insert(tool.name.clone(), reason.clone());
                missing.unseen.push(Arc::new(unseen(tool)));
            }
            let tools = tools.iter().cloned();
            missing
                .reasons
                .extend(tools.map(|tool| (tool, reason.clone())));
        }
        missing
    }
}

#[derive(Default)]
pub(crate) struct MissingTools {
    pub(crate) reasons: BTreeMap<String, String>,
    /// Of each there is a reason as well.
    pub(crate) unseen: Vec<Arc<ToolManifest>>,
}

#[async_trait]
impl McpStatusSource for AdminMcpServers {
    fn statuses(&self) -> BTreeMap<String, McpServerStatus> {
        self.servers.statuses()
    }

    async fn try_server(&self, spec: McpServerSpec, secrets: McpSecrets) -> McpServerTest {
        let access = McpAccess {
            spec,
            secrets: Some(secrets),
        };
        let test = test_mcp_server(&access, &self.gate).await;
        if test.ok {
            self.servers.retry_now(&access.spec.name);
        }
        test
    }

    fn refresh(&self) {
        self.changed.notify_one();
    }
}

/// Connects once, and says how that went.
pub async fn test_mcp_server(access: &McpAccess, gate: &SpawnGate) -> McpServerTest {
    let began = Instant::now();
    let tried = try_server(access, gate).await;
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let name = &access.spec.name;
    match tried {
        Ok(tools) => McpServerTest {
            ok: true,
            latency_ms,
            tools: tools.iter().map(|tool| tool.summary(name)).collect(),
            fault: None,
        },
        Err(fault) => McpServerTest {
            ok: false,
            latency_ms,
            tools: Vec::new(),
            fault: Some(fault),
        },
    }
}

/// The configuration that the connections are as.
#[derive(Default)]
struct ActiveConfig(Mutex<Option<Arc<ConfigSnapshot>>>);

impl ActiveConfig {
    fn follow(&self, servers: &McpServers, config: &Arc<ConfigSnapshot>) {
        // Held until it is done, so that the next caller finds it done. It takes no time:
        // connections are made in the background.
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_newer = |known: &Arc<ConfigSnapshot>| known.revision < config.revision;
        if !followed.as_ref().is_none_or(is_newer) {
            return;
        }
        let wanted = config.mcp_servers.iter().map(|server| McpAccess {
            spec: server.spec.clone(),
            secrets: server.secrets.clone(),
        });
        servers.set(wanted.collect());
        *followed = Some(Arc::clone(config));
    }
}

/// Keeps the connections as they are configured, and the catalogue as the servers are.
struct ConfigFollower {
    admin: Arc<dyn AdminStore>,
    servers: Arc<McpServers>,
    followed: Arc<ActiveConfig>,
}

impl ConfigFollower {
    async fn stay(self, changed: Arc<Notify>) {
        let mut states = self.servers.changes();
        let mut look = tokio::time::interval(REFRESH_INTERVAL);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let done = tokio::select! {
                () = changed.notified() => self.follow().await,
                _ = look.tick() => self.follow().await,
                Ok(()) = states.changed() => self.sync().await,
            };
            // A transient failure of the store does not end connections.
            if let Err(error) = done {
                tracing::warn!(%error, "failed to watch the configuration of MCP servers");
            }
        }
    }

    async fn follow(&self) -> Result<(), AdminError> {
        let config = self.admin.config_snapshot().await?;
        self.followed.follow(&self.servers, &config);
        Ok(())
    }

    /// Enters the tools of servers that are connected. Those of servers that are down or switched
    /// off stay as they were; those of servers that are gone are marked as gone.
    async fn sync(&self) -> Result<(), AdminError> {
        let catalogue = self.servers.registry().catalogue();
        let mut known = self.servers.tools_by_server();
        let ready = self.servers.ready();
        let records = self.admin.tools().await?;
        for record in records.iter().filter(|record| record.present) {
            let server = record.source.strip_prefix(SOURCE);
            let gone = server.filter(|server| !known.contains_key(*server));
            if let Some(gone) = gone.map(str::to_owned) {
                self.enter(&gone, &[]).await?;
                known.insert(gone, Vec::new());
            }
        }
        for (server, tools) in known.iter().filter(|(server, _)| ready.contains(server)) {
            let tools = catalogue.iter().filter(|tool| tools.contains(&tool.name));
            let tools: Vec<KnownTool> = tools.map(|tool| known_tool(tool)).collect();
            self.enter(server, &tools).await?;
        }
        Ok(())
    }

    async fn enter(&self, server: &str, tools: &[KnownTool]) -> Result<(), AdminError> {
        let (by, source) = (Actor::system(), source_of(server));
        let sync = self.admin.sync_tools(&by, &source, tools).await?;
        if sync != ToolSync::default() {
            let ToolSync { added, gone, back } = sync;
            tracing::info!(
                server,
                ?added,
                ?gone,
                ?back,
                "the tools of an MCP server have changed"
            );
        }
        Ok(())
    }
}

fn source_of(server: &str) -> String {
    format!("{SOURCE}{server}")
}

pub(crate) fn known_tool(tool: &ToolManifest) -> KnownTool {
    KnownTool {
        name: tool.name.clone(),
        label: tool.label.clone(),
        category: tool.category,
        risk: tool.risk,
    }
}

/// A tool that only the catalog has. It is never offered, as there is a reason against it.
fn unseen(tool: &ToolRecord) -> ToolManifest {
    ToolManifest {
        name: tool.name.clone(),
        label: tool.label.clone(),
        description: SharedText::default(),
        guidance: String::new(),
        category: tool.category,
        schema: json!({ "type": "object" }).into(),
        risk: tool.risk,
        default_status: ToolStatus::Enabled,
        worker: WorkerUse::Proxy,
        needs: Vec::new(),
        timeout: None,
        output_cap: 0,
        concurrency: Concurrency::Parallel,
        outlet: EgressTarget::Server { url: None },
    }
}
