//! What skills say of themselves, remembered for as long as their files stay the same.
//!
//! To take YAML apart and to check a schema takes a hundred times as long as to look at a file, and
//! every message of every session needs to know which skills there are.

use super::front::{Front, read};
use super::{problem, read_capped};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Files that are remembered at most; beyond it all are forgotten.
const FILES_MAX: usize = 2_000;
/// A file that was changed this short a time ago is not remembered: a second change might leave no
/// trace in its time.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// Cheap to clone; all clones are the same.
#[derive(Clone, Debug, Default)]
pub struct KnownSkills {
    files: Arc<Mutex<Files>>,
}

/// What was read of a file, and as which.
type Files = HashMap<PathBuf, (Stamp, Arc<Front>)>;

/// A file as it was. Whatever is done to it changes one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl KnownSkills {
    /// What the file says, read again if it is not as it was. Blocks.
    pub(super) fn front(&self, file: &Path) -> Arc<Front> {
        self.front_if(file, Stamp::is_settled)
    }

    /// The same, remembered if the file is `fit` for that.
    fn front_if(&self, file: &Path, fit: impl FnOnce(&Stamp) -> bool) -> Arc<Front> {
        let stamp = Stamp::of(file);
        if let (Some(stamp), Some((known, front))) = (stamp, self.files().get(file))
            && *known == stamp
        {
            return Arc::clone(front);
        }
        // Read without the lock: a file on a disk that hangs must not keep others from theirs.
        let (front, stamp) = match read_capped(file) {
            Ok(text) => (read(&text), stamp.filter(fit)),
            // What went wrong may be over the next time, and the file the same.
            Err(error) => (unreadable(&error), None),
        };
        let front = Arc::new(front);
        let mut files = self.files();
        if files.len() >= FILES_MAX {
            files.clear();
        }
        match stamp {
            Some(stamp) => drop(files.insert(file.to_owned(), (stamp, Arc::clone(&front)))),
            None => drop(files.remove(file)),
        }
        front
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        // A map is whole between any two of its operations.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let found = std::fs::metadata(file).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            len: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    fn is_settled(&self) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        // One from the future is none to rely on.
        let ago = SystemTime::now().duration_since(changed);
        ago.is_ok_and(|ago| ago > SETTLED_AFTER)
    }
}

fn unreadable(error: &std::io::Error) -> Front {
    Front {
        problems: vec![problem(
            format!("SKILL.md 无法读取（{}）", error.kind()),
            format!("SKILL.md cannot be read ({})", error.kind()),
        )],
        ..Front::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    /// A file of the same length and the same date, whatever its name.
    fn put(file: &Path, name: &str) {
        let text = format!("---\nname: {name}\ndescription: D.\n---\nBody.\n");
        let new = file.with_extension("new");
        std::fs::write(&new, text).unwrap();
        let old = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        let opened = File::options().append(true).open(&new).unwrap();
        opened.set_times(old).unwrap();
        std::fs::rename(&new, file).unwrap();
    }

    #[test]
    fn a_file_is_read_once_and_again_when_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("SKILL.md");
        let known = KnownSkills::default();
        for name in ["one", "two", "six"] {
            put(&file, name);
            let read = known.front_if(&file, |_| true);
            assert_eq!(read.name.as_deref(), Some(name));
            assert!(Arc::ptr_eq(&read, &known.front(&file)));
        }
        std::fs::remove_file(&file).unwrap();
        assert!(!known.front(&file).problems.is_empty());
        assert!(known.files.lock().unwrap().is_empty());
    }

    #[test]
    fn what_could_not_be_read_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let known = KnownSkills::default();
        // A directory has a stamp, and cannot be read.
        let read = known.front_if(dir.path(), |_| true);
        assert!(!read.problems.is_empty());
        assert!(known.files.lock().unwrap().is_empty());
    }

    #[test]
    fn what_was_changed_just_now_is_not_relied_on() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("SKILL.md");
        put(&file, "one");
        let known = KnownSkills::default();
        let read = known.front(&file);
        assert!(!Arc::ptr_eq(&read, &known.front(&file)));
        let mut stamp = Stamp::of(&file).unwrap();
        assert!(!stamp.is_settled());
        stamp.changed.0 -= 10;
        assert!(stamp.is_settled());
        stamp.changed.0 += 3600;
        assert!(!stamp.is_settled(), "the clock was set back");
    }
}
