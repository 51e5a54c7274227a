//! The messages between the server and a guard.

use netaclaw_protocol::MissingSandbox;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One program to run. Its environment is not here: the guard has it as its own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) confinement: Confinement,
    /// What is not readable although it is inside a readable directory.
    pub(super) hidden: Vec<PathBuf>,
    /// The directory of the session that it may write to besides its own, and its part for
    /// temporary files.
    pub(super) scratch: PathBuf,
    pub(super) temp: PathBuf,
    /// Whether it gets namespaces of its own.
    pub(super) namespaces: bool,
}

impl Plan {
    /// Directories it may write to.
    pub(super) fn writable(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.confinement.writable.iter();
        own.chain([&self.scratch, &self.temp])
    }

    /// Everything that it was given by name, and has to find.
    pub(super) fn places(&self) -> impl Iterator<Item = &Path> {
        let words = std::iter::once(&self.program).chain(&self.args);
        let named = words.map(Path::new).filter(|path| path.is_absolute());
        let given = self.writable().chain(&self.confinement.readable);
        let given = given.chain([&self.cwd]).map(PathBuf::as_path);
        given.chain(named)
    }
}

/// How far a child is locked in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confinement {
    /// Directories it may write to. Reading is allowed everywhere but in what the gate hides.
    pub writable: Vec<PathBuf>,
    /// Directories it may read although the gate hides them.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    pub network: bool,
    /// What to do where the kernel cannot lock it in.
    pub missing: MissingSandbox,
    pub limits: Limits,
}

/// The default limits of one child and each of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory that is written to, for each process. Address space that is only reserved does not
    /// count, because some runtimes reserve more than any machine has.
    pub memory_bytes: u64,
    pub file_bytes: u64,
    pub open_files: u64,
    /// Processes and threads of the child and everything below it together. Beyond it, all of them
    /// are ended.
    pub tasks: u64,
    /// Those of the whole user account. The kernel refuses more, but not to root.
    pub account_tasks: u64,
    /// What the scratch directory of the session may hold. A child that puts more there is ended,
    /// and what it left there is removed.
    pub scratch_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 8 << 30,
            file_bytes: 4 << 30,
            open_files: 16 << 10,
            tasks: 2 << 10,
            account_tasks: 8 << 10,
            scratch_bytes: 2 << 30,
        }
    }
}

/// The sandbox of a child in the end. Users see it with the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// The version of Landlock that holds it; absent if nothing keeps it from writing anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landlock: Option<i32>,
    pub network: bool,
    /// Whether it has devices, temporary files, shared memory and IPC of its own.
    #[serde(default)]
    pub namespaces: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Started(Sandbox),
    Failed(StartFault),
    Ended(ProgramEnd),
}

/// How a program ended, as its guard saw it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ProgramEnd {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// How many tasks were too many, if that is why.
    pub(super) crowded: Option<u64>,
    /// How many bytes in the scratch directory were too many, if that is why.
    #[serde(default)]
    pub(super) over_quota: Option<u64>,
}

/// Why a program did not start.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StartFault {
    NotFound,
    NotPermitted,
    /// It would have run free, and that is not wanted.
    NoSandbox(String),
    /// The machine has no namespaces for it. Nothing was started.
    NoNamespaces(String),
    /// The scratch directory holds more than this, and it could not be removed.
    ScratchFull(u64),
    Other(String),
}
