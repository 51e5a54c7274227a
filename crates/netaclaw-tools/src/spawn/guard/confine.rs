//! Locking the current thread in, and with it whatever it starts.

use super::places::around;
use crate::spawn::abilities::{GUARDS_SOCKET_NAMES, SandboxAbilities, abilities_of};
use crate::spawn::plan::{Confinement, Limits, Plan, Sandbox, StartFault};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use netaclaw_protocol::MissingSandbox;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::path::PathBuf;

/// The newest rules this was written for. An older kernel keeps those it knows.
const RULES: ABI = ABI::V9;

/// Devices that every program expects, to write to as well.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];
const SHARED_MEMORY: &str = "/dev/shm";
/// What root may still do in a child.
const PRIVILEGES_KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);
/// System calls of the other calling convention of x86-64 have this bit set.
const X32: i64 = 0x4000_0000;

/// Restricts the calling thread. Nothing takes this back.
pub(super) fn confine(plan: &Plan) -> Result<Sandbox, StartFault> {
    let confinement = &plan.confinement;
    limit(confinement.limits);
    drop_privileges();
    let landlock = lock_in(confinement, &plan.hidden)
        .map_err(|error| format!("Landlock refused its rules ({error})"))
        .and_then(|status| match abilities_of(&status) {
            SandboxAbilities::Landlock(version) => Ok(version),
            SandboxAbilities::SwitchedOff => {
                Err("Landlock is switched off in this kernel".to_owned())
            }
            SandboxAbilities::Absent => Err("this kernel has no Landlock".to_owned()),
        });
    let sockets = match refused_sockets(confinement, &landlock) {
        Some(sockets) => refuse(sockets),
        None => Ok(()),
    };
    let missing = landlock.as_ref().err().or(sockets.as_ref().err());
    match (missing, confinement.missing) {
        (Some(why), MissingSandbox::Refuse) => Err(StartFault::NoSandbox(why.clone())),
        _ => Ok(Sandbox {
            landlock: landlock.ok(),
            network: confinement.network || sockets.is_err(),
        }),
    }
}

/// Which sockets a program may not make. Pairs of them are always allowed.
#[derive(Clone, Copy)]
enum Sockets {
    All,
    /// Those with a name in the file tree.
    Named,
    /// Those that reach the network.
    Others,
}

/// Behind a name in the file tree may sit a service that does anything for whoever asks, such as the
/// one that starts containers. Which of them may be called is for Landlock to decide, if it can; else
/// none may, unless the network is on and the agent takes what this machine cannot guard.
fn refused_sockets(confinement: &Confinement, landlock: &Result<i32, String>) -> Option<Sockets> {
    let guards_names = matches!(landlock, Ok(version) if *version >= GUARDS_SOCKET_NAMES);
    match (confinement.network, guards_names, confinement.missing) {
        (false, true, _) => Some(Sockets::Others),
        (false, false, _) => Some(Sockets::All),
        (true, false, MissingSandbox::Refuse) => Some(Sockets::Named),
        (true, false, MissingSandbox::Warn) | (true, true, _) => None,
    }
}

/// A child of root is root, but not master of the machine: what is not about files and processes
/// is taken from it. Without this it could, for one thing, read the memory maps and the environment
/// of every process past Landlock.
fn drop_privileges() {
    let dropped = CapabilitySet::all().difference(PRIVILEGES_KEPT);
    for privilege in dropped.iter() {
        // It fails for who has none to drop, and for those the kernel does not know.
        remove_capability_from_bounding_set(privilege).unwrap_or_default();
    }
    if let Ok(sets) = capabilities(None) {
        let none = CapabilitySets {
            inheritable: CapabilitySet::empty(),
            ..sets
        };
        // What is inherited comes on top of what is left above.
        set_capabilities(None, none).unwrap_or_default();
    }
}

fn limit(limits: Limits) {
    let wanted = [
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.account_tasks),
        (Resource::Core, 0),
    ];
    for (resource, most) in wanted {
        // What was allowed to the server may be less already.
        let most = getrlimit(resource)
            .maximum
            .map_or(most, |max| max.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        // Lowering a limit is always allowed.
        setrlimit(resource, limit).unwrap_or_default();
    }
}

fn lock_in(confinement: &Confinement, hidden: &[PathBuf]) -> Result<LandlockStatus, RulesetError> {
    let read = AccessFs::from_read(RULES);
    let all = AccessFs::from_all(RULES);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        // Neither signals to the server nor talks with it behind its back.
        .scope(Scope::from_all(RULES))?;
    if !confinement.network {
        rules = rules.handle_access(AccessNet::from_all(RULES))?;
    }
    let writable = confinement.writable.iter();
    let writable = writable.flat_map(|root| match root.canonicalize() {
        Ok(root) => around(&root, hidden),
        Err(_) => Vec::new(),
    });
    let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(around("/".as_ref(), hidden), read))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules([SHARED_MEMORY], all))?
        .add_rules(path_beneath_rules(&confinement.readable, read))?
        .add_rules(path_beneath_rules(writable, all))?
        .restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::NotEnforced => LandlockStatus::NotImplemented,
        _ => status.landlock,
    })
}

/// `io_uring` could make sockets past this filter, so it goes too; whoever uses it can do without.
fn refuse(sockets: Sockets) -> Result<(), String> {
    let filter = || -> Result<BpfProgram, seccompiler::Error> {
        let always = Vec::new();
        let family = |compared| {
            let unix = u64::from(libc::AF_UNIX.unsigned_abs());
            let family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, compared, unix)?;
            Ok::<_, seccompiler::BackendError>(vec![SeccompRule::new(vec![family])?])
        };
        let sockets = match sockets {
            Sockets::All => always.clone(),
            Sockets::Named => family(SeccompCmpOp::Eq)?,
            Sockets::Others => family(SeccompCmpOp::Ne)?,
        };
        let rules = [
            (libc::SYS_socket, sockets.clone()),
            (libc::SYS_socket | X32, sockets),
            (libc::SYS_io_uring_setup, always.clone()),
            (libc::SYS_io_uring_setup | X32, always),
        ];
        let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        let filter = SeccompFilter::new(
            rules.into_iter().collect(),
            SeccompAction::Allow,
            refused,
            std::env::consts::ARCH.try_into()?,
        )?;
        Ok(filter.try_into()?)
    };
    let applied = filter().and_then(|filter| seccompiler::apply_filter(&filter));
    applied.map_err(|error| format!("the kernel cannot keep a program off sockets ({error})"))
}
