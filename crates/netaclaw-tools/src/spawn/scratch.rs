//! Directories for what children leave behind and models may want to read, one per session.
//!
//! All of them are in one directory of this process that is hidden from every tool. A session gets
//! its own by name, as a root of its file tools and as the directory for temporary files of its
//! programs.

use super::sweep;
use std::collections::{HashMap, VecDeque};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const PREFIX: &str = "netaclaw-scratch-";
/// Kept outputs of one session; the oldest goes when there is one more.
const FILES_MAX: usize = 64;
/// What kept outputs of one session may take together; the oldest go when there is more.
const KEPT_BYTES_MAX: u64 = 512 << 20;
/// A directory is locked as soon as it is made; a younger one may not be yet.
const LOCKED_AFTER: Duration = Duration::from_secs(60);
/// The directory of a session that runs nothing for this long is removed.
const IDLE_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// The directories of all sessions of this process.
#[derive(Debug)]
pub(super) struct Scratches {
    base: Arc<ScratchBase>,
    sessions: Mutex<HashMap<String, (Arc<Scratch>, Instant)>>,
}

/// One session's directory, removed when the last user is gone. Made when it is first needed.
#[derive(Debug)]
pub struct Scratch {
    base: Arc<ScratchBase>,
    dir: PathBuf,
    temp: PathBuf,
    files: Mutex<VecDeque<PathBuf>>,
}

#[derive(Debug)]
struct ScratchBase {
    dir: PathBuf,
    /// Shows other processes that the directory is in use.
    lock: OnceLock<File>,
}

impl Scratches {
    pub(super) fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(temp: &Path) -> Self {
        let temp = temp.canonicalize().unwrap_or_else(|_| temp.to_owned());
        Self {
            base: Arc::new(ScratchBase {
                dir: temp.join(format!("{PREFIX}{:016x}", fastrand::u64(..))),
                lock: OnceLock::new(),
            }),
            sessions: Mutex::default(),
        }
    }

    /// Where all of them lie.
    pub(super) fn dir(&self) -> &Path {
        &self.base.dir
    }

    /// The directory of a session. Nothing is made yet.
    pub(super) fn of(&self, session: &str) -> Arc<Scratch> {
        let now = Instant::now();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = |(scratch, last): &(Arc<Scratch>, Instant)| {
            Arc::strong_count(scratch) > 1 || now.duration_since(*last) < IDLE_MAX
        };
        let idle = sessions.extract_if(|_, scratch| !in_use(scratch)).collect();
        let new = || (Arc::new(Scratch::new(&self.base)), now);
        let (scratch, last) = sessions.entry(session.to_owned()).or_insert_with(new);
        *last = now;
        let scratch = Arc::clone(scratch);
        drop(sessions);
        remove(idle);
        scratch
    }

    /// Removes what a session has left. What still runs keeps its directory until it ends.
    pub(super) fn forget(&self, session: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = sessions.remove_entry(session);
        drop(sessions);
        remove(gone.into_iter().collect());
    }
}

/// Removing many files takes time, for which callers should not wait. No owner joins the thread: a
/// process that ends before removes the directory of all sessions, or leaves it for the next one to
/// sweep.
fn remove(gone: Vec<(String, (Arc<Scratch>, Instant))>) {
    let (last, used): (Vec<_>, Vec<_>) = gone
        .into_iter()
        .partition(|(_, (scratch, _))| Arc::strong_count(scratch) == 1);
    // Removed by the program that still uses it.
    drop(used);
    if !last.is_empty() {
        std::thread::spawn(move || drop(last));
    }
}

