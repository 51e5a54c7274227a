//! Removes what programs left: processes, shared memory, files.
//!
//! Programs choose depth, names and permissions, and some may still run. So every step goes by an
//! open directory and one name in it, which no link can lead elsewhere, and directories are moved
//! to the top instead of being descended into, which takes neither stack nor open files.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A program that still runs could add files without end.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Removes a directory with everything in it, as far as that is possible. Blocks.
pub(super) fn remove(dir: &Path) {
    empty(dir);
    // It may never have been made.
    std::fs::remove_dir(dir).unwrap_or_default();
}

/// Removes everything in a directory, as far as that is possible. Blocks.
pub(super) fn empty(dir: &Path) {
    let began = Instant::now();
    let Ok(top) = open(CWD, dir) else {
        return;
    };
    // Each round moves up what was one level further down.
    while began.elapsed() < TIME_MAX {
        let mut removed = false;
        for name in names(&top) {
            removed |= unlinkat(&top, &*name, AtFlags::empty()).is_ok() || flatten(&top, &name);
        }
        if !removed {
            return;
        }
    }
}

/// Removes a directory in `top` and moves the directories in it to `top`. Returns whether anything
/// has changed.
fn flatten(top: &OwnedFd, name: &CStr) -> bool {
    let Ok(dir) = open(top, name) else {
        return false;
    };
    let mut changed = false;
    for name in names(&dir) {
        let is_gone = match unlinkat(&dir, &*name, AtFlags::empty()) {
            Err(Errno::ISDIR) => {
                // Who moves a directory must be allowed to write to it.
                let opened = open(&dir, &*name);
                let new = format!("removed-{:016x}", fastrand::u64(..));
                opened.and_then(|_| renameat(&dir, &*name, top, new))
            }
            removed => removed,
        };
        changed |= is_gone.is_ok();
    }
    // Some file systems are slow to remove what is open.
    drop(dir);
    changed | unlinkat(top, name, AtFlags::REMOVEDIR).is_ok()
}

/// Opens a directory, also one that its owner has closed.
fn open(at: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(at, name, flags | OFlags::PATH, Mode::empty())?;
    // Not by its name: it could be another by now.
    let same = format!("/proc/self/fd/{}", place.as_raw_fd());
    // What belongs to another account is opened as it is, or not at all.
    std::fs::set_permissions(same, PermissionsExt::from_mode(0o700)).unwrap_or_default();
    openat(&place, ".", flags | OFlags::RDONLY, Mode::empty())
}

/// Makes a directory readable that its owner has closed.
pub(super) fn open_up(dir: &Path) {
    drop(open(CWD, dir));
}

fn names(dir: &OwnedFd) -> impl Iterator<Item = CString> {
    let entries = Dir::read_from(dir).into_iter().flatten();
    let names = entries.map_while(|entry| entry.ok().map(|entry| entry.file_name().to_owned()));
    names.filter(|name| !matches!(name.to_bytes(), b"." | b".."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;

    #[test]
    fn deep_closed_and_linked_directories_go_and_nothing_behind_links() {
        let place = tempfile::tempdir().unwrap();
        let [inside, outside] = ["inside", "outside"].map(|name| place.path().join(name));
        for dir in [&inside, &outside] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("file"), "words").unwrap();
        }
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let closed = inside.join("closed");
        std::fs::create_dir_all(closed.join("in")).unwrap();
        for dir in [closed.join("in"), closed] {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(0o000)).unwrap();
        }
        // Deeper than a path can name, and than files can be open.
        let mut at = open(CWD, &*inside).unwrap();
        for _ in 0..1_200 {
            mkdirat(&at, "deep", Mode::RWXU).unwrap();
            at = open(&at, c"deep").unwrap();
        }
        drop(at);
        remove(&inside);
        assert!(!inside.exists());
        assert!(outside.join("file").exists());
    }
}
