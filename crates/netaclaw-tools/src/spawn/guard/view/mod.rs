//! The file tree as a child sees it, in namespaces of its own: private devices, temporary files,
//! shared memory and System V IPC, nothing in hidden places, and read-only what others execute.
//!
//! Root makes these namespaces directly. Other accounts need a user namespace for them, which not
//! every machine allows; there Landlock and seccomp are all that holds a child.

mod devices;
mod git;
mod mounts;

use crate::spawn::plan::Plan;
use mounts::Mounts;
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount_bind, mount_change, mount_remount};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;
use std::path::Path;

/// Where programs without manners put temporary files.
const TEMP: &str = "/tmp";

/// Moves the guard, and so whatever it starts, into namespaces of its own. Must be called while the
/// guard has one thread. After an error the guard is of no more use.
pub(super) fn enter(plan: &Plan) -> Result<(), String> {
    unshare().map_err(|error| format!("the kernel does not allow namespaces: {error}"))?;
    build(plan).map_err(|error| format!("the kernel does not allow mounts in namespaces: {error}"))
}

fn unshare() -> std::io::Result<()> {
    let mut flags = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    let (user, group) = (geteuid(), getegid());
    if !user.is_root() {
        flags |= UnshareFlags::NEWUSER;
    }
    #[expect(
        deprecated,
        reason = "unsafe only with FILES, for what other threads have open; there are no others"
    )]
    rustix::thread::unshare(flags)?;
    if !user.is_root() {
        // Without this the kernel lets no ordinary account name its group.
        std::fs::write("/proc/self/setgroups", "deny")?;
        let [user, group] = [user.as_raw(), group.as_raw()];
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    Ok(())
}

fn build(plan: &Plan) -> std::io::Result<()> {
    // Nothing that is mounted here is seen outside.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private)?;
    let mut covers = Mounts::of(plan)?;
    devices::mount()?;
    covers.apply()?;
    for root in &plan.confinement.writable {
        git::protect(root)?;
    }
    Ok(())
}

/// Makes a file or directory read-only for the child.
fn make_read_only(path: &Path) -> Result<(), Errno> {
    mount_bind(path, path)?;
    // An ordinary account may add restrictions to a mount and must repeat those it has.
    let has = statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (had, flag) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if has.contains(had) {
            flags |= flag;
        }
    }
    mount_remount(path, flags, "")
}
