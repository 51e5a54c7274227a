//! The spawn gate: starts child processes.

use super::environment::{Variables, reduced};
use super::guard::GUARD_ARG;
use super::plan::{Confinement, Limits, Plan, Reply, StartFault};
use super::process::{ChildControl, ChildProcess};
use super::sandbox_abilities::SandboxAbilities;
use super::scratch::{Scratch, Scratches};
use crate::execute::blocking;
use crate::workspace::Hidden;
use netaclaw_protocol::MissingSandbox;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// A guard says within this time whether the program runs.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The variable by which children are found again whatever they do to their groups.
pub(super) const MARKER: &str = "NETACLAW_SPAWN";

/// The only way to start a process.
#[derive(Debug)]
pub struct SpawnGate {
    settings: GateSettings,
    scratches: Scratches,
    /// What the first try said; absent before it.
    isolation: Mutex<Option<Isolation>>,
    id: String,
}

#[derive(Clone, Debug)]
pub struct GateSettings {
    pub launcher: Launcher,
    /// What children may neither read nor write, such as where keys are kept. A directory that is
    /// inside of something hidden can still be given to a child by name.
    pub hidden: Hidden,
    /// What this machine supports for sandboxes, see
    /// [`sandbox_abilities`](super::sandbox_abilities).
    pub abilities: SandboxAbilities,
    pub namespaces: Namespaces,
    /// The server's environment, of which children get a part.
    pub environment: Vec<(OsString, OsString)>,
}

/// Whether children get namespaces of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// Where the machine allows it.
    #[default]
    Auto,
    Off,
}

/// What keeps children apart from the rest of the machine besides Landlock and seccomp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Devices, temporary files, shared memory and IPC of their own.
    Namespaces,
    /// Nothing, because the machine refuses it.
    Refused(String),
    /// None, because the operator has disabled it, or nothing is started here.
    Off,
}

/// Who guards children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// This program, which hands the argument [`GUARD_ARG`] to [`guard_main`](super::guard_main).
    ThisProgram,
    /// Another one that does so.
    Program(PathBuf),
    /// No guard, so nothing is started.
    None,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Program {
    pub program: String,
    pub args: Vec<String>,
    pub cwd: PathBuf,
    /// On top of what children get anyway.
    pub env: BTreeMap<String, String>,
    /// With a pipe to write into, or with nothing to read.
    pub takes_input: bool,
    /// Whether standard output and errors come through one pipe, in the order they were written.
    pub merged: bool,
}

/// A child that was started, and the ends of its pipes.
#[derive(Debug)]
pub struct Started {
    pub process: ChildProcess,
    pub input: Option<pipe::Sender>,
    pub output: ChildOutput,
}

#[derive(Debug)]
pub enum ChildOutput {
    Merged(pipe::Receiver),
    Separate {
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
    },
}

/// Why a program does not run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("starting programs is disabled here")]
    Closed,
    #[error("the program `{0}` was not found")]
    NotFound(String),
    #[error("permission to run `{0}` was denied")]
    NotPermitted(String),
    /// It could have run only without a sandbox, which the agent's setting does not allow.
    #[error("the sandbox is not available: {0}")]
    NoSandbox(String),
    /// Only the gate itself sees this; it starts the program without them.
    #[error("namespaces for programs are not available: {0}")]
    NoNamespaces(String),
    #[error(
        "the temporary directory of the session exceeds {} MiB and could not be emptied; remove \
         its files, or continue in a new session", .0 >> 20
    )]
    ScratchFull(u64),
    #[error("the program could not be started: {0}")]
    Other(String),
    #[error("the program could not be started")]
    Io(#[from] io::Error),
}

impl SpawnGate {
    pub fn new(settings: GateSettings) -> Self {
        // A session sees its own scratch directory and not those of the others.
        let scratches = Scratches::new();
        let hidden = settings.hidden.places().iter().cloned();
        let hidden = Hidden::new(hidden.chain([scratches.dir().to_owned()]));
        Self {
            settings: GateSettings { hidden, ..settings },
            scratches,
            isolation: Mutex::default(),
            id: random_id(),
        }
    }

    /// A gate that lets nothing through.
    pub fn closed() -> Self {
        Self::new(GateSettings {
            launcher: Launcher::None,
            hidden: Hidden::default(),
            abilities: SandboxAbilities::Absent,
            namespaces: Namespaces::Off,
            environment: Vec::new(),
        })
    }

