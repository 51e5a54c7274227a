//! The seccomp filter: system calls that a child must not make.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// System calls of the other calling convention of x86-64 have this bit set.
const X32: i64 = 0x4000_0000;

/// New namespaces would give privileges in them; the others reach parts of the kernel that all
/// processes share, such as the keys of the account.
const ALWAYS: [i64; 7] = [
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
];
/// Memory, semaphores and messages that programs share by number or name. In a namespace of its own
/// a child shares them with no other process.
const IPC: [i64; 5] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWCGROUP,
];

/// Which sockets a program may not make. Pairs of them are always allowed.
#[derive(Clone, Copy)]
pub(super) enum Sockets {
    All,
    /// Those with a name in the file tree.
    Named,
    /// Those that reach the network.
    Others,
}

type Rules = Vec<(i64, Vec<SeccompRule>)>;

/// Refuses them to the calling thread and to what it starts.
pub(super) fn refuse(sockets: Option<Sockets>, namespaces: bool) -> Result<(), String> {
    let apply = || -> Result<(), seccompiler::Error> {
        // The flags of this one are in memory, where a filter cannot look. Its callers fall back to
        // the older one.
        let newest = vec![(libc::SYS_clone3, Vec::new())];
        apply(newest, libc::ENOSYS)?;
        apply(refused(sockets, namespaces)?, libc::EACCES)
    };
    apply().map_err(|error| format!("the kernel cannot filter system calls ({error})"))
}

fn refused(sockets: Option<Sockets>, namespaces: bool) -> Result<Rules, BackendError> {
    let mut rules: Rules = ALWAYS.map(|call| (call, Vec::new())).into();
    if !namespaces {
        rules.extend(IPC.map(|call| (call, Vec::new())));
    }
    let spaces = NAMESPACES.into_iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        let has = SeccompCmpOp::MaskedEq(flag);
        let flags = SeccompCondition::new(0, SeccompCmpArgLen::Qword, has, flag)?;
        SeccompRule::new(vec![flags])
    });
    rules.push((libc::SYS_clone, spaces.collect::<Result<_, _>>()?));
    let family = |compared| {
        let unix = u64::from(libc::AF_UNIX.unsigned_abs());
        let family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, compared, unix)?;
        Ok::<_, BackendError>(vec![SeccompRule::new(vec![family])?])
    };
    if let Some(sockets) = sockets {
        let families = match sockets {
            Sockets::All => Vec::new(),
            Sockets::Named => family(SeccompCmpOp::Eq)?,
            Sockets::Others => family(SeccompCmpOp::Ne)?,
        };
        rules.push((libc::SYS_socket, families));
        // It could create sockets that bypass this filter. Programs can do without it.
        rules.push((libc::SYS_io_uring_setup, Vec::new()));
    }
    Ok(rules)
}

fn apply(rules: Rules, errno: i32) -> Result<(), seccompiler::Error> {
    let both = rules
        .into_iter()
        .flat_map(|(call, rules)| [(call, rules.clone()), (call | X32, rules)]);
    let filter = SeccompFilter::new(
        both.collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}
