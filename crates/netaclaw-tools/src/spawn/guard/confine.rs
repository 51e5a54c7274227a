//! Applies Landlock and seccomp to the current thread and its children.

use super::calls::{self, Sockets};
use super::places::around;
use crate::spawn::plan::{Confinement, Limits, Plan, Sandbox, StartFault};
use crate::spawn::sandbox_abilities::{GUARDS_SOCKET_NAMES, SandboxAbilities, abilities_of};
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
use std::path::PathBuf;

/// The newest rules this was written for. An older kernel enforces those it supports.
const RULES: ABI = ABI::V9;

/// Devices that every program expects, to write to as well. All others are closed: raw disks, and
/// the terminals of other programs.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
const ALL_DEVICES: &str = "/dev";
const SHARED_MEMORY: &str = "/dev/shm";
/// What root may still do in a child.
const PRIVILEGES_KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Restricts the calling thread. Nothing takes this back.
pub(super) fn confine(plan: &Plan) -> Result<Sandbox, StartFault> {
    let confinement = &plan.confinement;
    limit(confinement.limits);
    drop_privileges();
    let landlock = lock_in(plan)
        .map_err(|error| format!("Landlock rejected the rules ({error})"))
        .and_then(|status| match abilities_of(&status) {
            SandboxAbilities::Landlock(version) => Ok(version),
            SandboxAbilities::SwitchedOff => Err("Landlock is disabled in this kernel".to_owned()),
            SandboxAbilities::Absent => Err("this kernel has no Landlock".to_owned()),
        });
    let sockets = refused_sockets(confinement, &landlock);
    let calls = calls::refuse(sockets, plan.namespaces);
    let missing = landlock.as_ref().err().or(calls.as_ref().err());
    match (missing, confinement.missing) {
        (Some(why), MissingSandbox::Refuse) => Err(StartFault::NoSandbox(why.clone())),
        _ => Ok(Sandbox {
            landlock: landlock.ok(),
            network: confinement.network || calls.is_err(),
            namespaces: plan.namespaces,
        }),
    }
}

/// Behind a name in the file tree there may be a service with broad privileges for all its clients,
/// such as the one that starts containers. Which of them may be called is for Landlock to decide,
/// if it can; else none may, unless the network is on and the agent accepts what this machine
/// cannot guard.
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
        // It fails without capabilities, and for those the kernel does not support.
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

fn lock_in(plan: &Plan) -> Result<LandlockStatus, RulesetError> {
    let read = AccessFs::from_read(RULES);
    let all = AccessFs::from_all(RULES);
    let write = all & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        // Neither signals to the server nor talks with it behind its back.
        .scope(Scope::from_all(RULES))?;
    if !plan.confinement.network {
        rules = rules.handle_access(AccessNet::from_all(RULES))?;
    }
    let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let mut rules = rules
        .create()?
        .add_rules(path_beneath_rules(readable(plan), read))?
        .add_rules(path_beneath_rules(&plan.confinement.readable, read))?
        .add_rules(path_beneath_rules(writable(plan), write))?;
    rules = match plan.namespaces {
        // Everything there is the child's own, and hidden files are covered: names reveal nothing.
        true => rules
            .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
            .add_rules(path_beneath_rules([ALL_DEVICES], devices))?
            .add_rules(path_beneath_rules([SHARED_MEMORY], write))?,
        // Names in a directory with something hidden would reveal the hidden names as well. A child
        // without its own directory would be useless, though.
        false => rules
            .add_rules(path_beneath_rules(plan.writable(), AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(DEVICES, devices))?,
    };
    let status = rules.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::NotEnforced => LandlockStatus::NotImplemented,
        _ => status.landlock,
    })
}

fn readable(plan: &Plan) -> Vec<PathBuf> {
    let mut hidden = plan.hidden.clone();
    hidden.push(ALL_DEVICES.into());
    around("/".as_ref(), &hidden)
}

fn writable(plan: &Plan) -> Vec<PathBuf> {
    let roots = plan.writable().filter_map(|root| root.canonicalize().ok());
    let allowed = roots.flat_map(|root| {
        let mut inside = plan.hidden.iter().filter(|place| place.starts_with(&root));
        // What is covered can be neither replaced nor removed. What does not exist yet cannot be
        // covered, and must not be made.
        match plan.namespaces && inside.all(|place| *place != root && place.exists()) {
            true => vec![root],
            false => around(&root, &plan.hidden),
        }
    });
    allowed.collect()
}
