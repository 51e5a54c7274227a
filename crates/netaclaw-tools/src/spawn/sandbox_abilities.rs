//! Detects which sandbox features the kernel supports.

use landlock::{AccessFs, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetError};
use std::sync::LazyLock;

/// The first version of Landlock whose rules also apply to sockets in the file tree.
pub(super) const GUARDS_SOCKET_NAMES: i32 = 9;

/// How far children can be locked in on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxAbilities {
    /// Landlock in this version.
    Landlock(i32),
    /// The kernel has Landlock, but it was switched off when the machine was started.
    SwitchedOff,
    /// The kernel does not support it.
    Absent,
}

impl SandboxAbilities {
    pub fn are_there(self) -> bool {
        matches!(self, Self::Landlock(_))
    }

    /// Whether sockets in the file tree can be filtered one by one. If not, all of them are closed,
    /// or none.
    pub fn guards_socket_names(self) -> bool {
        matches!(self, Self::Landlock(version) if version >= GUARDS_SOCKET_NAMES)
    }
}

/// Asked once; a kernel does not change while it runs.
pub fn sandbox_abilities() -> SandboxAbilities {
    static ASKED: LazyLock<SandboxAbilities> = LazyLock::new(ask);
    *ASKED
}

/// Tried rather than asked, on a thread of its own: a restriction is for the thread that takes it
/// on, and goes with it.
fn ask() -> SandboxAbilities {
    let tried = std::thread::spawn(|| -> Result<RestrictionStatus, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::MakeFifo)?
            .create()?
            .restrict_self()
    });
    let status = tried.join().ok().and_then(Result::ok);
    status.map_or(SandboxAbilities::Absent, |status| {
        abilities_of(&status.landlock)
    })
}

pub(super) fn abilities_of(status: &LandlockStatus) -> SandboxAbilities {
    match status {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => SandboxAbilities::Landlock(kernel_abi.unwrap_or(*effective_abi as i32)),
        LandlockStatus::NotEnabled => SandboxAbilities::SwitchedOff,
        _ => SandboxAbilities::Absent,
    }
}
