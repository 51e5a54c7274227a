//! The gate as one agent may use it.

use super::abilities::{SandboxAbilities, sandbox_abilities};
use super::gate::{Program, SpawnError, SpawnGate, Started};
use super::plan::{Confinement, Limits};
use crate::workspace::Workspace;
use netaclaw_protocol::{MissingSandbox, SandboxConfig};
use std::path::PathBuf;
use std::sync::Arc;

/// Starts programs for an agent, locked into its directories.
#[derive(Clone, Debug)]
pub struct Spawner {
    pub gate: Arc<SpawnGate>,
    pub sandbox: SandboxConfig,
}

impl Spawner {
    /// For agents that start nothing.
    pub fn closed() -> Self {
        Self {
            gate: Arc::new(SpawnGate::closed()),
            sandbox: SandboxConfig::default(),
        }
    }

    /// Why nothing can be started; `None` if it can.
    pub fn unavailable(&self) -> Option<String> {
        if self.gate.is_closed() {
            return Some("no programs are started here".to_owned());
        }
        let why = match (sandbox_abilities(), self.sandbox.missing) {
            (SandboxAbilities::Landlock(_), _) | (_, MissingSandbox::Warn) => return None,
            (SandboxAbilities::SwitchedOff, MissingSandbox::Refuse) => {
                "Landlock is switched off in this kernel"
            }
            (SandboxAbilities::Absent, MissingSandbox::Refuse) => "this kernel has no Landlock",
        };
        Some(format!(
            "programs cannot be locked in here ({why}), and the agent's `sandbox.missing` is `refuse`"
        ))
    }

    /// Starts a program that writes only to the workspace and to temporary places.
    pub async fn start(
        &self,
        program: Program,
        workspace: &Workspace,
    ) -> Result<Started, SpawnError> {
        let roots = workspace.roots().iter().cloned();
        let writable = roots.chain(self.gate.temp_places()?);
        let confinement = self.confinement(writable.collect());
        self.gate.start(program, confinement).await
    }

    fn confinement(&self, writable: Vec<PathBuf>) -> Confinement {
        Confinement {
            writable,
            network: self.sandbox.network,
            missing: self.sandbox.missing,
            limits: Limits::default(),
        }
    }
}
