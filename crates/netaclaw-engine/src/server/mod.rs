//! `Engine`: the live sessions of a server and its commands.

mod access;
mod approvals;
mod context;
mod create;
pub(crate) mod early_stops;
mod execute;
pub(crate) mod first;
mod lifecycle;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod locks;
mod open;
mod purge;
mod registry;
mod skills;
mod stop;
mod subscribe;
pub(crate) mod sweep;
mod update;

pub use execute::acknowledge;
pub use first::request_key;
pub(crate) use registry::RegistryHandle;
pub use update::UpdateSession;

use crate::attachments::AttachmentStore;
use crate::error::EngineError;
use crate::process_log::ProcessLogs;
use crate::server::early_stops::EarlyStops;
use crate::server::limits::{Usage, UserLimits};
use crate::server::listing::{ListFeed, ListSubscriber};
use crate::server::locks::SessionLocks;
use crate::session::command::ActorMessage;
use crate::session::writer::SidecarStores;
use crate::source::AgentSource;
use netaclaw_protocol::SessionId;
use netaclaw_session::SessionTreeProvider;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// Who asks. A user sees only their own sessions; others do not exist for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user_id: String,
    pub is_admin: bool,
}

/// Where sessions are kept, by the agent's choice.
pub struct Providers {
    pub file: Arc<dyn SessionTreeProvider>,
    pub mysql: Option<Arc<dyn SessionTreeProvider>>,
}

/// All live sessions. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    providers: Providers,
    source: Arc<dyn AgentSource>,
    instance: Arc<str>,
    lists: Arc<ListFeed>,
    beside: SidecarStores,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<ActorMessage>>>,
    /// Passed to open a session and to put it away.
    session_locks: SessionLocks,
    early_stops: EarlyStops,
    usage: Arc<Usage>,
    /// Whether a deleted session stays for a while and can be restored.
    keeps_deleted: bool,
    jobs: TaskTracker,
    /// Cancelled when nothing new begins.
    draining: CancellationToken,
    /// Cancelled when running work has to end.
    shutdown: CancellationToken,
}

/// What an engine can do without. The default stores no files and no logs, has no limits, and keeps
/// deleted sessions.
#[derive(Clone)]
pub struct EngineOptions {
    /// The name of the process, which stands beside what it stores. `None` for a name of its own.
    pub instance: Option<String>,
    /// Takes files with messages, kept there until they are sent.
    pub attachments: Option<Arc<dyn AttachmentStore>>,
    /// Keeps a log of the steps of tool calls.
    pub process_logs: Option<Arc<dyn ProcessLogs>>,
    /// What one user may use.
    pub limits: UserLimits,
    /// Whether a deleted session stays for a while and can be restored; else it is deleted
    /// permanently at once.
    pub keeps_deleted: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            instance: None,
            attachments: None,
            process_logs: None,
            limits: UserLimits::default(),
            keeps_deleted: true,
        }
    }
}

impl Engine {
    /// An engine without other processes.
    pub fn new(providers: Providers, source: Arc<dyn AgentSource>) -> Self {
        Self::with_options(providers, source, EngineOptions::default())
    }

    pub fn with_options(
        providers: Providers,
        source: Arc<dyn AgentSource>,
        options: EngineOptions,
    ) -> Self {
        let instance = options.instance;
        let instance = instance.unwrap_or_else(|| Uuid::now_v7().to_string());
        let inner = Inner {
            providers,
            source,
            instance: Arc::from(instance),
            lists: Arc::default(),
            beside: SidecarStores {
                files: options.attachments,
                logs: options.process_logs,
            },
            sessions: Mutex::new(HashMap::new()),
            session_locks: SessionLocks::default(),
            early_stops: EarlyStops::default(),
            usage: Arc::new(Usage::new(options.limits)),
            keeps_deleted: options.keeps_deleted,
            jobs: TaskTracker::new(),
            draining: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub fn attachments(&self) -> Option<&dyn AttachmentStore> {
        self.inner.beside.files.as_deref()
    }

    /// From now on reports every session whose list item changes.
    pub fn watch_lists(&self, subscriber: Arc<dyn ListSubscriber>) {
        self.inner.lists.subscribe(subscriber);
    }

    /// Counts something of a caller that is not a run.
    pub(crate) fn spend(&self, caller: &Caller) -> Result<(), EngineError> {
        Ok(self.inner.usage.spend(&caller.user_id)?)
    }

    pub fn providers(&self) -> &Providers {
        &self.inner.providers
    }
}
