//! Limits the disk usage of a child's scratch directory.
//!
//! Before a program starts and after it ends, the excess is removed. Otherwise many short programs
//! could each leave a little more.
//!
//! Only root can set a quota of the file system, so the guard counts. That means a stat of every
//! file; usually the free space of the file system shows that it is not needed.

use crate::spawn::plan::Plan;
use crate::spawn::scratch::make_private;
use crate::spawn::sweep;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, openat, statvfs};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The free space is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Another program may have freed what this one used, so the files are counted this often in any
/// case.
const COUNT_EVERY: Duration = Duration::from_secs(15);
/// Counting takes at most one part in this many of the time.
const COUNT_PART: u32 = 5;
/// Every file counts for this much at least, because their number is bounded as well.
const FILE_MIN: u64 = 4 << 10;

pub(super) struct Quota {
    /// Holds the scratch directory open. In a view of its own the path to it may lead through its
    /// temporary files, and is gone once these are removed.
    _held: Option<OwnedFd>,
    dir: PathBuf,
    /// The part of it where programs put files by default.
    temp: PathBuf,
    most: u64,
    /// What was there when it was counted, and how much the file system had free then.
    counted: u64,
    free: u64,
    count_at: Instant,
    look_at: Instant,
}

impl Quota {
    pub(super) fn new(plan: &Plan) -> Self {
        let now = Instant::now();
        let free = free_in(&plan.scratch);
        let most = plan.confinement.limits.scratch_bytes;
        let (held, dir) = hold(&plan.scratch);
        let temp = match plan.temp.strip_prefix(&plan.scratch) {
            Ok(below) => dir.join(below),
            Err(_) => plan.temp.clone(),
        };
        Self {
            counted: bytes_in(&dir, most),
            _held: held,
            dir,
            temp,
            most,
            free,
            count_at: now + COUNT_EVERY,
            look_at: now,
        }
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Counts, and removes files if they are too many. Whether there were.
    pub(super) fn enforce(&mut self) -> bool {
        self.count();
        if self.counted <= self.most {
            return false;
        }
        sweep::empty(&self.temp);
        self.count();
        if self.counted > self.most {
            // Outputs that were kept for the model go only if that is not enough.
            sweep::empty(&self.dir);
            // A failure shows when the next program writes to it.
            make_private(&self.temp).unwrap_or_default();
            self.count();
        }
        true
    }

    /// Whether there is too much although what could be removed was.
    pub(super) fn is_full(&self) -> bool {
        self.counted > self.most
    }

    fn count(&mut self) {
        self.free = free_in(&self.dir);
        self.counted = bytes_in(&self.dir, self.most);
    }

    pub(super) fn is_exceeded(&mut self) -> bool {
        let began = Instant::now();
        if began < self.look_at {
            return false;
        }
        self.look_at = began + LOOK_EVERY;
        let free = free_in(&self.dir);
        let used = self.free.saturating_sub(free);
        if self.counted.saturating_add(used) <= self.most && began < self.count_at {
            return false;
        }
        self.count();
        let now = Instant::now();
        self.look_at = now + LOOK_EVERY.max((now - began) * COUNT_PART);
        self.count_at = now + COUNT_EVERY.max((now - began) * COUNT_PART);
        self.counted > self.most
    }
}

/// Opens a directory, and gives a path to it that lasts for as long as it is open.
fn hold(dir: &Path) -> (Option<OwnedFd>, PathBuf) {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::PATH;
    match openat(CWD, dir, flags, Mode::empty()) {
        Ok(held) => {
            let path = format!("/proc/self/fd/{}/.", held.as_raw_fd());
            (Some(held), path.into())
        }
        Err(_) => (None, dir.to_owned()),
    }
}

fn free_in(dir: &Path) -> u64 {
    statvfs(dir).map_or(0, |all| all.f_bavail.saturating_mul(all.f_frsize))
}

/// What the files take on the disk, or something above `most`. Links are not followed. What cannot
/// be counted is too much: only an attempt to hide files is too deep to be read.
fn bytes_in(top: &Path, most: u64) -> u64 {
    let mut bytes: u64 = 0;
    let mut waiting = vec![top.to_owned()];
    while let Some(dir) = waiting.pop() {
        let entries = std::fs::read_dir(&dir).or_else(|error| match error.kind() {
            ErrorKind::PermissionDenied => {
                sweep::open_up(&dir);
                std::fs::read_dir(&dir)
            }
            _ => Err(error),
        });
        let entries = match entries {
            Ok(entries) => entries,
            // Removed or replaced since it was listed. The top itself stays as long as its programs
            // run.
            Err(error) if is_gone(error.kind()) && dir != top => continue,
            Err(_) => return u64::MAX,
        };
        for entry in entries.flatten() {
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) if is_gone(error.kind()) => continue,
                Err(_) => return u64::MAX,
            };
            bytes = bytes.saturating_add((metadata.blocks() * 512).max(FILE_MIN));
            if bytes > most {
                return bytes;
            }
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::plan::{Confinement, Limits};
    use netaclaw_protocol::MissingSandbox;

    fn quota(dir: &Path, scratch_bytes: u64) -> Quota {
        Quota::new(&Plan {
            program: String::new(),
            args: Vec::new(),
            cwd: dir.to_owned(),
            confinement: Confinement {
                writable: Vec::new(),
                readable: Vec::new(),
                network: false,
                missing: MissingSandbox::Refuse,
                limits: Limits {
                    scratch_bytes,
                    ..Limits::default()
                },
            },
            hidden: Vec::new(),
            scratch: dir.to_owned(),
            temp: dir.join("tmp"),
            namespaces: false,
        })
    }

    fn write(dir: &Path, name: &str) {
        std::fs::create_dir_all(dir.join("tmp/a")).unwrap();
        std::fs::write(dir.join(name), vec![1; 1 << 20]).unwrap();
    }

    #[test]
    fn growth_beyond_the_limit_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let look = |quota: &mut Quota| {
            quota.look_at = Instant::now();
            quota.count_at = Instant::now();
            quota.is_exceeded()
        };
        write(dir.path(), "tmp/a/one");
        let [mut small, mut large] = [2 << 20, 10 << 20].map(|most| quota(dir.path(), most));
        assert!(!look(&mut small));
        write(dir.path(), "tmp/a/two");
        assert!(look(&mut small));
        assert!(!look(&mut large));
    }

    #[test]
    fn temporary_files_are_removed_before_kept_outputs() {
        let dir = tempfile::tempdir().unwrap();
        let there = || ["output", "tmp/a/one", "tmp"].map(|name| dir.path().join(name).exists());
        write(dir.path(), "output");
        write(dir.path(), "tmp/a/one");
        assert!(!quota(dir.path(), 3 << 20).enforce());
        assert_eq!(there(), [true, true, true]);
        let mut enough = quota(dir.path(), 3 << 19);
        assert!(enough.enforce() && !enough.is_full());
        assert_eq!(there(), [true, false, true]);
        let mut small = quota(dir.path(), 1 << 19);
        assert!(small.enforce() && !small.is_full());
        assert_eq!(there(), [false, false, true]);
        assert!(!small.enforce());
    }

    #[test]
    fn the_number_of_files_is_bounded_too() {
        let dir = tempfile::tempdir().unwrap();
        for name in 0..100 {
            std::fs::write(dir.path().join(name.to_string()), "").unwrap();
        }
        assert!(quota(dir.path(), 100 * FILE_MIN - 1).is_full());
        assert!(!quota(dir.path(), 101 * FILE_MIN).is_full());
    }
}
