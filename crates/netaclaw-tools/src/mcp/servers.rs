//! All configured MCP servers.

use super::connect::McpAccess;
use super::names::mcp_tool_name;
use super::server::Server;
use super::tool::McpTool;
use crate::registry::ToolRegistry;
use crate::spawn::SpawnGate;
use crate::tool::Tool;
use netaclaw_protocol::{McpServerState, McpStatus, McpToolSummary};
use secrecy::ExposeSecret;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Holds the connections and returns their tools.
pub struct McpServers {
    gate: Arc<SpawnGate>,
    builtin: Arc<ToolRegistry>,
    inner: Arc<Inner>,
}

/// One server at this moment.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServerStatus {
    pub state: McpServerState,
    /// Why its tools cannot be used now.
    pub obstacle: Option<String>,
    /// As last seen since this process is there.
    pub tools: Vec<McpToolSummary>,
}

#[derive(Default)]
struct Inner {
    servers: Mutex<BTreeMap<String, (Arc<Server>, McpAccess)>>,
    /// Rebuilt when something has changed.
    registry: Mutex<Option<Arc<ToolRegistry>>>,
    changes: watch::Sender<()>,
}

impl McpServers {
    /// None yet.
    pub fn new(gate: Arc<SpawnGate>, builtin: Arc<ToolRegistry>) -> Self {
        Self {
            gate,
            builtin,
            inner: Arc::default(),
        }
    }

    /// Connects to those that are new, ends the connections to those that are gone, and leaves the
    /// others alone.
    pub fn set(&self, wanted: Vec<McpAccess>) {
        let mut servers = self.lock_servers();
        let mut kept = BTreeMap::new();
        let mut changed = false;
        for access in wanted {
            let name = access.spec.name.clone();
            let same = servers.remove(&name);
            let same = same.filter(|(_, old)| is_same(old, &access));
            let server = match same {
                Some((server, _)) => server,
                None => {
                    changed = true;
                    self.connect(access.clone())
                }
            };
            kept.insert(name, (server, access));
        }
        changed |= !servers.is_empty();
        *servers = kept;
        drop(servers);
        if changed {
            self.inner.change();
        }
    }

    fn connect(&self, access: McpAccess) -> Arc<Server> {
        let inner = Arc::downgrade(&self.inner);
        let changed = Arc::new(move || {
            if let Some(inner) = inner.upgrade() {
                inner.change();
            }
        });
        Arc::new(Server::new(access, Arc::clone(&self.gate), changed))
    }

    /// The built-in tools and those of all servers, also of those that are down.
    pub fn registry(&self) -> Arc<ToolRegistry> {
        let cached = self.inner.registry.lock();
        let mut cached = cached.unwrap_or_else(PoisonError::into_inner);
        if let Some(registry) = &*cached {
            return Arc::clone(registry);
        }
        let mut registry = ToolRegistry::clone(&self.builtin);
        for tool in self.tools() {
            // A schema that is none costs that tool only.
            if let Err(error) = registry.add(tool) {
                tracing::warn!(%error, "skipped a tool of an MCP server");
            }
        }
        let registry = Arc::new(registry);
        *cached = Some(Arc::clone(&registry));
        registry
    }

    /// The status of every server, by name.
    pub fn statuses(&self) -> BTreeMap<String, McpServerStatus> {
        let servers = self.all().into_iter().map(|server| {
            let name = server.spec.name.clone();
            let tools = server.tools();
            let status = McpServerStatus {
                state: server.state(),
                obstacle: server.obstacle(),
                tools: tools.iter().map(|tool| tool.summary(&name)).collect(),
            };
            (name, status)
        });
        servers.collect()
    }

    /// Names of tools that are known of servers, by server.
    pub fn tools_by_server(&self) -> BTreeMap<String, Vec<String>> {
        let servers = self.all().into_iter().map(|server| {
            let name = server.spec.name.clone();
            let tools = server.tools();
            let tools = tools.iter().map(|tool| mcp_tool_name(&name, &tool.name));
            (name.clone(), tools.collect())
        });
        servers.collect()
    }

    /// Why servers cannot be used now, by name. Those that can be are not in it.
    pub fn obstacles(&self) -> BTreeMap<String, String> {
        let servers = self.all().into_iter();
        let obstacles = servers.map(|server| Some((server.spec.name.clone(), server.obstacle()?)));
        obstacles.flatten().collect()
    }

    /// Servers whose tools are known for certain.
    pub fn ready(&self) -> Vec<String> {
        let servers = self.all().into_iter();
        let ready = servers.filter(|server| server.state().status == McpStatus::Ready);
        ready.map(|server| server.spec.name.clone()).collect()
    }

    /// Tells of every change of states and tools.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.inner.changes.subscribe()
    }

    /// The state of one server, from now on.
    pub fn watch(&self, name: &str) -> Option<watch::Receiver<McpServerState>> {
        Some(self.find(name)?.states())
    }

    /// A user or a call has reason to believe that the server is available again.
    pub fn retry_now(&self, name: &str) {
        if let Some(server) = self.find(name) {
            server.retry_now();
        }
    }

    /// Waits until every server is connected to or known to be down, but no longer than `most`.
    pub async fn settled(&self, most: Duration) {
        let all = async {
            for server in self.all() {
                let mut states = server.states();
                let settled = states.wait_for(|state| state.status != McpStatus::Connecting);
                // A server that was removed in the meantime is settled.
                settled.await.ok();
            }
        };
        tokio::time::timeout(most, all).await.unwrap_or_default();
    }

    fn find(&self, name: &str) -> Option<Arc<Server>> {
        let servers = self.lock_servers();
        servers.get(name).map(|(server, _)| Arc::clone(server))
    }

    fn all(&self) -> Vec<Arc<Server>> {
        let servers = self.lock_servers();
        let servers = servers.values();
        servers.map(|(server, _)| Arc::clone(server)).collect()
    }

    fn lock_servers(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<String, (Arc<Server>, McpAccess)>> {
        let servers = self.inner.servers.lock();
        servers.unwrap_or_else(PoisonError::into_inner)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for server in self.all() {
            for info in server.tools().iter() {
                let tool = McpTool::new(Arc::clone(&server), info.clone());
                tools.push(Arc::new(tool));
            }
        }
        tools
    }
}

impl Inner {
    fn change(&self) {
        let registry = self.registry.lock();
        *registry.unwrap_or_else(PoisonError::into_inner) = None;
        self.changes.send_replace(());
    }
}

fn is_same(a: &McpAccess, b: &McpAccess) -> bool {
    let plain = |access: &McpAccess| {
        let secrets = access.secrets.as_ref()?.iter();
        let plain = secrets.map(|(name, value)| (name.clone(), value.expose_secret().to_owned()));
        Some(plain.collect::<Vec<_>>())
    };
    a.spec == b.spec && plain(a) == plain(b)
}
