//! The gateway: assembled, served, drained.

use crate::assets::Assets;
use crate::auth::{Authenticator, KnownBrowsers, KnownOrigins, LoginLimiter};
use crate::connection_limits::ConnectionCounter;
use crate::http_server::HttpServer;
use crate::readiness::{DiskProbe, Readiness};
use crate::router::router;
use crate::settings::{AuthSettings, GatewaySettings};
use crate::socket::{self, Connections, ListWatch, WatchedLists};
use crate::transport::{MeteredListener, Upgrades};
use crate::{metrics, rest};
use ipnet::IpNet;
use netaclaw_admin::AdminStore;
use netaclaw_agents::{AgentPreviews, McpStatusSource};
use netaclaw_engine::Engine;
use netaclaw_models::{Timeouts, Transport};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Events of the last moments get this long to leave before connections are closed.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// HTTP and Socket.IO in front of an engine.
pub struct Gateway {
    shared: Arc<Shared>,
}

/// What handlers share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) admin: Arc<dyn AdminStore>,
    pub(crate) auth: Authenticator,
    pub(crate) logins: LoginLimiter,
    pub(crate) known_browsers: KnownBrowsers,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) sites: KnownOrigins,
    pub(crate) secure_cookie: bool,
    pub(crate) settings: GatewaySettings,
    pub(crate) assets: Option<Arc<dyn Assets>>,
    pub(crate) previews: Option<Arc<dyn AgentPreviews>>,
    pub(crate) mcp: Option<Arc<dyn McpStatusSource>>,
    /// For trying channels.
    pub(crate) models: Arc<Transport>,
    pub(crate) upgrades: Upgrades,
    pub(crate) connections: Connections,
    pub(crate) lists: WatchedLists,
    pub(crate) readiness: Readiness,
    pub(crate) shutdown: CancellationToken,
    pub(crate) jobs: TaskTracker,
}

/// What a gateway can do without.
#[derive(Clone, Default)]
pub struct GatewayOptions {
    /// Serves the web app from these files.
    pub assets: Option<Arc<dyn Assets>>,
    /// Shows the system prompts and tools of agents.
    pub previews: Option<Arc<dyn AgentPreviews>>,
    /// Shows how MCP servers stand, and tries them.
    pub mcp: Option<Arc<dyn McpStatusSource>>,
    /// Lets `readyz` tell whether data can be written.
    pub disk_probe: Option<Arc<DiskProbe>>,
}

impl Gateway {
    pub fn new(
        engine: Engine,
        admin: Arc<dyn AdminStore>,
        auth: AuthSettings,
        settings: GatewaySettings,
        options: GatewayOptions,
    ) -> Self {
        metrics::install();
        let shared = Shared {
            engine,
            auth: Authenticator::new(Arc::clone(&admin), &auth),
            admin,
            logins: LoginLimiter::default(),
            sites: KnownOrigins::new(&auth),
            known_browsers: KnownBrowsers::new(auth.browser_key),
            trusted_proxies: auth.trusted_proxies,
            secure_cookie: auth.secure_cookie,
            settings,
            assets: options.assets,
            previews: options.previews,
            mcp: options.mcp,
            models: Arc::new(Transport::new(Timeouts::default())),
            upgrades: Upgrades::default(),
            connections: Connections::default(),
            lists: WatchedLists::default(),
            readiness: Readiness::new(options.disk_probe),
            shutdown: CancellationToken::new(),
            jobs: TaskTracker::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The description of the REST API, as JSON.
    pub fn openapi() -> String {
        rest::openapi_json()
    }

    /// Serves until the token is cancelled; then lets runs end, closes every connection, and
    /// returns when nothing is left. The engine takes no commands after that. Clients cannot delay
    /// it: connections that are open after `drain_grace` and then `close_grace` are cut off.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) {
        let shared = self.shared;
        let lists = ListWatch(Arc::downgrade(&shared));
        shared.engine.watch_lists(Arc::new(lists));
        let places =
            ConnectionCounter::new(shared.settings.connections, shared.trusted_proxies.clone());
        let listener = MeteredListener::new(listener, shared.settings.stalled_after, places);
        let (layer, io) = socket::layer(&shared);
        let doors = HttpServer::new(router(&shared, layer), shared.settings.head_within);
        let ending = async {
            shutdown.cancelled().await;
            drain(&shared).await;
            // A poll that waits would keep the server alive; this answers it.
            io.close().await;
            // The layer forgets its sockets before it closes them, and so calls no handler.
            shared.connections.close();
        };
        let serving = async { tokio::join!(doors.open(listener, &shutdown), ending) };
        tokio::select! {
            _ = serving => {}
            () = shared.connections.follow_accounts(&*shared.admin) => {}
        }
        let grace = shared.settings.close_grace;
        doors.close(grace).await;
        shared.jobs.close();
        if tokio::time::timeout(grace, shared.jobs.wait())
            .await
            .is_err()
        {
            let left = shared.jobs.len();
            tracing::warn!(left, "some socket tasks did not end in time");
        }
    }
}

/// Notifies all clients, and lets running runs end.
async fn drain(shared: &Shared) {
    shared.shutdown.cancel();
    shared.connections.announce_draining();
    shared.engine.shut_down(shared.settings.drain_grace).await;
    let flushed = tokio::time::timeout(FLUSH_MAX, shared.connections.flushed()).await;
    if flushed.is_err() {
        tracing::info!("some clients did not receive their last events in time");
    }
}
