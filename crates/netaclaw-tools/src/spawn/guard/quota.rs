//! How much a child and everything below it may keep in its scratch directory.
//!
//! Only root can set a quota of the file system, so the guard counts. That means a look at every file;
//! most of the time the free space of the file system tells that it is not needed.

use rustix::fs::statvfs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The free space is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Another program may have freed what this one used, so the files are counted this often in any case.
const COUNT_EVERY: Duration = Duration::from_secs(15);
/// Counting takes at most one part in this many of the time.
const COUNT_PART: u32 = 20;

pub(super) struct Quota {
    dir: PathBuf,
    most: u64,
    /// What was there when it was counted, and how much the file system had free then.
    counted: u64,
    free: u64,
    count_at: Instant,
    look_at: Instant,
}

impl Quota {
    /// A child that finds more than that may still run, to remove some of it.
    pub(super) fn new(dir: &Path, most: u64) -> Self {
        let counted = bytes_in(dir);
        let now = Instant::now();
        Self {
            dir: dir.to_owned(),
            most: most.max(counted),
            counted,
            free: free_in(dir),
            count_at: now + COUNT_EVERY,
            look_at: now,
        }
    }

    pub(super) fn most(&self) -> u64 {
        self.most
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
        self.counted = bytes_in(&self.dir);
        self.free = free;
        let now = Instant::now();
        self.look_at = now + LOOK_EVERY.max((now - began) * COUNT_PART);
        self.count_at = now + COUNT_EVERY.max((now - began) * COUNT_PART);
        self.counted > self.most
    }
}

fn free_in(dir: &Path) -> u64 {
    statvfs(dir).map_or(0, |all| all.f_bavail.saturating_mul(all.f_frsize))
}

/// What the files take on the disk. Links are not followed.
fn bytes_in(dir: &Path) -> u64 {
    let mut bytes = 0;
    let mut waiting = vec![dir.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_the_limit_is_seen_and_what_was_there_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
            std::fs::write(dir.path().join("a/b").join(name), vec![1; 1 << 20]).unwrap();
        };
        file("one");
        let look = |quota: &mut Quota| {
            quota.look_at = Instant::now();
            quota.count_at = Instant::now();
            quota.is_exceeded()
        };
        let mut small = Quota::new(dir.path(), 1);
        assert!(!look(&mut small), "what was there before may stay");
        let mut large = Quota::new(dir.path(), 10 << 20);
        file("two");
        assert!(look(&mut small));
        assert!(!look(&mut large));
    }
}
