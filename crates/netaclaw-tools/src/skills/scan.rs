//! One scan of the directories of skills, which reuses what has not changed since the previous
//! scan.
//!
//! Parsing YAML and checking a schema takes a hundred times as long as a stat of a file, and an
//! active agent's skills are scanned twice a second.

use super::front_matter::{FrontMatter, read};
use super::{Skill, read_capped};
use netaclaw_protocol::SkillProblem;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A file that was changed this short a time ago is parsed again by the next scan: a second change
/// might leave no trace in its time.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// The skills of an agent at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SkillScan {
    /// First those that come first in the index. The same value as in the scan before, if they are
    /// equal.
    pub skills: Arc<Vec<Skill>>,
    pub(super) files: Arc<FrontMatterCache>,
}

/// What the files say, each with what it was like when it was parsed.
pub(super) type FrontMatterCache = HashMap<PathBuf, (SkillFileStamp, Arc<FrontMatter>)>;

/// The files of the scan before, and those of this one.
pub(super) struct FrontMatterReader<'a> {
    pub(super) before: &'a FrontMatterCache,
    pub(super) now: FrontMatterCache,
}

/// A file as it was. Whatever is done to it changes one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkillFileStamp {
    device: u64,
    inode: u64,
    len: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FrontMatterReader<'_> {
    /// What the file says, parsed again unless it is as it was. Blocks.
    pub(super) fn front(&mut self, file: &Path) -> Arc<FrontMatter> {
        self.front_if(file, SkillFileStamp::is_settled)
    }

    /// The same; the next scan may take it from this one if the file is `fit` for that.
    fn front_if(
        &mut self,
        file: &Path,
        fit: impl FnOnce(&SkillFileStamp) -> bool,
    ) -> Arc<FrontMatter> {
        let stamp = SkillFileStamp::of(file);
        let (front, stamp) = match (stamp, self.before.get(file)) {
            (Some(stamp), Some((known, front))) if *known == stamp => {
                (Arc::clone(front), Some(stamp))
            }
            _ => match read_capped(file) {
                Ok(text) => (Arc::new(read(&text)), stamp.filter(fit)),
                // What went wrong may be over the next time, and the file the same.
                Err(error) => (Arc::new(unreadable(&error)), None),
            },
        };
        if let Some(stamp) = stamp {
            self.now
                .insert(file.to_owned(), (stamp, Arc::clone(&front)));
        }
        front
    }
}

impl SkillFileStamp {
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

fn unreadable(error: &std::io::Error) -> FrontMatter {
    FrontMatter {
        problems: vec![SkillProblem::NotReadable {
            error: error.kind().to_string(),
        }],
        ..FrontMatter::default()
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

    fn scan(
        before: &FrontMatterCache,
        file: &Path,
        fit: impl FnOnce(&SkillFileStamp) -> bool,
    ) -> (Arc<FrontMatter>, FrontMatterCache) {
        let now = FrontMatterCache::default();
        let mut reader = FrontMatterReader { before, now };
        let front = reader.front_if(file, fit);
        (front, reader.now)
    }

    #[test]
    fn a_file_is_parsed_once_and_again_when_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("SKILL.md");
        let mut before = FrontMatterCache::default();
        for name in ["one", "two", "six"] {
            put(&file, name);
            let (front, now) = scan(&before, &file, |_| true);
            assert_eq!(front.name.as_deref(), Some(name));
            let (again, now) = scan(&now, &file, SkillFileStamp::is_settled);
            assert!(Arc::ptr_eq(&front, &again));
            before = now;
        }
        std::fs::remove_file(&file).unwrap();
        let (front, now) = scan(&before, &file, |_| true);
        assert!(!front.problems.is_empty() && now.is_empty());
    }

    #[test]
    fn what_could_not_be_read_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        // A directory has a stamp, and cannot be read.
        let (front, now) = scan(&FrontMatterCache::default(), dir.path(), |_| true);
        assert!(!front.problems.is_empty() && now.is_empty());
    }

    #[test]
    fn what_was_changed_just_now_is_not_relied_on() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("SKILL.md");
        put(&file, "one");
        let (_, now) = scan(
            &FrontMatterCache::default(),
            &file,
            SkillFileStamp::is_settled,
        );
        assert!(now.is_empty());
        let mut stamp = SkillFileStamp::of(&file).unwrap();
        assert!(!stamp.is_settled());
        stamp.changed.0 -= 10;
        assert!(stamp.is_settled());
        stamp.changed.0 += 3600;
        assert!(!stamp.is_settled(), "the clock was set back");
    }
}
