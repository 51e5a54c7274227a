//! The configuration at one revision, with the values that are derived from it.
//!
//! An [`AgentSnapshot`] is immutable. Values derived from it alone are computed on first use,
//! cached in it, and dropped with it; so nothing derived can be stale. Files are not part of a
//! version: they are scanned (see `scans`), and what is derived from a scan names it.

#[cfg(test)]
mod tests;

use crate::mcp::{AdminMcpServers, McpTools};
use crate::scan_cache::ScanCache;
use crate::skills::{SkillKey, Skills};
use crate::workspace::{WorkspaceContext, WorkspaceKey};
use metrics::histogram;
use netaclaw_admin::{AdminError, AdminStore, ConfigSnapshot};
use netaclaw_governance::{ModelAbilities, ResolvedTools};
use netaclaw_protocol::{AgentId, ChannelId};
use netaclaw_runtime::ModelAccess;
use netaclaw_tools::ToolRegistry;
use netaclaw_tools::skills::{Skill, SkillScan};
use netaclaw_tools::spawn::SpawnGate;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The configuration and the tools, as they were together at one moment.
pub(crate) struct AgentSnapshot {
    pub(crate) config: Arc<ConfigSnapshot>,
    /// All tools there are.
    pub(crate) registry: Arc<ToolRegistry>,
    /// `None` where no MCP servers are used.
    pub(crate) mcp: Option<McpTools>,
    pub(crate) workspaces: ScanCache<WorkspaceKey, WorkspaceContext>,
    pub(crate) skills: ScanCache<SkillKey, SkillScan>,
    pub(crate) models: DerivedCache<ModelKey, ModelAccess>,
    pub(crate) tools: DerivedCache<ToolsKey, ToolsOfSkills>,
}

/// An agent of the configuration, and the model that was chosen for it.
pub(crate) type ModelKey = (AgentId, Option<ChannelId>, Option<String>);

/// An agent of the configuration, and what its model can do.
pub(crate) type ToolsKey = (AgentId, ModelAbilities);

/// The tools of an agent, with the skills on which they depend as well.
pub(crate) type ToolsOfSkills = (Arc<Vec<Skill>>, ResolvedTools);

/// Where snapshots come from. Cheap to clone; all clones have the same snapshot.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) admin: Arc<dyn AdminStore>,
    pub(crate) builtin: Arc<ToolRegistry>,
    pub(crate) gate: Arc<SpawnGate>,
    pub(crate) mcp: Option<Arc<AdminMcpServers>>,
    pub(crate) skills: Skills,
    /// Where agents work that name no directory of their own.
    pub(crate) cwd: PathBuf,
    current: Arc<Mutex<Option<Arc<AgentSnapshot>>>>,
}

impl Sources {
    pub(crate) fn new(
        admin: Arc<dyn AdminStore>,
        builtin: Arc<ToolRegistry>,
        cwd: PathBuf,
    ) -> Self {
        Self {
            admin,
            builtin,
            gate: Arc::new(SpawnGate::closed()),
            mcp: None,
            skills: Skills::default(),
            cwd,
            current: Arc::default(),
        }
    }

    /// The version in force: the same as before if nothing has changed since.
    pub(crate) async fn snapshot(&self) -> Result<Arc<AgentSnapshot>, AdminError> {
        let began = Instant::now();
        let config = self.admin.config_snapshot().await;
        histogram!("netaclaw_store_seconds", "store" => "admin", "call" => "configured")
            .record(began.elapsed());
        let config = config?;
        if let Some(mcp) = &self.mcp {
            mcp.follow(&config);
        }
        // It is replaced as a whole.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = current.as_ref().filter(|known| known.is_of(&config)) {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.read(config));
        *current = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    fn read(&self, config: Arc<ConfigSnapshot>) -> AgentSnapshot {
        let mcp = self.mcp.as_ref().map(|mcp| mcp.tools());
        AgentSnapshot {
            config,
            registry: match &mcp {
                Some(mcp) => Arc::clone(&mcp.registry),
                None => Arc::clone(&self.builtin),
            },
            mcp,
            workspaces: ScanCache::default(),
            skills: ScanCache::default(),
            models: DerivedCache::default(),
            tools: DerivedCache::default(),
        }
    }
}

impl AgentSnapshot {
    fn is_of(&self, config: &Arc<ConfigSnapshot>) -> bool {
        Arc::ptr_eq(&self.config, config) && self.mcp.as_ref().is_none_or(McpTools::is_current)
    }
}

/// Values that follow from a snapshot, by what they are of.
pub(crate) struct DerivedCache<K, V>(Mutex<HashMap<K, V>>);

impl<K: Eq + Hash, V: Clone> DerivedCache<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.lock().get(key).cloned()
    }

    pub(crate) fn keep(&self, key: K, value: V) {
        self.lock().insert(key, value);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        // A map is whole between any two of its operations.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Default for DerivedCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
