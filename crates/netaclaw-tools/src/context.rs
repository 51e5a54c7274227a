//! What a tool gets of the world: nothing it does not need.

use crate::service::{Clarifier, MemoryService, TodoService};
use crate::spawn::Spawner;
use crate::update::ToolUpdate;
use crate::workspace::Workspace;
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
}

/// Whether a picture in a result is of any use to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageUse {
    Seen,
    Unseen,
}

/// Where a tool shows what it is doing. Never blocks; what nobody can take in any more is lost.
#[derive(Clone)]
pub struct Updates(Arc<dyn Fn(ToolUpdate) + Send + Sync>);

impl Updates {
    pub fn new(take: impl Fn(ToolUpdate) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// For calls that nobody watches.
    pub fn ignored() -> Self {
        Self::new(|_| {})
    }

    pub fn send(&self, update: ToolUpdate) {
        (self.0)(update);
    }
}

impl std::fmt::Debug for Updates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Updates")
    }
}