impl Scratch {
    fn new(base: &Arc<ScratchBase>) -> Self {
        let dir = base.dir.join(format!("{:016x}", fastrand::u64(..)));
        Self {
            base: Arc::clone(base),
            temp: dir.join("tmp"),
            dir,
            files: Mutex::default(),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where programs put temporary files.
    pub fn temp(&self) -> &Path {
        &self.temp
    }

    /// Makes the directories, for this account alone. Blocks.
    pub fn make(&self) -> io::Result<()> {
        self.base.make()?;
        for dir in [&self.dir, &self.temp] {
            make_private(dir)?;
        }
        Ok(())
    }

    /// A new file with a name of its own. Blocks.
    pub fn create(&self, stem: &str) -> io::Result<(File, PathBuf)> {
        self.make()?;
        let named = tempfile::Builder::new()
            .prefix(&format!("{stem}-"))
            .suffix(".txt")
            .tempfile_in(self.dir())?;
        let (file, path) = named.keep().map_err(|error| error.error)?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push_back(path.clone());
        let size = |path: &PathBuf| path.symlink_metadata().map_or(0, |file| file.len());
        let mut bytes: u64 = files.iter().map(size).sum();
        while files.len() > FILES_MAX || (bytes > KEPT_BYTES_MAX && files.len() > 1) {
            let Some(oldest) = files.pop_front() else {
                break;
            };
            bytes -= size(&oldest).min(bytes);
            // The program that wrote it may have removed it before.
            std::fs::remove_file(oldest).unwrap_or_default();
        }
        Ok((file, path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        sweep::remove(&self.dir);
    }
}

impl ScratchBase {
    fn make(&self) -> io::Result<()> {
        if self.lock.get().is_some() {
            return Ok(());
        }
        if let Some(temp) = self.dir.parent() {
            remove_left_behind(temp);
        }
        make_private(&self.dir)?;
        let lock = File::open(&self.dir)?;
        // Shared, because two threads may come here at once.
        lock.try_lock_shared()?;
        self.lock.get_or_init(|| lock);
        Ok(())
    }
}

impl Drop for ScratchBase {
    fn drop(&mut self) {
        if self.lock.get().is_some() {
            sweep::remove(&self.dir);
        }
    }
}

pub(super) fn make_private(dir: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(dir) {
        // Its parent is private, or its name cannot be guessed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => made,
    }
}

/// Removes the directories of processes that were killed. What cannot be removed belongs to another
/// account.
fn remove_left_behind(temp: &Path) {
    let entries = std::fs::read_dir(temp).into_iter().flatten().flatten();
    for entry in entries {
        let is_scratch = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes());
        if is_scratch && is_left_behind(&entry.path()).unwrap_or(false) {
            sweep::remove(&entry.path());
        }
    }
}

fn is_left_behind(dir: &Path) -> io::Result<bool> {
    let age = dir.symlink_metadata()?.modified()?.elapsed();
    if age.unwrap_or_default() < LOCKED_AFTER {
        return Ok(false);
    }
    Ok(File::open(dir)?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_last_files_are_kept() {
        let temp = tempfile::tempdir().unwrap();
        let scratches = Scratches::new_in(temp.path());
        let scratch = scratches.of("one");
        let (_, first) = scratch.create("bash").unwrap();
        for _ in 0..FILES_MAX {
            assert!(first.exists());
            scratch.create("bash").unwrap();
        }
        assert!(!first.exists());
        // All kept files and the directory for temporary ones.
        let entries = std::fs::read_dir(scratch.dir()).unwrap().count();
        assert_eq!(entries, FILES_MAX + 1);
        drop((scratch, scratches));
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_session_has_a_private_directory_that_goes_with_it() {
        let temp = tempfile::tempdir().unwrap();
        let scratches = Scratches::new_in(temp.path());
        let [one, other] = ["one", "other"].map(|session| scratches.of(session));
        assert_ne!(one.dir(), other.dir());
        assert_eq!(one.dir(), scratches.of("one").dir());
        assert!(
            !scratches.dir().exists(),
            "nothing is made before it is needed"
        );
        one.make().unwrap();
        other.make().unwrap();
        for dir in [scratches.dir(), one.dir(), one.temp()] {
            assert_eq!(mode(dir), 0o700, "{}", dir.display());
        }
        let dir = one.dir().to_owned();
        scratches.forget("one");
        assert!(
            dir.exists(),
            "a program that still runs keeps its directory"
        );
        drop(one);
        assert!(!dir.exists() && other.dir().exists());
    }

    #[test]
    fn what_the_killed_left_behind_is_removed_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LOCKED_AFTER;
        let aged = |dir: &Path| File::open(dir).unwrap().set_modified(long_ago).unwrap();
        let in_use = Scratches::new_in(temp.path());
        in_use.of("one").make().unwrap();
        let [left, young, other] = [(PREFIX, "left"), (PREFIX, "young"), ("", "other")]
            .map(|(prefix, name)| temp.path().join(format!("{prefix}{name}")));
        for dir in [&left, &young, &other] {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("output.txt"), "words").unwrap();
        }
        [in_use.dir(), &left, &other].into_iter().for_each(aged);
        let next = Scratches::new_in(temp.path());
        next.of("one").make().unwrap();
        let there = [in_use.dir(), &left, &young, &other, next.dir()].map(Path::exists);
        assert_eq!(there, [true, false, true, true, true]);
    }
}
