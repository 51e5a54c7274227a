//! The spawn gate with the restrictions of one agent.

use super::gate::{Program, SpawnError, SpawnGate, Started};
use super::plan::{Confinement, Limits};
use super::sandbox_abilities::SandboxAbilities;
use super::scratch::Scratch;
use crate::workspace::Workspace;
use netaclaw_protocol::{MissingSandbox, SandboxConfig};
use std::path::PathBuf;
use std::sync::Arc;

/// Starts programs for an agent, locked into its directories.
#[derive(Clone, Debug)]
pub struct Spawner {
    pub gate: Arc<SpawnGate>,
    pub sandbox: SandboxConfig,
    /// Whose programs they are. Each session has a scratch directory of its own.
    pub session: Arc<str>,
}

impl Spawner {
    /// For agents that start nothing.
    pub fn closed() -> Self {
        Self {
            gate: Arc::new(SpawnGate::closed()),
            sandbox: SandboxConfig::default(),
            session: Arc::from(""),
        }
    }

    /// Where programs of the session keep temporary files, and long outputs are kept.
    pub fn scratch(&self) -> Arc<Scratch> {
        self.gate.scratch(&self.session)
    }

    /// Why nothing can be started; `None` if it can.
    pub fn unavailable(&self) -> Option<String> {
        if self.gate.is_closed() {
            return Some("starting programs is disabled here".to_owned());
        }
        match self.sandbox.missing {
            MissingSandbox::Warn => None,
            MissingSandbox::Refuse => Some(format!(
                "the sandbox is not available ({}), and the agent's `sandbox.missing` is `refuse`",
                self.missing()?
            )),
        }
    }

    /// The warning if programs are started all the same.
    pub fn caution(&self) -> Option<String> {
        if self.gate.is_closed() || self.sandbox.missing == MissingSandbox::Refuse {
            return None;
        }
        if let Some(missing) = self.missing() {
            return Some(format!(
                "programs run without a sandbox ({missing}): they can read and write everything \
                 that the server can; the agent's `sandbox.missing` allows this"
            ));
        }
        let is_open = self.sandbox.network && !self.gate.abilities().guards_socket_names();
        is_open.then(|| {
            "programs can call every service of this machine that has a socket in the file \
             system, such as the one that starts containers: this kernel cannot distinguish these \
             sockets; the agent's `sandbox.missing` allows this"
                .to_owned()
        })
    }

    fn missing(&self) -> Option<&'static str> {
        match self.gate.abilities() {
            SandboxAbilities::Landlock(_) => None,
            SandboxAbilities::SwitchedOff => Some("Landlock is disabled in this kernel"),
            SandboxAbilities::Absent => Some("this kernel has no Landlock"),
        }
    }

    /// Starts a program that writes only to the workspace and to temporary places.
    pub async fn start(
        &self,
        program: Program,
        workspace: &Workspace,
    ) -> Result<Started, SpawnError> {
        self.start_reading(program, workspace, Vec::new()).await
    }

    /// The same for a program that may read these directories although they are hidden.
    pub async fn start_reading(
        &self,
        program: Program,
        workspace: &Workspace,
        readable: Vec<PathBuf>,
    ) -> Result<Started, SpawnError> {
        let confinement = Confinement {
            readable,
            ..self.confinement(workspace.roots().to_vec())
        };
        self.gate.start(program, confinement, self.scratch()).await
    }

    fn confinement(&self, writable: Vec<PathBuf>) -> Confinement {
        Confinement {
            writable,
            readable: Vec::new(),
            network: self.sandbox.network,
            missing: self.sandbox.missing,
            limits: Limits::default(),
        }
    }
}
