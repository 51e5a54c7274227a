//! One MCP server: connects, and reconnects with backoff.

use super::call::call;
use super::connect::{Connection, ConnectionGuard, McpAccess};
use super::fault::explain_fault;
use super::list::{McpToolInfo, list};
use crate::context::ToolContext;
use crate::output::ToolOutput;
use crate::spawn::SpawnGate;
use netaclaw_protocol::{McpFault, McpServerSpec, McpServerState, McpStatus, ToolStatus};
use serde_json::{Map, Value};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

const RETRY_FIRST: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);
/// A connection that lasted this long was a good one. One that ends at once is tried less and less.
const STEADY: Duration = Duration::from_secs(30);

/// Keeps a connection for as long as it lives.
pub(super) struct Server {
    pub(super) spec: McpServerSpec,
    shared: Arc<Shared>,
    /// None for a server that is switched off.
    _job: Option<AbortOnDropHandle<()>>,
}

struct Shared {
    state: watch::Sender<McpServerState>,
    /// As last seen: a server that is down still has its tools, only not now.
    tools: Mutex<Arc<Vec<McpToolInfo>>>,
    connection: Mutex<Option<Arc<Connection>>>,
    /// A user or a call has reason to believe that it is available again.
    retry_now: Notify,
}

impl Server {
    pub(super) fn new(
        access: McpAccess,
        gate: Arc<SpawnGate>,
        changed: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        let is_on = access.spec.status == ToolStatus::Enabled;
        let shared = Arc::new(Shared {
            state: watch::Sender::new(McpServerState {
                status: match is_on {
                    true => McpStatus::Connecting,
                    false => McpStatus::Off,
                },
                last_fault: None,
            }),
            tools: Mutex::default(),
            connection: Mutex::default(),
            retry_now: Notify::new(),
        });
        let spec = access.spec.clone();
        let job = is_on.then(|| {
            let keeper = ConnectionKeeper {
                access,
                gate,
                shared: Arc::clone(&shared),
                changed,
            };
            AbortOnDropHandle::new(tokio::spawn(keeper.keep()))
        });
        Self {
            spec,
            shared,
            _job: job,
        }
    }

    pub(super) fn state(&self) -> McpServerState {
        self.shared.state.borrow().clone()
    }

    pub(super) fn states(&self) -> watch::Receiver<McpServerState> {
        self.shared.state.subscribe()
    }

    pub(super) fn tools(&self) -> Arc<Vec<McpToolInfo>> {
        let tools = self.shared.tools.lock();
        Arc::clone(&tools.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn retry_now(&self) {
        self.shared.retry_now.notify_one();
    }

    /// Why its tools cannot be used at the moment.
    pub(super) fn obstacle(&self) -> Option<String> {
        let McpServerState { status, last_fault } = self.state();
        let name = &self.spec.name;
        Some(match (status, last_fault) {
            (McpStatus::Ready, _) => return None,
            (McpStatus::Off, _) => format!("the MCP server `{name}` is disabled"),
            (McpStatus::Down, Some(fault)) => {
                let why = explain_fault(&fault);
                format!("the MCP server `{name}` is unavailable: {why}")
            }
            (McpStatus::Connecting | McpStatus::Down, _) => {
                format!("the MCP server `{name}` is not connected yet")
            }
        })
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        args: Map<String, Value>,
        context: &ToolContext,
    ) -> ToolOutput {
        let connection = {
            let connection = self.shared.connection.lock();
            connection.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let name = &self.spec.name;
        let Some(connection) = connection else {
            let why = self.obstacle();
            let why = why.unwrap_or_else(|| format!("the MCP server `{name}` is not connected"));
            return ToolOutput::error(format!("The tool was not called: {why}."));
        };
        let time = Duration::from_millis(self.spec.timeout_ms);
        let called = call(&connection, tool, args, time, context).await;
        called.unwrap_or_else(|fault| {
            ToolOutput::error(format!(
                "The MCP server `{name}` failed during the call: {}. It is unknown whether the \
                 call had an effect. The server is being reconnected.",
                explain_fault(&fault)
            ))
        })
    }
}

impl Shared {
    fn set_tools(&self, tools: Arc<Vec<McpToolInfo>>) {
        let known = self.tools.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = tools;
    }

    fn set(&self, status: McpStatus, fault: Option<McpFault>, connection: Option<Arc<Connection>>) {
        let mut current = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = connection;
        drop(current);
        self.state.send_modify(|state| {
            state.status = status;
            // What was wrong the last time stays of interest.
            if fault.is_some() {
                state.last_fault = fault;
            }
        });
    }
}

/// Connects, stays, and begins again. Ends only with its server.
struct ConnectionKeeper {
    access: McpAccess,
    gate: Arc<SpawnGate>,
    shared: Arc<Shared>,
    changed: Arc<dyn Fn() + Send + Sync>,
}

impl ConnectionKeeper {
    async fn keep(self) {
        let mut wait = RETRY_FIRST;
        loop {
            let began = Instant::now();
            let fault = match Connection::open(&self.access, &self.gate).await {
                Ok((connection, line)) => self.stay(Arc::new(connection), line).await,
                Err(fault) => fault,
            };
            if began.elapsed() >= STEADY {
                wait = RETRY_FIRST;
            }
            let (server, why) = (&self.access.spec.name, explain_fault(&fault));
            // The same fault again is not published.
            match self.shared.state.borrow().last_fault.as_ref() == Some(&fault) {
                true => tracing::debug!(server, why, "an MCP server is still unavailable"),
                false => tracing::warn!(server, why, "an MCP server is unavailable"),
            }
            self.shared.set(McpStatus::Down, Some(fault), None);
            (self.changed)();
            // Apart from each other, so that not all come at once after an outage.
            let jitter = fastrand::f64() * 0.3 + 0.85;
            tokio::select! {
                () = tokio::time::sleep(wait.mul_f64(jitter)) => {}
                () = self.shared.retry_now.notified() => {}
            }
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    /// Lists the tools, and again when they change, until the connection ends.
    async fn stay(&self, connection: Arc<Connection>, line: ConnectionGuard) -> McpFault {
        let ConnectionGuard { service, program } = line;
        let mut ended = pin!(service.waiting());
        loop {
            let tools = match list(&connection, &self.access.spec).await {
                Ok(tools) => Arc::new(tools),
                Err(fault) => return fault,
            };
            self.shared.set_tools(tools);
            let open = Some(Arc::clone(&connection));
            self.shared.set(McpStatus::Ready, None, open);
            (self.changed)();
            tokio::select! {
                _ = &mut ended => break,
                () = connection.found_dead.notified() => break,
                () = connection.too_big.happened() => break,
                () = connection.handler.tools_changed.notified() => {}
            }
        }
        let fault = connection.epitaph().await;
        drop(program);
        fault
    }
}