    pub fn is_closed(&self) -> bool {
        self.settings.launcher == Launcher::None
    }

    pub fn abilities(&self) -> SandboxAbilities {
        self.settings.abilities
    }

    /// The places that file tools must not look into either.
    pub fn hidden(&self) -> &Hidden {
        &self.settings.hidden
    }

    /// Where programs of a session keep temporary files, and long outputs are kept.
    pub fn scratch(&self, session: &str) -> Arc<Scratch> {
        self.scratches.of(session)
    }

    /// Removes the leftovers of a session's programs, once none of them runs.
    pub fn forget(&self, session: &str) {
        self.scratches.forget(session);
    }

    /// How far children are kept apart here, as far as it is known.
    pub fn isolation(&self) -> Option<Isolation> {
        if self.is_closed() || self.settings.namespaces == Namespaces::Off {
            return Some(Isolation::Off);
        }
        self.known_isolation().clone()
    }

    /// The same, tried out if nothing was started yet.
    pub async fn probe_isolation(&self) -> Isolation {
        if let Some(known) = self.isolation() {
            return known;
        }
        let session = "probe of the sandbox";
        let scratch = self.scratch(session);
        let program = Program {
            program: "true".to_owned(),
            args: Vec::new(),
            cwd: scratch.dir().to_owned(),
            env: BTreeMap::new(),
            takes_input: false,
            merged: true,
        };
        let confinement = Confinement {
            writable: Vec::new(),
            readable: Vec::new(),
            network: false,
            missing: MissingSandbox::Warn,
            limits: Limits::default(),
        };
        match self.start(program, confinement, scratch).await {
            Ok(mut started) => drop(started.process.wait().await),
            Err(error) => tracing::debug!(%error, "failed to test the sandbox"),
        }
        self.forget(session);
        let unknown = || Isolation::Refused("it could not be tested".to_owned());
        self.isolation().unwrap_or_else(unknown)
    }

    fn known_isolation(&self) -> MutexGuard<'_, Option<Isolation>> {
        self.isolation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program, locked in as far as `confinement` says. It may write to the scratch
    /// directory as well.
    pub async fn start(
        &self,
        program: Program,
        confinement: Confinement,
        scratch: Arc<Scratch>,
    ) -> Result<Started, SpawnError> {
        if self.is_closed() {
            return Err(SpawnError::Closed);
        }
        let make = Arc::clone(&scratch);
        blocking(move || make.make()).await?;
        if matches!(self.isolation(), None | Some(Isolation::Namespaces)) {
            let (program, confinement) = (program.clone(), confinement.clone());
            let started = self.start_in(program, confinement, Arc::clone(&scratch), true);
            match started.await {
                Err(SpawnError::NoNamespaces(why)) => self.note_refused(why),
                started => {
                    // “Not found”, for one, comes from a guard that has namespaces.
                    *self.known_isolation() = Some(Isolation::Namespaces);
                    return started;
                }
            }
        }
        self.start_in(program, confinement, scratch, false).await
    }

    /// What has worked before is tried again next time.
    fn note_refused(&self, why: String) {
        tracing::warn!(
            why,
            "namespaces are unavailable; programs share devices and temporary files with the \
             machine"
        );
        let mut known = self.known_isolation();
        if known.is_none() {
            *known = Some(Isolation::Refused(why));
        }
    }

