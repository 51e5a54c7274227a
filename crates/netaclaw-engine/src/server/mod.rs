//! The live sessions of a server, and what may be asked of them.

mod access;
mod context;
mod create;
pub(crate) mod early_stops;
mod execute;
pub(crate) mod first;
pub(crate) mod gates;
mod home;
mod lifecycle;
pub(crate) mod limits;
pub(crate) mod listing;
mod open;
mod purge;
mod skills;
mod stop;
mod subscribe;
pub(crate) mod sweep;
mod update;

pub use execute::acknowledge;
pub use first::session_of_request;
pub(crate) use home::Home;
pub use update::UpdateSession;

use crate::attachments::AttachmentStore;
use crate::error::EngineError;
use crate::process_log::ProcessLogs;
use crate::server::early_stops::EarlyStops;
use crate::server::gates::Gates;
use crate::server::limits::{Usage, UserLimits};
use crate::server::listing::{ListFeed, ListSubscriber};
use crate::session::command::Mail;
use crate::session::writer::Beside;
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
    beside: Beside,
    sessions: Mutex<HashMap<SessionId, mpsc::Sender<Mail>>>,
    /// Passed to open a session and to put it away.
    gates: Gates,
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

impl Engine {
    /// An engine without other processes.
    pub fn new(providers: Providers, source: Arc<dyn AgentSource>) -> Self {
        Self::of_instance(providers, source, &Uuid::now_v7().to_string())
    }

    /// An engine in a process of this name, which is stored with its data.
    pub fn of_instance(providers: Providers, source: Arc<dyn AgentSource>, instance: &str) -> Self {
        let inner = Inner {
            providers,
            source,
            instance: Arc::from(instance),
            lists: Arc::default(),
            beside: Beside::default(),
            sessions: Mutex::new(HashMap::new()),
            gates: Gates::default(),
            early_stops: EarlyStops::default(),
            usage: Arc::default(),
            keeps_deleted: true,
            jobs: TaskTracker::new(),
            draining: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Takes files with messages, kept there until they are sent.
    pub fn with_attachments(mut self, files: Arc<dyn AttachmentStore>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.beside.files = Some(files);
        }
        self
    }

    /// Keeps a log of the steps of tool calls.
    pub fn with_process_logs(mut self, logs: Arc<dyn ProcessLogs>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.beside.logs = Some(logs);
        }
        self
    }

    /// Bounds what one user may use. Without it nothing is bounded.
    pub fn with_limits(mut self, limits: UserLimits) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.usage = Arc::new(Usage::new(limits));
        }
        self
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
