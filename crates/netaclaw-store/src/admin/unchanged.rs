//! What was read and is still true, told by the files of the database alone.
//!
//! A statement has to go to SQLite's own thread and back, which takes a hundred times as long as
//! a look at a file, and every message of a user needs several. Every change to the database, by
//! whichever process, is first written to the log beside it, so as long as that file is the same,
//! what was read before is what would be read now.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// File systems count time in ticks. A file that was changed this short a time ago may be changed
/// again without its time telling.
const SETTLED_AFTER: Duration = Duration::from_millis(50);
/// Values kept at most; beyond it all are forgotten.
const KEPT_MAX: usize = 4096;

/// Watches one database.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// `None` where no file tells of changes.
    log: Option<PathBuf>,
}

/// A state of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    device: u64,
    inode: u64,
    size: u64,
    changed: SystemTime,
}

impl Watch {
    pub(super) fn sqlite(file: &Path) -> Self {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        Self {
            log: Some(log.into()),
        }
    }

    /// The state at this moment. `None` if it cannot be told, and then everything has to be read.
    pub(super) fn mark(&self) -> Option<Mark> {
        let file = std::fs::metadata(self.log.as_ref()?).ok()?;
        let changed = file.modified().ok()?;
        // A clock that was set back makes the change one of the future, which is no age either.
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age >= SETTLED_AFTER).then(|| Mark {
            device: file.dev(),
            inode: file.ino(),
            size: file.len(),
            changed,
        })
    }
}

/// Values that were read in one state of the database. They are gone with it.
#[derive(Debug)]
pub(super) struct Unchanged<K, V> {
    kept: Mutex<(Option<Mark>, HashMap<K, V>)>,
}

impl<K, V> Default for Unchanged<K, V> {
    fn default() -> Self {
        Self {
            kept: Mutex::new((None, HashMap::new())),
        }
    }
}

impl<K: Eq + Hash, V: Clone> Unchanged<K, V> {
    pub(super) fn get<Q>(&self, mark: Option<Mark>, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let kept = self.lock();
        let (of, values) = &*kept;
        match mark.is_some() && *of == mark {
            true => values.get(key).cloned(),
            false => None,
        }
    }

    /// Keeps what was read after `mark` was taken, in this order: what changed in between is newer
    /// than the mark, and read again next time.
    pub(super) fn keep(&self, mark: Option<Mark>, key: K, value: V) {
        if mark.is_none() {
            return;
        }
        let mut kept = self.lock();
        let (of, values) = &mut *kept;
        if *of != mark || values.len() >= KEPT_MAX {
            values.clear();
            *of = mark;
        }
        values.insert(key, value);
    }

    fn lock(&self) -> MutexGuard<'_, (Option<Mark>, HashMap<K, V>)> {
        // Values are whole, and belong to the mark that is replaced with them.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    /// A database whose log was last written `age` ago.
    fn watched(age: Duration) -> (tempfile::TempDir, Watch, File) {
        let dir = tempfile::tempdir().unwrap();
        let log = File::create(dir.path().join("a.db-wal")).unwrap();
        log.set_modified(SystemTime::now() - age).unwrap();
        let watch = Watch::sqlite(&dir.path().join("a.db"));
        (dir, watch, log)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_was_read_counts_until_the_log_is_written() {
        let (_dir, watch, mut log) = watched(LONG);
        let kept = Unchanged::default();
        kept.keep(watch.mark(), "a".to_owned(), 1);
        assert_eq!(kept.get(watch.mark(), "a"), Some(1));
        assert_eq!(kept.get(watch.mark(), "b"), None);

        log.write_all(b"more").unwrap();
        log.set_modified(SystemTime::now() - LONG / 2).unwrap();
        assert_eq!(kept.get(watch.mark(), "a"), None);
        kept.keep(watch.mark(), "b".to_owned(), 2);
        assert_eq!(kept.get(watch.mark(), "b"), Some(2));
        assert_eq!(kept.get(watch.mark(), "a"), None, "it was of another state");
    }

    #[test]
    fn a_change_of_the_same_size_is_noticed_by_its_time() {
        let (_dir, watch, log) = watched(LONG);
        let before = watch.mark();
        log.set_modified(SystemTime::now() - LONG / 2).unwrap();
        assert_ne!(watch.mark(), before);
    }

    #[test]
    fn what_has_just_been_written_may_be_written_again_unnoticed() {
        let (_dir, watch, log) = watched(Duration::ZERO);
        assert_eq!(watch.mark(), None);
        log.set_modified(SystemTime::now() + LONG).unwrap();
        assert_eq!(watch.mark(), None, "the clock was set back");
        let kept = Unchanged::default();
        kept.keep(watch.mark(), "a".to_owned(), 1);
        assert_eq!(kept.get(watch.mark(), "a"), None);
    }

    #[test]
    fn without_a_log_nothing_is_kept() {
        let kept = Unchanged::default();
        for watch in [Watch::default(), Watch::sqlite(Path::new("/nowhere/a.db"))] {
            assert_eq!(watch.mark(), None);
            kept.keep(watch.mark(), "a".to_owned(), 1);
            assert_eq!(kept.get(watch.mark(), "a"), None);
        }
    }
}