    async fn start_in(
        &self,
        program: Program,
        confinement: Confinement,
        scratch: Arc<Scratch>,
        namespaces: bool,
    ) -> Result<Started, SpawnError> {
        let marker = format!("{}-{}", self.id, random_id());
        let name = program.program.clone();
        let mut guard = self.guard(&program, confinement.network, &marker)?;
        guard.env("TMPDIR", scratch.temp());
        let pipes = Pipes::new(&program)?;
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        guard.stdin(Stdio::from(OwnedFd::from(theirs)));
        guard.stdout(Stdio::from(pipes.child_stdout));
        guard.stderr(Stdio::from(pipes.child_stderr));
        let child = guard.spawn()?;
        // The ends of the child must not stay open here.
        drop(guard);

        let plan = Plan {
            program: program.program,
            args: program.args,
            cwd: program.cwd,
            confinement,
            hidden: self.settings.hidden.places().to_vec(),
            scratch: scratch.dir().to_owned(),
            temp: scratch.temp().to_owned(),
            namespaces,
        };
        let mut control = ChildControl::new(ours);
        let started = tokio::time::timeout(
            START_TIMEOUT,
            hand_over(&mut control, pipes.child_stdin, &plan),
        );
        match started.await {
            Ok(Ok(Some(Reply::Started(sandbox)))) => Ok(Started {
                process: ChildProcess::new(control, child, sandbox, marker, scratch),
                input: pipes.input,
                output: pipes.output,
            }),
            Ok(Ok(Some(Reply::Failed(fault)))) => Err(fault.for_program(name)),
            Ok(Ok(_)) => Err(SpawnError::Other(
                "its guard process sent no answer".to_owned(),
            )),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(SpawnError::Other("its guard process timed out".to_owned())),
        }
    }

    fn guard(
        &self,
        program: &Program,
        network: bool,
        marker: &str,
    ) -> Result<tokio::process::Command, SpawnError> {
        let launcher = match &self.settings.launcher {
            // The file may have been replaced by a newer version; this is the one that runs.
            Launcher::ThisProgram => Path::new("/proc/self/exe"),
            Launcher::Program(path) => path,
            Launcher::None => return Err(SpawnError::Closed),
        };
        #[expect(clippy::disallowed_methods, reason = "this is the gate")]
        let mut guard = tokio::process::Command::new(launcher);
        guard.arg0("netaclaw").arg(GUARD_ARG).env_clear();
        let variables: &Variables = &self.settings.environment;
        guard.envs(reduced(variables, network));
        guard.envs(&program.env).env(MARKER, marker);
        Ok(guard)
    }
}

fn random_id() -> String {
    format!("{:016x}", fastrand::u64(..))
}

impl StartFault {
    fn for_program(self, program: String) -> SpawnError {
        match self {
            Self::NotFound => SpawnError::NotFound(program),
            Self::NotPermitted => SpawnError::NotPermitted(program),
            Self::NoSandbox(why) => SpawnError::NoSandbox(why),
            Self::NoNamespaces(why) => SpawnError::NoNamespaces(why),
            Self::ScratchFull(most) => SpawnError::ScratchFull(most),
            Self::Other(why) => SpawnError::Other(why),
        }
    }
}

/// Hands the plan to the guard, and the end of the input pipe with it.
async fn hand_over(
    control: &mut ChildControl,
    child_stdin: Option<OwnedFd>,
    plan: &Plan,
) -> io::Result<Option<Reply>> {
    let socket = control.socket();
    socket.writable().await?;
    super::guard::send_first(&*socket, child_stdin)?;
    let mut text = serde_json::to_vec(plan)?;
    text.push(b'\n');
    // A guard that could not even begin is gone; what it may have said is read all the same.
    if let Err(error) = socket.write_all(&text).await {
        tracing::debug!(%error, "failed to send the plan to a guard process");
    }
    control.next().await
}

struct Pipes {
    child_stdin: Option<OwnedFd>,
    child_stdout: OwnedFd,
    child_stderr: OwnedFd,
    input: Option<pipe::Sender>,
    output: ChildOutput,
}

impl Pipes {
    fn new(program: &Program) -> io::Result<Self> {
        let (child_stdin, input) = match program.takes_input {
            true => {
                let (reader, writer) = io::pipe()?;
                let writer = pipe::Sender::from_owned_fd(writer.into())?;
                (Some(reader.into()), Some(writer))
            }
            false => (None, None),
        };
        let receiver = |reader: io::PipeReader| pipe::Receiver::from_owned_fd(reader.into());
        let (stdout, child_stdout) = io::pipe()?;
        let (child_stderr, output) = match program.merged {
            true => {
                let same = child_stdout.try_clone()?;
                (same, ChildOutput::Merged(receiver(stdout)?))
            }
            false => {
                let (stderr, child_stderr) = io::pipe()?;
                let output = ChildOutput::Separate {
                    stdout: receiver(stdout)?,
                    stderr: receiver(stderr)?,
                };
                (child_stderr, output)
            }
        };
        Ok(Self {
            child_stdin,
            child_stdout: child_stdout.into(),
            child_stderr: child_stderr.into(),
            input,
            output,
        })
    }
}
