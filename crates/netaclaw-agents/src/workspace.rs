//! Where an agent works: the directories, and what the project in them says to agents.

use crate::instructions::instruction_files;
use crate::snapshot::AgentSnapshot;
use crate::source::AdminAgentSource;
use netaclaw_engine::{AGENT_DIRECTORY, EngineError};
use netaclaw_protocol::{AgentSpec, NotReady, SessionMeta};
use netaclaw_runtime::prompt::{Environment, InstructionFile, PromptSources};
use netaclaw_tools::spawn::Spawner;
use netaclaw_tools::{Hidden, Workspace, blocking};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A workspace and the instructions of its project.
#[derive(Clone)]
pub(crate) struct WorkspaceContext {
    roots: Arc<[PathBuf]>,
    instructions: Vec<InstructionFile>,
}

/// The directory of a workspace, and those that are added to it.
pub(crate) type WorkspaceKey = (PathBuf, Vec<PathBuf>);

impl AdminAgentSource {
    /// What the prompt of a new session of the agent is made of.
    pub(crate) async fn prompt_of(
        &self,
        snapshot: &AgentSnapshot,
        spec: &AgentSpec,
    ) -> Result<PromptSources, EngineError> {
        let (workspace, instructions) = self
            .open_workspace(self.cwd_of(spec), extra_roots(spec))
            .await?;
        let places = self.sources.skills.places(spec, workspace.root());
        Ok(PromptSources {
            skills: snapshot.skill_lines(&places).await,
            ..prompt_sources(&workspace, instructions)
        })
    }

    /// The workspace of a run, and its project's instructions. Runs that begin at the same time
    /// share the scan of the disk; each has its own stamps of the files it has read.
    pub(crate) async fn workplace(
        &self,
        snapshot: &AgentSnapshot,
        (root, extra): WorkspaceKey,
    ) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
        let hidden = self.sources.gate.hidden();
        let scan = |_| async {
            let opened = open_workspace(root.clone(), extra.clone(), hidden.clone());
            let (workspace, instructions) = opened.await?;
            let roots = workspace.roots().into();
            Ok::<_, EngineError>(WorkspaceContext {
                roots,
                instructions,
            })
        };
        let place = (root.clone(), extra.clone());
        let WorkspaceContext {
            roots,
            instructions,
        } = snapshot.workspaces.get(place, scan).await?;
        let workspace = Workspace::of_roots(roots.to_vec()).hiding(hidden.clone());
        Ok((workspace, instructions))
    }

    /// A workspace of the agent, for short use.
    pub(crate) async fn open_workspace(
        &self,
        root: PathBuf,
        extra: Vec<PathBuf>,
    ) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
        open_workspace(root, extra, self.sources.gate.hidden().clone()).await
    }

    /// Where the session works.
    pub(crate) fn root_of(&self, session: &SessionMeta, spec: &AgentSpec) -> PathBuf {
        let switched = session.metadata.get(AGENT_DIRECTORY);
        match switched.and_then(Value::as_str).unwrap_or(&session.cwd) {
            "" => self.cwd_of(spec),
            cwd => PathBuf::from(cwd),
        }
    }

    pub(crate) fn cwd_of(&self, spec: &AgentSpec) -> PathBuf {
        self.sources.cwd_of(spec)
    }
}

/// The directories that the agent's settings add to its workspace.
pub(crate) fn extra_roots(spec: &AgentSpec) -> Vec<PathBuf> {
    spec.extra_roots.iter().map(PathBuf::from).collect()
}

/// Adds the directory where long outputs of the session's commands are kept, so that file tools can
/// read on in them.
pub(crate) fn with_scratch(workspace: Workspace, spawner: &Spawner) -> Workspace {
    match spawner.gate.is_closed() {
        true => workspace,
        false => workspace.with_root(spawner.scratch().dir().to_owned()),
    }
}

/// Opens the directories and reads the instruction files from the root of the file tree down.
async fn open_workspace(
    root: PathBuf,
    extra: Vec<PathBuf>,
    hidden: Hidden,
) -> Result<(Workspace, Vec<InstructionFile>), EngineError> {
    let open = move || {
        let workspace = Workspace::new(&root, &extra)?.hiding(hidden.clone());
        let mut roots = workspace.roots().iter();
        if roots.any(|root| hidden.contains(root)) {
            return Ok(None);
        }
        let instructions = instruction_files(workspace.root());
        Ok(Some((workspace, instructions)))
    };
    let opened: std::io::Result<_> = blocking(open).await;
    let opened = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => NotReady::WorkspaceMissing,
        // The kind of the error says enough, and no path.
        kind => NotReady::WorkspaceNotOpened {
            error: kind.to_string(),
        },
    })?;
    Ok(opened.ok_or(NotReady::WorkspaceHidden)?)
}

pub(crate) fn prompt_sources(
    workspace: &Workspace,
    instructions: Vec<InstructionFile>,
) -> PromptSources {
    PromptSources {
        environment: environment(workspace.root()),
        instructions,
        ..PromptSources::default()
    }
}

fn environment(workspace: &Path) -> Environment {
    let name = workspace.file_name().unwrap_or(workspace.as_os_str());
    Environment {
        date: jiff::Zoned::now().date().to_string(),
        cwd: name.to_string_lossy().into_owned(),
        platform: std::env::consts::OS.to_owned(),
    }
}
