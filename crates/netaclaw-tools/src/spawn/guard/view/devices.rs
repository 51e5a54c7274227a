//! A `/dev` with the devices that programs need and no others.

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use std::fs::{DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::{ffi::CStr, io};

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("pts/ptmx", "/dev/ptmx"),
];
/// What one program may put into shared memory, which counts for no process's memory.
const SHARED_MEMORY: &CStr = c"mode=1777,size=256m";
/// What is seen instead of a hidden place.
pub(super) const EMPTY_DIR: &str = "/dev/.empty";
pub(super) const EMPTY_FILE: &str = "/dev/.empty-file";

pub(super) fn mount() -> io::Result<()> {
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let devices: Vec<_> = DEVICES
        .into_iter()
        .filter_map(|path| Some((path, open_tree(CWD, path, clone).ok()?)))
        .collect();
    let harmless = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount_fs("tmpfs", "/dev", harmless, c"mode=755,size=64k")?;
    for (path, device) in devices {
        File::create(path)?;
        move_mount(
            device,
            "",
            CWD,
            path,
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
        )?;
    }
    for dir in ["/dev/pts", "/dev/shm", EMPTY_DIR] {
        DirBuilder::new().mode(0o555).create(dir)?;
    }
    File::create(EMPTY_FILE)?.set_permissions(Permissions::from_mode(0o444))?;
    // Terminals that a program makes are its own; those of other programs are not here.
    let terminals = c"newinstance,ptmxmode=0666,mode=0620";
    mount_fs("devpts", "/dev/pts", harmless, terminals)?;
    let memory = MountFlags::NOSUID | MountFlags::NODEV;
    mount_fs("tmpfs", "/dev/shm", memory, SHARED_MEMORY)?;
    for (target, link) in LINKS {
        symlink(target, link)?;
    }
    Ok(())
}

fn mount_fs(kind: &str, at: &str, flags: MountFlags, data: &CStr) -> io::Result<()> {
    Ok(rustix::mount::mount(kind, at, kind, flags, data)?)
}
