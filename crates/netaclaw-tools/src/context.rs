//! The environment of a tool call: only what a tool needs.

use crate::service::{Clarifier, MemoryService, TodoService};
use crate::skills::SkillDirs;
use crate::spawn::Spawner;
use crate::update::ToolUpdate;
use crate::workspace::Workspace;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The surroundings of one call.
#[derive(Clone)]
pub struct ToolContext {
    pub workspace: Arc<Workspace>,
    /// Cancelled when the run is stopped or the call has used up its time.
    pub cancel: CancellationToken,
    pub updates: Updates,
    pub images: ImageUse,
    /// Starts programs, locked in as the agent's setting says.
    pub spawner: Spawner,
    pub todo: Arc<dyn TodoService>,
    pub clarifier: Arc<dyn Clarifier>,
    pub memory: Arc<dyn MemoryService>,
    /// Where the agent's skills are found.
    pub skills: SkillDirs,
}

/// Whether a picture in a result is of any use to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageUse {
    Seen,
    Unseen,
}

/// Receives the progress of a tool. Never blocks; an update is dropped if its receiver is full.
#[derive(Clone)]
pub struct Updates {
    take: Arc<dyn Fn(ToolUpdate) + Send + Sync>,
    waiting: Option<Arc<Waiting>>,
}

type Waiting = dyn Fn(ToolUpdate) -> BoxFuture<'static, ()> + Send + Sync;

impl Updates {
    pub fn new(take: impl Fn(ToolUpdate) + Send + Sync + 'static) -> Self {
        Self {
            take: Arc::new(take),
            waiting: None,
        }
    }

    /// The same for receivers that can make a tool wait until there is room.
    pub fn with_waiting(
        mut self,
        send: impl Fn(ToolUpdate) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.waiting = Some(Arc::new(send));
        self
    }

    /// For calls whose progress is not shown.
    pub fn ignored() -> Self {
        Self::new(|_| {})
    }

    pub fn send(&self, update: ToolUpdate) {
        (self.take)(update);
    }

    /// Sends what must not be lost: waits until the receiver has room.
    pub async fn send_waiting(&self, update: ToolUpdate) {
        match &self.waiting {
            Some(send) => send(update).await,
            None => self.send(update),
        }
    }
}

impl std::fmt::Debug for Updates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Updates")
    }
}
